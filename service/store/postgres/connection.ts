import { Socket } from 'node:net'
import pg from 'pg'
import type { Row } from '../tokens.ts'
import { waitUntilGone } from './closing.ts'
import { classify, NoConnection } from './errors.ts'
import { type Backend, type ConnectionOptions, prepareSession, SERVER_IDLE_TIMEOUT } from './session.ts'

/** Milliseconds to open a connection; `timeout` if that is longer. */
const CONNECT_TIMEOUT = 3000
/** Multiples of `timeout` after which an unused connection is closed: before the server closes it. */
const IDLE_TIMEOUT = SERVER_IDLE_TIMEOUT / 2
/** Milliseconds of silence after which TCP sends a keep-alive probe. */
const KEEP_ALIVE_DELAY = 30_000

/** What a statement gave: its rows, and how many rows it returned or wrote. */
export type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

/**
 * A connection, and the statements under way on it: the server answers them one after the other. It is opened when it is
 * needed, and opened again after it was closed, but not before the server has let go of the old one.
 */
export class Connection {
  /** Whether a transaction has it for itself. */
  isReserved = false
  readonly #options: ConnectionOptions
  /** Rejects each statement that is under way. */
  readonly #statements = new Set<(error: Error) => void>()
  #opening: Promise<pg.Client> | undefined
  #client: pg.Client | undefined
  /** The server process of the client; absent behind a pooler, which shares it. */
  #backend: Backend | undefined
  /** Part of the names of statements: the next version is prepared anew. */
  #version = 0
  #closing: Promise<void> | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** How many statements are under way. */
  get statements(): number {
    return this.#statements.size
  }

  /** `given up`: the server has not let go of it yet. */
  get state(): 'used' | 'idle' | 'closed' | 'given up' {
    if (this.#closing !== undefined) return 'given up'
    if (this.isReserved || this.statements > 0) return 'used'
    return this.#client === undefined ? 'closed' : 'idle'
  }

  /**
   * Runs a statement.
   * @param timeout milliseconds until it fails, with all others under way on this connection
   * @param name The server parses and plans a statement with a name once, and never plans it anew: use a name only if
   * the primary key is the only sensible plan, however large the table is.
   * @param inTransaction whether its transaction has begun: then it fails if the connection was closed
   */
  async query(text: string, values: unknown[], timeout: number, name?: string, inTransaction = false): Promise<Result> {
    if (inTransaction && this.#client === undefined) throw new Error('the transaction was lost')
    const { promise: failure, reject } = Promise.withResolvers<never>()
    this.#statements.add(reject)
    const timer = setTimeout(() => {
      if (this.#client === undefined) reject(new NoConnection(new Error('there is no connection in time')))
      else this.close(new Error('the server does not answer'))
    }, timeout)
    const version = this.#version
    try {
      const client = this.#client ?? (await Promise.race([failure, (this.#opening ??= this.#open())]))
      const isNamed = name !== undefined && this.#backend !== undefined
      const statement = { ...(isNamed && { name: `${name}${version}` }), text, values }
      // If a failure is noticed before the answer, but in the same turn, the failure wins.
      return await Promise.race([failure, client.query<Row>(statement)])
    } catch (error) {
      const fault = classify(error)
      if (fault === 'unknown') this.close(new Error('the connection was given up'))
      if (fault === 'unprepared' && version === this.#version) this.#version += 1
      throw error
    } finally {
      clearTimeout(timer)
      this.#statements.delete(reject)
    }
  }

  /** Gives up the connection. The statements under way fail. */
  close(error: Error): void {
    const client = this.#client
    if (client === undefined) return
    this.#client = undefined
    const wasWriting = this.#options.kind === 'writes' && this.#statements.size > 0
    for (const reject of this.#statements) reject(error)
    this.#closing = waitUntilGone(client, this.#backend, wasWriting, this.#options).finally(() => {
      this.#closing = undefined
    })
  }

  /** Closes the connection for good when the statements under way are answered. */
  async end(): Promise<void> {
    const client = this.#client ?? (await this.#opening?.catch(() => undefined))
    await client?.end()
    await this.#closing
  }

  async #open(): Promise<pg.Client> {
    await this.#closing
    const { url, timeout } = this.#options
    const connectTimeout = Math.max(CONNECT_TIMEOUT, timeout)
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
      pipeline: true,
    })
    const close = (error: Error) => {
      if (this.#client === client) this.close(error)
    }
    client.on('error', close)
    client.on('notice', ({ routine }) => {
      // If an administrator cancels the wait for the standby, the server reports success and sends only this warning.
      if (routine === 'SyncRepWaitForLSN') close(new Error('the wait for a synchronous standby was cancelled'))
    })
    try {
      await client.connect()
      this.#backend = await prepareSession(client, this.#options, connectTimeout)
    } catch (error) {
      client.connection.stream.destroy()
      throw new NoConnection(error)
    } finally {
      this.#opening = undefined
    }
    this.#client = client
    const { stream } = client.connection
    if (stream instanceof Socket) {
      stream.setTimeout(IDLE_TIMEOUT * timeout, () => {
        if (this.state === 'idle') close(new Error('the connection is unused'))
      })
    }
    return client
  }
}
