import { Socket } from 'node:net'
import pg from 'pg'
import type { Row } from '../tokens.ts'

/** Multiples of `timeout` after which the server closes an unused connection. */
export const SERVER_IDLE_TIMEOUT = 10
/** Milliseconds of silence after which TCP sends a keep-alive probe. */
const KEEP_ALIVE_DELAY = 10_000
/** Names a server process of `pg_stat_activity`, also after another one got its id. */
export const BACKEND = `pid || ' ' || extract(epoch FROM backend_start)`

/**
 * Statements with a name are planned once, perhaps while the table is empty. With these settings that plan uses the primary
 * key, as it must when the table has grown. Such a plan expects to read a tenth of a caller's items: the server would compile
 * (JIT) a statement that reads 20 of a million, for longer than it runs.
 */
const PLANS = { plan_cache_mode: 'force_generic_plan', enable_seqscan: 'off', enable_bitmapscan: 'off', jit: 'off' }

/** What a server has to answer: a start, a statement, or the end. */
type Question = 'start' | 'read' | 'write' | 'end'

/** A connection, and for how long the server has been silent on it. */
export class Session extends pg.Client {
  /** The server process; absent until it is known, and behind a pooler, which shares it. */
  backend: string | undefined
  /** What the server has not answered yet; stays if it never does. */
  waitsFor: Question | undefined
  /** Whether an administrator has cancelled the wait for a standby: the server reports success, and sends this warning. */
  isUnsafe = false
  #heard = 0
  #bytes = 0

  constructor(config: pg.ClientConfig = {}) {
    super({ ...config, keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY })
    this.wait('start')
    this.on('error', () => undefined) // the statement under way fails with it
    this.connection.on('error', () => this.close()) // pg does not, if it refuses what the server offers
    this.on('notice', ({ routine }) => (this.isUnsafe ||= routine === 'SyncRepWaitForLSN'))
  }

  override async end(callback?: Parameters<pg.Client['end']>[0]): Promise<void> {
    this.wait('end')
    if (callback === undefined) await super.end()
    else super.end(callback)
  }

  /** Says what is asked of the server now. */
  wait(what: Question): void {
    this.waitsFor = what
    this.isUnsafe = false
    this.#heard = performance.now()
  }

  /** When the server was asked or last sent something; now, if it has answered. On the clock of `performance.now()`. */
  heard(): number {
    const { stream } = this.connection
    const bytes = stream instanceof Socket ? stream.bytesRead : 0
    if (this.waitsFor === undefined || bytes !== this.#bytes) this.#heard = performance.now()
    this.#bytes = bytes
    return this.#heard
  }

  /** Closes the connection, whatever is under way. */
  close(): void {
    this.connection.stream.destroy()
  }

  /**
   * Checks that the server takes writes, and sets up the session. The server ends a read after `timeout`, and a write that
   * waits for a lock after half of it. It must not end a write that waits for a synchronous standby: the commit would be
   * visible, but not safe.
   * @param timeout milliseconds
   * @throws {Error} if the server takes no writes
   */
  async setUp(kind: 'read' | 'write', timeout: number): Promise<void> {
    const { rows } = await this.query<Row>('SHOW transaction_read_only')
    if (rows[0]?.['transaction_read_only'] === 'on') throw new Error('the server takes no writes')
    const settings = {
      ...(kind === 'write' ? { lock_timeout: timeout / 2 } : { statement_timeout: timeout }),
      idle_session_timeout: SERVER_IDLE_TIMEOUT * timeout,
      tcp_user_timeout: SERVER_IDLE_TIMEOUT * timeout,
      ...PLANS,
    }
    const set = Object.entries(settings).map(([name, value]) => `set_config('${name}', '${value}', false)`)
    const text = `SELECT ${BACKEND} AS backend, ${set.join(', ')}
      FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`
    const pid = 'processID' in this ? Number(this.processID) : 0 // a pooler invents one
    try {
      const backend = (await this.query<Row>(text, [pid])).rows[0]?.['backend']
      if (typeof backend === 'string') this.backend = backend
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error // otherwise the engine does not have these settings
    }
  }

  /** Ends sessions that the network lost, unless a statement is under way. @returns how many others there still are */
  async endLost(lost: Set<string>): Promise<number> {
    if (lost.size === 0 || this.backend === undefined) return 0
    const text = `SELECT ${BACKEND} AS backend, CASE state WHEN 'idle' THEN pg_terminate_backend(pid) END AS ended
      FROM pg_stat_activity WHERE ${BACKEND} = ANY ($1)`
    const { rows } = await this.query<Row>(text, [[...lost]])
    const running = new Set(rows.filter(({ ended }) => ended !== true).map(({ backend }) => backend))
    for (const backend of lost) if (!running.has(backend)) lost.delete(backend)
    return lost.size
  }
}
