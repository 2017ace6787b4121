// What promtool, of Prometheus, says to /metrics and to deploy/alerts.yaml. What the rules ask for is in ../ops/alerts.test.ts.
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { alertTests } from '../support/alerts.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/process.ts'
import { need } from './programs.ts'
import { issueTokenIn } from '../support/tokens.ts'

need('promtool', 'prometheus')
const RULES = 'deploy/alerts.yaml'

function promtool(words: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync('promtool', words, { input, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** The metrics of a service that has had requests of all kinds. */
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

t.test('promtool finds no fault in the metrics', async (t) => {
  const server = await startPostgres(t)
  const embedded = await metricsOf(t, { file: `${t.testdir()}/plants.db` })
  const served = await metricsOf(t, { url: await server.createDatabase() })
  for (const text of [embedded, served]) {
    t.strictSame(promtool(['check', 'metrics'], text), { status: 0, stdout: '', stderr: '' })
  }
  t.notSame(promtool(['check', 'metrics'], `${embedded}# TYPE a_total gauge\na_total 1\n`).status, 0)
})

t.test('each rule fires when it should, and only then', async (t) => {
  const file = `${t.testdir()}/alerts.test.json`
  writeFileSync(file, alertTests(resolve(RULES)))
  const { status, stdout, stderr } = promtool(['test', 'rules', file])
  t.equal(status, 0, stdout + stderr)
})
