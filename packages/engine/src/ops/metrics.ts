// Writes all metrics for Prometheus. Loaded only when first asked for metrics: it would make every
// start a tenth slower.
import { collectDefaultMetrics, Counter, Gauge, register, Registry } from 'prom-client'
import { METRIC_PREFIX, type MetricTexts } from '../http/metrics.ts'
import type { Store, StoreStats } from '../store.ts'

/** Gauges of prom-client named like counters: https://prometheus.io/docs/practices/naming/ */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

const PREFIXED_NAME = new RegExp(`^(# (?:HELP|TYPE) |)${METRIC_PREFIX}`, 'gm')

/** The metrics of a store. A figure missing in the store's statistics has no metric. */
const STORE_METRICS: readonly [
  end: string,
  help: string,
  read: (stats: StoreStats) => number | undefined,
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

/**
 * Collects the metrics of the engine, the process, the store and the product.
 * @param product its name, with which the names of metrics begin
 * @param productMetrics the metrics made by the product
 */
export function makeMetrics(
  product: string,
  store: Pick<Store, 'stats'> | undefined,
  productMetrics: MetricTexts | undefined,
) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  for (const [end, help, read] of STORE_METRICS) {
    if (store === undefined || read(store.stats()) === undefined) continue
    const collect = () => {
      metric.reset()
      metric.inc(read(store.stats()) ?? 0)
    }
    const Metric = end.endsWith('_total') ? Counter : Gauge
    const name = `${METRIC_PREFIX}store_${end}`
    const metric: Counter | Gauge = new Metric({ name, help, registers: [registry], collect })
  }
  return {
    contentType: registry.contentType,
    write: async () => {
      const text = `${await register.metrics()}\n${await registry.metrics()}`
      const named = text.replaceAll(PREFIXED_NAME, (_, before: string) => `${before}${product}_`)
      return productMetrics === undefined ? named : `${named}\n${await productMetrics.metrics()}`
    },
  }
}
