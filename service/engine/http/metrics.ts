// The metric classes of prom-client. Its index also loads default metrics, push gateway and cluster, which takes a tenth of
// each start. A metric is a constant beside the code that counts. ops/metrics.ts exports all of them.
import { createRequire } from 'node:module'
import type * as PromClient from 'prom-client'

const require = createRequire(import.meta.url)
export const Counter = require('prom-client/lib/counter.js') as typeof PromClient.Counter
export const Gauge = require('prom-client/lib/gauge.js') as typeof PromClient.Gauge
export const Histogram = require('prom-client/lib/histogram.js') as typeof PromClient.Histogram

/** The beginning of the names of the service's own metrics. ops/metrics.ts writes the product's name in its place. */
export const METRIC_PREFIX = 'service_'

/** The label for all unknown values: a client must not be able to add time series. */
export const UNKNOWN_LABEL = '_OTHER'
