// The power fails before each sync of a restore over a store. test/engine/store/sqlite/backup.test.ts kills it at each call.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { program, run } from '../support/process.ts'
import { prepareReplacement, storeIn } from '../support/replacement.ts'
import { need } from './programs.ts'
import { Disk, type Keeps, readTrace, watched } from './strace.ts'

need('strace')
t.setTimeout(600_000)

/** In the gate: some of the choices of what a power cut keeps. */
const isShort = process.env['SHORT'] !== undefined

t.test('a restore survives a power cut at each sync, and once it has ended the new store is on disk', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  const memory = mkdtempSync('/dev/shm/plants-')
  t.teardown(() => rmSync(memory, { recursive: true, force: true }))
  const replacement = await prepareReplacement(t)
  const trace = `${replacement.folder}/trace`
  const data = `${replacement.folder}/data`
  cpSync(replacement.left, data, { recursive: true })
  const command = watched(trace, program('backup', 'restore', replacement.backup, '--replace'))
  const { code } = await run(command, { DATABASE_URL: `sqlite:${data}/plants.db`, NODE_V8_COVERAGE: '' })
  t.equal(code, 0)
  const ends = ['', '-wal']
  const begin = ends.map(
    (end) => [`${data}/plants.db${end}`, readFileSync(`${replacement.left}/plants.db${end}`)] as const,
  )
  const disk = new Disk(data, new Map(begin))
  const random = fc.sample(fc.noBias(fc.nat(999)), { seed, numRuns: 100_000 })
  let drawn = 0
  const seen = { old: 0, new: 0 }
  const cut = async (keeps: Keeps, where: string) => {
    const folder = mkdtempSync(`${memory}/`)
    for (const [path, bytes] of disk.cut(keeps)) {
      if (!path.endsWith('-shm')) writeFileSync(`${folder}/${basename(path)}`, bytes)
    }
    const found = await storeIn(`${folder}/plants.db`).catch((error: unknown) => t.fail(`${where}: ${String(error)}`))
    if (found === 'old' || found === 'new') seen[found] += 1
    rmSync(folder, { recursive: true })
    return found
  }
  let syncs = 0
  for (const event of await readTrace(trace, data)) {
    if (event.what === 'sync' || event.what === 'rename') {
      await cut(() => false, `nothing kept, ${syncs}`)
      await cut(() => true, `all kept, ${syncs}`)
      for (let choice = 0; choice < 100; choice += isShort ? 5 : 1) {
        const share = choice * 10
        await cut(() => (random[drawn++ % random.length] ?? 0) < share, `${share / 10} % kept, ${syncs}`)
      }
      syncs += 1
    }
    disk.apply(event)
  }
  t.equal(await cut(() => false, 'at the end'), 'new')
  t.comment({ syncs, ...seen })
  t.ok(syncs > 5 && seen.old > 20 && seen.new > 2)
})
