// Logs and measures each request when its response has closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Gauge, Histogram, UNKNOWN_LABEL } from './metrics.ts'

const DURATION = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Requests that have ended',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'],
  // The buckets of OpenTelemetry's `http.server.request.duration`, and two below them.
  buckets: [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
  ],
})
const ACTIVE = new Gauge({
  name: 'http_server_active_requests',
  help: 'Requests that are being answered',
})

/** Finds the id of the trace in a `traceparent`: https://www.w3.org/TR/trace-context/ */
const TRACE = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}/

/** The id of the trace of a request; undefined without one. */
export function traceIdOf({ headers }: IncomingMessage): string | undefined {
  return TRACE.exec(String(headers['traceparent']))?.[1]
}

/** A request whose response has closed. */
interface Ended {
  readonly id: string
  readonly raw: IncomingMessage
  readonly response: ServerResponse
  readonly caller: string
  /** Of the client. */
  readonly address: string | undefined
  readonly route: string | undefined
  readonly seconds: number
  /** Whether Fastify has got the request. */
  readonly isRouted: boolean
  /** Whether the request was refused as one too many. */
  readonly isShed: boolean
}

/** A request, and its response at the moment of the close. */
interface Entry {
  readonly request: Ended
  readonly status: number
  /** Whether the status was sent, or is of an error for a client which has left. */
  readonly isSent: boolean
  readonly isAborted: boolean
}

export class RequestLog {
  readonly #log: FastifyBaseLogger
  /** The requests which have ended in this turn of the event loop. */
  readonly #ended: Entry[] = []

  constructor(log: FastifyBaseLogger) {
    this.#log = log
  }

  begin(): void {
    ACTIVE.inc()
  }

  /** Logs and measures a request at the end of this turn: many lines together cost half as much. */
  end(request: Ended): void {
    // A late handler may still change them.
    const { headersSent, statusCode: status, writableFinished } = request.response
    const isSent = headersSent || status >= 400
    this.#ended.push({ request, status, isSent, isAborted: !writableFinished })
    if (this.#ended.length === 1) setImmediate(() => this.#writeAll())
  }

  /** Logs and measures a refusal of malformed bytes, or of CONNECT. */
  refuse({ reqId, status, method, code }: LoggedRefusal): void {
    observe({ method, status, seconds: 0 })
    this.#log.info({ msg: 'request', reqId, status, code })
  }

  #writeAll(): void {
    for (const entry of this.#ended.splice(0)) this.#write(entry)
  }

  /**
   * The line has the template of the path, because a URL may hold secrets. A request refused before
   * Fastify has no line: the metric of refused requests counts it.
   */
  #write({ request, status, isSent, isAborted }: Entry): void {
    const { raw, route, seconds, isShed, caller } = request
    const { method } = raw
    ACTIVE.dec()
    observe({ method, route, status: isSent ? status : '', seconds, isShed })
    if (!request.isRouted) return
    this.#log.info({
      msg: 'request',
      reqId: request.id,
      client: request.address,
      caller: caller === '' ? undefined : caller, // pino leaves out `undefined`
      method,
      route,
      status,
      ms: Math.round(seconds * 1e6) / 1000,
      aborted: isAborted ? true : undefined,
      trace_id: traceIdOf(raw),
    })
  }
}

/** A refusal of malformed bytes, or of CONNECT. */
interface LoggedRefusal {
  readonly reqId: string
  readonly status: number
  readonly method: string | undefined
  readonly code: string | undefined
}

/** The template of a request's path; undefined if the path, or the method on it, is unknown. */
export function routeTemplate({
  routeOptions: { config, url },
}: FastifyRequest): string | undefined {
  return config.isLacking === true || url === '*' ? undefined : (config.route ?? url)
}

interface Measured {
  readonly method: string | undefined
  readonly route?: string | undefined
  /** Empty if the client left before the answer. */
  readonly status: number | ''
  readonly seconds: number
  readonly isShed?: boolean | undefined
}

function observe({
  method = UNKNOWN_LABEL,
  route = UNKNOWN_LABEL,
  status,
  seconds,
  isShed = false,
}: Measured): void {
  // The HTTP parser knows 34 methods, and refuses others.
  const labels = {
    http_request_method: method,
    http_route: route,
    http_response_status_code: status,
  }
  DURATION.observe(isShed ? { ...labels, error_type: 'too_busy' } : labels, seconds)
}
