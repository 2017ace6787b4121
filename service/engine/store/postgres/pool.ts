import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StoreUnavailable } from '../../errors.ts'
import type { Figures, Limits } from '../store.ts'
import type { Row } from '../tokens.ts'
import { classify, type Kind, NoConnection, repeat } from './errors.ts'
import { watchNetwork } from './network.ts'
import { END_IDLE, KEEP_ALIVE_DELAY, Session } from './session.ts'

/** What a statement gave: its rows, and how many rows it returned or wrote. */
type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

/**
 * Runs one SQL statement.
 * @param name of a prepared statement. The server parses and plans it once for each connection, and never plans it anew: use
 * a name only if the primary key is the only sensible plan, however large the table is.
 * @param timeout milliseconds until it fails, repetitions included; `DATABASE_TIMEOUT` if absent
 */
export type Query = (text: string, values?: unknown[], name?: string, timeout?: number) => Promise<Result>

/** A statement, as `Query` runs it. */
type Statement = Readonly<{ kind: Kind; text: string; values?: unknown[] | undefined; name?: string | undefined }>

/** Milliseconds for a connection to open: longer than the server's own limit (`authentication_timeout`). */
const START_TIMEOUT = 120_000
/** Multiples of `timeout` after which an answer may be lost. */
const LIMIT = 2
/** Milliseconds after which the server is asked again what it still has. */
const ASK_INTERVAL = 100

/**
 * The connections to PostgreSQL, each for one statement at a time. Every wait has a bound. A statement that takes too long
 * fails, but keeps its connection until the server or TCP lets go of it, so the server never has more connections than
 * `DATABASE_POOL_SIZE`. Errors that may be temporary become StoreUnavailable.
 */
