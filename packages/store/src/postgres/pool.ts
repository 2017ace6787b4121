// The connections to PostgreSQL, each for one statement at a time. The rules:
//
// 1. A caller has an answer by its deadline, whatever its connection does: StoreUnavailable, 503.
// 2. If a statement has no answer, its connection is closed, and never used again. Its server
//    process may live on, for example while it waits for a standby: it is lost.
// 3. With more lost processes than a pool may have connections, the pool opens none. So the server
//    never has more than twice as many processes of a pool as it may have connections, besides
//    those it lets in at a start.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import {
  reasonOf,
  type Settings,
  type StoreEvents,
  type StoreStats,
  StoreUnavailable,
} from '@plant-store/engine/for-store'
import { readAddress } from './address.ts'
import { type Dialect, DialectReader } from './dialect.ts'
import type { Calls, Cells } from './pipeline.ts'
import {
  classify,
  isUnprepared,
  isUnsupported,
  type StatementKind,
  NoConnection,
  repeat,
} from './retries.ts'
import {
  type Result,
  type Run,
  runEach,
  runQuery,
  runTogether,
  runUnbounded,
  runUndone,
  type Together,
} from './run.ts'
import { Session, type SessionConfig, type SetUp } from './session.ts'

/**
 * Runs one SQL statement.
 * @param timeout milliseconds until it fails, repetitions included; `DATABASE_TIMEOUT` if absent
 */
export type Query = (text: string, values?: unknown[], timeout?: number) => Promise<Result>

/**
 * Runs a statement once for each row of parameters, in one transaction. The server parses and plans
 * it once for each connection, and never plans it anew: the primary key must be the only sensible
 * plan, however large the table is.
 * @param timeout milliseconds until it fails, repetitions included
 * @returns the rows for each row of parameters
 */
export type QueryEach = (calls: Calls, timeout: number) => Promise<Cells[][]>

/**
 * Milliseconds for a connection to open. A server that lets nobody in ends a start after a minute
 * (`authentication_timeout`). With more than half a minute here, it never has more than two for
 * each connection.
 */
const START_TIMEOUT = 35_000
/** Milliseconds of silence after which TCP asks whether the server is there. */
const KEEP_ALIVE_DELAY = 10_000

/** In milliseconds. */
const DAY = 86_400_000

/** Begins a transaction whose statements see one moment. */
const BEGIN_READS = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/** Runs statements. Errors become StoreUnavailable if they may be temporary. */
export class Pool {
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Whether, by the URL, a pooler keeps each owner on one of several servers. */
  readonly isSharded: boolean
  /** The number of reads that can run beside the most writes. */
  readonly parallelReads: number
  /** The number of writes that can run at a time. */
  readonly parallelWrites: number
  /**
   * Other connections than for reads, because writes may wait for a standby. A pool of one
   * connection is for both.
   */
  readonly #reads: pg.Pool
  readonly #writes: pg.Pool
  readonly #log: Pick<StoreEvents['log'], 'error'> | undefined
  readonly #dialects = new DialectReader()
  #ended: Promise<void> | undefined
  /**
   * Statements unsupported by the server. If one succeeds later, the reason was something else,
   * such as a trigger.
   */
  readonly #unsupported = new Map<string, StoreUnavailable>()
  /** The logged ones of them. */
  readonly #logged = new Set<string>()

  /**
   * @param url in libpq's format
   * @param log gets the SQL of unsupported statements
   * @throws {Error} if the URL can't be used
   */
  constructor(
    url: string,
    { DATABASE_POOL_SIZE, DATABASE_TIMEOUT, DATABASE_PASSWORD_FILE }: Settings,
    log?: Pick<StoreEvents['log'], 'error'>,
  ) {
    const { client, hosts, isBound, isSharded, mostConnections } = readAddress(url)
    const address = { ...client, hosts, isBound, passwordFile: DATABASE_PASSWORD_FILE }
    const size = Math.min(DATABASE_POOL_SIZE, mostConnections)
    this.isSharded = isSharded
    this.timeout = DATABASE_TIMEOUT * 1000
    this.#log = log
    const isShared = size === 1
    const writes = Math.max(size > 2 ? 2 : 1, Math.floor(size / 2))
    this.parallelReads = isShared ? 1 : size - writes
    this.parallelWrites = writes
    const { timeout } = this
    const dialects = this.#dialects
    this.#writes = openPool(address, writes, { timeout, dialects })
    this.#reads = isShared
      ? this.#writes
      : openPool(address, this.parallelReads, { timeout, dialects })
  }

  /** Runs a statement that changes nothing. */
  readonly read: Query = (text, values = [], timeout) =>
    this.#run('read', text, (session) => runQuery(session, text, values, timeout), timeout)

  /**
   * Runs a statement that writes. It is done at most once. After StoreUnavailable it may be done or
   * not.
   */
  readonly write: Query = (text, values = [], timeout) =>
    this.#run('write', text, (session) => runQuery(session, text, values, timeout), timeout)

  /** Runs a statement that may take hours, and waits for locks as long. */
  readonly runLong = (text: string): Promise<Result> =>
    this.#run('write', text, (session) => runUnbounded(session, text, DAY), DAY)

  readonly readEach: QueryEach = (calls, timeout) =>
    this.#run('read', textOf(calls), (session) => runEach(session, calls), timeout)

  /**
   * Runs a statement that writes, and undoes it: nobody sees its rows, and it waits for no standby.
   */
  readonly tryEach: QueryEach = (calls, timeout) =>
    this.#run('read', textOf(calls), (session) => runUndone(session, calls), timeout)

