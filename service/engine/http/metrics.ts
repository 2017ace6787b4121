// Imports the metric classes of prom-client without its index. The index also loads default metrics, push gateway and
// cluster, which takes a tenth of each start. This can go when prom-client exports its parts one by one.
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'

// A metric is a constant beside the code that counts. ops/metrics.ts exports them, from prom-client's default registry.
export { Counter, Gauge, Histogram }

/** The beginning of the names of the service's own metrics. ops/metrics.ts writes the product's name in its place. */
export const OWN = 'service_'

/** The label for all unknown values: a client must not be able to add time series. */
export const OTHER = '_OTHER'
