// The commits of the embedded store, its turns, and the real size of its write-ahead log.
import { readFileSync, statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { namesIn, partsOf } from '../../../../test/support/stores/read-page.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { openNewFile, type TestStore } from '../../../../test/support/stores/open-store.ts'
import { StoreBusy, StoreUnavailable } from '@plant-store/engine/for-store'

/**
 * The number of commits in the index of a log:
 * https://sqlite.org/walformat.html#the_wal_index_header
 */
const commitsIn = (file: string) => new Uint32Array(readFileSync(`${file}-shm`).buffer)[2] ?? NaN

const create = (store: TestStore, id: number) =>
  store.create('joe', BigInt(id), { name: `plant ${id}` })

t.test('writes that arrive together share one commit', async (t) => {
  const { store, file } = await openNewFile(t)
  await create(store, 0)
  const before = commitsIn(file)
  await Promise.all([...range(100).map((id) => create(store, id + 1)), store.delete('joe', 0n)])
  t.equal(commitsIn(file) - before, 1)
  for (const id of [101, 102, 103]) await create(store, id)
  t.equal(commitsIn(file) - before, 4)
})

t.test(
  'while another process writes, writes are refused and reads go on; then what it wrote is seen',
  async (t) => {
    const { store, file } = await openNewFile(t)
    await create(store, 1)
    const writer = new DatabaseSync(file)
    t.teardown(() => writer.close())
    writer.exec('BEGIN IMMEDIATE')
    const results = await Promise.allSettled([
      create(store, 2),
      create(store, 3),
      store.delete('joe', 1n),
    ])
    for (const result of results)
      t.ok(result.status === 'rejected' && result.reason instanceof StoreUnavailable)
    t.strictSame(await namesIn(store, 'joe'), ['plant 1'])
    writer.exec(`UPDATE plants SET item = '{"name":"changed"}'; COMMIT`)
    const isSeen = async () => (await namesIn(store, 'joe')).join() === 'changed'
    await eventually(isSeen, undefined, 10_000) // it is polled, which must not keep the page in the cache
    await create(store, 4)
    t.strictSame(
      await namesIn(store, 'joe'),
      ['changed', 'plant 4'],
      'no refused write is half done',
    )
  },
)

t.test(
  'a list whose next step does not begin in time is refused; a short one needs none',
  async (t) => {
    const { store } = await openNewFile(t)
    for (const id of range(64)) await create(store, id)
    void store.reads.add({ owner: 'other', rows: 1, read: () => new Promise(() => undefined) })
    t.equal((await namesIn(store, 'joe')).length, 64)
    await create(store, 64)
    let refused: unknown
    void store.list('joe').catch((error: unknown) => (refused = error))
    await eventually(() => refused instanceof StoreBusy, undefined, 10_000)
  },
)

const MEGABYTE = 1 << 20
const PLANTS = 10_000

/**
 * Opens a store with two plants on each page of its file, and with functions for writing to its log
 * and measuring it.
 */
async function open(t: Test) {
  const { store, file } = await openNewFile(t)
  const long = '🌱'.repeat(255)
  for (let first = 0; first < PLANTS; first += 500) {
    await Promise.all(
      range(500).map((n) => store.create('joe', BigInt(first + n), { name: long, tag: long })),
    )
  }
  const writer = new DatabaseSync(file, { timeout: 60_000 })
  writer.exec('PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF')
  t.teardown(() => writer.close())
  const rewrite = writer.prepare('UPDATE plants SET item = ?')
  let turn = 0
  return {
    store,
    /** Writes 500 plants, so that a checkpoint follows. */
    write: async (tag: string) => {
      await Promise.all(
        range(500).map((id) => store.update('joe', BigInt(id), () => ({ name: long, tag }))),
      )
    },
    /** Writes every plant in one transaction: about 20 megabytes of log. */
    writeAll: () =>
      rewrite.run(JSON.stringify({ name: long, tag: `${'🌱'.repeat(250)} ${turn++ % 10}` })),
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
  t.ok(Math.max(...sizes) < 64 * MEGABYTE, sizes.map((size) => Math.round(size / MEGABYTE)).join())
  for (const list of unread) t.equal((await list.next()).done, false, 'they go on')
})

t.test('a log that has grown too long is truncated, and its length is known', async (t) => {
  const { store, write, writeAll, size } = await open(t)
  while (size() < 80 * MEGABYTE) writeAll()
  await write('a')
  t.ok(size() < MEGABYTE, `${size()} bytes`)
  writeAll()
  await store.ping()
  t.equal(store.stats().walBytes, size())
})
