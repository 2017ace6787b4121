// Not loaded before the metrics are asked for: it takes a tenth of the start.
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client'
import { register } from 'prom-client'
import type { Store } from '../store/store.ts'

/** Gauges that are named as counters are; https://prometheus.io/docs/practices/naming/ */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

const POOL = [
  { what: 'size', name: 'size', help: 'Connections to PostgreSQL that there may be' },
  { what: 'used', name: 'used', help: 'Connections in use' },
  { what: 'idle', name: 'idle', help: 'Connections kept for use' },
  { what: 'givenUp', name: 'given_up', help: 'Connections in use only because the server has not let go of them' },
  { what: 'statements', name: 'statements', help: 'Statements that PostgreSQL has not answered yet' },
  { what: 'waiting', name: 'waiting', help: 'Reads and writes that wait for the statements before theirs' },
] as const

/** What is shown to Prometheus: what the rooms count, prom-client's figures of the process, and those of the store. */
export class Metrics {
  readonly #registry = new Registry()
  readonly contentType = this.#registry.contentType

  constructor(store: Pick<Store, 'figures'>) {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name)

    const { walBytes, pool } = store.figures()
    this.#counter('plants_store_commits_total', 'Transactions of writes', () => store.figures().commits)
    this.#counter('plants_store_writes_total', 'Writes in them', () => store.figures().writes)
    if (walBytes !== undefined) {
      const read = () => store.figures().walBytes ?? 0
      this.#gauge('plants_store_wal_bytes', 'Size of the write-ahead log', read)
    }
    if ('isSound' in store.figures()) {
      const read = () => Number(store.figures().isSound ?? NaN)
      this.#gauge(
        'plants_store_sound',
        'Whether the check of the file has found nothing wrong: 1, 0, or NaN until then',
        read,
      )
    }
    for (const { what, name, help } of POOL) {
      if (pool !== undefined) {
        this.#gauge(`plants_store_pool_${name}`, help, () => store.figures().pool?.[what] ?? 0)
      }
    }
  }

  /** All of them, as they are at the moment. */
  readonly text = async (): Promise<string> => {
    return `${await register.metrics()}\n${await this.#registry.metrics()}`
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
}
