import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { StoreUnavailable } from '../../errors.ts'
import type { Figures, Settings } from '../store.ts'
import type { Row } from '../tokens.ts'
import { readAddress } from './address.ts'
import { classify, isUnprepared, type Kind, NoConnection, repeat } from './errors.ts'
import { watchNetwork } from './network.ts'
import { END_LOST, KEEP_ALIVE_DELAY, Session, START_TIMEOUT } from './session.ts'

/** The result of a statement: its rows, and how many rows it returned or wrote. */
type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

/**
 * Runs one SQL statement.
 * @param name of a prepared statement. The server parses and plans it once for each connection, and never plans it anew: use
 * a name only if the primary key is the only sensible plan, however large the table is.
 * @param timeout milliseconds until it fails, repetitions included; `DATABASE_TIMEOUT` if absent
 */
export type Query = (
  text: string,
  values?: unknown[],
  name?: string,
  timeout?: number,
) => Promise<Result>

/** The silence of a session after which its answer may be lost, in multiples of `timeout`. */
const MAX_SILENCE = 2
/** Milliseconds after which the server is asked what it still has: longer than it takes to notice a closed connection. */
const ASK_INTERVAL = 100

/**
 * The connections to PostgreSQL, each for one statement at a time. Every wait has a bound. A statement that takes too long
 * fails, but keeps its connection until the server or TCP lets go of it. A connection that was lost keeps its place until the
 * server says that it has ended. Errors that may be temporary become StoreUnavailable.
 */
export class Pool {
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** How many reads can run beside as many writes as there may be. */
  readonly parallelReads: number
  readonly #size: number
  /** Writes never take all connections, because they may wait for a standby. */
  readonly #writes: number
  readonly #pool: pg.Pool
  /** The sessions that are starting, open or closing. */
  readonly #sessions = new Set<Session>()
  /** What the server processes of closed sessions were asked, until the server says that they have ended. */
  readonly #lost = new Map<string, Session['waitsFor']>()
  /** The statements that wait for a connection: the function that begins each. */
  #waiting = new Map<() => void, Kind>()
  readonly #used = { ask: 0, read: 0, write: 0 }
  readonly #watch: NodeJS.Timeout
  #fault: unknown = 'no connection is free in time' // why none is free
  #ended: Promise<void> | undefined

