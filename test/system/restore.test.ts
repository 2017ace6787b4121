// A restore over a store is interrupted or fails at each call of the system, and the power fails before each sync.
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import t from 'tap'
import { program, run } from '../support/process.ts'
import { prepareReplacement, type Replacement, storeIn } from '../support/replacement.ts'
import { chances, Disk, type Keeps } from './disk.ts'
import { need } from './programs.ts'
import { injected, readTrace, watched, wholeTrace } from './strace.ts'

need('strace')
t.setTimeout(600_000)

/** In the gate: some of the calls, and of the choices of what a power cut keeps. */
const isShort = process.env['SHORT'] !== undefined

const CALLS = ['openat', 'pwrite64', 'fsync,fdatasync', 'ftruncate', 'unlink']

/** Runs a restore on a copy of the store that was left. @param strace the words before those of the command */
function restore({ folder, left, backup }: Replacement, name: string, strace: (data: string) => string[]) {
  const data = `${folder}/${name}`
  cpSync(left, data, { recursive: true })
  const node = program('backup', 'restore', backup, '--replace')
  const ended = run([...strace(data), ...node], { DATABASE_URL: `sqlite:${data}/plants.db`, NODE_V8_COVERAGE: '' })
  return ended.then((ended) => ({ ...ended, data }))
}

for (const [fault, inject] of [
  ['kill', 'signal=SIGKILL'],
  ['error', 'error=EIO'],
] as const) {
  t.test(`a restore survives the ${fault} at each call of the system`, async (t) => {
    const replacement = await prepareReplacement(t)
    const seen = { old: 0, new: 0 }
    /** @returns whether there was such a call */
    const interrupt = async (call: string, when: number): Promise<boolean> => {
      const trace = `${replacement.folder}/trace`
      const { data, code, stderr } = await restore(replacement, 'data', (data) => {
        const files = ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal'].map((end) => `${data}/plants.db${end}`)
        return [...injected(trace, [data, ...files], `${call}:${inject}:when=${when}`), '-f']
      })
      const calls = await wholeTrace(trace)
      const isHit = fault === 'kill' ? calls.includes('killed by SIGKILL') : calls.includes('(INJECTED)')
      const where = `${call} ${when}, ${calls.split('\n').at(-3)}, ${stderr}`
      const found = await storeIn(`${data}/plants.db`).catch((error: unknown) => t.fail(`${where}: ${String(error)}`))
      if (found === 'old' || found === 'new') seen[found] += 1
      if ((code === 0 || !isHit) && found !== 'new') t.fail(`${where}: it says that it is done`)
      rmSync(data, { recursive: true })
      rmSync(trace)
      return isHit
    }
    for (const call of CALLS) {
      let when = 1
      while (await interrupt(call, when)) when += isShort ? 3 : 1
      t.ok(when > 1, call)
    }
    t.comment(seen)
    t.ok(seen.old > 5 && seen.new > 2)
  })
}

t.test('a restore survives a power cut at each sync, and once it has ended the new store is on disk', async (t) => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  const memory = mkdtempSync('/dev/shm/plants-')
  t.teardown(() => rmSync(memory, { recursive: true, force: true }))
  const replacement = await prepareReplacement(t)
  const trace = `${replacement.folder}/trace`
  const { data, code } = await restore(replacement, 'data', () => watched(trace, [], ['-f']))
  t.equal(code, 0)
  const names = ['plants.db', 'plants.db-wal']
  const begin = names.map((name) => [`${data}/${name}`, readFileSync(`${replacement.left}/${name}`)] as const)
  const disk = new Disk(data, Object.fromEntries(begin))
  const draw = chances(seed)
  const seen = { old: 0, new: 0 }
  const cut = async (keeps: Keeps, where: string) => {
    disk.cut(keeps, `${memory}/data`)
    const what = storeIn(`${memory}/data/plants.db`)
    const found = await what.catch((error: unknown) => t.fail(`${where}: ${String(error)}`))
    if (found === 'old' || found === 'new') seen[found] += 1
    return found
  }
  let syncs = 0
  for (const event of await readTrace(trace, data)) {
    if (event.what === 'sync' || event.what === 'rename') {
      await cut(() => false, `nothing kept, ${syncs}`)
      await cut(() => true, `all kept, ${syncs}`)
      for (let choice = 0; choice < 100; choice += isShort ? 5 : 1) {
        await cut(() => draw() < choice / 100, `${choice} % kept, ${syncs}`)
      }
      syncs += 1
    }
    disk.apply(event)
  }
  t.equal(await cut(() => false, 'at the end'), 'new')
  t.comment({ syncs, ...seen })
  t.ok(syncs > 5 && seen.old > 20 && seen.new > 2)
})
