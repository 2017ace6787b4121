import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { Gauge, Histogram, OTHER } from './metrics.ts'
import { standardHeaders, traceId } from './protocol.ts'

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

const DURATION = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Requests that have ended',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
  // The buckets of OpenTelemetry's `http.server.request.duration`, and two below them.
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
})
const ACTIVE = new Gauge({ name: 'http_server_active_requests', help: 'Requests that are being answered' })

// RFC 9110, section 9.3 and RFC 5789.
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])

/** A request that is being answered, until its response is closed. */
export interface OpenRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** When it began, by `performance.now()`. */
  readonly start: number
  /** Fastify's request, and the address of the client; absent if the request was refused before Fastify got it. */
  fastify?: { readonly request: FastifyRequest; readonly client: string | undefined }
  /** The status of an answer that was written directly to the socket. */
  status?: number
  /** Whether the request was one too many. */
  isShed?: boolean
  /** When `cutSlow` first saw that the response had begun. */
  answering?: number
}

/** A refusal of malformed bytes, or of CONNECT: there is no open request for it. */
export interface Refused {
  readonly id: string
  readonly status: number
  readonly method?: string | undefined
  /** The fault that the HTTP parser found: https://nodejs.org/api/http.html#event-clienterror */
  readonly code?: string | undefined
}

/** The requests that a server is answering: at most one on each connection. Each is logged and measured when it ends. */
export class OpenRequests {
  readonly #log: FastifyBaseLogger
  readonly #isLogged: boolean
  readonly #onShed: (reason: string) => void
  /**
   * The latest request of each connection. A set of the open requests would often grow and shrink: V8 then chains its old
   * tables, and all requests in them survive until the next full garbage collection.
   */
  readonly #latest = new Map<Socket, OpenRequest>()
  /** Logs and measures the requests that have ended in this turn of the event loop. */
  readonly #unlogged: (() => void)[] = []
  #isDraining = false

  /**
   * @param isLogged whether requests are logged and measured
   * @param onShed called for each request that the store refuses because there are too many
   */
  constructor(log: FastifyBaseLogger, isLogged: boolean, onShed: (reason: string) => void) {
    this.#log = log
    this.#isLogged = isLogged
    this.#onShed = onShed
  }

  add(request: IncomingMessage, response: ServerResponse): void {
    const open: OpenRequest = { request, response, start: performance.now() }
    const { socket } = request
    if (!this.#latest.has(socket)) socket.once('close', () => this.#latest.delete(socket))
    this.#latest.set(socket, open)
    if (this.#isDraining) response.shouldKeepAlive = false
    if (this.#isLogged) ACTIVE.inc()
    response.on('close', () => this.#end(open))
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

  /** Breaks off responses that clients read too slowly. Call it at intervals. @param timeout in milliseconds */
  cutSlow(timeout: number): void {
    const now = performance.now()
    for (const open of this.#latest.values()) {
      if (open.response.closed) continue
      if (open.response.headersSent) open.answering ??= now
      if (now - (open.answering ?? now) < timeout) continue
      const reason = 'the client did not take the answer in time'
      this.#log.warn({ reqId: open.fastify?.request.id, reason }, 'response broken off')
      open.response.destroy()
    }
  }

  /** Marks and counts the request of a connection: it was one too many. */
  shed(socket: Socket, reason: string): void {
    const open = this.#latest.get(socket)
    if (open !== undefined) open.isShed = true
    this.#onShed(reason)
  }

  /** Logs and measures a refusal that has no open request. */
  countRefused({ id, status, method, code }: Refused): void {
    if (!this.#isLogged) return
    observe(method, OTHER, status, 0)
    this.#log.info({ msg: 'request', reqId: id, status, code })
  }

  #end(open: OpenRequest): void {
    if (!this.#isLogged) return
    const { fastify, request, response } = open
    const seconds = (performance.now() - open.start) / 1000
    const status = open.status ?? response.statusCode
    const isAnswered = response.headersSent || open.status !== undefined
    const route = fastify && routeTemplate(fastify.request)
    // Admission control logs the number of requests that it refused before Fastify got them.
    const line = fastify && logLine(open, fastify, route, status, seconds)
    const log = () => {
      ACTIVE.dec()
      observe(request.method, route ?? OTHER, isAnswered ? status : '', seconds, open.isShed)
      if (line !== undefined) this.#log.info(line)
    }
    // One after the other, lines cost half of what each costs between requests.
    if (this.#unlogged.push(log) === 1) setImmediate(() => this.#unlogged.splice(0).forEach((each) => each()))
  }
}

/** Makes the log line. It has the route instead of the URL, because a URL may hold secrets. pino leaves out `undefined`. */
function logLine(
  { request, response }: OpenRequest,
  fastify: Required<OpenRequest>['fastify'],
  route: string | undefined,
  status: number,
  seconds: number,
): object {
  const { caller, id, method } = fastify.request
  return {
    msg: 'request',
    reqId: id,
    client: fastify.client,
    caller: caller === '' ? undefined : caller,
    method,
    route,
    status,
    ms: Math.round(seconds * 1e6) / 1000,
    aborted: response.writableFinished ? undefined : true,
    trace_id: traceId(request),
  }
}

/** The template of a request's path; undefined if the path, or the method on it, is unknown. */
export function routeTemplate({ routeOptions: { config, url } }: FastifyRequest): string | undefined {
  return config.allow === undefined ? (config.route ?? url) : undefined
}

/** @param status empty if the client left before it was answered */
function observe(method = OTHER, route: string, status: number | '', seconds: number, isShed = false): void {
  const knownMethod = METHODS.has(method) ? method : OTHER
  const labels = { http_request_method: knownMethod, http_route: route, http_response_status_code: status }
  DURATION.observe(isShed ? { ...labels, error_type: 'too_busy' } : labels, seconds)
}

/** Sets the headers of every response, and adds Fastify's request to the open request. The first `onRequest` hook. */
export function startRequest(request: FastifyRequest, reply: FastifyReply, done?: () => void): void {
  reply.headers(standardHeaders(request.id))
  const open = request.server.openRequests.latest(request.raw.socket)
  if (open !== undefined) open.fastify = { request, client: clientAddress(request) }
  done?.()
}

/** The address of the client, as long as its connection is open. A gateway may pass on any text as the address. */
function clientAddress({ ip, socket }: FastifyRequest): string | undefined {
  return ip === socket.remoteAddress || isIP(ip) !== 0 ? ip : undefined
}