  /**
   * @param url in libpq's format
   * @throws {Error} if the URL can't be used
   */
  constructor(url: string, { DATABASE_POOL_SIZE, DATABASE_TIMEOUT }: Settings) {
    const address = readAddress(url)
    const timeout = DATABASE_TIMEOUT * 1000
    this.timeout = timeout
    this.#size = DATABASE_POOL_SIZE
    this.#writes = DATABASE_POOL_SIZE > 2 ? 2 : 1
    this.parallelReads = Math.max(1, DATABASE_POOL_SIZE - this.#writes)
    const add = (session: Session) => this.#add(session)
    this.#pool = new pg.Pool({
      ...address,
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
      backend === undefined || (DATABASE_POOL_SIZE === 1 && waitsFor === 'write')
        ? Infinity
        : MAX_SILENCE * timeout
    this.#watch = watchNetwork(this.#sessions, limitOf)
  }

  /** Runs a statement that changes nothing. */
  readonly read: Query = (text, values = [], name, timeout) =>
    this.#run('read', { text, values, name }, timeout)

  /** Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or not. */
  readonly write: Query = (text, values = [], name, timeout) =>
    this.#run('write', { text, values, name }, timeout)

  get figures(): NonNullable<Figures['pool']> {
    const idle = this.#pool.idleCount
    const sessions = [...this.#sessions]
    const since = performance.now() - this.timeout
    return {
      size: this.#size,
      used: this.#pool.totalCount - idle,
      idle,
      givenUp: this.#lost.size + sessions.filter((each) => each.isSilentSince(since)).length,
      statements: sessions.filter(({ waitsFor }) => waitsFor === 'read' || waitsFor === 'write')
        .length,
      waiting: this.#waiting.size,
    }
  }

  /** Waits for the statements under way, up to the timeout, and closes all connections. May be called again. */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  async #end(): Promise<void> {
    clearInterval(this.#watch)
    const closed = [...this.#sessions].map(
      (session) => new Promise((resolve) => session.once('end', resolve)),
    )
    const timeout = delay(this.timeout, undefined, { ref: false })
    await Promise.race([Promise.all([this.#pool.end(), ...closed]), timeout])
    for (const session of this.#sessions) session.close()
  }

  #run(kind: Kind, statement: pg.QueryConfig, timeout = this.timeout): Promise<Result> {
    if (this.#ended) throw new StoreUnavailable('the store is closed')
    const deadline = performance.now() + timeout
    return repeat(kind, deadline, () => this.#runOnce(kind, statement, deadline))
  }

  /** Runs a statement when it has a connection. @param deadline when it fails, on the clock of `performance.now()` */
  #runOnce(kind: Kind, statement: pg.QueryConfig, deadline: number): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const fail = () => {
      const isWaiting = this.#waiting.delete(begin)
      reject(isWaiting ? new NoConnection(this.#fault) : new Error('the server does not answer'))
    }
    const timer = setTimeout(fail, Math.max(1, deadline - performance.now()))
    const begin = () => {
      this.#waiting.delete(begin)
      this.#used[kind] += 1
      const sent = this.#send(kind, statement, deadline).then(resolve, reject)
      void sent.then(() => {
        clearTimeout(timer)
        this.#used[kind] -= 1
        this.#beginNext()
      })
    }
    if (kind === 'ask') this.#waiting = new Map([[begin, kind], ...this.#waiting])
    else this.#waiting.set(begin, kind)
    this.#beginNext()
    return promise
  }

  /** Begins the statements for which there are connections. */
  #beginNext(): void {
    for (const [begin, kind] of this.#waiting) {
      // However many processes are lost, one connection is left to ask about them.
      const lost = kind === 'ask' ? Math.min(this.#lost.size, this.#size - 1) : this.#lost.size
      if (this.#used.ask + this.#used.read + this.#used.write + lost >= this.#size) continue
      const lostWrites = [...this.#lost.values()].filter((each) => each === 'write').length
      if (kind !== 'write' || this.#used.write + lostWrites < this.#writes) begin()
    }
  }

  async #send(kind: Kind, statement: pg.QueryConfig, deadline: number): Promise<Result> {
    const session = await this.#pool.connect().catch((error: unknown) => {
      throw new NoConnection(error)
    })
    if (performance.now() >= deadline || !(session instanceof Session)) {
      session.release()
      throw new NoConnection('the connection was opened too late')
    }
    session.ask(kind)
    let isBroken = false
    try {
      const { text, values } = statement
      const result = await session.query<Row>(
        session.backend === undefined ? { text, values } : statement,
      )
      if (session.isUnsafe) throw new Error('the wait for a synchronous standby was cancelled')
      return result
    } catch (error) {
      isBroken = classify(error) === 'unknown' || isUnprepared(error)
      throw error
    } finally {
      if (isBroken) this.#lose(session)
      else session.waitsFor = undefined
      session.release(isBroken)
    }
  }

  #add(session: Session): void {
    this.#sessions.add(session)
    session.once('end', () => {
      this.#sessions.delete(session)
      this.#lose(session)
    })
  }

  /** The server may not notice that its client has gone, for example while it waits for a standby. */
  #lose({ backend, waitsFor }: Session): void {
    if (backend === undefined) return
    const isFirst = this.#lost.size === 0
    this.#lost.set(backend, waitsFor)
    if (isFirst) void this.#askForLost()
  }

  /** Asks the server which of the lost processes it still has, until it has none. TCP may take a quarter of an hour. */
  async #askForLost(): Promise<void> {
    while (this.#lost.size > 0 && !this.#ended) {
      await delay(ASK_INTERVAL, undefined, { ref: false })
      const lost = [...this.#lost.keys()]
      const asked = this.#runOnce(
        'ask',
        { text: END_LOST, values: [lost] },
        performance.now() + this.timeout,
      )
      const found = await asked.catch((error: unknown) => {
        this.#fault = error
      })
      const there = found?.rows.map(({ backend }) => backend) ?? lost
      for (const backend of lost) if (!there.includes(backend)) this.#lost.delete(backend)
      this.#beginNext()
    }
    this.#fault = 'no connection is free in time'
  }
}
