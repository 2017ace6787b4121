// Long lists leave little garbage: results surviving the fast collections of V8 would take the
// memory of many chunks until a full one.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { openDatabases } from '../../../../test/support/postgres/server.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'

/** The length of an item to send or find, and the number of times. */
const LENGTH = 50_000
const TIMES = 400

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

t.test('what a statement sends and returns is gone at the next collection', async (t) => {
  const databases = await openDatabases(t)
  const store = await openTestStore({ url: await databases.createDatabase() })
  t.teardown(() => store.close())
  const item = { name: 'x'.repeat(LENGTH) }
  await store.create('joe', 1n, item)
  /** The bytes freed only by a full collection. */
  const measure = async (run: () => Promise<unknown>) => {
    for (const count of range(TIMES)) {
      await run()
      if (count % 20 === 0) collect({ type: 'minor' })
    }
    collect({ type: 'minor' })
    const { heapUsed } = process.memoryUsage()
    collect()
    return heapUsed - process.memoryUsage().heapUsed
  }
  const leftByFinds = await measure(() => store.find('joe', 1n))
  const leftByCreates = await measure(() => store.create('joe', 1n, item))
  const most = (LENGTH * TIMES) / 2
  t.ok(leftByFinds < most, `${leftByFinds} bytes of items that were found were still there`)
  t.ok(leftByCreates < most, `${leftByCreates} bytes of items that were created were still there`)
})
