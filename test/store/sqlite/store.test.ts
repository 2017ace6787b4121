import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { JsonText } from '../../../service/http/json.ts'
import { openSqlite } from '../../../service/store/sqlite/file.ts'
import { type Store } from '../../../service/store/store.ts'
import { batchesOf, namesIn, read } from '../../support/pages.ts'
import { run } from '../../support/process.ts'
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

t.test('each commit is synced, in WAL mode, whoever opens the file', async (t) => {
  for (const sole of [true, false]) {
    const { db, lock } = openSqlite(`${t.testdirName}.db`, sole)
    t.strictSame(
      { ...db.prepare('SELECT * FROM pragma_journal_mode, pragma_synchronous').get() },
      {
        journal_mode: 'wal',
        synchronous: 2n,
      },
    )
    db.close()
    lock?.close()
  }
  for (const end of ['', '.lock']) rmSync(`${t.testdirName}.db${end}`)
})

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

t.test('while another holds the file, writes are refused soon, reads go on, and nothing is half done', async (t) => {
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
})

t.test('a list that has grown too long is streamed, though it was kept a moment before', async (t) => {
  const { store } = await open(t)
  await Promise.all(Array.from({ length: 600 }, (_, id) => create(store, id)))
  t.ok((await store.list('joe')).plants instanceof JsonText)
  const tag = '🌱'.repeat(255)
  await Promise.all(Array.from({ length: 1000 }, (_, id) => store.create('joe', BigInt(1000 + id), { name: 'x', tag })))
  t.equal((await Array.fromAsync(batchesOf(await store.list('joe')))).length, 4)
})

t.test('a long list of a file that is gone is refused', async (t) => {
  const { store, file } = await open(t)
  const tag = '🌱'.repeat(255) // too much to be read at once
  await Promise.all(Array.from({ length: 1000 }, (_, id) => store.create('joe', BigInt(id), { name: 'x', tag })))
  rmSync(file)
  for (let times = 0; times < 20; times++) await t.rejects(store.list('joe'), { name: 'StoreUnavailable' })
})

t.test('on a full disk writes are refused, what was answered stays, and reads go on', async (t) => {
  const file = `${t.testdir()}/plants.db`
  // A limit on the pages of the database stands for the disk; test/system has a real one.
  const script = `
    import { DatabaseSync } from 'node:sqlite'
    const { createTagStore } = DatabaseSync.prototype
    DatabaseSync.prototype.createTagStore = function () {
      this.exec('PRAGMA max_page_count = 100')
      return createTagStore.call(this)
    }
    const { openStore } = await import(${JSON.stringify(import.meta.resolve('../../../service/store/open.ts'))})
    const store = await openStore({ file: process.env.FILE })
    const answers = []
    for (let id = 0; id < 50; id++) {
      const name = String(id).padStart(20000, 'x')
      answers.push(await store.create('joe', BigInt(id), { name }).then(() => 1, (error) => error.name))
    }
    const { plants } = await store.list('joe')
    console.log(JSON.stringify({ answers, stored: JSON.parse(plants.text).map(({ name }) => Number(name.replace(/^x+/, ''))) }))
    process.kill(process.pid, 'SIGKILL')`
  const command = [process.execPath, '--input-type=module', '-e', script]
  const { stdout, stderr, signal } = await run(command, { FILE: file })
  t.equal(signal, 'SIGKILL', stderr)
  const { answers, stored }: { answers: unknown[]; stored: number[] } = JSON.parse(stdout)
  t.strictSame(new Set(answers), new Set([1, 'StoreUnavailable']))
  t.strictSame(
    stored,
    Object.keys(answers)
      .map(Number)
      .filter((id) => answers[id] === 1),
  )
  const store = await openStore({ file })
  t.teardown(() => store.close())
  t.strictSame((await namesIn(store, 'joe')).length, stored.length, 'also after a power cut')
  t.ok(await create(store, 1000), 'and with room again it goes on')
})

t.test('a file has one owner, by whatever path it comes, and visitors beside it', async (t) => {
  const { store, file } = await open(t)
  const links = [`${t.testdirName}/link.db`, `${t.testdirName}/folder/plants.db`]
  symlinkSync('plants.db', links[0] ?? '')
  symlinkSync('.', `${t.testdirName}/folder`)
  for (const path of [file, ...links]) {
    const refused = { name: 'StartupError', message: `DATABASE_URL sqlite:${path}: another process is using it` }
    await t.rejects(openStore({ file: path }), refused)
  }
  const visitor = await openStore({ file }, false)
  await visitor.addToken({ id: 'a', caller: 'joe', created: new Date(), digest: new Uint8Array(32), scopes: [] })
  await visitor.close()
  t.equal((await store.findToken(new Uint8Array(32)))?.caller, 'joe')
})

