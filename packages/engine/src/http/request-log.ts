// Logs and measures each request when its response has closed.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyRequest } from 'fastify'
import { Gauge, UNKNOWN_LABEL } from './metrics.ts'
import { RequestDurations } from './request-durations.ts'
import { RequestLines } from './request-lines.ts'

const DURATIONS = new RequestDurations(
  'http_server_request_duration_seconds',
  'Requests that have ended',
)
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
  readonly #lines: RequestLines
  /** The requests which have ended in this turn of the event loop. */
  readonly #ended: Entry[] = []

  constructor(log: FastifyBaseLogger) {
    this.#log = log
    this.#lines = new RequestLines(log)
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
    DURATIONS.count(
      { method: method ?? UNKNOWN_LABEL, route: UNKNOWN_LABEL, status, isShed: false },
      0,
    )
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
    const { method = UNKNOWN_LABEL } = raw
    ACTIVE.dec()
    const labels = {
      method,
      route: route ?? UNKNOWN_LABEL,
      status: isSent ? status : '',
      isShed,
    } as const
    DURATIONS.count(labels, seconds)
    if (!request.isRouted) return
    this.#lines.write({
      reqId: request.id,
      client: request.address,
      caller,
      method,
      route,
      status,
      ms: Math.round(seconds * 1e6) / 1000,
      isAborted,
      traceId: traceIdOf(raw),
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
