import pg from 'pg'

/** The parameters that a URL may have. pg ignores every other parameter of libpq without a word. */
const PARAMETERS = [
  'application_name',
  'fallback_application_name',
  'host',
  'options',
  'password',
  'port',
  'shard',
  'sslcert',
  'sslkey',
  'sslmode',
  'sslnegotiation',
  'sslrootcert',
  'user',
]
/** libpq has `allow` and `prefer`, too. They protect from nobody: a server without TLS is connected to without it. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full']

/** The address of a server. */
interface Address {
  readonly client: pg.ClientConfig
  /** Whether a pooler keeps each owner on one of several servers: `shard=owner`, a parameter of our own. */
  readonly isSharded: boolean
}

/**
 * Reads the address of a server.
 * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws {Error} if the URL can't be used as libpq would use it, or a certificate can't be read
 */
export function readAddress(url: string): Address {
  const address = new URL(url)
  for (const [name, value] of address.searchParams) {
    if (!PARAMETERS.includes(name))
      throw new Error(`there is no parameter ${name}, only ${PARAMETERS.join(', ')}`)
    if (name === 'sslmode' && !SSL_MODES.includes(value))
      throw new Error(`sslmode must be one of ${SSL_MODES.join(', ')}`)
    if (name === 'shard' && value !== 'owner') throw new Error('shard must be owner')
  }
  const isSharded = address.searchParams.has('shard')
  address.searchParams.delete('shard')
  address.searchParams.set('uselibpqcompat', 'true') // `sslmode` means what it does in libpq
  const client = { connectionString: address.href, ssl: false } // no TLS that the URL does not ask for
  new pg.Client(client) // reads the certificates
  return { client, isSharded }
}
