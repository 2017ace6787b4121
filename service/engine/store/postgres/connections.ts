import pg from 'pg'
import type { Row } from '../tokens.ts'
import { classify, NoConnection } from './errors.ts'
import { SERVER_IDLE_TIMEOUT, Session } from './session.ts'

/** Milliseconds for a connection to open: longer than the server's own limit (`authentication_timeout`). */
const START_TIMEOUT = 120_000
/** Multiples of `timeout` after which an unused connection is closed: before the server closes it. */
const IDLE_TIMEOUT = SERVER_IDLE_TIMEOUT / 2

/** What a statement gave: its rows, and how many rows it returned or wrote. */
export type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

/** A statement. The server parses and plans one with a name once for each connection: see `Query`. */
export interface Statement {
  readonly kind: 'read' | 'write'
  readonly text: string
  readonly values?: unknown[]
  readonly name?: string | undefined
}

/**
 * The connections for one kind of statements, each for one statement at a time. A statement that takes too long fails, but
 * keeps its connection until the server or TCP lets go of it: so the server never has more connections than `size`.
 */
export class Connections {
  /** The sessions that are starting, open or closing. */
  readonly sessions = new Set<Session>()
  readonly #pool: pg.Pool
  readonly #size: number
  /** The processes that the server may still have, though the network lost their connections. */
  readonly #lost = new Set<string>()
  /** Statements that wait for a connection. */
  readonly #waiting = new Set<() => void>()
  #used = 0
  #late = 0
  #sent = 0

  /** @param timeout milliseconds for an operation */
  constructor(connectionString: string, kind: 'read' | 'write', size: number, timeout: number) {
    const add = (session: Session) => this.#add(session)
    this.#size = size
    this.#pool = new pg.Pool({
      connectionString,
      max: size,
      idleTimeoutMillis: IDLE_TIMEOUT * timeout,
      connectionTimeoutMillis: START_TIMEOUT,
      Client: class extends Session {
        constructor(config?: pg.ClientConfig) {
          super(config)
          add(this)
        }
      },
      onConnect: async (session) => {
        if (!(session instanceof Session)) return
        await session.setUp(kind, timeout)
        const place = [...this.sessions].indexOf(session) + (await session.endLost(this.#lost))
        session.waitsFor = undefined
        if (place >= size) throw new Error('the server still runs statements of connections that were lost')
      },
    })
    this.#pool.on('error', () => undefined) // an unused connection was closed
  }

  /** As in `Figures.pool`. */
  get figures(): Record<'size' | 'used' | 'idle' | 'givenUp' | 'statements' | 'waiting', number> {
    const [size, used, waiting] = [this.#size, this.#used, this.#waiting.size]
    return { size, used, idle: this.#pool.idleCount, givenUp: this.#late, statements: this.#sent, waiting }
  }

  /** Runs a statement when a connection is free. @param timeout milliseconds until it fails */
  run(statement: Statement, timeout: number): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const state = { isBegun: false, isLate: false }
    const timer = setTimeout(() => {
      this.#waiting.delete(begin)
      state.isLate = true
      if (state.isBegun) this.#late += 1
      reject(
        state.isBegun ? new Error('the server does not answer') : new NoConnection('no connection is free in time'),
      )
    }, timeout)
    const begin = () => {
      // The pool does not count the sessions that are closing.
      if (this.#used + this.sessions.size - this.#pool.totalCount >= this.#size) return
      this.#waiting.delete(begin)
      this.#used += 1
      state.isBegun = true
      void this.#send(statement, state)
        .then(resolve, reject)
        .then(() => {
          clearTimeout(timer)
          this.#used -= 1
          if (state.isLate) this.#late -= 1
          this.#beginNext()
        })
    }
    this.#waiting.add(begin)
    this.#beginNext()
    return promise
  }

  /** Closes all connections when the statements under way are answered. */
  async end(): Promise<void> {
    await this.#pool.end()
    await Promise.all([...this.sessions].map((session) => new Promise((resolve) => session.once('end', resolve))))
  }

  async #send({ kind, text, values, name }: Statement, state: { isLate: boolean }): Promise<Result> {
    const session = await this.#pool.connect().catch((error: unknown) => {
      throw new NoConnection(error)
    })
    if (state.isLate || !(session instanceof Session)) {
      session.release()
      throw new NoConnection('the connection was opened too late')
    }
    session.wait(kind)
    this.#sent += 1
    try {
      const isNamed = name !== undefined && session.backend !== undefined
      const result = await session.query<Row>({ ...(isNamed && { name }), text, ...(values && { values }) })
      session.waitsFor = undefined
      if (session.isUnsafe) throw new Error('the wait for a synchronous standby was cancelled')
      session.release()
      return result
    } catch (error) {
      if (error instanceof pg.DatabaseError) session.waitsFor = undefined
      session.release(/unknown|unprepared/.test(classify(error)))
      throw error
    } finally {
      this.#sent -= 1
    }
  }

  #beginNext(): void {
    const [next] = this.#waiting
    next?.()
  }

  #add(session: Session): void {
    this.sessions.add(session)
    session.once('end', () => {
      this.sessions.delete(session)
      // The server does not notice that its client has gone while it waits for a lock or a standby.
      if (session.backend !== undefined && session.waitsFor !== undefined) this.#lost.add(session.backend)
      this.#beginNext()
    })
  }
}
