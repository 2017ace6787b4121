// The metric classes of prom-client. Its index also loads default metrics, push gateway and cluster, which takes a tenth of
// each start. A metric is a constant beside the counting code. ops/metrics.ts exports all of them.
import { createRequire } from 'node:module'
import type * as PromClient from 'prom-client'

const require = createRequire(import.meta.url)
export const Registry = require('prom-client/lib/registry.js') as typeof PromClient.Registry
export const Counter = require('prom-client/lib/counter.js') as typeof PromClient.Counter
export const Gauge = require('prom-client/lib/gauge.js') as typeof PromClient.Gauge
export const Histogram = require('prom-client/lib/histogram.js') as typeof PromClient.Histogram

/** The metrics of a registry, in the format of Prometheus. */
export type MetricTexts = Pick<PromClient.Registry, 'metrics'>

/** The beginning of the names of built-in metrics. ops/metrics.ts writes the product's name in its place. */
export const METRIC_PREFIX = 'service_'

/** The label for all unknown values: a client must not be able to add time series. */
export const UNKNOWN_LABEL = '_OTHER'

/** Makes the metrics of a product. Their names begin with its name. */
export interface ProductMetrics {
  /** @throws {Error} if the name is not valid, or taken */
  readonly counter: <Label extends string = never>(
    options: MetricOptions<PromClient.CounterConfiguration<Label>>,
  ) => PromClient.Counter<Label>
  /** @throws {Error} as of `counter` */
  readonly gauge: <Label extends string = never>(
    options: MetricOptions<PromClient.GaugeConfiguration<Label>>,
  ) => PromClient.Gauge<Label>
  /** @throws {Error} as of `counter` */
  readonly histogram: <Label extends string = never>(
    options: MetricOptions<PromClient.HistogramConfiguration<Label>>,
  ) => PromClient.Histogram<Label>
}

/**
 * The ends of the names of built-in metrics. A second metric of a name would spoil them all: Prometheus takes none of them.
 */
const TAKEN =
  /^(store_.*|shed_requests_total|dropped_log_lines_total|refused_authentications_total)$/

/** The options of prom-client. The registry is the product's. */
type MetricOptions<Configuration> = Omit<Configuration, 'registers'>

/** @param product its name @param registry of its metrics */
export function productMetrics(product: string, registry: PromClient.Registry): ProductMetrics {
  const complete = <Options extends { name: string }>(options: Options) => {
    const name = `${product}_${options.name}`
    if (TAKEN.test(options.name)) throw new Error(`the metric ${name} is a built-in one: rename it`)
    return { ...options, name, registers: [registry] }
  }
  return {
    counter: (options) => new Counter(complete(options)),
    gauge: (options) => new Gauge(complete(options)),
    histogram: (options) => new Histogram(complete(options)),
  }
}
