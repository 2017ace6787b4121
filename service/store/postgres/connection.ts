import { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { SNAPSHOT_IDLE_TIMEOUT } from '../lists.ts'
import type { Row } from '../rows.ts'
import { classify, NoConnection } from './errors.ts'
import { type Backend, checkConnection, SERVER_IDLE_TIMEOUT } from './session.ts'

/** Milliseconds to open a connection; `timeout` if that is longer. */
const CONNECT_TIMEOUT = 3000
/** Multiples of `timeout` after which an unused connection is closed: before the server closes it. */
const IDLE_TIMEOUT = SERVER_IDLE_TIMEOUT / 2
/** Multiples of `timeout` after which a connection that was given up is forgotten, if its server process is unknown. */
const UNKNOWN_TIMEOUT = 100
/** The part of `timeout` between two checks whether the server still has a connection. */
const POLL_INTERVAL = 1 / 3
/** Milliseconds of silence after which TCP sends a keep-alive probe. */
const KEEP_ALIVE_DELAY = 30_000

export interface ConnectionOptions {
  readonly url: string
  /**
   * The server ends a read after `timeout`, and a write that waits for a lock after half of it. It must not end a write
   * that waits for a synchronous standby: the commit would be visible, but not safe.
   */
  readonly kind: 'reads' | 'snapshots' | 'writes'
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Asks for the state of a server process over another connection. @returns undefined if the process has ended */
  readonly askState: (backend: Backend) => Promise<string | undefined>
}

/**
 * The life of a connection: it `waits` until the server has let go of the one before, `connects`, is `open`, is `closing`
 * until the server has let go of it, and is `gone`.
 */
export type State = 'waits' | 'connects' | 'open' | 'closing' | 'gone'

/** What a statement gave: its rows, and how many rows it returned or wrote. */
export type Result = Pick<pg.QueryResult<Row>, 'rows' | 'rowCount'>

/** A connection, and the statements under way on it. The server answers them one after the other. */
export class Connection {
  /** Whether a transaction has the connection for itself. */
  isReserved = false
  readonly #options: ConnectionOptions
  /** Rejects each statement that is under way. */
  readonly #statements = new Set<(error: Error) => void>()
  readonly #connected: Promise<pg.Client>
  readonly #gone = Promise.withResolvers<undefined>()
  /** Set when the connection is open. */
  #client: pg.Client | undefined
  /** Absent behind a pooler, which shares server processes. */
  #backend: Backend | undefined
  #idle: NodeJS.Timeout | undefined
  #state: State

  /** @param before the connection that must be gone before this one is opened */
  constructor(options: ConnectionOptions, before?: Connection) {
    this.#options = options
    const previous = before?.state === 'gone' ? undefined : before
    this.#state = previous === undefined ? 'connects' : 'waits'
    this.#connected = this.#connect(previous)
    this.#connected.catch(() => undefined) // each statement gets the error
  }

  get state(): State {
    return this.#state
  }

  /** How many statements are under way. */
  get statements(): number {
    return this.#statements.size
  }

  /**
   * Runs a statement.
   * @param timeout milliseconds until it fails, with all others under way on this connection
   * @param name The server parses and plans a statement with a name once, and never plans it anew: use a name only if
   * the primary key is the only sensible plan, however large the table is.
   */
  async query(text: string, values: unknown[], timeout: number, name?: string): Promise<Result> {
    if (this.#state === 'closing' || this.#state === 'gone') throw new Error('the connection is closed')
    const { promise, resolve, reject } = Promise.withResolvers<Result>()
    const send = (client: pg.Client) => {
      const statement = name !== undefined && this.#backend !== undefined ? { name, text, values } : { text, values }
      client.query<Row>(statement, (error: Error | null, result) => (error ? reject(error) : resolve(result)))
    }
    this.#statements.add(reject)
    const timer = setTimeout(() => this.#expire(reject), timeout)
    try {
      if (this.#client !== undefined) send(this.#client)
      else this.#connected.then((client) => this.#statements.has(reject) && send(client), reject)
      return await promise
    } catch (error) {
      const fault = classify(error)
      if (fault === 'unknown' || fault === 'unprepared') this.close(new Error('the connection was given up'))
      throw error
    } finally {
      clearTimeout(timer)
      this.#statements.delete(reject)
      this.#idle?.refresh()
    }
  }

  /** Gives up the connection, and closes it when the server has answered everything that was sent. */
  close(error: Error): void {
    if (this.#client === undefined || this.#state !== 'open') return
    this.#state = 'closing'
    this.#stopIdle()
    // A server process that waits for a standby does not notice that its client has gone.
    const mayWait = this.#options.kind === 'writes' && this.#statements.size > 0
    for (const reject of this.#statements) reject(error)
    void this.#waitUntilGone(this.#client, mayWait)
  }

  /** Closes the connection when the statements under way are answered. Waits until it is gone. */
  async end(): Promise<void> {
    const client = await this.#connected.catch(() => undefined)
    this.#stopIdle()
    await (this.#state === 'open' ? client?.end() : this.#gone.promise)
  }

  async #connect(previous: Connection | undefined): Promise<pg.Client> {
    if (previous !== undefined) await previous.#gone.promise
    this.#state = 'connects'
    const { url, timeout } = this.#options
    const connectTimeout = Math.max(CONNECT_TIMEOUT, timeout)
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY,
      pipeline: true,
    })
    client.on('error', (error) => this.close(error))
    client.on('notice', ({ routine }) => {
      // If an administrator cancels the wait for the standby, the server reports success and sends only this warning.
      if (routine === 'SyncRepWaitForLSN') this.close(new Error('the wait for a synchronous standby was cancelled'))
    })
    try {
      await client.connect()
      this.#backend = await checkConnection(client, this.#options, connectTimeout)
    } catch (error) {
      client.connection.stream.destroy()
      this.#setGone()
      throw new NoConnection(error)
    }
    this.#client = client
    this.#state = 'open'
    this.#idle = setTimeout(() => {
      if (this.#statements.size > 0 || this.isReserved) this.#idle?.refresh()
      else this.close(new Error('the connection is unused'))
    }, IDLE_TIMEOUT * timeout).unref()
    return client
  }

  #expire(reject: (error: Error) => void): void {
    if (this.#client === undefined) reject(new NoConnection(new Error('there is no connection in time')))
    else this.close(new Error('the server does not answer'))
  }

  async #waitUntilGone(client: pg.Client, mayWait: boolean): Promise<void> {
    const { stream } = client.connection
    const backend = this.#backend
    const { timeout, askState } = this.#options
    const latest = performance.now() + this.#lostTimeout()
    if (stream instanceof Socket) stream.unref() // let this process end
    let closed = client.end().then(() => true)
    for (;;) {
      const isClosed = await Promise.race([closed, delay(POLL_INTERVAL * timeout, false, { ref: false })])
      if (isClosed && (backend === undefined || !mayWait)) break
      // The network may have lost the answer.
      const state = backend === undefined ? 'unknown' : await askState(backend).catch(() => 'unknown')
      if (state === undefined || (state === 'unknown' && performance.now() > latest)) break
      if (backend === undefined || (mayWait && state !== 'idle' && !isClosed)) continue
      closed = new Promise(() => undefined) // from now on only `askState` tells
      stream.destroy()
    }
    stream.destroy()
    this.#setGone()
  }

  /**
   * Milliseconds after which a connection that was given up is forgotten, if nobody can ask the server about it. By then
   * the server has ended a read. A write may wait for ever, but a connection for reads can then ask about it.
   */
  #lostTimeout(): number {
    const { kind, timeout } = this.#options
    if (this.#backend === undefined) return UNKNOWN_TIMEOUT * timeout
    if (kind === 'writes') return Infinity
    return (SERVER_IDLE_TIMEOUT + 2) * timeout + (kind === 'snapshots' ? SNAPSHOT_IDLE_TIMEOUT : 0)
  }

  #stopIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = undefined
  }

  #setGone(): void {
    this.#state = 'gone'
    this.#gone.resolve(undefined)
  }
}
