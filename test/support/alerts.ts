// For each rule of deploy/alerts.yaml: time series that make it fire, one value per minute, in promtool's notation.
import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { startService } from './process.ts'
import { issueTokenIn } from './tokens.ts'

interface Rules {
  readonly groups: {
    readonly name: string
    readonly rules: { readonly alert: string; readonly expr: string; readonly for?: string }[]
  }[]
}

const { groups } = parse(readFileSync('deploy/alerts.yaml', 'utf8')) as Rules

/** The name of the service in deploy/. */
export const NAME = groups[0]?.name ?? ''
/** The beginning of the names of its alerts. */
export const PREFIX = groups[0]?.rules[0]?.alert.replace(/Down$/, '') ?? ''

/** Series by name and labels, without the job. Rates are per minute: 60 is one per second. */
export type Series = Readonly<Record<string, string>>

const over = 'http_server_request_duration_seconds'
const get = 'http_request_method="GET",http_route="/plants"'
const post = 'http_request_method="POST",http_route="/plants",http_response_status_code="200"'

/** The series of a healthy service. */
export const HEALTHY: Series = {
  'up{}': '1x120',
  [`${over}_count{${get},http_response_status_code="200"}`]: '0+6000x120',
  [`${over}_count{${get},http_response_status_code="503"}`]: '0+6x120',
  [`${over}_count{${get},http_response_status_code="503",error_type="too_busy"}`]: '0+600x120',
  [`${over}_bucket{${post},le="0.25"}`]: '0+600x120',
  [`${over}_bucket{${post},le="0.5"}`]: '0+600x120',
  [`${over}_bucket{${post},le="1"}`]: '0+600x120',
  [`${over}_bucket{${post},le="+Inf"}`]: '0+600x120',
  [`${NAME}_shed_requests_total{}`]: '0+6x120',
  'nodejs_eventloop_lag_p99_seconds{}': '0.02x120',
  'process_resident_memory_bytes{}': '2e8x120',
  [`${NAME}_store_wal_bytes{}`]: '4e6x120',
  [`${NAME}_store_pool_waiting{}`]: '3x120',
  [`${NAME}_store_pool_given_up{}`]: '0x120',
  [`${NAME}_refused_authentications_total{reason="missing"}`]: '0+6000x120',
  [`${NAME}_refused_authentications_total{reason="expired"}`]: '0+60x120',
}

/** For each rule, the series that make it fire; one entry for each cause. The other series are healthy. */
export const FAULTS: Readonly<Record<string, readonly Series[]>> = {
  [`${PREFIX}Down`]: [{ 'up{}': '0x120' }],
  [`${PREFIX}Failing`]: [{ [`${over}_count{${get},http_response_status_code="503"}`]: '0+120x120' }],
  [`${PREFIX}Slow`]: [
    {
      [`${over}_bucket{${post},le="0.25"}`]: '0+580x120',
      [`${over}_bucket{${post},le="0.5"}`]: '0+590x120',
    },
  ],
  [`${PREFIX}Overloaded`]: [{ [`${NAME}_shed_requests_total{}`]: '0+120x120' }],
  [`${PREFIX}EventLoopSlow`]: [{ 'nodejs_eventloop_lag_p99_seconds{}': '0.3x120' }],
  [`${PREFIX}MemoryHigh`]: [{ 'process_resident_memory_bytes{}': '7e8x120' }],
  [`${PREFIX}WriteAheadLogLarge`]: [{ [`${NAME}_store_wal_bytes{}`]: '3e8x120' }],
  [`${PREFIX}PoolExhausted`]: [
    { [`${NAME}_store_pool_waiting{}`]: '150x120' },
    { [`${NAME}_store_pool_given_up{}`]: '2x120' },
  ],
  [`${PREFIX}TokensRefused`]: [{ [`${NAME}_refused_authentications_total{reason="expired"}`]: '0+600x120' }],
}

/** The rules of deploy/alerts.yaml. */
export function alertRules() {
  return groups.flatMap(({ rules }) => rules)
}

/**
 * Makes a file for `promtool test rules`. Each fault must make only its own rule fire. Without a fault, no rule may fire.
 * @param rules the path of the file with the rules, relative to the file that this makes
 */
export function alertTests(rules: string): string {
  const faults = Object.entries(FAULTS).flatMap(([alert, all]) => all.map((fault) => [alert, fault] as const))
  const cases = [['', {}] as const, ...faults]
  const tests = cases.map(([alert, fault]) => ({
    name: alert || 'healthy',
    interval: '1m',
    input_series: Object.entries({ ...HEALTHY, ...fault }).map(([name, values]) => ({
      series: name.replace('{', `{job="${NAME}",`).replace(',}', '}'),
      values,
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: '60m',
        exp_samples: alert === '' ? [] : [{ labels: `{alertname="${alert}"}`, value: 1 }],
      },
    ],
  }))
  return JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests })
}

/** The metrics of a service that has had requests of all kinds. */
export async function metricsOf(t: Test, database: { file: string } | { url: string }): Promise<string> {
  const token = await issueTokenIn(database)
  const DATABASE_URL = 'file' in database ? `sqlite:${database.file}` : database.url
  const { port, adminPort } = await startService(t, { DATABASE_URL })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const url = `http://127.0.0.1:${port}/plants`
  await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"x"}' })
  await fetch(url, { headers })
  await fetch(`${url}/1`, { method: 'DELETE', headers })
  await fetch(url)
  await fetch(url, { headers: { Authorization: 'Bearer "quoted\\"' } })
  await fetch(`http://127.0.0.1:${port}/"nowhere\\"`)
  return await (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
}
