// A session of the server: its start, its settings and its end.
import { readFile } from 'node:fs/promises'
import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import pg from 'pg'
import { reasonOf } from '@plant-store/engine/for-store'
import { type Dialect, type DialectReader, processOf } from './dialect.ts'
import { type Host, type Hosts, isSocket } from './hosts.ts'

export type Row = Readonly<Record<string, unknown>>

/**
 * Milliseconds until a server must answer the first packet. The start of a session may then take
 * longer.
 */
const ANSWER_TIMEOUT = 2000
/** Milliseconds until a server must have ended an unusable session. */
const END_TIMEOUT = 5000
/** The message if a connection breaks `channel_binding=require`. */
const UNBOUND = 'channel_binding=require: the server does not bind the password to its TLS'
/**
 * Asks whether the server has TLS:
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
/** Names a server process of `pg_stat_activity`, even after another one got its id. */
const BACKEND = `pid || ' ' || extract(epoch FROM backend_start)`
/**
 * Ends server processes ($1) that wait for their client: if packets were lost, they would stay
 * until TCP gives up. Returns the living ones.
 */
const END_LOST = `SELECT ${BACKEND} AS backend,
  CASE WHEN wait_event = 'ClientRead' THEN pg_terminate_backend(pid) END
  FROM pg_stat_activity WHERE ${BACKEND} = ANY ($1)`
/**
 * During a statement the server polls whether its client is there, and ends if not. On Windows it
 * can't.
 */
const CHECK_CLIENT = `SET client_connection_check_interval = '100ms'`

/**
 * The settings of a session: https://www.postgresql.org/docs/current/runtime-config.html
 *
 * Statements with a name are planned once, perhaps while the table is empty. With these settings
 * the plan uses the primary key, as it must when the table has grown. By the plan, a statement
 * reads a tenth of a caller's items: the server would compile it (JIT), which takes longer than to
 * read 20 of a million.
 */
const SETTINGS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
  // TCP of the server asks a silent client after 10 seconds, and again, and gives up after 30.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 10,
  tcp_user_timeout: 30_000,
}

export interface SessionConfig extends pg.ClientConfig {
  /** The default of pg if absent. */
  readonly hosts?: Hosts | undefined
  /** `channel_binding=require`: whether the password must be bound to the connection's TLS. */
  readonly isBound?: boolean | undefined
  /** A file with the password. None if absent or empty. */
  readonly passwordFile?: string | undefined
}

export interface SetUp {
  /** Milliseconds for a statement. */
  readonly timeout: number
  /** The server processes of closed connections. Ended processes are removed. */
  readonly lost: Set<string>
  /** The most living ones of these processes. */
  readonly mostLost: number
  readonly dialects: DialectReader
}

/** A connection to a server that takes writes. */
export class Session extends pg.Client {
  /** Whether statements keep their names. Behind a pooler, another session may have them. */
  isPrepared = false
  /** The server process; absent until it is known, and behind a pooler, which shares it. */
  backend: string | undefined
  /**
   * Whether an administrator has cancelled the wait for a standby: the server reports success, and
   * sends this warning.
   */
  isUnsafe = false
  readonly #passwordFile: string
  readonly #hosts: Hosts | undefined
  readonly #host: Host

  /** Whether TLS begins with the first packet. */
  readonly #isDirect: boolean

  constructor(config?: SessionConfig) {
    const ofHost = configOf(config)
    super(ofHost)
    this.#isDirect = ofHost?.sslnegotiation === 'direct'
    this.#passwordFile = config?.passwordFile ?? ''
    this.#hosts = config?.hosts
    this.#host = config?.hosts?.current ?? {}
    if (config?.isBound === true) requireBinding(this.connection)
    this.on('error', () => undefined) // the statement under way fails with it
    // pg leaves the socket open when it refuses an offer of the server.
    this.connection.on('error', () => this.connection.stream.destroy())
    this.on('notice', ({ routine }) => (this.isUnsafe ||= routine === 'SyncRepWaitForLSN'))
  }

  /**
   * Connects to a server after it has answered a first packet. Otherwise, packets to a silent
   * server might arrive later, and begin a session there; and after lost packets, the first
   * connection would wait for the whole time of a start.
   */
  override connect(): Promise<pg.Client>
  override connect(callback: (error?: Error) => void): void
  override connect(callback?: (error?: Error) => void): unknown {
    const connected = this.#awaitAnswer()
      .then(() => this.#readPassword())
      .then(() => super.connect())
      .catch((error: unknown) => {
        this.#hosts?.leave(this.#host)
        throw error
      })
    return callback === undefined ? connected : connected.then(() => callback(), callback)
  }

  async setUp(options: SetUp): Promise<void> {
    try {
      await this.#prepare(options)
    } catch (error) {
      await this.#leave()
      throw error
    }
  }

  async #prepare({ timeout, lost, mostLost, dialects }: SetUp): Promise<void> {
    await this.#assertWritable()
    const dialect = await dialects.read((text) => this.query<Row>(text))
    try {
      await this.#configure(timeout, dialect)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error // a database without these settings
    }
    if (this.backend === undefined || lost.size === 0) return
    await this.#endLost(lost)
    if (lost.size > mostLost)
      throw new Error(`the server still has ${lost.size} connections that were given up`)
  }

