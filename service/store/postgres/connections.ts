import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Row } from '../rows.ts'
import type { Limits } from '../store.ts'
import { Connection, SharedConnection } from './connection.ts'
import { faultOf, translate } from './errors.ts'
import { type Backend, Pool } from './pool.ts'

/** Runs one SQL statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<readonly Row[]>

/** A connection that is not shared. */
export interface Session {
  readonly query: Query
  readonly close: () => void
}

/** How often a statement is tried, by what an error says about it. */
const TRIES = {
  read: { unsent: 2, unknown: 2, conflict: 5, refused: 1, other: 1 },
  write: { unsent: 2, unknown: 1, conflict: 5, refused: 1, other: 1 },
}

/** The connections to PostgreSQL. Every wait has a bound. Errors that may be temporary become StoreUnavailable. */
export class Connections {
  readonly #timeout: number
  /** Only for writes: what is sent behind a write waits for its commit. */
  readonly #writes: SharedConnection
  readonly #reads: readonly SharedConnection[]
  readonly #sessions: Pool
  /** For questions about connections that were given up, if there is none for reads. */
  readonly #questions: SharedConnection | undefined
  #ended: Promise<unknown> | undefined

  /**
   * @param url as libpq has it: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @param maxSessions the most at a time, beside `DATABASE_POOL_SIZE`
   * @throws {Error} if the URL is not valid
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits, maxSessions: number) {
    const address = new URL(url)
    // Gives `sslmode` its meaning in libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    new pg.Client(address.href) // throws now what the pool would throw when it connects
    const timeout = DATABASE_TIMEOUT * 1000
    const options = { url: address.href, timeout, askState: (backend: Backend) => this.#askState(backend) }
    this.#timeout = timeout
    // When the connection for writes is given up there is a place for another one.
    const places = DATABASE_POOL_SIZE > 2 ? 2 : 1
    const reads = () => new Pool({ ...options, max: 1, kind: 'reads' })
    this.#writes = new SharedConnection(new Pool({ ...options, max: places, kind: 'writes' }))
    this.#reads = Array.from({ length: DATABASE_POOL_SIZE - places }, () => new SharedConnection(reads()))
    this.#sessions = new Pool({ ...options, max: maxSessions, kind: 'snapshots' })
    this.#questions = DATABASE_POOL_SIZE === 1 ? new SharedConnection(this.#sessions) : undefined
  }

  /** Runs a statement that changes nothing. */
  read(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#retry('read', this.#timeout, (timeout) => this.#leastUsed().query(text, values, timeout))
  }

  /** Runs a statement that writes, at most once. If it fails with StoreUnavailable, it may be done or not. */
  write(text: string, values: readonly unknown[] = [], timeout = this.#timeout): Promise<readonly Row[]> {
    return this.#retry('write', timeout, (timeout) => this.#writes.query(text, values, timeout))
  }

  /** Begins a transaction on a connection of its own. @param begin the statements that begin it, and change nothing */
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

  /** How many reads are carried out at a time, each on a connection of its own. */
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

  /** Waits for the statements under way, with a bound, and closes all connections. May be called again. */
  end(): Promise<unknown> {
    const pools = [this.#sessions, this.#writes.pool, ...this.#reads.map(({ pool }) => pool)]
    const late = () => delay(this.#timeout, undefined, { ref: false })
    return (this.#ended ??= Promise.race([Promise.all(pools.map((pool) => pool.end())), late()]))
  }

  async #askState({ pid, started }: Backend): Promise<string | undefined> {
    const text = 'SELECT state FROM pg_stat_activity WHERE pid = $1 AND extract(epoch FROM backend_start)::text = $2'
    const [row] = await (this.#questions ?? this.#leastUsed()).query(text, [pid, started], this.#timeout)
    return row && String(row['state'])
  }

  /** The connection for the next read. */
  #leastUsed(): SharedConnection {
    const usable = this.#reads.filter(({ pool }) => pool.hasPlace)
    return usable.sort((one, two) => one.statements - two.statements)[0] ?? this.#writes
  }

  async #retry<Value>(kind: 'read' | 'write', timeout: number, attempt: (timeout: number) => Promise<Value>) {
    const end = performance.now() + timeout
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(Math.max(1, end - performance.now()))
      } catch (error) {
        if (tries >= TRIES[kind][faultOf(error)] || performance.now() >= end) return translate(error)
        await delay(Math.random() * 50 * tries)
      }
    }
  }
}
