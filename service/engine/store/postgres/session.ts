import pg from 'pg'
import type { Row } from '../tokens.ts'
import type { Kind } from './errors.ts'

/** Seconds of silence after which TCP asks whether the other side is there. The server gives up after three times as many. */
export const KEEP_ALIVE_DELAY = 10
/** Milliseconds for a connection to open: longer than the server's own limit (`authentication_timeout`). */
export const START_TIMEOUT = 120_000
/** Names a server process of `pg_stat_activity`, also after another one got its id. */
const BACKEND = `pid || ' ' || extract(epoch FROM backend_start)`
/** Ends those of some server processes ($1) that wait for their client. Returns those that are still there. */
export const END_LOST = `SELECT ${BACKEND} AS backend, CASE WHEN wait_event = 'ClientRead' THEN pg_terminate_backend(pid) END AS ended
  FROM pg_stat_activity WHERE ${BACKEND} = ANY ($1)`
/** The server looks every 50 ms of a statement whether its client is there, and ends if not. On Windows it can't. */
const CHECK = 'SET client_connection_check_interval = 50'

/**
 * Statements with a name are planned once, perhaps while the table is empty. With these settings that plan uses the primary
 * key, as it must when the table has grown. Such a plan expects to read a tenth of a caller's items: the server would compile
 * (JIT) a statement that reads 20 of a million, for longer than it runs.
 */
const PLANS = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  jit: 'off',
}

/** A connection, and for how long the server has been silent on it. */
export class Session extends pg.Client {
  /** The server process; absent until it is known, and behind a pooler, which shares it. */
  backend: string | undefined
  /** What the server has not answered yet: the start, or a statement of this kind. */
  waitsFor: Kind | 'start' | undefined = 'start'
  /** Whether an administrator has cancelled the wait for a standby: the server reports success, and sends this warning. */
  isUnsafe = false
  /** When the server was asked, or last sent something. */
  #heard = performance.now()

  constructor(config?: pg.ClientConfig) {
    super(config)
    this.on('error', () => undefined) // the statement under way fails with it
    this.connection.on('error', () => this.close()) // pg does not, if it refuses what the server offers
    this.connection.on('message', () => (this.#heard = performance.now()))
    this.on('notice', ({ routine }) => (this.isUnsafe ||= routine === 'SyncRepWaitForLSN'))
  }

  /** Says what is asked of the server now. */
  ask(kind: Kind): void {
    this.waitsFor = kind
    this.isUnsafe = false
    this.#heard = performance.now()
  }

  /** Whether the server has not answered, and sent nothing since a time on the clock of `performance.now()`. */
  isSilentSince(time: number): boolean {
    return this.waitsFor !== undefined && this.#heard < time
  }

  /** Closes the connection, whatever is under way. */
  close(): void {
    this.connection.stream.destroy()
  }

  /**
   * Checks that the server takes writes, and sets up the session. The server ends a wait for a lock after half of `timeout`.
   * It must not end the wait for a synchronous standby: the commit would be visible, but not safe.
   * @param timeout milliseconds
   * @throws {Error} if the server takes no writes
   */
  async setUp(timeout: number): Promise<void> {
    const timer = setTimeout(() => this.close(), START_TIMEOUT).unref()
    this.once('end', () => clearTimeout(timer))
    const { rows } = await this.query<Row>('SHOW transaction_read_only')
    if (rows[0]?.['transaction_read_only'] === 'on') throw new Error('the server takes no writes')
    const settings = {
      lock_timeout: timeout / 2,
      tcp_keepalives_idle: KEEP_ALIVE_DELAY,
      tcp_keepalives_interval: KEEP_ALIVE_DELAY, // the server looks at the next setting when it sends one
      tcp_user_timeout: 3000 * KEEP_ALIVE_DELAY,
      ...PLANS,
    }
    const set = Object.entries(settings).map(
      ([name, value]) => `set_config('${name}', '${value}', false)`,
    )
    const text = `SELECT ${BACKEND} AS backend, ${set.join(', ')}
      FROM pg_stat_activity WHERE pid = pg_backend_pid() AND pid = $1`
    const pid = 'processID' in this ? Number(this.processID) : 0 // a pooler invents one
    try {
      const backend = (await this.query<Row>(text, [pid])).rows[0]?.['backend']
      if (typeof backend === 'string') this.backend = backend
      if (this.backend !== undefined) await this.query(CHECK)
    } catch (error) {
      if (!(error instanceof pg.DatabaseError)) throw error // a database that does not have these settings
    }
    clearTimeout(timer)
    this.waitsFor = undefined
  }
}
