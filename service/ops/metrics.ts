// Not loaded before the metrics are asked for: it takes as long as half of the start.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import type { Store } from '../store/store.ts'
import { BUCKETS, type Series, type Traffic } from '../http/traffic.ts'

const DURATION = 'http_server_request_duration_seconds'

/** The metrics of a server and its store, in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry()
  readonly #traffic: Traffic
  readonly contentType = this.#registry.contentType

  constructor(traffic: Traffic, store: Pick<Store, 'figures'>) {
    this.#traffic = traffic
    collectDefaultMetrics({ register: this.#registry })
    // Gauges that are named as counters are; https://prometheus.io/docs/practices/naming/
    for (const what of ['handles', 'requests', 'resources']) {
      this.#registry.removeSingleMetric(`nodejs_active_${what}_total`)
    }
    this.#gauge('http_server_active_requests', 'Requests that are being answered', () => traffic.inFlight)
    this.#counter('plants_shed_requests_total', 'Requests refused because there were too many', () => traffic.shed)
    this.#addRefusals()

    const { walBytes, pool } = store.figures()
    this.#counter('plants_store_commits_total', 'Transactions of writes', () => store.figures().commits)
    this.#counter('plants_store_writes_total', 'Writes in them', () => store.figures().writes)
    if (walBytes !== undefined) {
      const read = () => store.figures().walBytes ?? 0
      this.#gauge('plants_store_wal_bytes', 'Size of the write-ahead log', read)
    }
    for (const what of ['size', 'used', 'idle', 'waiting'] as const) {
      if (pool === undefined) break
      const meaning = { size: 'Most connections', used: 'In use', idle: 'Kept', waiting: 'Waits for a connection' }[
        what
      ]
      this.#gauge(`plants_store_pool_${what}`, meaning, () => store.figures().pool?.[what] ?? 0)
    }
  }

  /** All of them, as they are at the moment. */
  async text(): Promise<string> {
    const series = [...this.#traffic.series.values()].flatMap(linesOf)
    const head = [`# HELP ${DURATION} Requests that are over`, `# TYPE ${DURATION} histogram`]
    return `${[...head, ...series].join('\n')}\n\n${await this.#registry.metrics()}`
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(read()) })
  }

  #counter(name: string, help: string, read: () => number): void {
    const collect = () => {
      counter.reset()
      counter.inc(read())
    }
    const counter = new Counter({ name, help, registers: [this.#registry], collect })
  }

  #addRefusals(): void {
    const collect = () => {
      counter.reset()
      for (const [reason, count] of this.#traffic.refused) counter.inc({ reason }, count)
    }
    const counter = new Counter({
      name: 'plants_refused_authentications_total',
      help: 'Requests answered 401',
      labelNames: ['reason'],
      registers: [this.#registry],
      collect,
    })
  }
}

/** By hand: prom-client counts only for itself, and must not be loaded for that. No value needs escaping. */
function linesOf({ method, route, status, counts, seconds }: Series): string[] {
  const labels = `http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"`
  let sum = 0
  const buckets = counts.map((count, index) => {
    sum += count
    return `${DURATION}_bucket{${labels},le="${BUCKETS[index] ?? '+Inf'}"} ${sum}`
  })
  return [...buckets, `${DURATION}_sum{${labels}} ${seconds}`, `${DURATION}_count{${labels}} ${sum}`]
}
