// The tests that come from a contract, on another product: its contract has two collections, one of them by text, and its
// items have an int64. It runs in processes of its own, on both stores.
import t from 'tap'
import { startPostgres } from '../support/postgres.ts'

const server = await startPostgres(t)
const file = 'test/contract/operations.test.ts'

for (const store of ['sqlite', 'postgres']) {
  const database = store === 'postgres' ? { DATABASE_URL: await server.createDatabase() } : {}
  const env = { ...process.env, PRODUCT: 'test/support/product/product.ts', ...database }
  // Its folder for files is named by its words.
  t.spawn(process.execPath, [file, store], { env, name: `the same tests on ${store}` })
}