  /**
   * Asks the server to end the session, and waits for the end: only then may the pool give its
   * place to another session. A lost server ends nothing, so the wait has a limit.
   */
  async #leave(): Promise<void> {
    const { stream } = this.connection
    if (stream.closed) return
    const { promise: closed, resolve } = Promise.withResolvers<undefined>()
    stream.once('close', () => resolve(undefined))
    const limit = setTimeout(() => stream.destroy(), END_TIMEOUT)
    this.connection.end()
    await closed
    clearTimeout(limit)
  }

  #awaitAnswer(): Promise<void> {
    const { host, port } = this
    return this.#isDirect ? awaitTls(host, port) : awaitAnswer(host, port)
  }

  /** A password may be valid for minutes only. */
  async #readPassword(): Promise<void> {
    if (this.#passwordFile === '') return
    const text = await readFile(this.#passwordFile, 'utf8').catch((error: unknown) => {
      throw new Error(`DATABASE_PASSWORD_FILE: ${reasonOf(error)}`, { cause: error })
    })
    this.password = text.trimEnd()
  }

  /** A standby takes no writes. */
  async #assertWritable(): Promise<void> {
    const { rows } = await this.query<Row>('SHOW transaction_read_only')
    const isReadOnly = rows[0]?.['transaction_read_only'] === 'on'
    if (!isReadOnly) return
    this.#hosts?.leave(this.#host)
    throw new Error('the server takes no writes')
  }

  /** Ends lost processes, and forgets the ended ones. */
  async #endLost(lost: Set<string>): Promise<void> {
    const asked = [...lost]
    const { rows } = await this.query<Row>(END_LOST, [asked])
    const living = new Set(rows.map(({ backend }) => backend))
    for (const backend of asked) if (!living.has(backend)) lost.delete(backend)
  }

  /**
   * The server ends a wait for a lock early: a statement may hold up others, see held-owners.ts. It
   * must not end the wait for a synchronous standby: the commit would be visible, but not safe.
   */
  async #configure(timeout: number, dialect: Dialect): Promise<void> {
    const [waitLimit, part] = dialect.waitLimit
    const settings = { ...SETTINGS, plan_cache_mode: dialect.plans, [waitLimit]: timeout * part }
    const calls = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    )
    const text = `SELECT ${BACKEND} AS backend, ${calls.join(', ')}
      FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`
    const { rows } = await this.query<Row>(text, [processOf(this)])
    const backend = rows[0]?.['backend']
    if (typeof backend !== 'string') return
    this.isPrepared = true
    if (dialect.showsProcesses) this.backend = backend
    await this.query(CHECK_CLIENT)
  }
}

/** The configuration of a session at the current server. A socket needs no TLS, as in libpq. */
function configOf(config: SessionConfig | undefined): pg.ClientConfig | undefined {
  if (config?.hosts === undefined) return config
  const { current } = config.hosts
  const withoutTls = { ssl: false, sslnegotiation: 'postgres' } as const
  const { password } = config // a pool hides it from a copy
  return { ...config, password, ...current, ...(isSocket(current.host) && withoutTls) }
}

/**
 * Ends a connection before it sends a password not bound to its TLS, or none, as libpq does for
 * `channel_binding=require`:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNECT-CHANNEL-BINDING
 */
function requireBinding(connection: pg.Connection): void {
  let isBound = false
  const refuse = () => connection.emit('error', new Error(UNBOUND))
  connection.on('authenticationCleartextPassword', refuse)
  connection.on('authenticationMD5Password', refuse)
  connection.on(
    'authenticationSASL',
    ({ mechanisms }: { readonly mechanisms: readonly string[] }) => {
      if (!mechanisms.includes('SCRAM-SHA-256-PLUS')) refuse()
    },
  )
  connection.on('authenticationSASLFinal', () => (isBound = true)) // pg has chosen the mechanism, and checks the proof
  connection.on('authenticationOk', () => {
    if (!isBound) refuse()
  })
}

/**
 * Waits until a server without a first packet has TLS. Its certificate is checked by the session.
 * @throws {Error}
 */
async function awaitTls(host: string, port: number): Promise<void> {
  const options = { port, host, ALPNProtocols: ['postgresql'], rejectUnauthorized: false }
  const socket = tls.connect({ ...options, ...(net.isIP(host) === 0 && { servername: host }) })
  socket.setTimeout(ANSWER_TIMEOUT, () => socket.destroy(new Error('the server does not answer')))
  try {
    await once(socket, 'secureConnect')
  } finally {
    socket.destroy()
  }
}

/** Waits until a server answers a packet that begins no session. @throws {Error} if it does not */
async function awaitAnswer(host: string, port: number): Promise<void> {
  const socket = host.startsWith('/')
    ? net.connect(`${host}/.s.PGSQL.${port}`)
    : net.connect(port, host)
  socket.setTimeout(ANSWER_TIMEOUT, () => socket.destroy(new Error('the server does not answer')))
  socket.write(SSL_REQUEST)
  try {
    const { done } = await socket[Symbol.asyncIterator]().next()
    if (done === true) throw new Error('the server has closed the connection')
  } finally {
    socket.destroy()
  }
}
