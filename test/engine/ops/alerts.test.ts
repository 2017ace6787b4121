// deploy/alerts.yaml asks for what the service shows. That each rule fires is in system/metrics.test.ts, by promtool.
import t, { type Test } from 'tap'
import { alertRules, FAULTS, HEALTHY, NAME } from '../../support/alerts.ts'
import { call } from '../../support/helper.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startService } from '../../support/process.ts'
import { product } from '../../support/product/product.ts'
import { issueTokenIn } from '../../support/tokens.ts'

/** The metrics of a service that has had some requests, and has refused one for lack of a token. */
async function metricsOf(t: Test, database: { file: string } | { url: string }): Promise<string> {
  const token = await issueTokenIn(database)
  const DATABASE_URL = 'file' in database ? `sqlite:${database.file}` : database.url
  const { port, adminPort } = await startService(t, { DATABASE_URL })
  await call(port, { method: 'POST', path: '/plants', token, body: { id: 1, name: 'x' } })
  await call(port, { path: '/plants' })
  return (await fetch(`http://127.0.0.1:${adminPort}/metrics`)).text()
}

/** The names of metrics in a rule for the service of deploy/, as the product of the tests has them. */
const namesIn = (text: string) =>
  [...text.matchAll(/\b([a-z]\w+)(?=\{)/g)].map(([name]) => name.replace(`${NAME}_`, `${product.name}_`))
/** The names of labels in a text. */
const labelsIn = (text: string) => [...text.matchAll(/[{,](\w+)(?=(?:=~|!=|=)")/g)].map(([, label = '']) => label)

t.test('the rules ask for metrics and labels that there are', async (t) => {
  const server = await startPostgres(t)
  const embedded = await metricsOf(t, { file: `${t.testdir()}/plants.db` })
  const shown = embedded + (await metricsOf(t, { url: await server.createDatabase() }))
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
  const names = alertRules().map(({ alert }) => alert)
  t.strictSame(names.sort(), Object.keys(FAULTS).sort())
})
