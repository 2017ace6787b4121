// Loaded at the first request for metrics: to load it at each start would take a tenth longer.
import { collectDefaultMetrics, Counter, Gauge, register, Registry } from 'prom-client'
import type { Store } from '../store/store.ts'

/** Gauges of prom-client whose names say counter: https://prometheus.io/docs/practices/naming/ */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

const POOL = [
  { what: 'size', name: 'size', help: 'Connections to PostgreSQL that are allowed' },
  { what: 'used', name: 'used', help: 'Connections in use' },
  { what: 'idle', name: 'idle', help: 'Connections kept for use' },
  {
    what: 'givenUp',
    name: 'given_up',
    help: 'Connections that were given up, and that the server has not released yet',
  },
  { what: 'statements', name: 'statements', help: 'Statements that PostgreSQL has not answered yet' },
  { what: 'waiting', name: 'waiting', help: 'Reads and writes that wait for the statements before theirs' },
] as const

/** All metrics: the counters of other files, the process and the store. */
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
      this.#gauge('plants_store_wal_bytes', 'Size of the write-ahead log', () => store.figures().walBytes ?? 0)
    }
    if ('isSound' in store.figures()) {
      const help = 'Whether the check of the file has found nothing wrong: 1, 0, or NaN until it ends'
      this.#gauge('plants_store_sound', help, () => Number(store.figures().isSound ?? NaN))
    }
    for (const { what, name, help } of pool === undefined ? [] : POOL) {
      this.#gauge(`plants_store_pool_${name}`, help, () => store.figures().pool?.[what] ?? 0)
    }
  }

  /** Prometheus' text format. */
  readonly text = async (): Promise<string> => `${await register.metrics()}\n${await this.#registry.metrics()}`

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
