import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Gauge, Histogram, UNKNOWN_LABEL } from './metrics.ts'
import type { OpenRequest } from './open-requests.ts'
import { untilClosed } from './until-closed.ts'

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

/** The id of the trace that a request belongs to; undefined if there is none. */
export function traceIdOf({ headers }: IncomingMessage): string | undefined {
  return TRACE.exec(String(headers['traceparent']))?.[1]
}

/** The functions that log and measure the requests that have ended in this turn of the event loop. */
const unwritten: (() => void)[] = []

function writeAll(): void {
  for (const write of unwritten.splice(0)) write()
}

/**
 * Logs and measures a request when its response has closed. The line has the route instead of the URL, because a URL may
 * hold secrets. A request that Fastify never got has no line: `OpenRequests.shed` counts it.
 */
export function logWhenClosed(log: FastifyBaseLogger, open: OpenRequest): void {
  const { request, response, start } = open
  ACTIVE.inc()
  untilClosed(response, () => {
    const seconds = (performance.now() - start) / 1000
    const { headersSent, statusCode: status, writableFinished } = response
    const write = () => {
      const { fastify, isShed } = open
      const route = fastify && routeTemplate(fastify.request)
      ACTIVE.dec()
      observe({
        method: request.method,
        route,
        status: headersSent || status >= 400 ? status : '',
        seconds,
        isShed,
      })
      if (fastify === undefined) return
      const { caller, id } = fastify.request
      log.info({
        msg: 'request',
        reqId: id,
        client: fastify.client,
        caller: caller === '' ? undefined : caller, // pino leaves out `undefined`
        method: request.method,
        route,
        status,
        ms: Math.round(seconds * 1e6) / 1000,
        aborted: writableFinished ? undefined : true,
        trace_id: traceIdOf(request),
      })
    }
    // Lines that are written one after the other cost half as much as lines between requests.
    unwritten.push(write)
    if (unwritten.length === 1) setImmediate(writeAll)
  })
}

/** A refusal of bytes that are no request, or of CONNECT. */
interface LoggedRefusal {
  readonly reqId: string
  readonly status: number
  readonly method: string | undefined
  /** The error code of the HTTP parser. */
  readonly code: string | undefined
}

/** Logs and measures a refusal. */
export function logRefusal(
  log: FastifyBaseLogger,
  { reqId, status, method, code }: LoggedRefusal,
): void {
  observe({ method, status, seconds: 0 })
  log.info({ msg: 'request', reqId, status, code })
}

/** The template of a request's path; undefined if the path, or the method on it, is unknown. */
export function routeTemplate({
  routeOptions: { config, url },
}: FastifyRequest): string | undefined {
  return config.allow === undefined ? (config.route ?? url) : undefined
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
