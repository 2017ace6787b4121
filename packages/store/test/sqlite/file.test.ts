// The file of the embedded store: who may open it, how it is created, which files are refused, and
// the effects of copies and restores. test/system/restore.test.ts interrupts a restore at each
// system call.
import { spawnSync } from 'node:child_process'
import fs, { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { restoreBackup } from '../../../../test/support/inner/backup.ts'
import { openSqlite } from '../../src/sqlite/file.ts'
import { VERSION } from '../../src/sqlite/create-tables.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { prepareReplacement, storeIn } from '../../../../test/support/stores/backup-replacement.ts'
import {
  COLLECTIONS,
  openNewFile,
  openTestStore,
  type TestStore,
} from '../../../../test/support/stores/open-store.ts'

const create = (store: TestStore, id: number) =>
  store.create('joe', BigInt(id), { name: `plant ${id}` })

t.test('each commit is synced, in WAL mode, for the service and for commands', async (t) => {
  for (const exclusive of [true, false]) {
    const { db, close } = openSqlite(`${t.testdirName}.db`, COLLECTIONS, exclusive)
    const settings = ['journal_mode', 'synchronous', 'wal_autocheckpoint', 'busy_timeout']
    const values = settings.map(
      (name) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0],
    )
    // The service waits only a short time, because requests wait with it, and makes the checkpoints
    // itself.
    t.strictSame(values, ['wal', 2n, ...(exclusive ? [0n, 100n] : [1000n, 5000n])])
    close()
  }
  for (const end of ['', '.lock']) rmSync(`${t.testdirName}.db${end}`)
})

t.test('commands can open a file that a service uses', async (t) => {
  const { store, file } = await openNewFile(t)
  const visitor = await openTestStore({ file }, { isExclusive: false })
  const digest = '0'.repeat(64)
  await visitor.tokens.add({ digest, caller: 'joe', created: new Date(), scopes: [] })
  await visitor.close()
  t.equal((await store.tokens.find(digest))?.caller, 'joe')
})

const OPEN = 'another process is using it'
const TWO_NAMES =
  'the file has another name, by a mount or a hard link: mount the folder, not the file'
const MOVED = 'another process uses it by another name'

/** Changes of a file, the reasons to refuse it, and whether commands refuse it, too. */
const refusals: [
  what: string,
  change: (file: string, link: string) => void,
  reason: string,
  forCommands?: true,
][] = [
  ['a file that another process has open is refused by each of its names', fs.symlinkSync, OPEN],
  ['a file with another name is refused by each of its names', fs.linkSync, TWO_NAMES, true],
  ['a file that another process opened before it was moved is refused', fs.renameSync, MOVED, true],
]
for (const [what, change, reason, forCommands = false] of refusals) {
  t.test(what, async (t) => {
    const { store, file } = await openNewFile(t)
    await create(store, 1)
    const link = `${t.testdirName}/link.db`
    change(file, link)
    const names = [file, link].filter(existsSync)
    for (const path of names) {
      const refused = { name: 'StartupError', message: `DATABASE_URL sqlite:${path}: ${reason}` }
      for (const isExclusive of forCommands ? [true, false] : [true])
        await t.rejects(openTestStore({ file: path }, { isExclusive }), refused)
    }
    t.notOk(existsSync(`${link}-wal`), 'there is no second log')
    if (change !== fs.linkSync) return
    await store.close()
    rmSync(link)
    await (await openTestStore({ file })).close()
  })
}

