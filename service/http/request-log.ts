import type { FastifyInstance, FastifyRequest } from 'fastify'
import { traceId } from './protocol.ts'
import { Gauge, Histogram, OTHER } from './metrics.ts'
import type { OpenRequest } from './open-requests.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is calling; empty where the operation requires no credentials. */
    caller: string
  }
}

const DURATION = new Histogram({
  name: 'http_server_request_duration_seconds',
  help: 'Requests that have ended',
  labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
  // The buckets of OpenTelemetry's `http.server.request.duration`, and two below them.
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
})
const ACTIVE = new Gauge({ name: 'http_server_active_requests', help: 'Requests that are being answered' })

// RFC 9110, section 9.3 and RFC 5789.
const METHODS = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])

/** Logs each request of a server in one line when it has ended, and observes its duration. */
export function logRequests(app: FastifyInstance): void {
  const { openRequests, log } = app
  app.decorateRequest('caller', '')
  openRequests.on('start', () => ACTIVE.inc())
  openRequests.on('refused', ({ id, status, method, code }) => {
    observe(method, OTHER, status, 0)
    log.info({ msg: 'request', reqId: id, status, code })
  })
  openRequests.on('end', (open) => {
    ACTIVE.dec()
    const { fastify, request, response } = open
    const seconds = (performance.now() - open.start) / 1000
    const status = open.status ?? response.statusCode
    const isAnswered = response.headersSent || open.status !== undefined
    const route = fastify && routeTemplate(fastify.request)
    observe(request.method, route ?? OTHER, isAnswered ? status : '', seconds)
    // Admission control logs the number of requests that it refused before Fastify got them.
    if (fastify !== undefined) log.info(logLine(open, fastify, route, status, seconds))
  })
}

/** The template of a request's path; undefined if the path, or the method on it, is unknown. */
export function routeTemplate({ routeOptions: { config, url } }: FastifyRequest): string | undefined {
  return config.allow === undefined ? url : undefined
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

/** @param status empty if the client left before it was answered */
function observe(method = OTHER, route: string, status: number | '', seconds: number): void {
  const knownMethod = METHODS.has(method) ? method : OTHER
  const labels = { http_request_method: knownMethod, http_route: route, http_response_status_code: status }
  DURATION.observe(labels, seconds)
}
