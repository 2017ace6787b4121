// The backup command: copies, restores and checks of a store, also while it is in use.
import { createHash } from 'node:crypto'
import fs, {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t, { type Test } from 'tap'
import { saveBackup } from '../../../test/support/inner/backup.ts'
import { call } from '../../../test/support/servers/start-product.ts'
import { inspect } from '../../../test/support/histories/ledger.ts'
import { namesIn } from '../../../test/support/stores/read-page.ts'
import { program, run, startService } from '../../../test/support/processes/programs.ts'
import { openTestStore } from '../../../test/support/stores/open-store.ts'
import { eventually } from '../../../test/support/processes/eventually.ts'
import { issueToken } from '../../../test/support/servers/access-tokens.ts'

/**
 * Makes a store with plants of the caller "joe", a copy of it, and a function for running the
 * backup command on it.
 */
async function prepare(t: Test, count = 1000) {
  const folder = t.testdir()
  const [file, copy] = [`${folder}/plants.db`, `${folder}/copy.db`]
  const DATABASE_URL = `sqlite:${file}`
  const store = await openTestStore({ file })
  const token = await issueToken(store, 'joe')
  await Promise.all(
    Array.from({ length: count }, (_, id) =>
      store.create('joe', BigInt(id), { name: `old ${id}` }),
    ),
  )
  await store.close()
  await saveBackup(file, copy)
  const backup = (...words: string[]) => run(program('backup', ...words), { DATABASE_URL })
  return { folder, file, copy, DATABASE_URL, token, backup }
}

/** The names of the plants in a sound file. */
async function namesOf(file: string): Promise<string[]> {
  t.strictSame(inspect(file, 'joe').faults, [])
  const store = await openTestStore({ file })
  return await namesIn(store, 'joe').finally(() => store.close())
}

t.test(
  'a copy that is saved during writes has all writes that were acknowledged before, of one moment',
  async (t) => {
    const { folder, DATABASE_URL, token, backup } = await prepare(t)
    const { child, ended, port } = await startService(t, { DATABASE_URL })
    let acknowledged = 1000
    const over = new AbortController()
    // Writes in order, so that a copy of one moment has the first ones without a gap.
    const writer = (async () => {
      for (let id = acknowledged; !over.signal.aborted; id++) {
        const { status } = await call(port, {
          method: 'POST',
          path: '/plants',
          token,
          body: { id, name: `new ${id}` },
        })
        t.equal(status, 200)
        acknowledged = id + 1
      }
    })()
    await eventually(() => acknowledged > 1000)
    for (const number of [1, 2, 3]) {
      const [copy, before] = [`${folder}/copy${number}.db`, acknowledged]
      const { code, stdout, stderr } = await backup('save', copy)
      const after = acknowledged
      t.strictSame({ code, stderr }, { code: 0, stderr: '' })
      t.notOk(existsSync(`${copy}-wal`))
      const names = await namesOf(copy)
      t.match(
        stdout,
        new RegExp(
          `^0 notes, ${names.length} plants, and 1 tokens are in .*/copy${number}\\.db\\n$`,
        ),
      )
      t.ok(
        after > before && names.length >= before && names.length <= after + 1,
        `${before}, ${names.length}, ${after}`,
      )
      for (const [id, name] of names.entries()) t.equal(name, `${id < 1000 ? 'old' : 'new'} ${id}`)
    }
    const sound = /^0 notes, \d+ plants, and 1 tokens are in .*, which is not damaged\n$/
    t.match(await backup('check'), { code: 0, stdout: sound, stderr: '' })
    over.abort()
    await writer
    child.kill('SIGTERM')
    t.match(await ended, { code: 0 })
  },
)

t.test(
  'a service on a restored copy has its plants and tokens, and nothing of the old store',
  async (t) => {
    const { file, copy, DATABASE_URL, token, backup } = await prepare(t)
    const counts = '0 notes, 1000 plants, and 1 tokens are in'
    const service = await startService(t, { DATABASE_URL })
    const create = async (port: number, id: number) =>
      (
        await call(port, {
          method: 'POST',
          path: '/plants',
          token,
          body: { id, name: `new ${id}` },
        })
      ).status
    for (let id = 1000; id < 1300; id++) t.equal(await create(service.port, id), 200)
    const used = { code: 1, stdout: '', stderr: 'another process is using it\n' }
    t.match(await backup('restore', copy, '--replace'), used)
    t.equal(await create(service.port, 1300), 200)
    // The process leaves a write-ahead log.
    service.child.kill('SIGKILL')
    await service.ended
    t.ok(statSync(`${file}-wal`).size > 0)

    const there = {
      code: 1,
      stdout: '',
      stderr: `${file} already exists: --replace overwrites it\n`,
    }
    t.match(await backup('restore', copy), there)
    t.match(await backup('restore', copy, '--replace'), { code: 0, stdout: `${counts} ${file}\n` })
    t.notOk(existsSync(`${file}-wal`))
    const again = await startService(t, { DATABASE_URL })
    const { json } = await call(again.port, { path: '/plants', token })
    const old = Array.from({ length: 1000 }, (_, id) => ({ name: `old ${id}` }))
    t.strictSame(json, old)
    t.equal(await create(again.port, 1000), 200)
    t.strictSame(inspect(file, 'joe').faults, [])
  },
)

t.test('a check finds the damage of a store', async (t) => {
  const { file, backup } = await prepare(t)
  const bytes = readFileSync(file)
  for (const at of [4096 * 3, 4096 * 8]) {
    writeFileSync(file, Buffer.from(bytes).fill(7, at, at + 64))
    t.match(
      await backup('check'),
      { code: 1, stdout: '', stderr: /damaged|malformed/ },
      `damaged at ${at}`,
    )
  }
})

t.test(
  'a backup that is damaged or from another program is refused, and the store is not changed',
  async (t) => {
    const { folder, file, copy: whole, backup } = await prepare(t)
    const faulty = `${folder}/faulty.db`
    const change = (sql: string) => {
      const db = new DatabaseSync(faulty)
      db.enableDefensive(false)
      db.exec(sql)
      db.close()
    }
    const faults: Record<string, () => void> = {
      'all but its last page': () => fs.truncateSync(faulty, statSync(whole).size - 4096),
      'its first page': () => fs.truncateSync(faulty, 4096),
      nothing: () => fs.truncateSync(faulty),
      'a page of another': () =>
        writeFileSync(faulty, readFileSync(whole).fill(7, 4096 * 3, 4096 * 4)),
      'no database': () => writeFileSync(faulty, 'plants'.repeat(2000)),
      'a text where its schema has an integer': () =>
        change(`PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = replace(sql, 'item TEXT', 'item INTEGER') WHERE name = 'plants'`),
      'another database': () => {
        fs.truncateSync(faulty)
        change('CREATE TABLE plants (id); CREATE TABLE tokens (id)')
      },
    }
    for (const [name, damage] of Object.entries(faults)) {
      fs.copyFileSync(whole, faulty)
      damage()
      t.match(
        await backup('restore', faulty, '--replace'),
        { code: 1, stdout: /^$/, stderr: /^[^\n]+\n$/ },
        name,
      )
      t.notOk(readdirSync(folder).some((file) => file.endsWith('.part')))
    }
    t.equal((await namesOf(file)).length, 1000)
  },
)

t.test(
  'a checksum is saved beside the copy, and a copy with one changed bit is refused',
  async (t) => {
    const { file, copy, backup } = await prepare(t)
    const bytes = readFileSync(copy)
    const sum = createHash('sha256').update(bytes).digest('hex')
    t.equal(
      readFileSync(`${copy}.sha256`, 'utf8'),
      `${sum}  copy.db\n`,
      'in the format of sha256sum',
    )
    for (const share of [0.1, 0.5, 0.9]) {
      const at = Math.floor(bytes.length * share)
      writeFileSync(copy, bytes.with(at, (bytes[at] ?? 0) ^ 1))
      const message = `${copy} has changed since it was saved: its SHA-256 is not the one in ${copy}.sha256\n`
      t.strictSame(await backup('restore', copy, '--replace'), {
        code: 1,
        signal: null,
        stdout: '',
        stderr: message,
      })
    }
    t.equal((await namesOf(file)).length, 1000)
    writeFileSync(copy, bytes)
    t.match(await backup('restore', copy, '--replace'), { code: 0, stderr: '' })
    rmSync(`${copy}.sha256`)
    t.match(await backup('restore', copy, '--replace'), {
      code: 0,
      stdout: `0 notes, 1000 plants, and 1 tokens are in ${file}\n`,
      stderr: `there is no ${copy}.sha256: the backup is not checked for flipped bits\n`,
    })
  },
)

t.test(
  'a backup is restored to a new folder and over damage, not beside a hard link',
  async (t) => {
    const { folder, file, copy, backup } = await prepare(t, 10)
    const damages = {
      'all of it': Buffer.alloc(20_000, 7),
      'its second page': readFileSync(file).fill(7, 4096),
      'all, and it is empty': Buffer.alloc(0),
    }
    const command = program('backup', 'restore', copy)
    const ended = await run(command, { DATABASE_URL: `sqlite:${folder}/data/plants.db` })
    t.match(ended, { code: 0, stderr: '' })
    t.equal((await namesOf(`${folder}/data/plants.db`)).length, 10)
    for (const [what, bytes] of Object.entries(damages)) {
      writeFileSync(file, bytes)
      t.match(await backup('restore', copy, '--replace'), { code: 0, stderr: '' }, what)
      t.equal((await namesOf(file)).length, 10, what)
    }
    fs.linkSync(file, `${folder}/other.db`)
    for (const words of [
      ['save', `${folder}/copy2.db`] as const,
      ['restore', copy, '--replace'] as const,
    ])
      t.match(await backup(...words), {
        code: 1,
        stdout: '',
        stderr: /mount the folder, not the file\n$/,
      })
  },
)

t.test('a copy with a log beside it is no backup, and a copy in WAL mode is one', async (t) => {
  const { folder, file, copy, backup } = await prepare(t, 10)
  const cold = `${folder}/cold.db`
  fs.copyFileSync(file, cold)
  t.equal(readFileSync(cold)[18], 2, 'WAL mode')
  t.match(await backup('restore', cold, '--replace'), { code: 0 })
  t.equal((await namesOf(file)).length, 10)
  fs.copyFileSync(copy, `${copy}-wal`)
  const stderr = `${copy}-wal is beside it: a backup is one file, as \`save\` makes it\n`
  t.match(await backup('restore', copy, '--replace'), { code: 1, stderr })
})

t.test('a store that a command uses is not replaced', async (t) => {
  const { file, copy, backup } = await prepare(t, 10)
  using command = new DatabaseSync(file)
  command.exec('BEGIN; SELECT * FROM plants')
  const stderr = 'another process is using it\n'
  t.match(await backup('restore', copy, '--replace'), { code: 1, stderr })
})

const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

t.test('a copy of a private store is private, also while it is made', async (t) => {
  const { folder, file, DATABASE_URL, backup } = await prepare(t)
  chmodSync(file, 0o600)
  t.equal((await backup('save', `${folder}/first.db`)).code, 0)
  t.equal(modeOf(`${folder}/first.db`), '600')
  const trace = `${folder}/calls`
  const node = [
    'env',
    '-u',
    'NODE_OPTIONS',
    process.execPath,
    '--import',
    './test/support/processes/file-calls.ts',
  ]
  // Killed when the copy is complete, and not yet renamed.
  const environment = { DATABASE_URL, CALLS: trace, KILL_AT: 'renameSync' }
  const words = ['test/support/product/backup.ts', 'save', `${folder}/killed.db`]
  t.match(await run([...node, ...words], environment), { signal: 'SIGKILL' })
  const parts = () => readdirSync(folder).filter((name) => name.includes('.part'))
  t.ok(statSync(`${folder}/plants.db.part`).size > 4096)
  t.equal(modeOf(`${folder}/plants.db.part`), '600')
  chmodSync(file, 0o640)
  t.equal((await backup('save', `${folder}/next.db`)).code, 0)
  t.equal(modeOf(`${folder}/next.db`), '640')
  t.strictSame(parts(), [], 'the next copy removes what a killed one has left')
})

t.test(
  'a restored store can be opened by the service of the store before, and by nobody else',
  async (t) => {
    const { file, copy, DATABASE_URL, backup } = await prepare(t, 10)
    chmodSync(copy, 0o444)
    chmodSync(file, 0o660)
    const owned = ['', '.lock'].map((end) => file + end)
    const restores = async (mode: string) => {
      t.match(await backup('restore', copy, '--replace'), { code: 0, stderr: '' })
      t.equal(modeOf(file), mode)
    }
    if (process.getuid?.() === 0) {
      for (const file of owned) fs.chownSync(file, 65534, 65533)
      await restores('660')
      for (const file of owned) t.match(statSync(file), { uid: 65534, gid: 65533 })
      rmSync(`${file}.lock`)
      await restores('660')
      t.match(statSync(`${file}.lock`), { uid: 65534, gid: 65533 }, 'a lock file that it made')
    }
    await restores('660')
    chmodSync(file, 0o444)
    await restores('644') // its owner can always write it
    const command = program('backup', 'restore', copy)
    t.match(await run(command, { DATABASE_URL: `${DATABASE_URL}.new` }), { code: 0, stderr: '' })
    t.equal(modeOf(`${file}.new`), '600')
  },
)

t.test('a copy never overwrites a file, and an error names the wrong word', async (t) => {
  const { folder, file, backup } = await prepare(t, 1)
  writeFileSync(`${folder}/precious`, 'precious')
  t.match(await backup('save', `${folder}/precious`), { code: 1, stderr: /already exists\n$/ })
  t.equal(readFileSync(`${folder}/precious`, 'utf8'), 'precious')
  t.match(await backup('save', file), { code: 1, stderr: /already exists\n$/ })
  t.match(await backup('restore', `${folder}/none`), {
    code: 1,
    stderr: `there is no file ${folder}/none\n`,
  })
  for (const [words, message] of [
    [['restore'], /^<file> is missing/],
    [['save', 'a', '--replace'], /^Unknown option '--replace'/],
    [['check', 'a'], /^unexpected word "a"/],
  ] as const) {
    t.match(await backup(...words), { code: 1, stdout: '', stderr: message }, words.join(' '))
  }
  const command = program('backup', 'save', `${folder}/copy.db`)
  const postgres = await run(command, { DATABASE_URL: 'postgres://joe:secret@localhost/plants' })
  t.match(postgres, { code: 1, stderr: 'DATABASE_URL names PostgreSQL: back it up with pg_dump\n' })
  const absent = await run(command, { DATABASE_URL: `sqlite:${folder}/none.db` })
  t.match(absent, { code: 1, stderr: `there is no file ${folder}/none.db\n` })
  t.notOk(existsSync(`${folder}/none.db`))
})
