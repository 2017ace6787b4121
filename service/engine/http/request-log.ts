import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Gauge, Histogram, OTHER } from './metrics.ts'
import type { OpenRequest } from './open-requests.ts'

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

/** The functions that log and measure the requests that have ended in this turn of the event loop. */
const unwritten: (() => void)[] = []

/**
 * Logs and measures a request when its response has closed. The line has the route instead of the URL, because a URL may
 * hold secrets. A request that Fastify never got has no line: `OpenRequests.shed` counts it.
 */
export function logWhenClosed(log: FastifyBaseLogger, open: OpenRequest): void {
  const { request, response, start } = open
  ACTIVE.inc()
  response.on('close', () => {
    const seconds = (performance.now() - start) / 1000
    const { headersSent, statusCode: status, writableFinished } = response
    const write = () => {
      const { fastify, isShed } = open
      const route = fastify && routeTemplate(fastify.request)
      ACTIVE.dec()
      observe(request.method, route, headersSent || status >= 400 ? status : '', seconds, isShed)
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
        trace_id: TRACE.exec(String(request.headers['traceparent']))?.[1],
      })
    }
    // Lines that are written one after the other cost half of what they cost between requests.
    if (unwritten.push(write) === 1)
      setImmediate(() => unwritten.splice(0).forEach((each) => each()))
  })
}

/** Logs and measures a refusal of bytes that are no request, or of CONNECT. @param code of the HTTP parser */
export function logRefusal(
  log: FastifyBaseLogger,
  reqId: string,
  status: number,
  method?: string,
  code?: string,
) {
  observe(method, undefined, status, 0)
  log.info({ msg: 'request', reqId, status, code })
}

/** The template of a request's path; undefined if the path, or the method on it, is unknown. */
export function routeTemplate({
  routeOptions: { config, url },
}: FastifyRequest): string | undefined {
  return config.allow === undefined ? (config.route ?? url) : undefined
}

/** @param status empty if the client left before it was answered */
function observe(
  method = OTHER,
  route = OTHER,
  status: number | '',
  seconds: number,
  isShed = false,
): void {
  // The HTTP parser knows 34 methods, and refuses others.
  const labels = {
    http_request_method: method,
    http_route: route,
    http_response_status_code: status,
  }
  DURATION.observe(isShed ? { ...labels, error_type: 'too_busy' } : labels, seconds)
}
