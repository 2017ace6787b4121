// Interrupts a restore or makes it fail, at each call of Node's. test/system/restore.test.ts cuts the power.
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { restoreBackup } from '../../../../service/engine/store/sqlite/backup.ts'
import { prepareReplacement, type Replacement, storeIn } from '../../../support/replacement.ts'
import { run } from '../../../support/process.ts'

/** Runs the command on a copy of the store. @returns how the command ended, and the calls that it made */
async function runWatched(
  { folder, left }: Replacement,
  name: string,
  words: string[],
  fault: Record<string, string> = {},
) {
  const data = `${folder}/${name}`
  cpSync(left, data, { recursive: true })
  const environment = { ...fault, DATABASE_URL: `sqlite:${data}/plants.db`, CALLS: `${data}.calls` }
  // Without tap's hooks, because they use files.
  const node = ['env', '-u', 'NODE_OPTIONS', process.execPath, '--import', './test/support/file-calls.ts']
  const ended = await run([...node, 'test/support/product/backup.ts', ...words], environment)
  const lines = existsSync(environment.CALLS) ? readFileSync(environment.CALLS, 'utf8').split('\n').slice(0, -1) : []
  return { ended, data, calls: lines.map((line) => JSON.parse(line) as unknown[]) } // as file-calls.ts writes them
}

t.test('a restore that is interrupted leaves the old store or the new one, complete', async (t) => {
  const replacement = await prepareReplacement(t)
  const words = ['restore', replacement.backup, '--replace']
  const { ended, calls } = await runWatched(replacement, 'whole', words)
  t.match(ended, { code: 0, stderr: '' })
  const seen = { old: 0, new: 0 }
  const interrupt = async (FAULT: string, at: number) => {
    const fault = { FAULT, FAULT_AT: String(at) }
    const { ended, data } = await runWatched(replacement, `${FAULT}.${at}`, words, fault)
    const where = `${FAULT} at ${at}, ${JSON.stringify(calls[at - 1])}: ${ended.stderr}`
    t.ok(FAULT === 'kill' ? ended.signal === 'SIGKILL' : ended.code === 1, where)
    const found = await storeIn(`${data}/plants.db`).catch((error: unknown) => t.fail(`${where}: ${String(error)}`))
    if (found === 'old' || found === 'new') seen[found] += 1
  }
  for (const fault of ['kill', 'error']) {
    for (let at = 1; at <= calls.length; at += 8) {
      const some = Array.from({ length: Math.min(8, calls.length - at + 1) }, (_, n) => interrupt(fault, at + n))
      await Promise.all(some)
    }
  }
  t.ok(seen.old > 20 && seen.new > 2, JSON.stringify(seen))
})

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

t.test('a store that another process is reading is not replaced, and keeps its log', async (t) => {
  const { left, backup } = await prepareReplacement(t)
  const file = `${left}/plants.db`
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('BEGIN; SELECT count(*) FROM plants')
  await t.rejects(restoreBackup(backup, file, true), { message: 'another process is reading it' })
  reader.close()
  t.equal(await storeIn(file), 'old')
})

for (const [word, ...options] of [['save'], ['restore', '--replace']] as const) {
  t.test(`${word}: the copy is on disk before its rename, and the new name before the command ends`, async (t) => {
    const replacement = await prepareReplacement(t)
    const copy = word === 'save' ? `${replacement.folder}/saved.db` : replacement.backup
    const { ended, data, calls } = await runWatched(replacement, word, [word, copy, ...options])
    t.match(ended, { code: 0, stderr: '' })
    const to = word === 'save' ? copy : `${data}/plants.db`
    const part = word === 'save' ? `${dirname(to)}/plants.db.part` : `${to}.part`
    const last = (...call: unknown[]) => calls.findLastIndex((each) => call.every((part, n) => each[n] === part))
    const renamed = last('renameSync', part, to)
    const [copied, synced] = [last('prepare', 'VACUUM INTO ?'), last('fsyncSync', part)]
    t.ok(copied >= 0 && copied < synced && synced < renamed, 'the copy')
    const folders = calls.flatMap(([name, path], n) => (name === 'fsyncSync' && path === dirname(to) ? [n] : []))
    const before = word === 'save' ? last('writeFileSync', `${to}.sha256`) : last('rmSync', `${to}-wal`)
    t.ok(before >= 0 && folders.some((n) => n > before && n < renamed), 'the checksum exists, or the old log does not')
    t.ok(
      folders.some((n) => n > renamed),
      'the name',
    )
    if (word === 'save') t.strictSame(calls[before]?.[3], { flush: true }, 'the checksum')
  })
}
