// What a restore leaves on the disk. test/system/restore.test.ts interrupts a restore at each system call.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { restoreBackup } from '../../../../service/engine/store/sqlite/backup.ts'
import { prepareReplacement, storeIn } from '../../../support/replacement.ts'
import { program, run } from '../../../support/process.ts'

const DAMAGED = Buffer.alloc(20_000, 7)

for (const [what, change] of Object.entries({
  'is missing, but not its log': (file: string) => rmSync(file),
  'is damaged, but not its log': (file: string) => writeFileSync(file, DAMAGED),
  'has pages of another length': (file: string) => {
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = DELETE; PRAGMA page_size = 8192; VACUUM; PRAGMA journal_mode = WAL')
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

t.test('a restore that fails leaves no store where none was, and a damaged one as it was', async (t) => {
  const { left, backup } = await prepareReplacement(t)
  const file = `${left}/plants.db`
  const command = ['sh', '-c', 'ulimit -f 1; exec "$0" "$@"', ...program('backup', 'restore', backup, '--replace')]
  const restore = () => run(command, { DATABASE_URL: `sqlite:${file}`, NODE_V8_COVERAGE: '' })
  for (const end of ['', '-wal']) rmSync(file + end)
  t.match(await restore(), { code: 1 })
  t.notOk(existsSync(file))
  writeFileSync(file, DAMAGED)
  t.match(await restore(), { code: 1 })
  t.ok(readFileSync(file).equals(DAMAGED))
})
