import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Row } from '../rows.ts'
import type { Limits } from '../store.ts'
import { Connection, SharedConnection } from './connection.ts'
import { classify, translate } from './errors.ts'
import { type Backend, Pool } from './pool.ts'

/** Runs one SQL statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** A connection that is not shared. */
export interface Session {
  readonly query: Query
  readonly close: () => void
}

/** The most attempts to run a statement, by its kind and its fault. */
const TRIES = {
  read: { unsent: 2, unknown: 2, conflict: 5, refused: 1, other: 1 },
  write: { unsent: 2, unknown: 1, conflict: 5, refused: 1, other: 1 },
}

/** The connections to PostgreSQL. Every wait has a bound. Errors that may be temporary become StoreUnavailable. */
export class Connections {
  readonly #timeout: number
  /** Only for writes: a read on this connection would wait for their commits. */
  readonly #writes: SharedConnection
  readonly #reads: readonly SharedConnection[]
  readonly #sessions: Pool
  /** Asks about connections that were given up, if there is no connection for reads. */
  readonly #observer: SharedConnection | undefined
  #ended: Promise<unknown> | undefined

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @param maxSessions the most sessions at a time, in addition to `DATABASE_POOL_SIZE`
   * @throws {Error} if the URL is not valid
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits, maxSessions: number) {
    const address = new URL(url)
    // `sslmode` must mean the same as in libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    new pg.Client(address.href) // reports a bad URL now, not at the first connect
    const timeout = DATABASE_TIMEOUT * 1000
    const options = { url: address.href, timeout, askState: (backend: Backend) => this.#askState(backend) }
    this.#timeout = timeout
    // If the connection for writes is given up, a second one takes its place.
    const maxWrites = DATABASE_POOL_SIZE > 2 ? 2 : 1
    const reads = () => new Pool({ ...options, max: 1, kind: 'reads' })
    this.#writes = new SharedConnection(new Pool({ ...options, max: maxWrites, kind: 'writes' }))
    this.#reads = Array.from({ length: DATABASE_POOL_SIZE - maxWrites }, () => new SharedConnection(reads()))
    this.#sessions = new Pool({ ...options, max: maxSessions, kind: 'snapshots' })
    this.#observer = DATABASE_POOL_SIZE === 1 ? new SharedConnection(this.#sessions) : undefined
  }

  /** Runs a statement that changes nothing. */
  read(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#retry('read', this.#timeout, (timeout) => this.#leastUsed().query(text, values, timeout))
  }

  /** Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or not. */
  write(text: string, values: readonly unknown[] = [], timeout = this.#timeout): Promise<readonly Row[]> {
    return this.#retry('write', timeout, (timeout) => this.#writes.query(text, values, timeout))
  }

  /** Begins a transaction on a separate connection. @param begin the statements that begin it; they must change nothing */
  session(begin: string): Promise<Session> {
    return this.#retry('read', this.#timeout, async (timeout) => {
      const connection = new Connection(this.#sessions)
      await connection.query(begin, [], timeout).catch((error: unknown) => {
        connection.close(true)
        throw error
      })
      return {
        query: (text, values = []) => connection.query(text, values, this.#timeout).catch(translate),
        close: () => connection.close(),
      }
    })
  }

  /** How many reads can run at the same time, each on its own connection. */
  get parallelReads(): number {
    return Math.max(1, this.#reads.length)
  }

  /** The sums of the figures of all pools, and how many statements are under way. */
  get figures() {
    const shared = [this.#writes, ...this.#reads]
    const pools = [this.#sessions, ...shared.map(({ pool }) => pool)].map(({ figures }) => figures)
    const sum = (name: keyof Pool['figures']) => pools.reduce((sum, figures) => sum + figures[name], 0)
    const statements = shared.reduce((sum, each) => sum + each.statements, 0)
    return { size: sum('size'), used: sum('used'), idle: sum('idle'), givenUp: sum('givenUp'), statements }
  }

  /** Waits for the statements under way, up to the timeout, and closes all connections. May be called again. */
  end(): Promise<unknown> {
    const pools = [this.#sessions, this.#writes.pool, ...this.#reads.map(({ pool }) => pool)]
    const late = () => delay(this.#timeout, undefined, { ref: false })
    return (this.#ended ??= Promise.race([Promise.all(pools.map((pool) => pool.end())), late()]))
  }

  async #askState({ pid, started }: Backend): Promise<string | undefined> {
    const text = 'SELECT state FROM pg_stat_activity WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2'
    const [row] = await (this.#observer ?? this.#leastUsed()).query(text, [pid, started], this.#timeout)
    return row && String(row['state'])
  }

  /** The connection for the next read. */
  #leastUsed(): SharedConnection {
    const usable = this.#reads.filter(({ pool }) => pool.hasRoom)
    return usable.sort((one, two) => one.statements - two.statements)[0] ?? this.#writes
  }

  async #retry<Value>(kind: 'read' | 'write', timeout: number, attempt: (timeout: number) => Promise<Value>) {
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
