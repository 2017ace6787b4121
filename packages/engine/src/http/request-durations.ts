// The histogram of the durations of requests. It counts in arrays, and becomes objects of prom-client when it is read.
import { Histogram } from './metrics.ts'

const LABELS = ['http_request_method', 'http_route', 'http_response_status_code', 'error_type']
/** Those of OpenTelemetry's `http.server.request.duration`, and two below them. */
const BUCKETS = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]
const BOUNDS = [...BUCKETS, Infinity]

/** The labels of a request. */
export interface RequestLabels {
  readonly method: string
  readonly route: string
  /** Empty if the client left before the answer. */
  readonly status: number | ''
  /** Whether the request was refused as one too many. */
  readonly isShed: boolean
}

type LabelValues = Readonly<Record<string, string | number>>

/** The requests with the same labels. */
class Series {
  readonly #labels: LabelValues
  /** By bucket. */
  readonly #counts = BOUNDS.map(() => 0)
  #count = 0
  #sum = 0

  constructor({ method, route, status, isShed }: RequestLabels) {
    const labels = {
      http_request_method: method,
      http_route: route,
      http_response_status_code: status,
    }
    this.#labels = isShed ? { ...labels, error_type: 'too_busy' } : labels
  }

  observe(seconds: number): void {
    this.#sum += seconds
    this.#count += 1
    const bucket = BOUNDS.findIndex((bound) => seconds <= bound)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
  }

  /** In the form of prom-client. */
  values(name: string) {
    let below = 0
    const buckets = BOUNDS.map((bound, index) => {
      below += this.#counts[index] ?? 0
      const le = bound === Infinity ? '+Inf' : bound
      return this.#value(`${name}_bucket`, below, { le })
    })
    return [
      ...buckets,
      this.#value(`${name}_sum`, this.#sum),
      this.#value(`${name}_count`, this.#count),
    ]
  }

  #value(metricName: string, value: number, labels: LabelValues = {}) {
    return { metricName, value, labels, sharedLabels: this.#labels }
  }
}

type SeriesByMethod = Map<string, Series>
type SeriesByRoute = Map<string, SeriesByMethod>
type SeriesByStatus = Map<RequestLabels['status'], SeriesByRoute>

/** The value of a key, which is added if there is none. */
function valueIn<Key, Value>(values: Map<Key, Value>, key: Key, make: () => Value): Value {
  const existing = values.get(key)
  if (existing !== undefined) return existing
  const value = make()
  values.set(key, value)
  return value
}

/** `observe` of prom-client would make several objects for each request. */
export class RequestDurations extends Histogram {
  readonly #name: string
  readonly #help: string
  readonly #series: Series[] = []
  readonly #answered: SeriesByStatus = new Map()
  readonly #shed: SeriesByStatus = new Map()

  constructor(name: string, help: string) {
    super({ name, help, labelNames: LABELS, buckets: BUCKETS })
    this.#name = name
    this.#help = help
  }

  count(labels: RequestLabels, seconds: number): void {
    this.#find(labels).observe(seconds)
  }

  /** By maps in maps: a string of all labels would take ten times as long. */
  #find(labels: RequestLabels): Series {
    const byStatus = labels.isShed ? this.#shed : this.#answered
    const ofStatus = valueIn(byStatus, labels.status, (): SeriesByRoute => new Map())
    const ofRoute = valueIn(ofStatus, labels.route, (): SeriesByMethod => new Map())
    return valueIn(ofRoute, labels.method, () => this.#add(labels))
  }

  #add(labels: RequestLabels): Series {
    const series = new Series(labels)
    this.#series.push(series)
    return series
  }

  /** prom-client writes a histogram by this method. */
  getForPromString() {
    const values = this.#series.flatMap((series) => series.values(this.#name))
    return { name: this.#name, help: this.#help, type: 'histogram', values }
  }
}
