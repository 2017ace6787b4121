// The file of the embedded store: who may open it, how it is created, and which files are refused.
import { spawnSync } from 'node:child_process'
import fs, { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { COLLECTIONS, openNewFile, openTestStore, type TestStore } from '../../../support/stores.ts'
import { openSqlite } from '../../../../service/engine/store/sqlite/file.ts'
import { VERSION } from '../../../../service/engine/store/sqlite/schema.ts'
import { program, run } from '../../../support/process.ts'

const OPEN = JSON.stringify(import.meta.resolve('../../../support/stores.ts'))

const create = (store: TestStore, id: number) => store.create('joe', BigInt(id), { name: `plant ${id}` })

t.test('each commit is synced, in WAL mode, for the service and for commands', async (t) => {
  for (const exclusive of [true, false]) {
    const { db, close } = openSqlite(`${t.testdirName}.db`, COLLECTIONS, exclusive)
    const settings = ['journal_mode', 'synchronous', 'wal_autocheckpoint', 'busy_timeout']
    const values = settings.map((name) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0])
    // The service waits only a short time, because requests wait with it, and makes the checkpoints itself.
    t.strictSame(values, ['wal', 2n, ...(exclusive ? [0n, 100n] : [1000n, 5000n])])
    close()
  }
  for (const end of ['', '.lock']) rmSync(`${t.testdirName}.db${end}`)
})

t.test('one process can lock a file, by any path to it, and commands can open it at the same time', async (t) => {
  const { store, file } = await openNewFile(t)
  const links = [`${t.testdirName}/link.db`, `${t.testdirName}/folder/plants.db`]
  fs.symlinkSync('plants.db', links[0] ?? '')
  fs.symlinkSync('.', `${t.testdirName}/folder`)
  for (const path of [file, ...links]) {
    const refused = { name: 'StartupError', message: `DATABASE_URL sqlite:${path}: another process is using it` }
    await t.rejects(openTestStore({ file: path }), refused)
  }
  const visitor = await openTestStore({ file }, false)
  await visitor.addToken({ id: 'a', caller: 'joe', created: new Date(), digest: new Uint8Array(32), scopes: [] })
  await visitor.close()
  t.equal((await store.findToken(new Uint8Array(32)))?.caller, 'joe')
})

t.test('a file with another name is refused by each of its names', async (t) => {
  const { store, file } = await openNewFile(t)
  await create(store, 1)
  const link = `${t.testdirName}/link.db`
  fs.linkSync(file, link)
  const reason = 'the file has another name, by a mount or a hard link: mount the folder, not the file'
  for (const path of [file, link]) {
    const message = `DATABASE_URL sqlite:${path}: ${reason}`
    for (const exclusive of [true, false])
      await t.rejects(openTestStore({ file: path }, exclusive), { name: 'StartupError', message })
  }
  t.notOk(existsSync(`${link}-wal`), 'there is no second log')
  await store.close()
  store.close = async () => undefined
  rmSync(link)
  await (await openTestStore({ file })).close()
})

t.test('a file that another process opened before it was moved is refused', async (t) => {
  const { store, file } = await openNewFile(t)
  await create(store, 1)
  const moved = `${t.testdirName}/moved.db`
  fs.renameSync(file, moved)
  const message = `DATABASE_URL sqlite:${moved}: another process uses it by another name`
  await t.rejects(openTestStore({ file: moved }), { name: 'StartupError', message })
})

const unshare = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const canMount = spawnSync('unshare', [...unshare.slice(1), 'true']).status === 0

const skip = canMount ? false : 'nothing can be mounted here'
t.test('a mount of the file itself is refused, and one of its folder is not', { skip }, async (t) => {
  const { store, file } = await openNewFile(t)
  await create(store, 1)
  const other = `${t.testdirName}/another folder` // mountinfo escapes the space
  mkdirSync(other)
  writeFileSync(`${other}/plants.db`, '')
  const list = (from: string, to: string) => {
    const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    const command = [...unshare, 'sh', '-c', script, 'sh', from, to, ...program('token', 'list')]
    return run(command, { DATABASE_URL: `sqlite:${other}/plants.db` })
  }
  const message = /^DATABASE_URL sqlite:.*: the file has another name, .*: mount the folder, not the file\n$/
  t.match(await list(file, `${other}/plants.db`), { code: 1, stderr: message })
  t.match(await list(t.testdirName, other), { code: 0, stderr: '' })
})

t.test('the folder of the file is created, but not its parents', async (t) => {
  const folder = t.testdir()
  await (await openTestStore({ file: `${folder}/new/plants.db` })).close()
  for (const file of [`${folder}/no/such/plants.db`, '/proc/none/none/plants.db', `${folder}/new/plants.db/x`]) {
    await t.rejects(openTestStore({ file }), { name: 'StartupError', message: `DATABASE_URL sqlite:${file}: ` })
  }
  t.notOk(existsSync(`${folder}/no`))
  mkdirSync(`${folder}/a folder`)
  await t.rejects(openTestStore({ file: `${folder}/a folder` }), { name: 'StartupError' })
})

