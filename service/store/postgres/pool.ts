import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SNAPSHOT_IDLE_TIMEOUT } from '../lists.ts'
import type { Row } from '../rows.ts'
import { NoConnection } from './errors.ts'

/** Milliseconds in which a new connection must be there, or the pool's `timeout` if that is longer. */
const CONNECT_TIMEOUT = 3000
/** Multiples of `timeout` that an unused connection is kept, and after which the server ends an idle session. */
const IDLE_TIMEOUT = 5
const SERVER_IDLE_TIMEOUT = 10
/** Multiples of `timeout` after which a connection is forgotten whose process at the server is not known. */
const UNKNOWN_TIMEOUT = 100
/** The part of `timeout` between two questions whether the server still has a connection. */
const QUESTION_INTERVAL = 1 / 3
/** Milliseconds without a byte after which TCP asks whether the other side is still there. */
const KEEP_ALIVE_DELAY = 30_000

/** The process of the server that serves a connection. */
export interface Backend {
  readonly pid: number
  readonly started: string
}

export interface PoolOptions {
  readonly url: string
  /** The most connections. */
  readonly max: number
  /**
   * The server ends a read after the time of an operation, and a write that waits half of it for a lock. It must not end
   * a write that waits for a synchronous standby: the commit would be visible then, and not safe.
   */
  readonly kind: 'reads' | 'snapshots' | 'writes'
  /** Milliseconds that an operation has. */
  readonly timeout: number
  /** Asks the server, over another connection, for the state of a process; undefined if the process has ended. */
  readonly askState: (backend: Backend) => Promise<string | undefined>
}

/**
 * Connections whose last commit may not be on the synchronous standby. If an administrator cancels the wait for it, the
 * server reports success, and only a warning tells.
 */
export const unsafe = new WeakSet<pg.ClientBase>()

/** A bounded number of connections. One that is given up keeps its place until its process at the server has ended. */
export class Pool {
  readonly #options: PoolOptions
  readonly #pool: pg.Pool
  /** The connections that were checked, with their processes at the server; undefined behind a pooler. */
  readonly #checked = new WeakMap<pg.ClientBase, Backend | undefined>()
  #givenUp = 0

  constructor(options: PoolOptions) {
    this.#options = options
    this.#pool = new pg.Pool({
      connectionString: options.url,
      max: options.max,
      connectionTimeoutMillis: Math.max(CONNECT_TIMEOUT, options.timeout),
      idleTimeoutMillis: IDLE_TIMEOUT * options.timeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
      pipeline: true,
    })
    // A lost connection leaves the pool by itself, but without a listener it would end the process.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined)
      client.on('notice', ({ routine }) => routine === 'SyncRepWaitForLSN' && unsafe.add(client))
    })
  }

  /** Whether a place is not taken by a connection that was given up. */
  get hasPlace(): boolean {
    return this.#givenUp < this.#options.max
  }

  /** How many connections there may be, are used, are kept, and are used only because they were given up. */
  get figures() {
    const { totalCount, idleCount } = this.#pool
    return { size: this.#options.max, used: totalCount - idleCount, idle: idleCount, givenUp: this.#givenUp }
  }

  /** Waits for an unused connection, or for a place to open one. @throws {NoConnection} */
  async connect(): Promise<pg.PoolClient> {
    try {
      const client = await this.#pool.connect()
      if (!this.#checked.has(client)) await this.#check(client)
      return client
    } catch (error) {
      throw new NoConnection(error)
    }
  }

  /** Gives a connection up. It is closed when the server has answered all that was sent. */
  async giveUp(client: pg.PoolClient): Promise<void> {
    const { stream } = client.connection
    const backend = this.#checked.get(client)
    const { kind, timeout, askState } = this.#options
    const interval = QUESTION_INTERVAL * timeout
    const latest = performance.now() + this.#lostTimeout(backend)
    this.#givenUp += 1
    if (stream instanceof Socket) stream.unref() // it does not keep the process from ending
    let closed = client.end().then(() => true)
    for (;;) {
      const isClosed = await Promise.race([closed, delay(interval, false, { ref: false })])
      const mayWait = kind === 'writes' // for a standby: a process that does so does not notice that its client has gone
      if (isClosed && (backend === undefined || !mayWait)) break
      // The network may have lost the answer.
      const state = backend === undefined ? 'unknown' : await askState(backend).catch(() => 'unknown')
      if (state === undefined || (state === 'unknown' && performance.now() > latest)) break
      if (backend === undefined || (mayWait && state !== 'idle' && !isClosed)) continue
      closed = new Promise(() => undefined) // when it closes now, the server may still have it
      stream.destroy()
    }
    this.#givenUp -= 1
    stream.destroy()
    client.release(true)
  }

  /**
   * Milliseconds after which a connection that was given up is forgotten, if the server can't be asked about it. By then
   * the server has ended a read. A write may wait for ever; but there is then a free place for reads, to ask about it.
   */
  #lostTimeout(backend: Backend | undefined): number {
    const { kind, timeout } = this.#options
    if (backend === undefined) return UNKNOWN_TIMEOUT * timeout
    if (kind === 'writes') return Infinity
    return (SERVER_IDLE_TIMEOUT + 2) * timeout + (kind === 'snapshots' ? SNAPSHOT_IDLE_TIMEOUT : 0)
  }

  /** Waits until all connections are closed. */
  end(): Promise<void> {
    return this.#pool.end()
  }

  /** Asks whether the server takes writes, and sets up the session, unless it is shared behind a pooler. */
  async #check(client: pg.PoolClient): Promise<void> {
    const { kind, timeout } = this.#options
    const ask = async (text: string, values: readonly unknown[] = []) => {
      const query = { text, values: [...values], query_timeout: Math.max(CONNECT_TIMEOUT, timeout) }
      return (await client.query<Row>(query)).rows[0]
    }
    const [setting, bound] = kind === 'writes' ? ['lock_timeout', timeout / 2] : ['statement_timeout', timeout]
    const pid = 'processID' in client ? client.processID : null // a pooler makes up one
    try {
      const readOnly = await ask('SHOW transaction_read_only')
      if (readOnly?.['transaction_read_only'] === 'on') throw new Error('the server takes no writes')
      const backend = await ask(
        `SELECT extract(epoch FROM backend_start)::text AS started, set_config($2, $3, false), set_config('idle_session_timeout', $4, false)
          FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`,
        [pid, setting, bound, SERVER_IDLE_TIMEOUT * timeout],
      ).catch((error: unknown) => {
        if (!(error instanceof pg.DatabaseError)) throw error
        return undefined // the engine does not have these settings
      })
      this.#checked.set(client, backend && { pid: Number(pid), started: String(backend['started']) })
    } catch (error) {
      client.release(true)
      throw error
    }
  }
}
