// Takes a URL in libpq's format apart. Unlike other URLs, it may have several hosts, or none.
interface ConnectionUrl {
  /** The hosts as written, without user and password. */
  readonly hosts: string
  /** Empty if the URL has none. */
  readonly user: string
  readonly password: string
  readonly database: string
  readonly parameters: URLSearchParams
}

/** User and password, hosts, database, parameters. The last @ before the path ends the password. */
const PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#@]*)(?:\/([^?#]*))?(?:\?([^#]*))?/
/** Sequences of percent-encoded bytes. */
const ENCODED = /(?:%[0-9a-f]{2})+/gi

/**
 * Reads a URL.
 * @param url https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws {Error} if it is none
 */
export function parseUrl(url: string): ConnectionUrl {
  const [whole, login = '', hosts = '', path = '', query = ''] = PARTS.exec(url) ?? []
  if (whole === undefined) throw new Error('it is no URL of PostgreSQL')
  const [user = ''] = login.split(':', 1)
  const password = login.slice(user.length + 1)
  return {
    hosts,
    user: decode(user),
    password: decode(password),
    database: decode(path),
    parameters: new URLSearchParams(query),
  }
}

/** Decodes a part of a URL. A lone % stays, as in a password that somebody has not encoded. */
export function decode(text: string): string {
  return text.replace(ENCODED, decodeURIComponent)
}
