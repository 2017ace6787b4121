// Time series for each rule of deploy/alerts.yaml that make it fire, one value per minute, in promtool's notation.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

const { groups }: { groups: { name: string; rules: { alert: string; expr: string }[] }[] } = parse(
  readFileSync('deploy/alerts.yaml', 'utf8'),
)
/** The rules of deploy/alerts.yaml. */
export const RULES = groups.flatMap(({ rules }) => rules)

/** The name of the service in deploy/. */
export const NAME = groups[0]?.name ?? ''
/** The beginning of the names of its alerts. */
export const PREFIX = RULES[0]?.alert.replace(/Down$/, '') ?? ''

/** Series by name and labels, without the job. Rates are per minute: 60 is one per second. */
type Series = Readonly<Record<string, string>>

const over = 'http_server_request_duration_seconds'
const get = 'http_request_method="GET",http_route="/plants"'
const bucket = (le: string) =>
  `${over}_bucket{http_request_method="POST",http_route="/plants",http_response_status_code="200",le="${le}"}`

/** The series of a healthy service. */
export const HEALTHY: Series = {
  'up{}': '1x120',
  [`${over}_count{${get},http_response_status_code="200"}`]: '0+6000x120',
  [`${over}_count{${get},http_response_status_code="503"}`]: '0+6x120',
  [`${over}_count{${get},http_response_status_code="503",error_type="too_busy"}`]: '0+600x120',
  ...Object.fromEntries(['0.25', '0.5', '1', '+Inf'].map((le) => [bucket(le), '0+600x120'])),
  [`${NAME}_shed_requests_total{}`]: '0+6x120',
  'nodejs_eventloop_lag_p99_seconds{}': '0.02x120',
  'process_resident_memory_bytes{}': '2e8x120',
  [`${NAME}_store_wal_bytes{}`]: '4e6x120',
  [`${NAME}_store_pool_waiting{}`]: '3x120',
  [`${NAME}_refused_authentications_total{reason="missing"}`]: '0+6000x120',
  [`${NAME}_refused_authentications_total{reason="expired"}`]: '0+60x120',
}

/** The faulty series of each rule, one entry for each cause. The other series are healthy. */
export const FAULTS: Readonly<Record<string, readonly Series[]>> = {
  [`${PREFIX}Down`]: [{ 'up{}': '0x120' }],
  [`${PREFIX}Failing`]: [
    { [`${over}_count{${get},http_response_status_code="503"}`]: '0+120x120' },
  ],
  [`${PREFIX}Slow`]: [{ [bucket('0.25')]: '0+580x120', [bucket('0.5')]: '0+590x120' }],
  [`${PREFIX}Overloaded`]: [{ [`${NAME}_shed_requests_total{}`]: '0+120x120' }],
  [`${PREFIX}EventLoopSlow`]: [{ 'nodejs_eventloop_lag_p99_seconds{}': '0.3x120' }],
  [`${PREFIX}MemoryHigh`]: [{ 'process_resident_memory_bytes{}': '7e8x120' }],
  [`${PREFIX}WriteAheadLogLarge`]: [{ [`${NAME}_store_wal_bytes{}`]: '3e8x120' }],
  [`${PREFIX}PoolExhausted`]: [{ [`${NAME}_store_pool_waiting{}`]: '150x120' }],
  [`${PREFIX}TokensRefused`]: [
    { [`${NAME}_refused_authentications_total{reason="expired"}`]: '0+600x120' },
  ],
}
