import { readFile } from 'node:fs/promises'
import net from 'node:net'
import pg from 'pg'
import { reasonOf } from '../../engine/errors.ts'

/** A row of a result, by its columns. */
export type Row = Readonly<Record<string, unknown>>

/** Milliseconds until a server must answer the first packet. The start of a session may then take longer. */
const ANSWER_TIMEOUT = 2000
/** Asks whether the server has TLS: https://www.postgresql.org/docs/current/protocol-message-formats.html */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
/** Names a server process of `pg_stat_activity`, also after another one got its id. */
const BACKEND = `pid || ' ' || extract(epoch FROM backend_start)`
/**
 * Ends server processes ($1) that wait for their client: after packets that were swallowed they would stay until TCP gives up.
 * Returns the processes that still live.
 */
const END_LOST = `SELECT ${BACKEND} AS backend,
  CASE WHEN wait_event = 'ClientRead' THEN pg_terminate_backend(pid) END
  FROM pg_stat_activity WHERE ${BACKEND} = ANY ($1)`
/** During a statement the server polls whether its client is there, and ends if not. On Windows it can't. */
const CHECK_CLIENT = `SET client_connection_check_interval = '100ms'`

/**
 * The settings of a session: https://www.postgresql.org/docs/current/runtime-config.html
 *
 * Statements with a name are planned once, perhaps while the table is empty. With these settings that plan uses the primary
 * key, as it must when the table has grown. Such a plan expects to read a tenth of a caller's items: the server would compile
 * (JIT) a statement that reads 20 of a million, for longer than it runs.
 */
const PLANS = `set_config('plan_cache_mode', CASE WHEN to_regclass('pg_dist_partition') IS NOT NULL
  THEN 'auto' ELSE 'force_generic_plan' END, false)` // Citus can't route a generic plan
const IS_YUGABYTE = `version() LIKE '%-YB-%'`
/** The other settings. */
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
  /** A file with the password. None if absent or empty. */
  readonly passwordFile?: string | undefined
}

/** A connection to a server that takes writes. */
export class Session extends pg.Client {
  /** Whether statements keep their names. Behind a pooler, another session may have them. */
  isPrepared = false
  /** The server process; absent until it is known, and behind a pooler, which shares it. */
  backend: string | undefined
  /** Whether an administrator has cancelled the wait for a standby: the server reports success, and sends this warning. */
  isUnsafe = false
  readonly #passwordFile: string

  constructor(config?: SessionConfig) {
    super(config)
    this.#passwordFile = config?.passwordFile ?? ''
    this.on('error', () => undefined) // the statement under way fails with it
    // pg leaves the socket open when it refuses an offer of the server.
    this.connection.on('error', () => this.connection.stream.destroy())
    this.on('notice', ({ routine }) => (this.isUnsafe ||= routine === 'SyncRepWaitForLSN'))
  }

  /**
   * Connects to a server that answers. Packets to a server that is silent may arrive later, and begin a session there. And
   * after packets that were swallowed, the first connection would wait for the whole time of a start.
   */
  override connect(): Promise<pg.Client>
  override connect(callback: (error?: Error) => void): void
  override connect(callback?: (error?: Error) => void): unknown {
    const connected = awaitAnswer(this.host, this.port)
      .then(() => this.#readPassword())
      .then(() => super.connect())
    return callback === undefined ? connected : connected.then(() => callback(), callback)
  }

  /**
   * Sets the session up, before its first statement.
   * @param timeout milliseconds for a statement
   * @param lost the server processes of connections that were closed; the processes that have ended are removed
   * @param mostLost the most of these processes that may live
   * @throws {Error} if the server takes no writes, or still has more lost processes
   */
  async setUp(timeout: number, lost: Set<string>, mostLost: number): Promise<void> {
    await this.#assertWritable()
    try {
      await this.#configure(timeout)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error // a database that does not have these settings
    }
    if (this.backend === undefined || lost.size === 0) return
    await this.#endLost(lost)
    if (lost.size > mostLost)
      throw new Error(`the server still has ${lost.size} connections that were given up`)
  }

  /** A password may be valid for minutes only. */
  async #readPassword(): Promise<void> {
    if (this.#passwordFile === '') return
    const text = await readFile(this.#passwordFile, 'utf8').catch((error: unknown) => {
      throw new Error(`DATABASE_PASSWORD_FILE: ${reasonOf(error)}`, { cause: error })
    })
    this.password = text.trimEnd()
  }

  /** A server that follows another one takes no writes. */
  async #assertWritable(): Promise<void> {
    const { rows } = await this.query<Row>('SHOW transaction_read_only')
    const isReadOnly = rows[0]?.['transaction_read_only'] === 'on'
    if (isReadOnly) throw new Error('the server takes no writes')
  }

  /** Ends lost processes, and forgets the processes that have ended. */
  async #endLost(lost: Set<string>): Promise<void> {
    const asked = [...lost]
    const { rows } = await this.query<Row>(END_LOST, [asked])
    const living = new Set(rows.map(({ backend }) => backend))
    for (const backend of asked) if (!living.has(backend)) lost.delete(backend)
  }

  /**
   * The server ends a wait for a lock after a tenth of `timeout`: a statement may hold up others. See held-owners.ts. It must not end the wait for a synchronous standby: the commit
   * would be visible, but not safe. In YugabyteDB, whose commits wait for a majority, `lock_timeout` does not bound such waits.
   */
  async #configure(timeout: number): Promise<void> {
    const settings = Object.entries(SETTINGS)
    const calls = settings.map(([name, value]) => `set_config('${name}', '${value}', false)`)
    const bound = `CASE WHEN ${IS_YUGABYTE} THEN set_config('statement_timeout', '${timeout / 2}', false)
      ELSE set_config('lock_timeout', '${timeout / 10}', false) END`
    const text = `SELECT ${BACKEND} AS backend, ${IS_YUGABYTE} AS yugabyte, ${bound}, ${PLANS}, ${calls.join(', ')}
      FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`
    const pid = 'processID' in this ? Number(this.processID) : 0 // a pooler invents one
    const { rows } = await this.query<Row>(text, [pid])
    const backend = rows[0]?.['backend']
    if (typeof backend !== 'string') return
    this.isPrepared = true
    // The next connection may lead to another node of a YugabyteDB, which knows nothing of this process.
    if (rows[0]?.['yugabyte'] !== true) this.backend = backend
    await this.query(CHECK_CLIENT)
  }
}

/** Waits until the server of an address answers a packet that begins no session. @throws {Error} if it does not */
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
