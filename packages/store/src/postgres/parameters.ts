// Checks the parameters of an address. Harmless ones are taken, like requests for what the service
// does anyway; anything that weakens or changes the service is refused.

/** Any value is harmless, or passed on to pg. */
const ANY = /^/
const NUMBER = /^-?\d+$/
const POSITIVE = /^[1-9]\d*$/
const BOOLEAN = /^(true|false)$/

const PARAMETERS: Readonly<Record<string, RegExp>> = {
  application_name: ANY,
  channel_binding: /^(disable|prefer|require)$/,
  client_encoding: /^(auto|UTF8|UTF-8|utf8|utf-8)$/, // always UTF-8
  connect_timeout: NUMBER, // the service bounds it: see session.ts
  connection_limit: POSITIVE,
  dbname: ANY,
  fallback_application_name: ANY,
  gssencmode: /^(disable|prefer)$/, // there is no GSSAPI
  host: ANY,
  keepalives: /^1$/, // TCP asks a silent server
  keepalives_count: NUMBER,
  keepalives_idle: NUMBER,
  keepalives_interval: NUMBER,
  krbsrvname: ANY, // there is no GSSAPI
  load_balance_hosts: /^(disable|random)$/,
  max_protocol_version: /^(3\.[02]|latest)$/, // pg speaks 3.0
  min_protocol_version: /^3\.0$/,
  options: ANY,
  password: ANY,
  pgbouncer: BOOLEAN, // a pooler is noticed
  pool_timeout: NUMBER, // DATABASE_TIMEOUT bounds each operation
  port: ANY,
  prepared_statements: BOOLEAN, // behind a pooler nothing is prepared
  schema: /^public$/, // the usual one
  shard: /^owner$/,
  socket_timeout: NUMBER, // as pool_timeout
  ssl: /^true$/,
  ssl_max_protocol_version: /^TLSv1\.3$/,
  ssl_min_protocol_version: /^TLSv1(\.[123])?$/,
  sslcert: ANY,
  sslcertmode: /^allow$/,
  sslcompression: /^0$/,
  sslkey: ANY,
  // libpq has `allow` and `prefer`, too. They protect from nobody: they also connect without TLS.
  sslmode: /^(disable|require|verify-ca|verify-full)$/,
  sslnegotiation: /^(postgres|direct)$/,
  sslrootcert: ANY,
  sslsni: /^1$/,
  statement_cache_size: NUMBER, // behind a pooler nothing is prepared
  supa: ANY, // a name, without a meaning for a connection
  target_session_attrs: /^(any|read-write|primary)$/, // a server that takes writes
  tcp_user_timeout: NUMBER,
  uselibpqcompat: /^true$/, // TLS is as in libpq anyway
  user: ANY,
  workaround: ANY, // of an adapter
}

/**
 * Checks parameters.
 * @throws {Error} naming the first unsupported one. A password is no part of its message
 */
export function checkParameters(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    const values = Object.hasOwn(PARAMETERS, name) ? PARAMETERS[name] : undefined
    if (values === undefined)
      throw new Error(`there is no parameter ${name}, only ${Object.keys(PARAMETERS).join(', ')}`)
    if (!values.test(value)) throw new Error(`${name} must be ${wordsOf(values)}`)
  }
}

/** Describes the values of a parameter. */
function wordsOf({ source }: RegExp): string {
  if (source === NUMBER.source) return 'an integer'
  if (source === POSITIVE.source) return 'an integer from 1'
  const words = source.replace(/^\^\(?|\)?\$$|\\/g, '').split('|')
  return words.length > 1 ? `one of ${words.join(', ')}` : words.join()
}
