// deploy/alerts.yaml asks for what the service shows. That each rule fires is in system/metrics.test.ts, by promtool.
import t from 'tap'
import { alertRules, FAULTS, HEALTHY, metricsOf, NAME } from '../../support/alerts.ts'
import { startPostgres } from '../../support/postgres.ts'
import { product } from '../../support/product/product.ts'

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
