// What counts, of prom-client, without its index: that loads the default metrics, the push gateway and the cluster, too,
// a tenth of each start. It can go when prom-client exports its parts one by one.
import Counter from 'prom-client/lib/counter.js'
import Gauge from 'prom-client/lib/gauge.js'
import Histogram from 'prom-client/lib/histogram.js'

// A metric is a constant beside the code that counts. All are in prom-client's default registry, which ops/metrics.ts shows.
export { Counter, Gauge, Histogram }

/** One value for all that no list foresees: what a client makes up must not add a series. */
export const OTHER = '_OTHER'
