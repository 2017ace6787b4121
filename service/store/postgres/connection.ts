import type pg from 'pg'
import type { Row } from '../rows.ts'
import { classify, NoConnection } from './errors.ts'
import { type Pool, unsafeClients } from './pool.ts'

/** A connection of a pool, and the statements under way on it. The server answers them one after the other. */
export class Connection {
  readonly #pool: Pool
  readonly #client: Promise<pg.PoolClient>
  /** Rejects each statement that is under way. */
  readonly #statements = new Set<(error: Error) => void>()
  #isConnected = false
  #isBroken = false
  #isClosed = false

  constructor(pool: Pool) {
    this.#pool = pool
    this.#client = pool.connect()
    this.#client.then(
      () => (this.#isConnected = true),
      () => (this.#isBroken = true),
    )
  }

  /** How many statements are under way. */
  get statements(): number {
    return this.#statements.size
  }

  /** Whether this connection must not be used again. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** Runs a statement. @param timeout milliseconds until it fails, with all others under way on this connection */
  async query(text: string, values: readonly unknown[], timeout: number): Promise<readonly Row[]> {
    const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult<Row>>()
    this.#statements.add(reject)
    const timer = setTimeout(() => this.#expire(reject), timeout)
    try {
      this.#client.then((client) => {
        if (this.#statements.has(reject)) client.query<Row>({ text, values: [...values] }).then(resolve, reject)
      }, reject)
      const { rows } = await promise
      if (unsafeClients.has(await this.#client)) throw new Error('the wait for a synchronous standby was cancelled')
      return rows
    } catch (error) {
      const fault = classify(error)
      if (fault === 'refused' || fault === 'unknown') this.#isBroken = true
      throw error
    } finally {
      clearTimeout(timer)
      this.#statements.delete(reject)
    }
  }

  /** Returns the unused connection to its pool. May be called again. @param isBroken whether the pool gives it up */
  close(isBroken = this.#isBroken): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#client.then(
      (client) => (isBroken ? void this.#pool.giveUp(client) : client.release()),
      () => undefined,
    )
  }

  #expire(reject: (error: Error) => void): void {
    if (!this.#isConnected) reject(new NoConnection('there is no connection in time'))
    else for (const each of this.#statements) each(new Error('the server does not answer'))
  }
}

/** A connection that statements share. It goes back to its pool when none is under way. */
export class SharedConnection {
  readonly pool: Pool
  #connection: Connection | undefined

  constructor(pool: Pool) {
    this.pool = pool
  }

  /** How many statements are under way. */
  get statements(): number {
    return this.#connection?.statements ?? 0
  }

  /** Runs a statement. @param timeout milliseconds until it fails */
  async query(text: string, values: readonly unknown[], timeout: number): Promise<readonly Row[]> {
    const connection = (this.#connection ??= new Connection(this.pool))
    try {
      return await connection.query(text, values, timeout)
    } finally {
      const isUnused = connection.statements === 0
      if ((isUnused || connection.isBroken) && this.#connection === connection) this.#connection = undefined
      if (isUnused) connection.close()
    }
  }
}
