import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SNAPSHOT_IDLE_TIMEOUT } from '../lists.ts'
import type { Row } from '../rows.ts'
import { NoConnection } from './errors.ts'

/** Milliseconds to open a connection; the pool's `timeout` if that is longer. */
const CONNECT_TIMEOUT = 3000
/** Multiples of `timeout` after which the pool closes an unused connection, and after which the server does. */
const IDLE_TIMEOUT = 5
const SERVER_IDLE_TIMEOUT = 10
/** Multiples of `timeout` after which the pool forgets a connection that was given up, if its backend is unknown. */
const UNKNOWN_TIMEOUT = 100
/** The part of `timeout` between two checks whether the server still has a connection. */
const POLL_INTERVAL = 1 / 3
/** Milliseconds of silence after which TCP sends a keep-alive probe. */
const KEEP_ALIVE_DELAY = 30_000

/** The server process of a connection. */
export interface Backend {
  readonly pid: number
  readonly started: string
}

export interface PoolOptions {
  readonly url: string
  /** The most connections. */
  readonly max: number
  /**
   * The server ends a read after `timeout`, and a write that waits for a lock after half of it. It must not end a write
   * that waits for a synchronous standby: the commit would be visible, but not safe.
   */
  readonly kind: 'reads' | 'snapshots' | 'writes'
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Asks for the state of a server process over another connection. @returns undefined if the process has ended */
  readonly askState: (backend: Backend) => Promise<string | undefined>
}

/**
 * Connections whose last commit may not be on the synchronous standby. If an administrator cancels the wait for the
 * standby, the server reports success and sends only a warning.
 */
export const unsafeClients = new WeakSet<pg.ClientBase>()

/** A bounded number of connections. A connection that was given up counts until its server process has ended. */
export class Pool {
  readonly #options: PoolOptions
  readonly #pool: pg.Pool
  /** The checked connections and their server processes. Behind a pooler the process is undefined. */
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
    // The pool drops a lost connection itself, but without a listener the error would end this process.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => {
      client.on('error', () => undefined)
      client.on('notice', ({ routine }) => routine === 'SyncRepWaitForLSN' && unsafeClients.add(client))
    })
  }

  /** Whether the pool has room beside the connections that were given up. */
  get hasRoom(): boolean {
    return this.#givenUp < this.#options.max
  }

  /** The maximum of connections, and how many are used, idle, and given up. The used ones include those given up. */
  get figures() {
    const { totalCount, idleCount } = this.#pool
    return { size: this.#options.max, used: totalCount - idleCount, idle: idleCount, givenUp: this.#givenUp }
  }

  /** Waits for an unused connection, or for room to open one. @throws {NoConnection} */
  async connect(): Promise<pg.PoolClient> {
    try {
      const client = await this.#pool.connect()
      if (!this.#checked.has(client)) await this.#check(client)
      return client
    } catch (error) {
      throw new NoConnection(error)
    }
  }

  /** Gives up a connection. It is closed when the server has answered everything that was sent. */
  async giveUp(client: pg.PoolClient): Promise<void> {
    const { stream } = client.connection
    const backend = this.#checked.get(client)
    const { kind, timeout, askState } = this.#options
    const interval = POLL_INTERVAL * timeout
    const latest = performance.now() + this.#lostTimeout(backend)
    this.#givenUp += 1
    if (stream instanceof Socket) stream.unref() // let this process end
    let closed = client.end().then(() => true)
    for (;;) {
      const isClosed = await Promise.race([closed, delay(interval, false, { ref: false })])
      // A server process that waits for a standby does not notice that its client has gone.
      const mayWait = kind === 'writes'
      if (isClosed && (backend === undefined || !mayWait)) break
      // The network may have lost the answer.
      const state = backend === undefined ? 'unknown' : await askState(backend).catch(() => 'unknown')
      if (state === undefined || (state === 'unknown' && performance.now() > latest)) break
      if (backend === undefined || (mayWait && state !== 'idle' && !isClosed)) continue
      closed = new Promise(() => undefined) // from now on only `askState` tells
      stream.destroy()
    }
    this.#givenUp -= 1
    stream.destroy()
    client.release(true)
  }

  /**
   * Milliseconds after which the pool forgets a connection that was given up, if nobody can ask the server about it. By
   * then the server has ended a read. A write may wait for ever, but a connection for reads can then ask about it.
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

  /** Checks that the server takes writes. Sets up the session, unless a pooler shares it. */
  async #check(client: pg.PoolClient): Promise<void> {
    const { kind, timeout } = this.#options
    const ask = async (text: string, values: readonly unknown[] = []) => {
      const query = { text, values: [...values], query_timeout: Math.max(CONNECT_TIMEOUT, timeout) }
      return (await client.query<Row>(query)).rows[0]
    }
    const [setting, bound] = kind === 'writes' ? ['lock_timeout', timeout / 2] : ['statement_timeout', timeout]
    const pid = 'processID' in client ? client.processID : null // a pooler invents one
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
