// The real size of the embedded store's write-ahead log.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openTestStore } from '../../../support/stores.ts'
import { partsOf, namesOf } from '../../../support/pages.ts'

const MEGABYTE = 1 << 20
const PLANTS = 10_000

/** Opens a store with two plants on each page of its file, with functions that write to its log and measure it. */
async function open(t: Test) {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file })
  t.teardown(() => store.close())
  const long = '🌱'.repeat(255)
  const plant = (tag: string) => ({ name: long, tag })
  const ids = Array.from({ length: PLANTS }, (_, id) => BigInt(id))
  for (let first = 0; first < PLANTS; first += 500) {
    await Promise.all(ids.slice(first, first + 500).map((id) => store.create('joe', id, plant(long))))
  }
  const other = new DatabaseSync(file, { timeout: 60_000 })
  other.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
  t.teardown(() => other.close())
  const rewrite = other.prepare('UPDATE plants SET item = ?')
  let turn = 0
  return {
    store,
    /** Writes some plants that are on different pages. */
    write: async (count: number, tag: string) => {
      await Promise.all(
        ids.slice(0, count).map((id) => store.update('joe', (id * 17n) % BigInt(PLANTS), () => plant(tag))),
      )
    },
    /** Writes every plant in one transaction: about 20 megabytes of log. */
    writeAll: () => rewrite.run(JSON.stringify({ name: long, tag: `${'🌱'.repeat(250)} ${turn++ % 10}` })),
    size: () => statSync(`${file}-wal`).size,
  }
}

t.test('checkpoints copy the log into the file again and again', async (t) => {
  const { store, write, size } = await open(t)
  const sizes: number[] = []
  for (let commit = 0; commit < 50; commit++) {
    await write(100, `${commit}`)
    sizes.push(size())
  }
  t.ok(Math.max(...sizes.slice(-40)) < 8 * MEGABYTE, `${Math.max(...sizes)} bytes`)
  await store.ping()
  t.equal(store.figures().walBytes, size())
})

t.test('the log stays bounded whatever lists are open, read or not', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  const begin = async () => partsOf(await store.list('joe'))[Symbol.asyncIterator]()
  const unread = [await begin(), await begin()]
  await unread[0]?.next()
  const sizes: number[] = []
  for (let round = 0; round < 8; round++) {
    writeAll()
    await write(500, `${round}`)
    sizes.push(size())
    unread.push(await begin())
    t.equal((await namesOf(store.list('joe'))).length, PLANTS)
  }
  t.ok(Math.max(...sizes) < 64 * MEGABYTE, sizes.map((each) => Math.round(each / MEGABYTE)).join())
  for (const list of unread) t.equal((await list.next()).done, false, 'they go on')
})

t.test('a log that has grown too long is truncated', async (t) => {
  const { write, writeAll, size } = await open(t)
  while (size() < 80 * MEGABYTE) writeAll()
  await write(500, 'a')
  t.ok(size() < MEGABYTE, `${size()} bytes`)
})
