import type { ServerResponse } from 'node:http'

/** Upper bounds in seconds: those of OpenTelemetry's `http.server.request.duration`, and two below them. */
export const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
] as const

/** Why a request was refused with 401. */
export type Refusal = 'missing' | 'malformed' | 'repeated' | 'unknown' | 'expired'

/** The requests of one method, route and status that are over. */
export interface Series {
  readonly method: string
  readonly route: string
  /** Empty where the client left before it was answered. */
  readonly status: string
  /** How many took at most so long, by bucket and none of them twice; the last one is for the rest. */
  readonly counts: number[]
  seconds: number
}

/** One value for all that no list foresees: what a client makes up must not add a series. */
export const OTHER = '_OTHER'

// RFC 9110, section 9.3 and RFC 5789.
const KNOWN = new Set(['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'])

/** Counts what a server does, cheaply: each request passes here twice. */
export class Traffic {
  /** Requests that are over. */
  readonly series = new Map<string, Series>()
  /** Refusals of authentication, by reason. */
  readonly refused = new Map<Refusal, number>()
  /** Requests that were refused because there were too many. */
  shed = 0
  readonly #inFlight = new Set<ServerResponse>()
  #isDraining = false

  /** Requests that are being answered. */
  get inFlight(): number {
    return this.#inFlight.size
  }

  begin(response: ServerResponse): void {
    this.#inFlight.add(response)
    if (this.#isDraining) response.shouldKeepAlive = false
  }

  /**
   * Counts a request that is over.
   * @param response what `begin` got, if it did
   * @param route a template; undefined for a path that has none
   * @param status undefined if it was not answered
   */
  end(
    response: ServerResponse | undefined,
    method: string,
    route: string | undefined,
    status: number | undefined,
    seconds: number,
  ): void {
    if (response !== undefined) this.#inFlight.delete(response)
    const series = this.series.get(`${method} ${route} ${status}`) ?? this.#seriesOf(method, route, status)
    let bucket = 0
    while (seconds > (BUCKETS[bucket] ?? Infinity)) bucket += 1
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1
    series.seconds += seconds
  }

  /** Counts a refusal of authentication. */
  refuse(reason: Refusal): void {
    this.refused.set(reason, (this.refused.get(reason) ?? 0) + 1)
  }

  /** From now on each answer is the last one of its connection (RFC 9112, section 9.6). */
  drain(): void {
    this.#isDraining = true
    for (const response of this.#inFlight) response.shouldKeepAlive = false
  }

  #seriesOf(given: string, route: string | undefined, status: number | undefined): Series {
    const method = KNOWN.has(given) ? given : OTHER
    const key = `${method} ${route} ${status}`
    const counts = new Array<number>(BUCKETS.length + 1).fill(0)
    const fresh = { method, route: route ?? OTHER, status: String(status ?? ''), counts, seconds: 0 }
    const series = this.series.get(key) ?? fresh
    this.series.set(key, series)
    return series
  }
}
