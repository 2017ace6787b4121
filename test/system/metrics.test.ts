// What promtool, of Prometheus, says to /metrics and to deploy/alerts.yaml. What the rules ask for is in ../ops/alerts.test.ts.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t from 'tap'
import { alertTests, metricsOf } from '../support/alerts.ts'
import { startPostgres } from '../support/postgres.ts'
import { need } from './programs.ts'

need('promtool', 'prometheus')

const promtool = (words: readonly string[], input = '') => spawnSync('promtool', words, { input, encoding: 'utf8' })

t.test('promtool finds no fault in the metrics', async (t) => {
  const server = await startPostgres(t)
  const embedded = await metricsOf(t, { file: `${t.testdir()}/plants.db` })
  const served = await metricsOf(t, { url: await server.createDatabase() })
  for (const text of [embedded, served]) {
    t.match(promtool(['check', 'metrics'], text), { status: 0, stdout: /^$/, stderr: /^$/ })
  }
  t.notSame(promtool(['check', 'metrics'], `${embedded}# TYPE a_total gauge\na_total 1\n`).status, 0)
})

t.test('each rule fires when it should, and only then', async (t) => {
  const file = `${t.testdir()}/alerts.test.json`
  writeFileSync(file, alertTests(resolve('deploy/alerts.yaml')))
  const { status, stdout, stderr } = promtool(['test', 'rules', file])
  t.equal(status, 0, stdout + stderr)
})