t.test('a new folder is synced before its file, and the log that a crash left is synced again', async (t) => {
  const folder = t.testdir()
  const file = `${folder}/data/plants.db`
  /** Opens the store and runs some code. @returns the calls to files and databases, in order */
  const watched = async (what: string) => {
    const script = `const { openTestStore } = await import(${OPEN}); const store = await openTestStore({ file: ${JSON.stringify(file)} }); ${what}`
    const node = [process.execPath, '--import', './test/support/file-calls.ts', '--input-type=module', '-e', script]
    const CALLS = `${folder}/calls`
    rmSync(CALLS, { force: true })
    const { stderr } = await run(node, { CALLS, NODE_V8_COVERAGE: '' })
    t.equal(stderr, '')
    return readFileSync(CALLS, 'utf8').split('\n')
  }
  const made = await watched(`await store.create('joe', 1n, { name: 'x' }); process.kill(process.pid, 'SIGKILL')`)
  const at = (calls: string[], call: string) => calls.findIndex((each) => each.startsWith(call))
  const folderSynced = at(made, JSON.stringify(['fsyncSync', folder]))
  t.ok(folderSynced > at(made, '["mkdirSync"') && folderSynced < at(made, '["exec"'), made.join('\n'))
  const again = await watched('await store.close()')
  const logSynced = at(again, JSON.stringify(['fsyncSync', `${file}-wal`]))
  t.ok(logSynced > at(again, '["exec","PRAGMA synchronous'), again.join('\n'))
  t.ok(logSynced < at(again, '["exec","COMMIT'), again.join('\n'))
})

t.test('a start that is killed while it makes the tables changes nothing, and the next one makes them', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const script = `
    import { DatabaseSync } from 'node:sqlite'
    const { exec } = DatabaseSync.prototype
    DatabaseSync.prototype.exec = function (sql) {
      if (sql.startsWith('COMMIT')) process.kill(process.pid, 'SIGKILL')
      exec.call(this, sql)
    }
    const { openTestStore } = await import(${OPEN})
    await openTestStore({ file: process.env.FILE })`
  const { signal } = await run([process.execPath, '--input-type=module', '-e', script], { FILE: file })
  t.equal(signal, 'SIGKILL')
  const db = new DatabaseSync(file)
  t.strictSame(db.prepare('SELECT name FROM sqlite_schema').all(), [])
  db.close()
  const store = await openTestStore({ file })
  await create(store, 1)
  await store.close()
})

t.test('a path that begins with "file:" is not read as a URI', async (t) => {
  const here = process.cwd()
  process.chdir(t.testdir())
  t.teardown(() => process.chdir(here))
  await (await openTestStore({ file: 'file:a.db?mode=memory' })).close()
  t.ok(existsSync('file:a.db?mode=memory'))
})

t.test('a file that is no database, or of another program or version, is refused, and not changed', async (t) => {
  const ours = `${t.testdir()}/ours.db`
  await (await openTestStore({ file: ours })).close()
  const text = `${t.testdirName}/text.db`
  writeFileSync(text, 'name,tag\n'.repeat(1000))
  const another = /it is a database of another program$/
  const newer = new RegExp(`is version ${VERSION + 1}, and this program knows ${VERSION}: another version wrote it$`)
  for (const [from, change, message] of [
    [text, '', /file is not a database$/],
    [ours, `PRAGMA user_version = ${VERSION + 1}`, newer],
    [ours, 'PRAGMA application_id = 7', another],
    ['/dev/null', 'PRAGMA application_id = 7', another],
    ['/dev/null', 'PRAGMA user_version = 1', another],
    ['/dev/null', 'CREATE TABLE plants (id)', another],
  ] as const) {
    const file = `${t.testdirName}/changed.db`
    writeFileSync(file, readFileSync(from))
    const db = new DatabaseSync(file)
    if (change !== '') db.exec(change)
    db.close()
    const bytes = readFileSync(file)
    for (const exclusive of [true, false])
      await t.rejects(openTestStore({ file }, exclusive), { name: 'StartupError', message }, change)
    t.ok(bytes.equals(readFileSync(file)), change)
  }
})

t.test('a version of SQLite that can corrupt a file is refused before it opens one', async (t) => {
  const file = `${t.testdir()}/plants.db`
  for (const [version, answer] of [
    ['3.51.2', /this runtime has SQLite 3\.51\.2, but 3\.51\.3 or later is required/],
    ['3.9.0', /3\.51\.3 or later is required/],
    ['3.51.10', /^$/],
    ['4.0.0', /^$/],
  ] as const) {
    const script = `
      Object.defineProperty(process.versions, 'sqlite', { value: '${version}' })
      const { openTestStore } = await import(${OPEN})
      await openTestStore({ file: process.env.FILE }).then((store) => store.close(), (error) => console.log(error.message))`
    const { stdout } = await run([process.execPath, '--input-type=module', '-e', script], { FILE: file })
    t.match(stdout.trim(), answer, version)
    if (stdout !== '') t.notOk(existsSync(file))
  }
})
