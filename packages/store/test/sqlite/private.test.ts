// Who can use the files of the embedded store, and obstacles put in their place by another user.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { checkDatabase, restoreBackup, saveBackup } from '../../../../test/support/inner/backup.ts'
import { NOBODY } from '../../../../test/support/processes/as-nobody.ts'
import { program, run, startService } from '../../../../test/support/processes/programs.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'

const isRoot = process.getuid?.() === 0

/** The mode of each file in a folder, and of the folder itself, as `.`. */
function modesIn(folder: string): Record<string, string> {
  const names = ['.', ...readdirSync(folder)]
  const modeOf = (name: string) => (statSync(join(folder, name)).mode & 0o777).toString(8)
  return Object.fromEntries(names.map((name) => [name, modeOf(name)]))
}

async function prepare(t: Test) {
  const folder = t.testdir({ data: {}, backups: {} })
  const [file, backup] = [`${folder}/data/plants.db`, `${folder}/backups/plants.db`]
  const store = await openTestStore({ file })
  await store.create('joe', 1n, { name: 'Rose' })
  await store.close()
  await saveBackup(file, backup)
  return { folder, file, backup }
}

for (const mask of ['000', '022', '777']) {
  t.test(`a new store is its owner's only, with umask ${mask}`, async (t) => {
    const folder = t.testdir()
    const words = ['sh', '-c', `umask ${mask}; exec "$0" "$@"`]
    const environment = { DATABASE_URL: `sqlite:${folder}/data/plants.db`, NODE_V8_COVERAGE: '' }
    const ofOwner = { '.': '700', 'plants.db': '600', 'plants.db.lock': '600' }
    const service = await startService(t, environment, [
      ...words,
      process.execPath,
      'test/support/product/main.ts',
    ])
    t.strictSame(modesIn(`${folder}/data`), {
      ...ofOwner,
      'plants.db.lock-journal': '600', // SQLite keeps it while the lock is held
      'plants.db-shm': '600',
      'plants.db-wal': '600',
    })
    const save = [...words, ...program('backup', 'save', `${folder}/copy.db`)]
    t.match(await run(save, environment), { code: 0 })
    t.match(modesIn(folder), { 'copy.db': '600', 'copy.db.sha256': '600' })
    service.child.kill('SIGTERM')
    await service.ended
    const restored = { ...environment, DATABASE_URL: `sqlite:${folder}/new/plants.db` }
    const restore = [...words, ...program('backup', 'restore', `${folder}/copy.db`)]
    t.match(await run(restore, restored), { code: 0 })
    t.strictSame(modesIn(`${folder}/new`), ofOwner)
  })
}

t.test('a store that is there keeps its modes', async (t) => {
  const { folder, file } = await prepare(t)
  chmodSync(`${folder}/data`, 0o755)
  for (const end of ['', '.lock']) chmodSync(file + end, 0o644)
  const store = await openTestStore({ file })
  const modes = { '.': '755', 'plants.db': '644', 'plants.db-wal': '644', 'plants.db.lock': '644' }
  t.match(modesIn(`${folder}/data`), modes)
  await store.close()
})

t.test('a store is made where a link leads that has no target yet', async (t) => {
  const folder = t.testdir({ volume: {} })
  const file = `${folder}/plants.db`
  symlinkSync('volume/real.db', file)
  await (await openTestStore({ file })).close()
  t.match(modesIn(`${folder}/volume`), { 'real.db': '600', 'real.db.lock': '600' })
  symlinkSync('loop.db', `${folder}/volume/loop.db`)
  await t.rejects(openTestStore({ file: `${folder}/volume/loop.db` }), { name: 'StartupError' })
})

const PRECIOUS = 'precious'

/** Obstacles at a name; links lead to the file `target`. */
const OBSTACLES: Readonly<Record<string, (path: string, target: string) => void>> = {
  'a symbolic link': (path, target) => symlinkSync(target, path),
  'a link to nothing': (path, target) => symlinkSync(`${target}.new`, path),
  'a hard link': (path, target) => linkSync(target, path),
  'a folder': (path) => mkdirSync(path),
  'a pipe': (path) => execFileSync('mkfifo', [path]),
}
const ENDS = [
  ...['', '-wal', '-shm', '-journal', '.lock', '.lock-journal', '.lock-wal'],
  ...['.part', '.part-journal', '.part.lock'],
]

for (const [what, lay] of Object.entries(OBSTACLES)) {
  t.test(`a restore refuses ${what} at each name that it uses`, async (t) => {
    const { folder, file, backup } = await prepare(t)
    const target = `${folder}/precious`
    const old = readFileSync(file)
    for (const end of ENDS) {
      writeFileSync(target, PRECIOUS, { mode: 0o600 })
      rmSync(file + end, { force: true })
      lay(file + end, target)
      const before = lstatSync(file + end)
      if (isRoot) chownSync(`${folder}/data`, NOBODY, NOBODY)
      const stats = statSync(target)
      await t.rejects(
        restoreBackup(backup, file, true),
        new RegExp(`plants.db${end} |another name`),
      )
      t.equal(readFileSync(target, 'utf8'), PRECIOUS, end)
      t.match(statSync(target), { uid: stats.uid, gid: stats.gid, mode: stats.mode }, end)
      t.notOk(existsSync(`${target}.new`), end)
      t.equal(lstatSync(file + end).ino, before.ino, `${end} is as it was`)
      rmSync(file + end, { recursive: true })
      writeFileSync(file, old)
      rmSync(target)
    }
    await restoreBackup(backup, file, true)
  })
}

