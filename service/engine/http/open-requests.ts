import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { Counter, OWN } from './metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The requests that this server is answering. */
    readonly openRequests: OpenRequests
  }
  interface FastifyRequest {
    /** Who is calling; empty where the operation requires no credentials. */
    caller: string
  }
}

const SHED = new Counter({
  name: `${OWN}shed_requests_total`,
  help: 'Requests refused because there were too many',
})
/** The least milliseconds between two log lines about refusals. A line for each refusal would be too much load. */
const LOG_INTERVAL = 1000

/** A request that is being answered, until its response is closed. */
export interface OpenRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** When it began, by `performance.now()`. */
  readonly start: number
  /** Fastify's request, and the address of the client; absent if the request was refused before Fastify got it. */
  fastify?: { readonly request: FastifyRequest; readonly client: string | undefined }
  /** Whether the request was one too many. */
  isShed?: boolean
  /** When `cutSlowReaders` first saw that its response had begun. */
  answeredSince?: number
}

/** The requests that a server is answering: at most one on each connection. */
export class OpenRequests {
  readonly #log: FastifyBaseLogger
  // The latest request of each connection. A set of the open requests would often grow and shrink: V8 then chains its old
  // tables, and all requests in them survive until the next full garbage collection.
  readonly #latest = new Map<Socket, OpenRequest>()
  #isDraining = false
  /** When the last log line about refusals was written. */
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

  /** The latest request of a connection. It may have ended. */
  latest(socket: Socket): OpenRequest | undefined {
    return this.#latest.get(socket)
  }

  /** Makes each response from now on the last one of its connection (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const { response } of this.#latest.values()) response.shouldKeepAlive = false
  }

  /** Breaks off the responses that clients read too slowly. Call it at intervals. @param timeout in seconds */
  cutSlowReaders(timeout: number): void {
    for (const open of this.#latest.values()) {
      const { fastify, response } = open
      if (response.closed || !response.headersSent) continue
      open.answeredSince ??= performance.now()
      if (performance.now() - open.answeredSince < timeout * 1000) continue
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

/** What may be logged. An access token, which has `_` and 48 hexadecimal digits, must not be. */
const REQUEST_ID = /^(?!.*_[\da-f]{48})[\w.-]{1,64}$/

/** Gives a request its id: its `X-Request-Id` if that may be logged, else a new one. */
export function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const id = headers['x-request-id']
  return typeof id === 'string' && REQUEST_ID.test(id) ? id : randomUUID()
}

/** No answer but the docs page is a page: a browser that opens one runs nothing of it. */
const NO_PAGE = "sandbox; default-src 'none'"

/** The headers of every response. */
export function standardHeaders(id: string): Record<string, string> {
  return {
    'cache-control': 'no-store',
    'content-security-policy': NO_PAGE,
    'x-content-type-options': 'nosniff',
    'x-request-id': id,
  }
}

/** Sets the headers of every response, and adds Fastify's request to the open request. The first `onRequest` hook. */
export function startRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  done?: () => void,
): void {
  reply.headers(standardHeaders(request.id))
  const { ip, raw, server, socket } = request
  const open = server.openRequests.latest(raw.socket)
  // The address is known only while the connection is open. A gateway may pass on any text as the address.
  const client = ip === socket.remoteAddress || isIP(ip) !== 0 ? ip : undefined
  if (open !== undefined) open.fastify = { request, client }
  done?.()
}
