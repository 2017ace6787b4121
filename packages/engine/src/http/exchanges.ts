// The open exchanges of a server: at most one on each connection.
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Exchange } from './exchange.ts'
import { Counter, METRIC_PREFIX } from './metrics.ts'
import { RepeatedReasons } from './repeated-reasons.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The open exchanges of this server. */
    readonly exchanges: Exchanges
  }
}

const SHED = new Counter({
  name: `${METRIC_PREFIX}shed_requests_total`,
  help: 'Requests refused because there were too many',
})
/** The least milliseconds between two log lines about refusals. A line for each refusal would be too much load. */
const LOG_INTERVAL = 1000

/** The open exchanges of a server. */
export class Exchanges {
  /** Why the store could not answer requests. */
  readonly storeFaults = new RepeatedReasons()
  readonly #log: FastifyBaseLogger
  // By connection: the latest exchange. A set of the open ones would often grow and shrink. V8 then chains the old tables of
  // the set, and all exchanges in them survive until the next full garbage collection.
  readonly #latest = new Map<Socket, Exchange>()
  #isDraining = false
  #isClosing = false
  /** The time of the last log line about refusals. */
  #warned = -Infinity

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  add(exchange: Exchange): void {
    const { raw, response } = exchange
    const { socket } = raw
    if (!this.#latest.has(socket)) socket.once('close', () => this.#latest.delete(socket))
    this.#latest.set(socket, exchange)
    if (this.#isDraining) response.shouldKeepAlive = false
  }

  /** The latest exchange of a connection, which may have ended. */
  latest(socket: Socket): Exchange | undefined {
    return this.#latest.get(socket)
  }

  /** Closes each connection after its present response, or its next one (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#latest.values()) response.shouldKeepAlive = false
  }

  /** Registers a response that may go on without end. @param finish ends it */
  openStream(exchange: Exchange, finish: () => void): void {
    exchange.finish = finish
    if (this.#isClosing) finish()
  }

  /** Ends the responses that may go on without end, when the server closes. */
  finishStreams(): void {
    this.#isClosing = true
    for (const { finish } of this.#latest.values()) finish?.()
  }

  /** Breaks off the responses that clients read too slowly. Call it at intervals. @param timeout in seconds */
  cutSlowReaders(timeout: number): void {
    for (const exchange of this.#latest.values()) {
      const { response } = exchange
      if (response.closed || !response.headersSent) continue
      exchange.answeredSince ??= performance.now()
      if (performance.now() - exchange.answeredSince < timeout * 1000) continue
      // Nothing has happened in a stream for so long.
      if (exchange.finish && response.writableLength === 0) exchange.finish()
      else exchange.breakOff(this.#log, 'the client did not take the answer in time')
    }
  }

  /** Counts a request or a connection that is refused because there are too many. */
  shed(exchange?: Exchange, reason?: string): void {
    if (exchange) exchange.isShed = true
    SHED.inc()
    if (performance.now() - this.#warned < LOG_INTERVAL) return
    this.#warned = performance.now()
    this.#log.warn({ reason }, 'too busy')
  }
}