export class Pool {
  /** Milliseconds for an operation. */
  readonly timeout: number
  readonly #size: number
  /** Writes never take all connections, because they may wait for a standby. */
  readonly #writes: number
  readonly #pool: pg.Pool
  /** The sessions that are starting, open or closing. */
  readonly #sessions = new Set<Session>()
  /** The server processes of closed sessions, until the server says that they have ended; and what they were asked. */
  readonly #lost = new Map<string, Session['waitsFor']>()
  /** What begins the statements that wait for a connection. */
  readonly #waiting = new Map<() => void, Kind>()
  readonly #used = { read: 0, write: 0 }
  readonly #watch: NodeJS.Timeout
  #isAsking = false
  #ended: Promise<void> | undefined

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {Error} if the URL is not valid
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Limits) {
    const address = new URL(url)
    // `sslmode` must mean the same as in libpq.
    if (!address.searchParams.has('uselibpqcompat')) address.searchParams.set('uselibpqcompat', 'true')
    const timeout = DATABASE_TIMEOUT * 1000
    this.timeout = timeout
    this.#size = DATABASE_POOL_SIZE
    this.#writes = DATABASE_POOL_SIZE > 2 ? 2 : 1
    const add = (session: Session) => this.#add(session)
    this.#pool = new pg.Pool({
      connectionString: address.href,
      max: DATABASE_POOL_SIZE,
      idleTimeoutMillis: 0,
      connectionTimeoutMillis: START_TIMEOUT,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY * 1000,
      Client: class extends Session {
        constructor(config?: pg.ClientConfig) {
          super(config)
          add(this)
        }
      },
      onConnect: (session) => (session instanceof Session ? session.setUp(timeout) : undefined),
    })
    this.#pool.on('error', () => undefined) // an unused connection was closed
    // Without another connection the server can't be asked whether a write still waits for a standby.
    const limitOf = ({ backend, waitsFor }: Session) =>
      backend === undefined || (DATABASE_POOL_SIZE === 1 && waitsFor === 'write') ? Infinity : LIMIT * timeout
    this.#watch = watchNetwork(this.#sessions, limitOf)
  }

  /** Runs a statement that changes nothing. */
  readonly read: Query = (text, values, name, timeout) => this.#run({ kind: 'read', text, values, name }, timeout)

  /** Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or not. */
  readonly write: Query = (text, values, name, timeout) => this.#run({ kind: 'write', text, values, name }, timeout)

  /** How many reads can run beside as many writes as there may be. */
  get parallelReads(): number {
    return Math.max(1, this.#size - this.#writes)
  }

  get figures(): NonNullable<Figures['pool']> {
    const idle = this.#pool.idleCount
    const sessions = [...this.#sessions]
    const late = performance.now() - this.timeout
    return {
      size: this.#size,
      used: this.#pool.totalCount - idle,
      idle,
      givenUp: this.#lost.size + sessions.filter((each) => each.isSilentSince(late)).length,
      statements: sessions.filter(({ waitsFor }) => waitsFor === 'read' || waitsFor === 'write').length,
      waiting: this.#waiting.size,
    }
  }

  /** Waits for the statements under way, up to the timeout, and closes all connections. May be called again. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  async #end(): Promise<void> {
    clearInterval(this.#watch)
    const closed = [...this.#sessions].map((session) => new Promise((resolve) => session.once('end', resolve)))
    const late = delay(this.timeout, undefined, { ref: false })
    await Promise.race([Promise.all([this.#pool.end(), ...closed]), late])
    for (const session of this.#sessions) session.close()
  }

  #run(statement: Statement, timeout = this.timeout): Promise<Result> {
    if (this.#ended) throw new StoreUnavailable('the store is closed')
    return repeat(statement.kind, performance.now() + timeout, (end) => this.#runOnce(statement, end))
  }

  /** Runs a statement when it has a connection. @param end when it fails, on the clock of `performance.now()` */
  #runOnce(statement: Statement, end: number): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const fail = () => {
      const isWaiting = this.#waiting.delete(begin)
      reject(isWaiting ? new NoConnection('no connection is free in time') : new Error('the server does not answer'))
    }
    const timer = setTimeout(fail, Math.max(1, end - performance.now()))
    const begin = () => {
      this.#waiting.delete(begin)
      this.#used[statement.kind] += 1
      const sent = this.#send(statement, end).then(resolve, reject)
      void sent.then(() => {
        clearTimeout(timer)
        this.#used[statement.kind] -= 1
        this.#beginNext()
      })
    }
    this.#waiting.set(begin, statement.kind)
    this.#beginNext()
    return promise
  }

  /** Begins the statements for which there are connections. */
  #beginNext(): void {
    for (const [begin, kind] of this.#waiting) {
      // However many are lost, one connection is left to ask for them.
      const lost = Math.min(this.#lost.size, this.#size - 1)
      if (this.#used.read + this.#used.write + lost >= this.#size) return
      const lostWrites = [...this.#lost.values()].filter((each) => each === 'write').length
      if (kind === 'read' || this.#used.write + lostWrites < this.#writes) begin()
    }
  }

  async #send({ kind, text, values, name }: Statement, end: number): Promise<Result> {
    const session = await this.#pool.connect().catch((error: unknown) => {
      throw new NoConnection(error)
    })
    if (performance.now() >= end || !(session instanceof Session)) {
      session.release()
      throw new NoConnection('the connection was opened too late')
    }
    session.ask(kind)
    try {
      const isNamed = name !== undefined && session.backend !== undefined
      const result = await session.query<Row>({ ...(isNamed && { name }), text, ...(values && { values }) })
      if (session.isUnsafe) throw new Error('the wait for a synchronous standby was cancelled')
      session.waitsFor = undefined
      session.release()
      return result
    } catch (error) {
      const isBroken = /unknown|unprepared/.test(classify(error))
      if (isBroken) this.#lose(session)
      else session.waitsFor = undefined
      session.release(isBroken)
      throw error
    }
  }

  #add(session: Session): void {
    this.#sessions.add(session)
    session.once('end', () => {
      this.#sessions.delete(session)
      this.#lose(session)
    })
  }

  /** The server may not notice that its client has gone, for example while it waits for a lock or a standby. */
  #lose({ backend, waitsFor }: Session): void {
    if (backend === undefined) return
    this.#lost.set(backend, waitsFor)
    if (!this.#isAsking) void this.#askForLost()
  }

  /** Asks the server which of the lost processes it still has, until it has none. */
  async #askForLost(): Promise<void> {
    this.#isAsking = true
    while (this.#lost.size > 0 && !this.#ended) {
      const values = [[...this.#lost.keys()]]
      const asked = this.#runOnce({ kind: 'read', text: END_IDLE, values }, performance.now() + this.timeout)
      const found = await asked.catch(() => undefined)
      const backends = new Set(found?.rows.map(({ backend }) => backend) ?? values[0])
      for (const backend of values.flat()) if (!backends.has(backend)) this.#lost.delete(backend)
      this.#beginNext()
      await delay(ASK_INTERVAL, undefined, { ref: false })
    }
    this.#isAsking = false
  }
}
