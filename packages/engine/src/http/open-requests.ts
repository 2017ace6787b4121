import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Counter, METRIC_PREFIX } from './metrics.ts'
import { RepeatedReasons } from './repeated-reasons.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The requests that this server is answering. */
    readonly openRequests: OpenRequests
  }
}

const SHED = new Counter({
  name: `${METRIC_PREFIX}shed_requests_total`,
  help: 'Requests refused because there were too many',
})
/** The least milliseconds between two log lines about refusals. A line for each refusal would be too much load. */
const LOG_INTERVAL = 1000

/** A request that is being answered, until its response is closed. */
export interface OpenRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The time of its beginning, on the clock of `performance.now()`. */
  readonly start: number
  /** Fastify's request, and the address of the client; absent if the request was refused before Fastify got it. */
  fastify?: { readonly request: FastifyRequest; readonly client: string | undefined }
  /** Whether the request was one too many. */
  isShed?: boolean
  /** The time at which `cutSlowReaders` first saw its response begun, on the same clock. */
  answeredSince?: number
  /** Ends a response that may go on without end. */
  finish?: () => void
}

/** The requests that a server is answering: at most one on each connection. */
export class OpenRequests {
  /** Why the store could not answer requests. */
  readonly storeFaults = new RepeatedReasons()
  readonly #log: FastifyBaseLogger
  // By connection: the latest request. A set of the open requests would often grow and shrink. V8 then chains the old tables
  // of the set, and all requests in them survive until the next full garbage collection.
  readonly #latest = new Map<Socket, OpenRequest>()
  #isDraining = false
  #isClosing = false
  /** The time of the last log line about refusals. */
  #warned = -Infinity

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  add(request: IncomingMessage, response: ServerResponse): OpenRequest {
    const open: OpenRequest = { request, response, start: performance.now() }
    const { socket } = request
    if (!this.#latest.has(socket)) socket.once('close', () => this.#latest.delete(socket))
    this.#latest.set(socket, open)
    if (this.#isDraining) response.shouldKeepAlive = false
    return open
  }

  /** The latest request of a connection. The request may have ended. */
  latest(socket: Socket): OpenRequest | undefined {
    return this.#latest.get(socket)
  }

  /** Closes each connection after its present response, or its next one (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#latest.values()) response.shouldKeepAlive = false
  }

  /** Registers a response that may go on without end. @param finish ends it */
  openStream({ req }: ServerResponse, finish: () => void): void {
    const open = this.#latest.get(req.socket)
    if (open) open.finish = finish
    if (this.#isClosing) finish()
  }

  /** Ends the responses that may go on without end, when the server closes. */
  finishStreams(): void {
    this.#isClosing = true
    for (const { finish } of this.#latest.values()) finish?.()
  }

  /** Begins the time anew in which the client must take the answer. */
  restartAnswer({ req }: ServerResponse): void {
    const open = this.#latest.get(req.socket)
    if (open) open.answeredSince = performance.now()
  }

  /** Breaks off the responses that clients read too slowly. Call it at intervals. @param timeout in seconds */
  cutSlowReaders(timeout: number): void {
    for (const open of this.#latest.values()) {
      const { fastify, response } = open
      if (response.closed || !response.headersSent) continue
      open.answeredSince ??= performance.now()
      if (performance.now() - open.answeredSince < timeout * 1000) continue
      if (open.finish && response.writableLength === 0) {
        open.finish() // nothing has happened for so long
        continue
      }
      breakOff(
        response,
        this.#log,
        fastify?.request.id,
        'the client did not take the answer in time',
      )
    }
  }

  /** Counts a request or a connection that is refused because there are too many. Marks the open request of a connection. */
  shed(socket?: Socket, reason?: string): void {
    const open = socket && this.#latest.get(socket)
    if (open) open.isShed = true
    SHED.inc()
    if (performance.now() - this.#warned < LOG_INTERVAL) return
    this.#warned = performance.now()
    this.#log.warn({ reason }, 'too busy')
  }
}

/** Breaks off a response that its client does not read. @param reqId for the log */
export function breakOff(
  response: ServerResponse,
  log: FastifyBaseLogger,
  reqId: string | undefined,
  reason: string,
): void {
  log.warn({ reqId, reason }, 'response broken off')
  response.destroy()
}
