import { existsSync, readFileSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { JsonText } from '../../../service/http/json.ts'
import { type Store } from '../../../service/store/store.ts'
import { batchesOf, read } from '../../support/pages.ts'
import { openStore } from '../../../service/store/open.ts'
import { StoreUnavailable } from '../../../service/errors.ts'

async function open(t: Test): Promise<{ store: Store; file: string }> {
  const file = `${t.testdir()}/plants.db`
  const store = await openStore({ file })
  t.teardown(() => store.close())
  return { store, file }
}

/** The commits that a WAL file holds: https://sqlite.org/fileformat2.html#walformat */
function commitsIn(file: string): number {
  const wal = readFileSync(`${file}-wal`)
  const frame = 24 + wal.readUInt32BE(8)
  let commits = 0
  for (let at = 32; at + frame <= wal.length; at += frame) {
    const isOfThisLog = wal.compare(wal, 16, 24, at + 8, at + 16) === 0
    if (isOfThisLog && wal.readUInt32BE(at + 4) !== 0) commits++
  }
  return commits
}

const create = (store: Store, id: number) => store.create('joe', BigInt(id), { name: `plant ${id}` })

t.test('writes that arrive together share one commit', async (t) => {
  const { store, file } = await open(t)
  await create(store, 0)
  const before = commitsIn(file)
  const ids = Array.from({ length: 100 }, (_, index) => index + 1)
  await Promise.all([...ids.map((id) => create(store, id)), store.delete('joe', 0n), store.deleteToken('none')])
  t.equal(commitsIn(file) - before, 1)
  for (const id of [101, 102, 103]) await create(store, id)
  t.equal(commitsIn(file) - before, 4)
})

t.test('a write is not answered before its commit', async (t) => {
  const { store, file } = await open(t)
  const beside = new DatabaseSync(file, { readOnly: true })
  t.teardown(() => beside.close())
  for (let id = 0; id < 20; id++) {
    await create(store, id)
    t.strictSame({ ...beside.prepare('SELECT count(*) AS plants FROM plants').get() }, { plants: id + 1 })
  }
})

t.test(
  'while another process locks the file, writes are refused soon, reads go on, and no write is half done',
  async (t) => {
    const { store, file } = await open(t)
    await create(store, 1)
    const other = new DatabaseSync(file)
    t.teardown(() => other.close())
    other.exec('BEGIN IMMEDIATE')
    const results = await Promise.allSettled([create(store, 2), create(store, 3), store.delete('joe', 1n)])
    for (const each of results) t.ok(each.status === 'rejected' && each.reason instanceof StoreUnavailable)
    t.strictSame(await read(store.list('joe')), { plants: [{ name: 'plant 1' }] })
    other.exec('ROLLBACK')
    await create(store, 4)
    t.strictSame(await read(store.list('joe')), { plants: [{ name: 'plant 1' }, { name: 'plant 4' }] })
  },
)

t.test('a cached list that has become too long is streamed', async (t) => {
  const { store } = await open(t)
  await Promise.all(Array.from({ length: 600 }, (_, id) => create(store, id)))
  t.ok((await store.list('joe')).plants instanceof JsonText)
  const tag = '🌱'.repeat(255)
  await Promise.all(Array.from({ length: 1000 }, (_, id) => store.create('joe', BigInt(1000 + id), { name: 'x', tag })))
  t.equal((await Array.fromAsync(batchesOf(await store.list('joe')))).length, 11)
})

t.test('a closed store has no open file, also after a long list', async (t) => {
  const { store, file } = await open(t)
  const tag = '🌱'.repeat(255) // too many bytes to read without batches
  await Promise.all(Array.from({ length: 1100 }, (_, id) => store.create('joe', BigInt(id), { name: 'x', tag })))
  await Array.fromAsync(batchesOf(await store.list('joe', undefined, 1090)))
  await store.close()
  // SQLite removes the log when the last connection is closed.
  t.notOk(existsSync(`${file}-wal`))
})

t.test('a long list fails if the file is gone', async (t) => {
  const { store, file } = await open(t)
  const tag = '🌱'.repeat(255) // too many bytes to read without batches
  await Promise.all(Array.from({ length: 1000 }, (_, id) => store.create('joe', BigInt(id), { name: 'x', tag })))
  rmSync(file)
  for (let times = 0; times < 20; times++) await t.rejects(store.list('joe'), { name: 'StoreUnavailable' })
})

t.test('the long lists of one owner get at most one batch together in each turn of the event loop', async (t) => {
  const { store } = await open(t)
  const tag = '🌱'.repeat(255)
  await Promise.all(Array.from({ length: 1600 }, (_, id) => store.create('joe', BigInt(id), { name: 'x', tag })))
  const lists = await Promise.all(Array.from({ length: 8 }, () => store.list('joe')))
  let [batches, isOver] = [0, false]
  const reading = lists.map(async (list) => {
    for await (const { text } of batchesOf(list)) batches += Math.sign(text.length)
  })
  const read = Promise.all(reading).finally(() => {
    isOver = true
  })
  let most = 0
  while (!isOver) {
    const before = batches
    await nextTurn()
    most = Math.max(most, batches - before)
  }
  await read
  t.strictSame({ batches, most }, { batches: 128, most: 1 })
})
