// deploy/alerts.yaml asks for what the service shows. That each rule fires is in system/metrics.test.ts, by promtool.
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfig } from '../../../service/engine/config.ts'
import { openAdmin } from '../../../service/engine/ops/admin.ts'
import { alertRules, FAULTS, HEALTHY, NAME } from '../../support/alerts.ts'
import { build } from '../../support/helper.ts'
import { startPostgres } from '../../support/postgres.ts'
import { freePort } from '../../support/project.ts'

/** The metrics of a service that has had some requests, and has refused one for lack of a token. */
async function metricsOf(t: Test, environment: Record<string, string>): Promise<string> {
  const { call, store, token } = await build(t, environment)
  const secret = await token('joe')
  await call({ method: 'POST', path: '/plants', token: secret, body: { id: 1, name: 'x' } })
  await call({ path: '/plants' })
  const ADMIN_PORT = String(await freePort())
  const admin = await openAdmin(NAME, readConfig(NAME, { ADMIN_PORT }), pino({ level: 'silent' }))
  t.teardown(() => admin.close())
  admin.serving(store)
  return (await fetch(`http://127.0.0.1:${ADMIN_PORT}/metrics`)).text()
}

/** The names of metrics, and of labels, in a text. */
const namesIn = (text: string) => [...text.matchAll(/\b([a-z]\w+)(?=\{)/g)].map(([name]) => name)
const labelsIn = (text: string) => [...text.matchAll(/[{,](\w+)(?=(?:=~|!=|=)")/g)].map(([, label = '']) => label)

t.test('the rules ask for metrics and labels that there are', async (t) => {
  const server = await startPostgres(t)
  const embedded = await metricsOf(t, {})
  const shown = embedded + (await metricsOf(t, { DATABASE_URL: await server.createDatabase() }))
  // Prometheus adds these.
  const names = new Set(['up', ...[...shown.matchAll(/^([a-z]\w*)[ {]/gm)].map(([, name]) => name)])
  const labels = new Set(['job', 'error_type', ...labelsIn(shown)]) // contract/answer.test.ts shows error_type
  const rules = alertRules().map(({ expr }) => expr)
  for (const text of [...rules, ...Object.keys(HEALTHY)]) {
    for (const name of namesIn(text)) t.ok(names.has(name), name)
    for (const label of labelsIn(text)) t.ok(labels.has(label), label)
  }
  t.ok(rules.flatMap(namesIn).length > 8)
})

t.test('each rule has a case in which it fires', async (t) => {
  t.strictSame(
    alertRules()
      .map(({ alert }) => alert)
      .sort(),
    Object.keys(FAULTS).sort(),
  )
})
