import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Limits } from '../store.ts'
import { Connection, type Result } from './connection.ts'
import { StoreUnavailable } from '../../errors.ts'
import { classify, NoConnection, translate } from './errors.ts'
import type { Backend, ConnectionOptions } from './session.ts'

/**
 * Runs one SQL statement.
 * @param name of a prepared statement: see `Connection.query`
 * @param timeout milliseconds; `DATABASE_TIMEOUT` if absent
 */
export type Query = (text: string, values?: unknown[], name?: string, timeout?: number) => Promise<Result>

/** A transaction on a connection that is not shared. */
export interface Transaction {
  readonly query: Query
  readonly end: () => Promise<void>
}

/** The most attempts to run a statement, by its fault. A read whose outcome is unknown is repeated. */
const WRITE_TRIES = { unsent: 2, unprepared: 5, unknown: 1, conflict: 5, refused: 1, other: 1 }
const TRIES = { read: { ...WRITE_TRIES, unknown: 2 }, write: WRITE_TRIES }

/** The connections to PostgreSQL. Every wait has a bound. Errors that may be temporary become StoreUnavailable. */
export class Connections {
  readonly #timeout: number
  /** Only for writes: a read on this connection would wait for their commits. The second is used if the first is given up. */
  readonly #writes: readonly [Connection, ...Connection[]]
  readonly #reads: readonly Connection[]
  readonly #transactions: readonly Connection[]
  readonly #all: readonly Connection[]
  #ended: Promise<unknown> | undefined

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @param maxTransactions the most transactions at a time, in addition to `DATABASE_POOL_SIZE`
   * @throws {Error} if the URL is not valid
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits, maxTransactions = 0) {
    const address = new URL(url)
    // `sslmode` must mean the same as in libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    new pg.Client(address.href) // reports a bad URL now, not at the first connect
    const timeout = DATABASE_TIMEOUT * 1000
    const options = { url: address.href, timeout, isRunning: (backend: Backend) => this.#isRunning(backend) }
    const several = (length: number, kind: ConnectionOptions['kind']) =>
      Array.from({ length }, () => new Connection({ ...options, kind }))
    this.#timeout = timeout
    this.#writes = [
      new Connection({ ...options, kind: 'writes' }),
      ...several(DATABASE_POOL_SIZE > 2 ? 1 : 0, 'writes'),
    ]
    this.#reads = several(DATABASE_POOL_SIZE - this.#writes.length, 'reads')
    this.#transactions = several(maxTransactions, 'snapshots')
    this.#all = [...this.#writes, ...this.#reads, ...this.#transactions]
  }

  /** Runs a statement that changes nothing. */
  readonly read: Query = (text, values = [], name, timeout = this.#timeout) =>
    this.#retry('read', timeout, (timeout) => this.#forRead().query(text, values, timeout, name))

  /** Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or not. */
  readonly write: Query = (text, values = [], name, timeout = this.#timeout) =>
    this.#retry('write', timeout, (timeout) => this.#forWrite().query(text, values, timeout, name))

  /** Begins a transaction. @param begin the statements that begin it; they must change nothing */
  begin(begin: string): Promise<Transaction> {
    return this.#retry('read', this.#timeout, async (timeout) => {
      const latest = performance.now() + timeout
      const connection = await this.#reserve(latest)
      const end = async () => {
        const commit = connection.query('COMMIT', [], this.#timeout, undefined, true)
        await commit.catch(() => connection.close(new Error('the transaction failed')))
        connection.isReserved = false
      }
      try {
        await connection.query(begin, [], Math.max(1, latest - performance.now()))
      } catch (error) {
        await end()
        throw error
      }
      return {
        query: (text, values = [], name, timeout = this.#timeout) =>
          connection.query(text, values, timeout, name, true).catch(translate),
        end,
      }
    })
  }

  /** How many reads can run at the same time, each on its own connection. */
  get parallelReads(): number {
    return Math.max(1, this.#reads.length)
  }

  /** How many connections are allowed, used, idle and given up (these are used, too), and how many statements are under way. */
  get figures() {
    const count = (...states: Connection['state'][]) => this.#all.filter(({ state }) => states.includes(state)).length
    return {
      size: this.#all.length,
      used: count('used', 'given up'),
      idle: count('idle'),
      givenUp: count('given up'),
      statements: [...this.#writes, ...this.#reads].reduce((sum, { statements }) => sum + statements, 0),
    }
  }

  /** Waits for the statements under way, up to the timeout, and closes all connections. May be called again. */
  end(): Promise<unknown> {
    const late = () => delay(this.#timeout, undefined, { ref: false })
    return (this.#ended ??= Promise.race([Promise.all(this.#all.map((connection) => connection.end())), late()]))
  }

  #forRead(): Connection {
    const usable = this.#reads.filter(({ state }) => state !== 'given up')
    return usable.sort((one, two) => one.statements - two.statements)[0] ?? this.#forWrite()
  }

  #forWrite(): Connection {
    return this.#writes.find(({ state }) => state !== 'given up') ?? this.#writes[0]
  }

  #free(): Connection | undefined {
    return this.#transactions.find(({ state }) => state === 'idle' || state === 'closed')
  }

  async #reserve(latest: number): Promise<Connection> {
    for (;;) {
      const connection = this.#free()
      if (connection !== undefined) {
        connection.isReserved = true
        return connection
      }
      if (performance.now() > latest) throw new NoConnection(new Error('there is no connection in time'))
      await delay(10)
    }
  }

  async #isRunning({ pid, started }: Backend): Promise<boolean> {
    if (this.#ended) return false
    const text = 'SELECT FROM pg_stat_activity WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2'
    const connection = (this.#reads.length === 0 ? this.#free() : undefined) ?? this.#forRead()
    return (await connection.query(text, [pid, started], this.#timeout)).rowCount === 1
  }

  async #retry<Value>(kind: 'read' | 'write', timeout: number, attempt: (timeout: number) => Promise<Value>) {
    if (this.#ended) throw new StoreUnavailable('the store is closed')
    const end = performance.now() + timeout
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(Math.max(1, end - performance.now()))
      } catch (error) {
        if (tries >= TRIES[kind][classify(error)] || performance.now() >= end) return translate(error)
        await delay(Math.random() * 50 * tries)
      }
    }
  }
}