t.test('a file is free again when it is closed, and a lock file that stayed behind is no lock', async (t) => {
  const { store, file } = await open(t)
  await create(store, 1)
  await store.close()
  store.close = async () => undefined
  t.ok(existsSync(`${file}.lock`))
  const again = await openStore({ file })
  t.strictSame(await namesIn(again, 'joe'), ['plant 1'])
  await again.close()
})

t.test('the folder of the file is made, but not its parents', async (t) => {
  const folder = t.testdir()
  await (await openStore({ file: `${folder}/new/plants.db` })).close()
  for (const file of [`${folder}/no/such/plants.db`, '/proc/none/none/plants.db', `${folder}/new/plants.db/x`]) {
    await t.rejects(openStore({ file }), { name: 'StartupError', message: `DATABASE_URL sqlite:${file}: ` })
  }
  t.notOk(existsSync(`${folder}/no`))
  mkdirSync(`${folder}/a folder`)
  await t.rejects(openStore({ file: `${folder}/a folder` }), { name: 'StartupError' })
})

t.test('a path is no URI', async (t) => {
  const here = process.cwd()
  process.chdir(t.testdir())
  t.teardown(() => process.chdir(here))
  await (await openStore({ file: 'file:a.db?mode=memory' })).close()
  t.ok(existsSync('file:a.db?mode=memory'))
})

t.test('tokens of version 1 are kept, and have no scopes', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const before = await openStore({ file })
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: [] }
  await before.addToken(token)
  await before.close()
  const db = new DatabaseSync(file)
  db.exec('ALTER TABLE tokens DROP COLUMN scopes; PRAGMA user_version = 1')
  db.close()
  const store = await openStore({ file })
  t.teardown(() => store.close())
  t.strictSame(await store.listTokens(), [token])
  await store.addToken({ ...token, id: 'b', digest: new Uint8Array(32).fill(1), scopes: ['read'] })
  t.strictSame((await store.findToken(new Uint8Array(32).fill(1)))?.scopes, ['read'])
})

const foreign: [what: string, make: string, message: RegExp][] = [
  [
    'of a newer version',
    'PRAGMA user_version = 3',
    /schema is version 3 and this program knows 2: a newer one wrote it$/,
  ],
  ['of another program', 'PRAGMA application_id = 7', /it is a database of another program$/],
]
for (const [what, make, message] of foreign) {
  t.test(`a database ${what} is refused, and stays as it is`, async (t) => {
    const file = `${t.testdir()}/plants.db`
    await (await openStore({ file })).close()
    const db = new DatabaseSync(file)
    db.exec(make)
    db.close()
    const bytes = readFileSync(file)
    for (const sole of [true, false]) await t.rejects(openStore({ file }, sole), { name: 'StartupError', message })
    t.ok(bytes.equals(readFileSync(file)))
  })
}

t.test('a database that another program has begun is refused, and stays as it is', async (t) => {
  for (const [name, begin] of [
    ['tables', 'CREATE TABLE plants (id)'],
    ['version', 'PRAGMA user_version = 1'],
    ['program', 'PRAGMA application_id = 7'],
  ] as const) {
    const file = `${t.testdirName}.${name}.db`
    const db = new DatabaseSync(file)
    db.exec(begin)
    db.close()
    const bytes = readFileSync(file)
    t.teardown(() => ['', '.lock'].forEach((end) => rmSync(file + end, { force: true })))
    await t.rejects(
      openStore({ file }),
      { name: 'StartupError', message: /it is a database of another program$/ },
      name,
    )
    t.ok(bytes.equals(readFileSync(file)), name)
  }
})

t.test('a file that is no database is refused, and stays as it is', async (t) => {
  const file = `${t.testdir()}/plants.db`
  writeFileSync(file, 'name,tag\n'.repeat(1000))
  await t.rejects(openStore({ file }), { name: 'StartupError', message: /file is not a database$/ })
  t.equal(readFileSync(file, 'utf8'), 'name,tag\n'.repeat(1000))
})

t.test('an SQLite that can corrupt a file is refused before it touches one', async (t) => {
  const file = `${t.testdir()}/plants.db`
  for (const [version, answer] of [
    ['3.51.2', /this runtime has SQLite 3\.51\.2, and 3\.51\.3 or later is needed/],
    ['3.9.0', /3\.51\.3 or later is needed/],
    ['3.51.10', /^$/],
    ['4.0.0', /^$/],
  ] as const) {
    const script = `
      Object.defineProperty(process.versions, 'sqlite', { value: '${version}' })
      const { openStore } = await import(${JSON.stringify(import.meta.resolve('../../../service/store/open.ts'))})
      await openStore({ file: process.env.FILE }).then((store) => store.close(), (error) => console.log(error.message))`
    const { stdout } = await run([process.execPath, '--input-type=module', '-e', script], { FILE: file })
    t.match(stdout.trim(), answer, version)
    if (stdout !== '') t.notOk(existsSync(file))
  }
})
