// Loaded at the first request for metrics: to load it at each start would take a tenth longer.
import { collectDefaultMetrics, Counter, Gauge, register, Registry } from 'prom-client'
import { OWN } from '../http/metrics.ts'
import type { Figures, Store } from '../store.ts'

/** Gauges of prom-client whose names say counter: https://prometheus.io/docs/practices/naming/ */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

const OWN_NAME = new RegExp(`^(# (?:HELP|TYPE) |)${OWN}`, 'gm')

/** The metrics of a store. One whose figure the store does not have is left out. */
const STORE_METRICS: readonly [
  end: string,
  help: string,
  read: (figures: Figures) => number | undefined,
][] = [
  ['commits_total', 'Transactions of writes', ({ commits }) => commits],
  ['writes_total', 'Writes in them', ({ writes }) => writes],
  ['wal_bytes', 'Size of the write-ahead log', ({ walBytes }) => walBytes],
  ['pool_size', 'Connections to PostgreSQL that are allowed', ({ pool }) => pool?.size],
  ['pool_used', 'Connections in use', ({ pool }) => pool?.used],
  ['pool_idle', 'Connections kept for use', ({ pool }) => pool?.idle],
  [
    'pool_waiting',
    'Reads and writes that wait for the statements before theirs',
    ({ pool }) => pool?.waiting,
  ],
]

/** Collects all metrics: those of other files, the process and the store, if there is one. @param product the name that begins their names */
export function makeMetrics(product: string, store: Pick<Store, 'figures'> | undefined) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  for (const [end, help, read] of STORE_METRICS) {
    if (store === undefined || read(store.figures()) === undefined) continue
    const collect = () => {
      metric.reset()
      metric.inc(read(store.figures()) ?? 0)
    }
    const Metric = end.endsWith('_total') ? Counter : Gauge
    const name = `${OWN}store_${end}`
    const metric: Counter | Gauge = new Metric({ name, help, registers: [registry], collect })
  }
  return {
    contentType: registry.contentType,
    /** Writes all metrics in Prometheus' text format. */
    write: async () => {
      const text = `${await register.metrics()}\n${await registry.metrics()}`
      return text.replaceAll(OWN_NAME, (_, before: string) => `${before}${product}_`)
    },
  }
}
