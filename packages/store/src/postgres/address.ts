// Reads the address of a server from DATABASE_URL.
import pg from 'pg'
import { parseUrl } from './connection-url.ts'
import { Hosts, readHosts } from './hosts.ts'
import { checkParameters } from './parameters.ts'
import { readTls } from './tls.ts'

export interface Address {
  /** How to connect to each of the hosts. */
  readonly client: pg.ClientConfig
  readonly hosts: Hosts
  /** `channel_binding=require`: whether the password must be bound to the connection's TLS. */
  readonly isBound: boolean
  /**
   * `shard=owner`, a parameter of this store: whether a pooler keeps each owner on one of several
   * servers.
   */
  readonly isSharded: boolean
  /** The most connections, of all kinds. */
  readonly mostConnections: number
}

/**
 * The server and the database of an address, without user, password and parameters: for messages.
 */
export function placeOf(url: string): string {
  const { hosts, database } = parseUrl(url)
  return `postgres://${hosts}/${database}`
}

/**
 * Reads the address of a server.
 * @param url in libpq's format:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
 * @throws {Error} if the URL can't be used as libpq would use it, or a certificate can't be read
 */
export function readAddress(url: string): Address {
  const { hosts: text, user, password, database, parameters } = parseUrl(url)
  checkParameters(parameters)
  // The last value of a repeated parameter counts, as in libpq.
  const last = new URLSearchParams(Object.fromEntries(parameters))
  const ssl = readTls(last)
  const hosts = readHosts(text, last)
  if (last.get('load_balance_hosts') === 'random') hosts.sort(() => Math.random() - 0.5)
  const isDirect = last.get('sslnegotiation') === 'direct'
  const binding = last.get('channel_binding') ?? 'disable'
  const client = {
    user: last.get('user') ?? user,
    password: last.get('password') ?? password,
    database: last.get('dbname') ?? database,
    ssl, // no TLS unless the URL asks for it
    sslnegotiation: isDirect ? 'direct' : 'postgres',
    enableChannelBinding: binding !== 'disable',
    ...namesIn(last, ['application_name', 'fallback_application_name', 'options']),
  } as const
  return {
    client,
    hosts: new Hosts(hosts),
    isBound: binding === 'require',
    isSharded: last.has('shard'),
    mostConnections: Number(last.get('connection_limit') ?? Infinity),
  }
}

function namesIn(parameters: URLSearchParams, names: readonly string[]): Record<string, string> {
  return Object.fromEntries([...parameters].filter(([name]) => names.includes(name)))
}