t.test('a save follows no link', async (t) => {
  const { folder, file } = await prepare(t)
  const target = `${folder}/precious`
  writeFileSync(target, PRECIOUS)
  const to = `${folder}/backups/next.db`
  const paths = [to, `${to}.sha256`, `${folder}/backups/plants.db.part`]
  for (const path of [...paths, `${folder}/backups/plants.db.part.lock`, `${file}-shm`]) {
    rmSync(path, { force: true })
    symlinkSync(target, path)
    await t.rejects(saveBackup(file, to), /already exists|is a symbolic link/, path)
    t.equal(readFileSync(target, 'utf8'), PRECIOUS, path)
    rmSync(path)
  }
  symlinkSync(`${target}.new`, to)
  await t.rejects(saveBackup(file, to), /already exists/)
  rmSync(to)
  await saveBackup(file, to)
})

t.test(
  'a folder that root reaches by a link of another user is refused',
  {
    skip: !isRoot && 'only root can make such a link',
  },
  async (t) => {
    const { folder, file, backup } = await prepare(t)
    const link = `${folder}/link`
    symlinkSync('data', link)
    await restoreBackup(backup, `${link}/plants.db`, true)
    lchownSync(link, NOBODY, NOBODY)
    const ino = statSync(file).ino
    symlinkSync('link', `${folder}/link of root`)
    for (const path of [
      `${link}/plants.db`,
      `${link}/new/plants.db`,
      `${folder}/link of root/plants.db`,
    ])
      await t.rejects(
        restoreBackup(backup, path, true),
        `${link} is a symbolic link of another user`,
      )
    t.equal(statSync(file).ino, ino)
  },
)

t.test(
  'a backup that root reaches by a link of another user is refused',
  { skip: !isRoot && 'only root can make such a link' },
  async (t) => {
    const { folder, file, backup } = await prepare(t)
    const link = `${folder}/link.db`
    symlinkSync(backup, link)
    await restoreBackup(link, file, true)
    lchownSync(link, NOBODY, NOBODY)
    const refused = `${link} is a symbolic link of another user`
    await t.rejects(restoreBackup(link, file, true), refused)
  },
)

t.test('a restore of a bad backup makes nothing where no store was', async (t) => {
  const { folder, backup } = await prepare(t)
  writeFileSync(`${backup}.sha256`, 'another sum')
  const restored = restoreBackup(backup, `${folder}/new/plants.db`, false)
  await t.rejects(restored, /has changed since it was saved/)
  t.notOk(existsSync(`${folder}/new`))
})

t.test('a pipe in place of a backup or its checksum is refused, and not waited for', async (t) => {
  const { file, backup } = await prepare(t)
  for (const path of [`${backup}.sha256`, backup]) {
    rmSync(path)
    execFileSync('mkfifo', [path])
    await t.rejects(restoreBackup(backup, file, true), `${path} is not a file`)
  }
})

t.test(
  'what is restored is what was checked, though the backup is replaced meanwhile',
  async (t) => {
    const { folder, file, backup } = await prepare(t)
    const store = await openTestStore({ file })
    await store.create('joe', 2n, { name: 'Tulip' })
    await store.close()
    const [first, second] = [`${folder}/first`, `${folder}/second`]
    renameSync(backup, first)
    await saveBackup(file, second)
    for (const turns of Array(40).keys()) {
      copyFileSync(first, backup)
      copyFileSync(second, `${second}.copy`)
      const restored = restoreBackup(backup, file, true).catch(() => undefined)
      for (let turn = 0; turn < turns; turn++) await nextTurn()
      renameSync(`${second}.copy`, backup)
      const result = await restored
      if (result !== undefined) t.match(checkDatabase(file), { plants: 1 }, `after ${turns} turns`)
    }
  },
)

t.test(
  'what a restore finds keeps its owner, what it makes gets that of the store',
  {
    skip: !isRoot && 'only root can give files away',
  },
  async (t) => {
    const { file, backup } = await prepare(t)
    chownSync(file, NOBODY, NOBODY)
    await restoreBackup(backup, file, true)
    t.match(statSync(file), { uid: NOBODY, gid: NOBODY })
    t.match(statSync(`${file}.lock`), { uid: 0 }, 'it was there')
    rmSync(`${file}.lock`)
    await restoreBackup(backup, file, true)
    t.match(statSync(`${file}.lock`), { uid: NOBODY, gid: NOBODY })
  },
)

t.test('a restore that cannot give the store to its owner changes nothing', async (t) => {
  const { folder, file, backup } = await prepare(t)
  if (!isRoot) return
  const bytes = readFileSync(file)
  copyFileSync(file, `${folder}/data/other.db`)
  chmodSync(`${folder}/data`, 0o777)
  const words = ['setpriv', '--bounding-set=-chown', ...program('backup', 'restore', backup)]
  chownSync(file, NOBODY, NOBODY)
  rmSync(`${file}.lock`)
  const names = readdirSync(`${folder}/data`)
  const ended = await run([...words, '--replace'], { DATABASE_URL: `sqlite:${file}` })
  const stderr = `the store belongs to user ${NOBODY} and group ${NOBODY}: run this as that user, or as root\n`
  t.match(ended, { code: 1, stderr })
  t.ok(readFileSync(file).equals(bytes))
  t.strictSame(readdirSync(`${folder}/data`), names)
})
