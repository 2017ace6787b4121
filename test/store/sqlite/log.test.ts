// The real size of the embedded store's write-ahead log.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { openStore } from '../../../service/store/open.ts'
import type { Page } from '../../../service/store/store.ts'
import { batchesOf, namesOf } from '../../support/pages.ts'

const MEGABYTE = 1 << 20
const PLANTS = 10_000

/** Opens a store with two plants on each page of its file, with functions that write to its log and measure it. */
async function open(t: Test) {
  const file = `${t.testdir()}/plants.db`
  const store = await openStore({ file })
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
  const rewrite = other.prepare('UPDATE plants SET plant = ?')
  let turn = 0
  return {
    store,
    /** Writes some plants that are on different pages. */
    write: async (count: number, tag: string) => {
      await Promise.all(ids.slice(0, count).map((id) => store.update('joe', (id * 17n) % BigInt(PLANTS), plant(tag))))
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
  t.equal(store.figures().walBytes, size())
})

t.test('the log stays bounded while long lists overlap', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  const sizes: number[] = []
  const begin = (): Promise<Page> => store.list('joe').catch(begin) // on a slow machine it is refused at first
  let list = await begin()
  for (let round = 0; round < 6; round++) {
    writeAll()
    sizes.push(size())
    // The next list begins before this one ends.
    const next = begin()
    t.equal((await namesOf(list)).length, PLANTS)
    list = await next
  }
  await namesOf(list)
  await write(1000, 'a')
  const largest = Math.max(...sizes)
  t.ok(largest > 64 * MEGABYTE && largest < 100 * MEGABYTE, sizes.map((each) => Math.round(each / MEGABYTE)).join())
  t.ok(size() < 64 * MEGABYTE, 'it was truncated')
})

t.test('a list that nobody reads ends when the log is too long', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  const batches = batchesOf(await store.list('joe'))[Symbol.asyncIterator]()
  await batches.next()
  while (size() < 200 * MEGABYTE) writeAll()
  await write(1000, 'a')
  t.equal((await batches.next()).done, false, 'not before')
  while (size() < 256 * MEGABYTE) writeAll()
  await write(1000, 'b')
  t.ok(size() < 64 * MEGABYTE, 'the log was truncated')
  await t.rejects(batches.next(), { name: 'StoreUnavailable', message: 'the list was read too slowly' })
})

t.test('a long list that begins when the log has grown too long truncates it', async (t) => {
  for (const least of [64, 256]) {
    const { store, writeAll, size } = await open(t)
    while (size() < least * MEGABYTE) writeAll()
    const first = await store.list('joe')
    t.ok(size() < 64 * MEGABYTE, `${size()} bytes`)
    const second = await store.list('joe') // it need not wait for the first one
    for (const each of [first, second]) t.equal((await namesOf(each)).length, PLANTS)
    await store.close()
  }
})
