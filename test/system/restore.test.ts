// A restore over a store is interrupted or fails at each call of the system, and the power fails before each sync.
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { program, run } from '../support/processes/programs.ts'
import {
  prepareReplacement,
  type Replacement,
  storeIn,
} from '../support/stores/backup-replacement.ts'
import { cutEverywhere } from './disk.ts'
import { need } from './programs.ts'
import { injected, readTrace, watched, wholeTrace } from './strace.ts'

need('strace')
t.setTimeout(600_000)

/** In the gate: some of the calls, and of the choices of a power cut. */
const isShort = process.env['SHORT'] !== undefined

const FILES = ['', '-wal', '-shm', '-journal', '.lock', '.lock-journal', '.part', '.part.lock']
const CALLS = ['openat', 'pwrite64', 'fsync,fdatasync', 'ftruncate', 'unlink', 'rename', 'fchmod']

/** Runs a restore on a copy of the crashed store. @param strace the words before the command */
function restore(
  { folder, left, backup }: Replacement,
  name: string,
  strace: (data: string) => string[],
) {
  const data = `${folder}/${name}`
  cpSync(left, data, { recursive: true })
  const node = program('backup', 'restore', backup, '--replace')
  const ended = run([...strace(data), ...node], {
    DATABASE_URL: `sqlite:${data}/plants.db`,
    NODE_V8_COVERAGE: '',
  })
  return ended.then((ended) => ({ ...ended, data }))
}

const KILL = 'signal=SIGKILL'
const DAMAGED = Buffer.alloc(20_000, 7)

/** Which of the two stores is in a file, where the old one may be damaged. */
async function findStore(file: string): Promise<string> {
  return readFileSync(file).equals(DAMAGED) ? 'old' : storeIn(file).catch(String)
}

/**
 * Runs a restore with a fault at a call, and removes its files.
 * @param fault and when, as strace takes them
 * @returns which store there was then, whether the call was met, and the error, if there is one
 */
async function restoreWith(replacement: Replacement, call: string, fault: string) {
  const trace = `${replacement.folder}/trace`
  const { data, code, stderr } = await restore(replacement, 'data', (data) => {
    const files = FILES.map((end) => `${data}/plants.db${end}`)
    return [...injected(trace, [data, ...files], `${call}:${fault}`), '-f']
  })
  const calls = await wholeTrace(trace)
  const stored = await findStore(`${data}/plants.db`)
  rmSync(data, { recursive: true })
  rmSync(trace)
  const isHit = calls.includes(fault.startsWith(KILL) ? 'killed by SIGKILL' : '(INJECTED)')
  const isDone = code === 0 || !isHit
  const isRight = stored === 'new' || (stored === 'old' && !isDone)
  const where = `${call} ${fault}, ${calls.split('\n').at(-3)}, ${stderr}`
  const wrong = isRight ? undefined : `${where}: ${stored}, and it ends with ${code}`
  return { stored, isHit, wrong }
}

for (const [fault, inject, isDamaged] of [
  ['kill', KILL, false],
  ['error', 'error=EIO', false],
  ['kill', KILL, true],
] as const) {
  const over = isDamaged ? ', over a damaged store' : ''
  t.test(`a restore survives the ${fault} at each call of the system${over}`, async (t) => {
    const replacement = await prepareReplacement(t)
    if (isDamaged) {
      writeFileSync(`${replacement.left}/plants.db`, DAMAGED)
      rmSync(`${replacement.left}/plants.db-wal`)
    }
    const states: string[] = []
    const step = isShort ? 3 : 1
    for (const call of CALLS) {
      let when = 1
      for (let isHit = true; isHit; when += step) {
        const restored = await restoreWith(replacement, call, `${inject}:when=${when}`)
        isHit = restored.isHit
        states.push(restored.stored)
        if (restored.wrong !== undefined) t.fail(restored.wrong)
      }
      if (!isDamaged || call !== 'ftruncate') t.ok(when > 1 + step, call)
    }
    const old = states.filter((what) => what === 'old').length
    t.comment({ old, new: states.length - old })
    t.ok(old > 5 && states.length - old > 2)
  })
}

t.test(
  'a restore survives a power cut at each sync, and once it has ended the new store is on disk',
  async (t) => {
    const { folder, left, backup } = await prepareReplacement(t)
    const trace = `${folder}/trace`
    const { data, code } = await restore({ folder, left, backup }, 'data', () =>
      watched(trace, [], ['-f']),
    )
    t.equal(code, 0)
    const names = ['plants.db', 'plants.db-wal']
    const files = Object.fromEntries(
      names.map((name) => [`${data}/${name}`, readFileSync(`${left}/${name}`)]),
    )
    const count = isShort ? 20 : 100
    const shares = [0, 1, ...Array.from({ length: count }, (_, at) => at / count)]
    const states: string[] = []
    const recording = { folder: data, files, events: await readTrace(trace, data) }
    const moments = await cutEverywhere(t, recording, {
      sharesOf: () => shares,
      look: async (file, where) => {
        states.push(await storeIn(file).catch((error: unknown) => `${where}: ${String(error)}`))
      },
    })
    const old = states.filter((what) => what === 'old').length
    t.strictSame([...new Set(states)].sort(), ['new', 'old'])
    t.strictSame([...new Set(states.slice(-shares.length))], ['new'], 'at the end')
    t.comment({ moments, old, new: states.length - old })
    t.ok(moments > 5 && old > 20)
  },
)
