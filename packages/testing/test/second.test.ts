// The tests that come from a contract, on another product: its contract has two collections, one of them by text, and its
// items have an int64. It runs in processes of its own, on both stores.
import t from 'tap'
import { startPostgres } from '../../../test/support/postgres.ts'
import { run } from '../../../test/support/process.ts'

const server = await startPostgres(t)
const file = 'test/contract.test.ts'

t.test('a product that can not be opened fails them, with the reason', async (t) => {
  const env = { PRODUCT: 'test/support/product/product.ts', CHANGES_FILE: '/proc/none/changes.db' }
  const { code, stdout } = await run([process.execPath, file], env)
  t.equal(code, 1)
  t.match(
    stdout,
    /^not ok 1 - npm test starts the product, and calls its open: open of the product plants: unable to open/m,
  )
})

for (const store of ['sqlite', 'postgres']) {
  const database = store === 'postgres' ? { DATABASE_URL: await server.createDatabase() } : {}
  const env = { ...process.env, PRODUCT: 'test/support/product/product.ts', ...database }
  // Its folder for files is named by its words.
  t.spawn(process.execPath, [file, store], { env, name: `the same tests on ${store}` })
}
