// promtool, of Prometheus, checks /metrics and deploy/alerts.yaml. The metrics of the rules are in
// packages/engine/test/ops/admin.test.ts.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { FAULTS, HEALTHY, NAME } from '../support/figures/alert-series.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { startService } from '../support/processes/programs.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'
import { need } from './programs.ts'

need('promtool', 'prometheus')

const promtool = (words: readonly string[], input = '') =>
  spawnSync('promtool', words, { input, encoding: 'utf8' })

t.test('promtool finds no fault in the metrics', async (t) => {
  const server = await startPostgres(t)
  const embedded = await metricsOf(t, { file: `${t.testdir()}/plants.db` })
  const served = await metricsOf(t, { url: await server.createDatabase() })
  for (const text of [embedded, served]) {
    t.match(promtool(['check', 'metrics'], text), { status: 0, stdout: /^$/, stderr: /^$/ })
  }
  t.notSame(
    promtool(['check', 'metrics'], `${embedded}# TYPE a_total gauge\na_total 1\n`).status,
    0,
  )
})

t.test('each rule fires when it should, and only then', async (t) => {
  const file = `${t.testdir()}/alerts.test.json`
  writeFileSync(file, alertTests(resolve('deploy/alerts.yaml')))
  const { status, stdout, stderr } = promtool(['test', 'rules', file])
  t.equal(status, 0, stdout + stderr)
})

/**
 * Makes a file for `promtool test rules`. Each fault must make only its own rule fire. Without a fault, no rule may fire.
 * @param rules the path of the file with the rules, from the made file
 */
function alertTests(rules: string): string {
  const faults = Object.entries(FAULTS).flatMap(([alert, cases]) =>
    cases.map((fault) => [alert, fault] as const),
  )
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

/** The metrics of a service after requests of all kinds. */
async function metricsOf(t: Test, database: { file: string } | { url: string }): Promise<string> {
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
