// Other programs move, replace or remove the files of the embedded store while it runs.
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { Ledger, inspect, work } from '../../../../test/support/histories/ledger.ts'
import { namesIn } from '../../../../test/support/stores/read-page.ts'
import { linesOf, startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import {
  openNewFile,
  openTestStore,
  type TestStore,
} from '../../../../test/support/stores/open-store.ts'
import { issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'

/**
 * So many writes that a checkpoint follows. Then some more, only in the log, each in its own frame.
 */
const IN_FILE = 500
const COUNT = IN_FILE + 30

const create = (store: TestStore, id: number) =>
  store.create('joe', BigInt(id), { name: `plant ${id}` })

/** Opens a store with a monitor, which records its failures. */
async function open(t: Test) {
  const failures: string[] = []
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined }
  const { store, file } = await openNewFile(t, {
    log,
    onFailure: (message) => failures.push(message),
  })
  await Promise.all(range(IN_FILE).map((id) => create(store, id)))
  for (let id = IN_FILE; id < COUNT; id++) await create(store, id)
  return { store, file, failures }
}

const NAMES = range(COUNT).map((id) => `plant ${id}`)

const replace = (path: string) => {
  writeFileSync(`${path}.new`, '')
  renameSync(`${path}.new`, path)
}

/** Puts another store with one plant in the place of a file. */
const putAnother = async (path: string) => {
  const another = await openTestStore({ file: `${path}.new` })
  await create(another, 1)
  await another.close()
  renameSync(`${path}.new`, path)
}

/**
 * What happens to which file; where a store is afterwards, and its items: the log is applied to no
 * other.
 */
const displacements: [
  what: string,
  end: string,
  displace: (path: string) => unknown,
  left?: string,
  has?: string[],
][] = [
  ...['-wal', '-shm', '.lock'].flatMap((end): typeof displacements => [
    [`the file ${end} is removed`, end, (path) => rmSync(path), '', NAMES],
    [`the file ${end} is replaced`, end, replace, '', NAMES],
  ]),
  ['the database is moved', '', (path) => renameSync(path, `${path}.moved`), '.moved', NAMES],
  ['the database is removed', '', (path) => rmSync(path)],
  ['the database is replaced', '', putAnother, '', ['plant 1']],
]
for (const [what, end, displace, left, has] of displacements) {
  t.test(`when ${what}, the store ends, and what was acknowledged is in its file`, async (t) => {
    const { store, file, failures } = await open(t)
    await store.list('joe') // fills the cache
    await displace(file + end)
    for (const late of [() => store.ping(), () => create(store, 1), () => store.list('joe')])
      await t.rejects<unknown>(late, { name: 'StoreUnavailable' })
    t.strictSame(failures, [`${file}${end} was removed or replaced`])
    if (left === undefined) return
    const next = await openTestStore({ file: file + left })
    t.strictSame(await namesIn(next, 'joe'), has)
    await next.close()
  })
}

t.test('what other programs may do to the file is no failure', async (t) => {
  const { store, file, failures } = await open(t)
  const writer = new DatabaseSync(file)
  t.teardown(() => writer.close())
  const { size } = statSync(file)
  await Promise.all(range(COUNT - 1).map((id) => store.delete('joe', BigInt(id))))
  for (const sql of [
    'PRAGMA wal_checkpoint(TRUNCATE)',
    'VACUUM',
    'PRAGMA wal_checkpoint(TRUNCATE)',
  ]) {
    writer.exec(sql)
    await store.ping()
    await store.update('joe', BigInt(COUNT - 1), () => ({ name: sql }))
    await store.ping()
  }
  t.ok(statSync(file).size < size, 'it is shorter')
  t.strictSame(failures, [])
})

t.test('a folder that the system can not look into for a time is no failure', async (t) => {
  const { store, file, failures } = await open(t)
  const folder = dirname(file)
  renameSync(folder, `${folder}.hidden`)
  symlinkSync(folder, folder) // a loop: ELOOP
  await store.ping()
  t.ok(Number.isNaN(store.stats().walBytes))
  rmSync(folder)
  renameSync(`${folder}.hidden`, folder)
  await store.ping()
  t.strictSame(failures, [])
})

t.test(
  'the service sees a moved file by itself, and the next owner waits for what was acknowledged',
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    const token = await issueTokenIn({ file })
    const environment = { NODE_ENV: 'production', LOG_LEVEL: 'info' }
    const { port, ended } = await startService(t, {
      DATABASE_URL: `sqlite:${file}`,
      ...environment,
    })
    const ledger = new Ledger()
    let isMoved = false
    const moveOnce = () => {
      if (ledger.acknowledged > 700 && !isMoved) renameSync(file, `${file}.moved`)
      isMoved ||= ledger.acknowledged > 700
      return false
    }
    const working = work(port, token, ledger, { isOver: moveOnce })
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
  },
)
