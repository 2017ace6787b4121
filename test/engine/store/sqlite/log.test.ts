// The real size of the embedded store's write-ahead log.
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { range } from '../../../support/engines.ts'
import { namesIn, partsOf } from '../../../support/pages.ts'
import { openNewFile } from '../../../support/stores.ts'

const MEGABYTE = 1 << 20
const PLANTS = 10_000

/** Opens a store with two plants on each page of its file, with functions that write to its log and measure it. */
async function open(t: Test) {
  const { store, file } = await openNewFile(t)
  const long = '🌱'.repeat(255)
  for (let first = 0; first < PLANTS; first += 500) {
    await Promise.all(range(500).map((n) => store.create('joe', BigInt(first + n), { name: long, tag: long })))
  }
  const other = new DatabaseSync(file, { timeout: 60_000 })
  other.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
  t.teardown(() => other.close())
  const rewrite = other.prepare('UPDATE plants SET item = ?')
  let turn = 0
  return {
    store,
    /** Writes 500 plants, so that a checkpoint follows. */
    write: async (tag: string) => {
      await Promise.all(range(500).map((id) => store.update('joe', BigInt(id), () => ({ name: long, tag }))))
    },
    /** Writes every plant in one transaction: about 20 megabytes of log. */
    writeAll: () => rewrite.run(JSON.stringify({ name: long, tag: `${'🌱'.repeat(250)} ${turn++ % 10}` })),
    size: () => statSync(`${file}-wal`).size,
  }
}

t.test('the log stays bounded whatever lists are open, read or not', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  const begin = async () => partsOf(await store.list('joe'))[Symbol.asyncIterator]()
  const unread = [await begin(), await begin()]
  await unread[0]?.next()
  const sizes: number[] = []
  for (let round = 0; round < 8; round++) {
    writeAll()
    await write(`${round}`)
    sizes.push(size())
    unread.push(await begin())
    t.equal((await namesIn(store, 'joe')).length, PLANTS)
  }
  t.ok(Math.max(...sizes) < 64 * MEGABYTE, sizes.map((each) => Math.round(each / MEGABYTE)).join())
  for (const list of unread) t.equal((await list.next()).done, false, 'they go on')
})

t.test('a log that has grown too long is truncated, and its length is known', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  while (size() < 80 * MEGABYTE) writeAll()
  await write('a')
  t.ok(size() < MEGABYTE, `${size()} bytes`)
  writeAll()
  await store.ping()
  t.equal(store.figures().walBytes, size())
})
