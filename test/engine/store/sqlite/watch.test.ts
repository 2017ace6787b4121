// What happens to the files of the embedded store while it runs, outside of SQLite.
import { openSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { readConfig } from '../../../../service/engine/config.ts'
import { openTestStore, type TestStore } from '../../../support/stores.ts'
import { Ledger, inspect, work } from '../../../support/ledger.ts'
import { namesIn } from '../../../support/pages.ts'
import { linesOf, startService } from '../../../support/process.ts'
import { eventually } from '../../../support/project.ts'
import { issueTokenIn } from '../../../support/tokens.ts'

/** So many writes that a checkpoint follows. Then some more, which only the log has, each in a frame of its own. */
const IN_FILE = 500
const COUNT = IN_FILE + 30

const create = (store: TestStore, id: number) => store.create('joe', BigInt(id), { name: `plant ${id}` })

/** Opens a store with a monitor that records its failures. */
async function open(t: Test) {
  const file = `${t.testdir()}/plants.db`
  const failures: string[] = []
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const monitor = { log, onFailure: (message: string) => failures.push(message) }
  const store = await openTestStore({ file }, true, readConfig('plants', {}), monitor)
  t.teardown(() => store.close())
  await Promise.all(Array.from({ length: IN_FILE }, (_, id) => create(store, id)))
  for (let id = IN_FILE; id < COUNT; id++) await create(store, id)
  return { store, file, failures }
}

const NAMES = Array.from({ length: COUNT }, (_, id) => `plant ${id}`)

const replace = (path: string) => {
  writeFileSync(`${path}.new`, '')
  renameSync(`${path}.new`, path)
}

/** What happens to which file, and where the plants are afterwards. */
const displacements: [what: string, end: string, displace: (path: string) => void, left?: string][] = [
  ...['-wal', '-shm', '.lock'].flatMap((end): typeof displacements => [
    [`the file ${end} is removed`, end, (path) => rmSync(path), ''],
    [`the file ${end} is replaced`, end, replace, ''],
  ]),
  ['the database is moved', '', (path) => renameSync(path, `${path}.moved`), '.moved'],
  ['the database is removed', '', (path) => rmSync(path)],
]
for (const [what, end, displace, left] of displacements) {
  t.test(`when ${what}, the store ends, and all that was acknowledged is in the file`, async (t) => {
    const { store, file, failures } = await open(t)
    await store.list('joe') // fills the cache
    displace(file + end)
    for (const late of [() => store.ping(), () => create(store, 1), () => store.list('joe')])
      await t.rejects<unknown>(late, { name: 'StoreUnavailable' })
    t.strictSame(failures, [`${file}${end} was removed or replaced`])
    if (left === undefined) return
    const next = await openTestStore({ file: file + left })
    t.strictSame(await namesIn(next, 'joe'), NAMES)
    await next.close()
  })
}

t.test('the log of a database that was replaced is not applied to the other one', async (t) => {
  const { store, file } = await open(t)
  const other = `${t.testdirName}/other.db`
  const made = await openTestStore({ file: other })
  await made.create('joe', 1n, { name: 'other' })
  await made.close()
  renameSync(other, file)
  await t.rejects(store.ping(), { name: 'StoreUnavailable' })
  const next = await openTestStore({ file })
  t.strictSame(await namesIn(next, 'joe'), ['other'])
  await next.close()
})

const zeros = (path: string) => writeSync(openSync(path, 'r+'), Buffer.alloc(statSync(path).size))
const shorten = (path: string, bytes: number) => truncateSync(path, statSync(path).size - bytes)
/** Makes so many writes that a checkpoint follows. */
const writeMore = (store: TestStore) =>
  Promise.all(Array.from({ length: 600 }, (_, id) => create(store, COUNT + id).catch(() => undefined)))
const writeOneThenMore = (store: TestStore) => create(store, COUNT).then(() => writeMore(store))
const close = (store: TestStore) => store.close()

/** What happens to which file, and what the store does next. */
const damages: [what: string, end: string, damage: (path: string) => void, next: (store: TestStore) => unknown][] = [
  ['the log is emptied', '-wal', (path) => truncateSync(path), writeMore],
  ['the log is emptied before the end', '-wal', (path) => truncateSync(path), close],
  ['the log is cut in its middle and written to again', '-wal', (path) => truncateSync(path, 50_000), writeOneThenMore],
  ['the log is overwritten with zeros', '-wal', zeros, writeMore],
  ['the log lacks its end', '-wal', (path) => shorten(path, 1), close],
  ['the database is emptied', '', (path) => truncateSync(path), writeMore],
  ['the database lacks its end', '', (path) => shorten(path, 4096), close],
]
for (const [what, end, damage, next] of damages) {
  t.test(`when ${what}, the store ends, and does not copy the log into the file`, async (t) => {
    const { store, file, failures } = await open(t)
    damage(file + end)
    const bytes = readFileSync(file)
    await next(store)
    await t.rejects(store.ping(), { name: 'StoreUnavailable' })
    t.strictSame(failures, [`${file}${end} was truncated or overwritten`])
    t.ok(readFileSync(file).equals(bytes))
  })
}

t.test('what other programs may do to the file is no failure', async (t) => {
  const { store, file, failures } = await open(t)
  const other = new DatabaseSync(file)
  t.teardown(() => other.close())
  const { size } = statSync(file)
  await Promise.all(Array.from({ length: COUNT - 1 }, (_, id) => store.delete('joe', BigInt(id))))
  for (const sql of ['PRAGMA wal_checkpoint(TRUNCATE)', 'VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)']) {
    other.exec(sql)
    await store.ping()
    await store.update('joe', BigInt(COUNT - 1), () => ({ name: sql }))
    await store.ping()
  }
  t.ok(statSync(file).size < size, 'it is shorter')
  await eventually(() => failures.length === 0)
})

t.test('the service sees a moved file by itself, and the next owner waits for what was acknowledged', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const token = await issueTokenIn({ file })
  const environment = { NODE_ENV: 'production', LOG_LEVEL: 'info' }
  const { port, ended } = await startService(t, { DATABASE_URL: `sqlite:${file}`, ...environment })
  const ledger = new Ledger()
  let isMoved = false
  const working = work(port, token, ledger, () => {
    if (ledger.acknowledged > 700 && !isMoved) renameSync(file, `${file}.moved`)
    isMoved ||= ledger.acknowledged > 700
    return false
  })
  await eventually(() => isMoved)
  const next = await startService(t, { DATABASE_URL: `sqlite:${file}.moved`, ...environment })
  const { code, stdout } = await ended
  await working
  t.equal(code, 1)
  const fatal = linesOf(stdout).filter(({ level }) => level === 60)
  t.match(fatal, [{ msg: `${file} was removed or replaced` }])
  next.child.kill('SIGTERM')
  await next.ended
  const { items, faults } = inspect(`${file}.moved`, 'joe')
  t.strictSame([...faults, ...ledger.violations(items)], [])
})
