// What a restore and a copy leave on the disk. test/system/restore.test.ts interrupts a restore at each system call.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { restoreBackup } from '../../../../service/engine/store/sqlite/backup.ts'
import { prepareReplacement, storeIn } from '../../../support/replacement.ts'
import { program, run } from '../../../support/process.ts'

t.test('the log of a missing or damaged database is not applied to the new store', async (t) => {
  const { left, backup } = await prepareReplacement(t)
  const file = `${left}/plants.db`
  const log = readFileSync(`${file}-wal`)
  for (const database of [undefined, Buffer.alloc(20_000, 7)]) {
    if (database === undefined) rmSync(file)
    else writeFileSync(file, database)
    writeFileSync(`${file}-wal`, log)
    await restoreBackup(backup, file, database !== undefined)
    t.equal(await storeIn(file), 'new')
  }
})

t.test('a store whose pages have another length is replaced', async (t) => {
  const { left, backup } = await prepareReplacement(t)
  const file = `${left}/plants.db`
  const db = new DatabaseSync(file)
  db.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL')
  db.close()
  t.equal(await storeIn(file), 'old')
  await restoreBackup(backup, file, true)
  t.equal(await storeIn(file), 'new')
})

t.test('a restore that fails leaves no store where none was, and a damaged one as it was', async (t) => {
  const { left, backup } = await prepareReplacement(t)
  const [file, damaged] = [`${left}/plants.db`, Buffer.alloc(20_000, 7)]
  const command = ['sh', '-c', 'ulimit -f 1; exec "$0" "$@"', ...program('backup', 'restore', backup, '--replace')]
  const restore = () => run(command, { DATABASE_URL: `sqlite:${file}`, NODE_V8_COVERAGE: '' })
  for (const end of ['', '-wal']) rmSync(file + end)
  t.match(await restore(), { code: 1 })
  t.notOk(existsSync(file))
  writeFileSync(file, damaged)
  t.match(await restore(), { code: 1 })
  t.ok(readFileSync(file).equals(damaged))
})

t.test('a saved copy is on disk before its rename, and its checksum and name before the command ends', async (t) => {
  const { folder, backup } = await prepareReplacement(t)
  const environment = { DATABASE_URL: `sqlite:${backup}`, CALLS: `${folder}/calls` }
  // Without tap's hooks, because they use files.
  const node = ['env', '-u', 'NODE_OPTIONS', process.execPath, '--import', './test/support/file-calls.ts']
  const to = `${folder}/saved.db`
  t.match(await run([...node, 'test/support/product/backup.ts', 'save', to], environment), { code: 0, stderr: '' })
  const lines = readFileSync(environment.CALLS, 'utf8').split('\n').slice(0, -1)
  const calls = lines.map((line) => JSON.parse(line) as unknown[]) // as file-calls.ts writes them
  const last = (...call: unknown[]) => calls.findLastIndex((each) => call.every((part, n) => each[n] === part))
  const part = `${folder}/backup.db.part`
  const order = [
    last('prepare', 'VACUUM INTO ?'),
    last('fsyncSync', part),
    last('writeFileSync', `${to}.sha256`),
    last('renameSync', part, to),
    last('fsyncSync', folder),
  ]
  for (const [n, at] of order.entries()) t.ok(at > (order[n - 1] ?? -1), order.join())
  t.strictSame(calls[order[2] ?? 0]?.[3], { flush: true }, 'the checksum')
})