const unshare = ['unshare', '--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])]
const canMount = spawnSync('unshare', [...unshare.slice(1), 'true']).status === 0

const skip = canMount ? false : 'nothing can be mounted here'
t.test(
  'a mount of the file itself is refused, and one of its folder is not',
  { skip },
  async (t) => {
    const { store, file } = await openNewFile(t)
    await create(store, 1)
    const otherFolder = `${t.testdirName}/another folder` // mountinfo escapes the space
    mkdirSync(otherFolder)
    writeFileSync(`${otherFolder}/plants.db`, '')
    const list = (from: string, to: string) => {
      const script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
      const command = [...unshare, 'sh', '-c', script, 'sh', from, to, ...program('token', 'list')]
      return run(command, { DATABASE_URL: `sqlite:${otherFolder}/plants.db` })
    }
    const message =
      /^DATABASE_URL sqlite:.*: the file has another name, .*: mount the folder, not the file\n$/
    t.match(await list(file, `${otherFolder}/plants.db`), { code: 1, stderr: message })
    t.match(await list(t.testdirName, otherFolder), { code: 0, stderr: '' })
  },
)

t.test('the folder of the file is created, but not its parents', async (t) => {
  const folder = t.testdir()
  await (await openTestStore({ file: `${folder}/new/plants.db` })).close()
  for (const file of [
    `${folder}/no/such/plants.db`,
    '/proc/none/none/plants.db',
    `${folder}/new/plants.db/x`,
  ]) {
    await t.rejects(openTestStore({ file }), {
      name: 'StartupError',
      message: `DATABASE_URL sqlite:${file}: `,
    })
  }
  t.notOk(existsSync(`${folder}/no`))
  mkdirSync(`${folder}/a folder`)
  await t.rejects(openTestStore({ file: `${folder}/a folder` }), { name: 'StartupError' })
})

/**
 * Runs Node with a program for a store. @returns how it ended, and its calls to files and databases
 * as JSON, in order
 */
async function watched(t: Test, file: string, words: readonly string[], KILL_AT = '') {
  const CALLS = `${t.testdirName}/calls`
  rmSync(CALLS, { force: true })
  // Without tap's hooks, because they use files.
  const node = [
    'env',
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    '--import',
    './test/support/processes/file-calls.ts',
    ...words,
  ]
  const ended = await run(node, {
    DATABASE_URL: `sqlite:${file}`,
    FILE: file,
    CALLS,
    KILL_AT,
    NODE_V8_COVERAGE: '',
  })
  t.equal(ended.stderr, '')
  return { ...ended, calls: readFileSync(CALLS, 'utf8').split('\n') }
}

/** A program that opens the store FILE, and does something. */
function opening(what: string): string[] {
  const stores = JSON.stringify(
    import.meta.resolve('../../../../test/support/stores/open-store.ts'),
  )
  const open = `const { openTestStore } = await import(${stores}); const store = await openTestStore({ file: process.env.FILE })`
  return ['--input-type=module', '-e', `${open}; ${what}`]
}

/** Checks that calls with these beginnings follow each other. */
function areInOrder(t: Test, calls: readonly string[], ...starts: string[]): void {
  let left = calls
  for (const start of starts) {
    const at = left.findIndex((call) => call.startsWith(start))
    t.not(at, -1, `${start} in ${calls.join('\n')}`)
    left = left.slice(at + 1)
  }
}

t.test(
  'a new folder is synced before its file, and the log that a crash left is synced again',
  async (t) => {
    const folder = t.testdir()
    const file = `${folder}/data/plants.db`
    const crash = `await store.create('joe', 1n, { name: 'x' }); process.kill(process.pid, 'SIGKILL')`
    const calls = await watched(t, file, opening(crash))
    const begin = '["exec","PRAGMA synchronous'
    areInOrder(t, calls.calls, '["mkdirSync"', JSON.stringify(['fsyncSync', folder]), begin)
    const again = await watched(t, file, opening('await store.close()'))
    areInOrder(
      t,
      again.calls,
      begin,
      JSON.stringify(['fsyncSync', `${file}-wal`]),
      '["exec","COMMIT',
    )
  },
)

t.test(
  'a start that is killed while it makes the tables changes nothing, and the next one makes them',
  async (t) => {
    const file = `${t.testdir()}/plants.db`
    t.equal((await watched(t, file, opening(''), 'exec COMMIT')).signal, 'SIGKILL')
    const db = new DatabaseSync(file)
    t.strictSame(db.prepare('SELECT name FROM sqlite_schema').all(), [])
    db.close()
    const store = await openTestStore({ file })
    await create(store, 1)
    await store.close()
  },
)

t.test(
  'a saved copy is on disk before its rename, and its checksum and name before the command ends',
  async (t) => {
    const { folder, backup } = await prepareReplacement(t)
    const [to, part] = [`${folder}/saved.db`, `${folder}/backup.db.part`]
    const { code, calls } = await watched(t, backup, program('backup', 'save', to).slice(1))
    t.equal(code, 0)
    const checksum = JSON.stringify(['fsyncSync', `${to}.sha256`])
    const renamed = [
      ['renameSync', part, to],
      ['fsyncSync', folder],
    ].map((call) => JSON.stringify(call))
    areInOrder(
      t,
      calls,
      '["prepare","VACUUM INTO ?"',
      JSON.stringify(['fsyncSync', part]),
      checksum,
      ...renamed,
    )
  },
)

t.test('a path that begins with "file:" is not read as a URI', async (t) => {
  const here = process.cwd()
  process.chdir(t.testdir())
  t.teardown(() => process.chdir(here))
  await (await openTestStore({ file: 'file:a.db?mode=memory' })).close()
  t.ok(existsSync('file:a.db?mode=memory'))
})

t.test(
  'a file that is no database, or of another program or version, is refused, and not changed',
  async (t) => {
    const ours = `${t.testdir()}/ours.db`
    await (await openTestStore({ file: ours })).close()
    const text = `${t.testdirName}/text.db`
    writeFileSync(text, 'name,tag\n'.repeat(1000))
    const another = /it is a database of another program$/
    const newer = new RegExp(
      `is version ${VERSION + 1}, and this program knows ${VERSION}: another version wrote it$`,
    )
    for (const [from, change, message] of [
      [text, '', /file is not a database$/],
      [ours, `PRAGMA user_version = ${VERSION + 1}`, newer],
      [ours, 'PRAGMA user_version = 1', /is version 1, and this program knows/],
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
      for (const isExclusive of [true, false])
        await t.rejects(
          openTestStore({ file }, { isExclusive }),
          { name: 'StartupError', message },
          change,
        )
      t.ok(bytes.equals(readFileSync(file)), change)
    }
  },
)

t.test('a version of SQLite that can corrupt a file is refused before it opens one', async (t) => {
  const file = `${t.testdir()}/plants.db`
  for (const [version, isRefused] of Object.entries({
    '3.51.2': true,
    '3.9.0': true,
    '3.51.10': false,
    '4.0.0': false,
  })) {
    t.intercept(process.versions, 'sqlite', { value: version })
    const opened = openTestStore({ file })
    if (!isRefused) await (await opened).close()
    else
      await t.rejects(opened, {
        message: `this runtime has SQLite ${version}, but 3.51.3 or later is required`,
      })
    t.equal(existsSync(file), !isRefused)
  }
})

const DAMAGED = Buffer.alloc(20_000, 7)

for (const [what, change] of Object.entries({
  'is missing, but not its log': (file: string) => rmSync(file),
  'is damaged, but not its log': (file: string) => writeFileSync(file, DAMAGED),
  'has pages of another length': (file: string) => {
    const db = new DatabaseSync(file)
    db.exec(
      'PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL',
    )
    db.close()
  },
})) {
  t.test(`a restore takes the place of a database that ${what}`, async (t) => {
    const { left, backup } = await prepareReplacement(t)
    const file = `${left}/plants.db`
    change(file)
    await restoreBackup(backup, file, existsSync(file))
    t.equal(await storeIn(file), 'new')
  })
}

t.test(
  'a restore that fails leaves no store where none was, and a damaged one as it was',
  async (t) => {
    const { left, backup } = await prepareReplacement(t)
    const file = `${left}/plants.db`
    const command = [
      'sh',
      '-c',
      'ulimit -f 1; exec "$0" "$@"',
      ...program('backup', 'restore', backup, '--replace'),
    ]
    const restore = () => run(command, { DATABASE_URL: `sqlite:${file}`, NODE_V8_COVERAGE: '' })
    for (const end of ['', '-wal']) rmSync(file + end)
    t.match(await restore(), { code: 1 })
    t.notOk(existsSync(file))
    writeFileSync(file, DAMAGED)
    t.match(await restore(), { code: 1 })
    t.ok(readFileSync(file).equals(DAMAGED))
  },
)
