// The examples of errors in openapi.yaml are answers of the service.
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { product } from '../service/product.ts'
import { contractOf } from './support/inner/documented.ts'
import { build, type Call } from './support/servers/start-product.ts'
import { exampleOf, toCall } from './support/inner/inputs.ts'

/** The changes of an operation's example, for an error. */
const CHANGES: Readonly<Record<string, Partial<Call>>> = {
  'createPayout 400': { body: { id: 7 } },
  'createPayout 409': { body: { id: 7, name: 'Rose' } },
  'createPayout 413': { body: ' '.repeat(16_385) },
  'createPayout 415': { headers: { 'Content-Type': 'text/plain' } },
  'getPayout 400': { path: '/plants?limit=0' },
  'deletePayout 400': { path: '/plants/x' },
  'deletePayout 404': { path: '/plants/8' },
}

const { operations } = await contractOf(product)
for (const operation of operations) {
  // The errors of other operations are unknown here.
  if (!Object.keys(CHANGES).some((name) => name.startsWith(`${operation.id} `))) continue
  for (const [status, { examples }] of operation.responses) {
    const name = `${operation.id} ${status}`
    if (/^[23]/.test(status)) continue

    t.test(`the example of ${name} is what the service answers`, async (t) => {
      const { call, store, token } = await build(t, {}, product)
      const caller = await token('caller')
      await call({
        method: 'POST',
        path: '/plants',
        token: caller,
        body: { id: 7, name: 'Monstera deliciosa' },
      })
      if (status === '503') await store.close()
      // Unexpected errors.
      if (status === 'default')
        new DatabaseSync(`${t.testdirName}/plants.db`).exec('DROP TABLE plants')
      const example = toCall(operation, exampleOf(operation))
      const credentials = status === '401' ? {} : { token: caller }
      const answer = await call({
        ...example,
        ...credentials,
        ...CHANGES[name],
        failing: status === 'default',
      })
      t.equal(String(answer.status), status === 'default' ? '500' : status)
      t.strictSame(examples, [answer.json])
    })
  }
}