  readonly writeEach: QueryEach = (calls, timeout) =>
    this.#run('write', textOf(calls), (session) => runEach(session, calls), timeout)

  /** Runs statements that see one moment. @param isApart whether each is sent by itself */
  readTogether(calls: Calls, timeout: number, isApart: boolean): Promise<Cells[][]> {
    const options = { isApart, begin: BEGIN_READS }
    return this.#run(
      'read',
      textOf(calls),
      (session) => runTogether(session, calls, options),
      timeout,
    )
  }

  /** Runs statements in a transaction. */
  writeTogether(
    calls: Calls,
    timeout: number,
    options: Omit<Together, 'begin'>,
  ): Promise<Cells[][]> {
    const together = { ...options, begin: 'BEGIN' }
    return this.#run(
      'write',
      textOf(calls),
      (session) => runTogether(session, calls, together),
      timeout,
    )
  }

  /** @throws {StoreUnavailable} if the server has refused a statement as unsupported */
  assertSupported(): void {
    for (const unsupported of this.#unsupported.values()) throw unsupported
  }

  /** @throws {Error} before the first statement has run */
  get dialect(): Dialect {
    return this.#dialects.current
  }

  get stats(): NonNullable<StoreStats['pool']> {
    const stats = { size: 0, used: 0, idle: 0, waiting: 0 }
    for (const pool of this.#pools) {
      stats.size += pool.options.max
      stats.used += pool.totalCount - pool.idleCount
      stats.idle += pool.idleCount
      stats.waiting += pool.waitingCount
    }
    return stats
  }

  /**
   * Waits for the statements under way, up to the timeout, and closes all connections. May be
   * called again.
   */
  end(): Promise<void> {
    return (this.#ended ??= this.#end())
  }

  get #pools(): pg.Pool[] {
    return [...new Set([this.#reads, this.#writes])]
  }

  async #end(): Promise<void> {
    const ended = Promise.all(this.#pools.map((pool) => pool.end()))
    await Promise.race([ended, delay(this.timeout, undefined, { ref: false })])
  }

  async #run<Value>(
    kind: StatementKind,
    text: string,
    run: Run<Value>,
    timeout = this.timeout,
  ): Promise<Value> {
    if (this.#ended) throw new StoreUnavailable('the store is closed')
    const deadline = performance.now() + timeout
    try {
      const result = await repeat(kind, deadline, () =>
        inTime(deadline, this.#runOnce(kind, run, deadline)),
      )
      this.#unsupported.delete(text)
      return result
    } catch (error) {
      if (isUnsupported(error)) this.#noteUnsupported(text, error)
      throw error
    }
  }

  #noteUnsupported(statement: string, error: unknown): void {
    const message = `the server does not support a statement: ${reasonOf(error)}`
    this.#unsupported.set(statement, new StoreUnavailable(message, { cause: error }))
    if (this.#logged.has(statement)) return
    this.#logged.add(statement)
    this.#log?.error({ err: error, statement }, 'the server does not support a statement')
  }

  /**
   * Runs a statement when it has a connection. @param deadline after which it is not sent, on the
   * clock of `performance.now()`
   */
  async #runOnce<Value>(kind: StatementKind, run: Run<Value>, deadline: number): Promise<Value> {
    const session = await this.#connect(kind, deadline)
    let isBroken = false
    try {
      const result = await run(session)
      if (session.isUnsafe) throw new Error('the wait for a synchronous standby was cancelled')
      return result
    } catch (error) {
      isBroken = classify(error) === 'unknown' || isUnprepared(error)
      throw error
    } finally {
      session.release(isBroken)
    }
  }

  /** Waits for a free connection. @throws {NoConnection} if there is none in time */
  async #connect(kind: StatementKind, deadline: number): Promise<PooledSession> {
    const pool = kind === 'write' ? this.#writes : this.#reads
    const session = await pool.connect().catch((error: unknown) => {
      throw new NoConnection(error)
    })
    if (session instanceof Session && performance.now() < deadline) return session
    session.release()
    throw new NoConnection('no connection was free in time')
  }
}

type PooledSession = pg.PoolClient & Session

/** The text of the first statement. */
function textOf({ steps }: Calls): string {
  return steps[0]?.statement.text ?? ''
}

/** @param options with the milliseconds for a statement, from when it is sent */
function openPool(
  address: SessionConfig,
  max: number,
  options: Pick<SetUp, 'timeout' | 'dialects'>,
): pg.Pool {
  const lost = new Set<string>()
  const setUp = { ...options, lost, mostLost: max }
  const pool = new pg.Pool({
    ...address,
    max,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: START_TIMEOUT,
    query_timeout: options.timeout,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
    Client: Session,
    onConnect: (session) => (session instanceof Session ? session.setUp(setUp) : undefined),
  })
  pool.on('error', () => undefined) // an unused connection was closed
  pool.on('remove', (session) => {
    if (session instanceof Session && session.backend !== undefined) lost.add(session.backend)
  })
  return pool
}

/**
 * Rule 1. @param deadline on the clock of `performance.now()` @throws {Error} if it passes first
 */
async function inTime<Value>(deadline: number, value: Promise<Value>): Promise<Value> {
  const { promise, reject } = Promise.withResolvers<never>()
  const fail = () => reject(new Error('the server does not answer'))
  const timer = setTimeout(fail, Math.max(1, deadline - performance.now()))
  return Promise.race([value, promise]).finally(() => clearTimeout(timer))
}
