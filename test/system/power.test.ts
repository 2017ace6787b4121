// The power fails: what a process wrote and synced is recorded, and the disk rebuilt as it would be found afterwards.
// LONG=1 records more, and keeps more choices of what was not synced; SEED=<number> begins with another one.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import t, { type Test } from 'tap'
import { inspect, Ledger, work } from '../support/ledger.ts'
import { startService } from '../support/process.ts'
import { copyProject } from '../support/project.ts'
import { chances, Disk, type Keeps } from './disk.ts'
import { demoToken, need } from './programs.ts'
import { type Event, readTrace, watched } from './strace.ts'
import { openTestStore } from '../support/stores.ts'
import { PREFIX } from '../support/tokens.ts'
import { accessTokenChecker } from '../../service/engine/auth/guard.ts'

need('strace')
const isLong = process.env['LONG'] !== undefined
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
/** Writes of a process, more than are between two checkpoints; random choices for each moment. */
const [WRITES, CHOICES] = isLong ? [3000, 4] : [550, 1]
/** So many writes may share a commit. */
const CLIENTS = 32
t.setTimeout(isLong ? 1_800_000 : 280_000)
t.comment(`SEED=${SEED}`)

/** A copy of the project: a test changes its engine. */
const copy = copyProject(t)

/** In memory: it is rebuilt hundreds of times. */
const memory = mkdtempSync('/dev/shm/plants-')
t.teardown(() => rmSync(memory, { recursive: true, force: true }))

/** Where a ledger has the items of the requests that were answered, by the beginning of their request ids. */
const ACKNOWLEDGED = new Map([
  ['create', 'stored'],
  ['change', 'changed'],
  ['delete', 'deleted'],
] as const)

/** What lives of a service on one disk have done. */
type Recording = Awaited<ReturnType<typeof record>>

/** How a process of the service lives: how many writes it does, the faults it meets, how it ends. */
interface Life {
  readonly writes: number
  readonly end: 'SIGTERM' | 'SIGKILL' | 'fault'
  readonly inject?: readonly string[]
}

/** Records the lives of the service in some folder, the first one of which begins without a database. */
async function record(t: Test, lives: readonly Life[]) {
  const folder = t.testdir()
  const ledger = new Ledger()
  const events: Event[] = []
  let token = ''
  let answers = 0
  for (const [index, { writes, end, inject }] of lives.entries()) {
    const trace = `${folder}/trace.${index}`
    const service = await startService(
      t,
      { DATABASE_URL: `sqlite:${folder}/data/plants.db`, LOG_LEVEL: 'info', NODE_ENV: 'development' },
      watched(trace, [process.execPath, `${copy}/test/support/product/main.ts`], inject),
    )
    token ||= await demoToken(service)
    const most = ledger.acknowledged + writes
    const isOver = () => {
      if (ledger.acknowledged < most) return false
      if (end === 'SIGKILL') service.child.kill(end)
      return true
    }
    await work(service.port, token, ledger, isOver, CLIENTS)
    if (end === 'SIGTERM') service.child.kill(end)
    const { code, signal } = await service.ended
    t.strictSame([code, signal], { SIGTERM: [0, null], SIGKILL: [null, 'SIGKILL'], fault: [1, null] }[end])
    const seen = await readTrace(trace, folder)
    answers += seen.filter(({ what }) => what === 'answer').length
    events.push(...seen)
    // strace does not tell of the last call of a process that was killed.
    for (const [what, set] of ACKNOWLEDGED)
      for (const id of ledger[set]) events.push({ what: 'answer', status: 200, requestId: `${what}-${id}` })
  }
  if (answers < ledger.acknowledged - lives.length * CLIENTS) throw new Error(`only ${answers} answers were seen`)
  return { folder, events, ledger, token }
}

/**
 * Cuts the power before each sync, and at the end: with all that was acknowledged until then, and only what was synced
 * before. That is the worst of all moments since the sync before; the answers in between are among those looked for.
 * @param choices how many times to keep at random what was not synced
 * @returns how many disks were rebuilt, how many syncs there were, and what was lost
 */
async function cutEverywhere({ folder, events, ledger, token }: Recording, choices: number) {
  const disk = new Disk(folder)
  const { sent, changeSent, deleteSent } = ledger
  const known = Object.assign(new Ledger(), { sent, changeSent, deleteSent })
  const outcome = { disks: 0, syncs: 0, violations: [] as string[] }
  let isTokenShown = false
  const draw = chances(SEED)

  const cut = async (keeps: Keeps, kind: string) => {
    outcome.disks += 1
    disk.cut(keeps, `${memory}/data`)
    const violations = await violationsIn(`${memory}/data/plants.db`, known, isTokenShown ? token : undefined)
    outcome.violations.push(...violations.map((wrong) => `${kind}, sync ${outcome.syncs}: ${wrong}`))
  }
  const cutAll = async () => {
    await cut(() => false, 'nothing kept')
    for (let choice = 0; choice < choices; choice++) {
      const share = draw()
      await cut(() => draw() < share, `${Math.round(share * 100)} % kept`)
    }
  }
  for (const event of events) {
    if (event.what === 'sync' || event.what === 'failedSync') {
      await cutAll()
      outcome.syncs += 1
    } else if (event.what === 'answer') {
      const [, what, id] = /^(create|change|delete)-(\d+)$/.exec(event.requestId) ?? []
      const set = ACKNOWLEDGED.get(what as 'create' | 'change' | 'delete') // as the expression says, if it fits
      if (set !== undefined && event.status < 300) known[set].add(Number(id))
    } else if (event.what === 'print') isTokenShown ||= event.text.includes(token)
    disk.apply(event)
  }
  await cutAll()
  return outcome
}

/** Starts the store on a file, as the service would do, and asks for what was acknowledged. */
async function violationsIn(file: string, known: Ledger, token?: string): Promise<string[]> {
  try {
    const store = await openTestStore({ file })
    const verdict = token && (await accessTokenChecker(PREFIX, store)(token))
    const isKnown = token === undefined || isDeepStrictEqual(verdict, { caller: 'demo', scopes: [] })
    await store.close()
    const { items, faults } = inspect(file, 'demo')
    return [...faults.map(String), ...known.violations(items), ...(isKnown ? [] : ['the token is lost'])]
  } catch (error) {
    return [String(error)]
  }
}

const LIVES: readonly Life[] = [
  { writes: WRITES, end: 'SIGTERM' },
  { writes: 100, end: 'SIGKILL' },
  { writes: WRITES, end: 'SIGKILL' },
]

t.test('a power cut at any moment loses no acknowledged write, undoes no delete and breaks no file', async (t) => {
  const recording = await record(t, LIVES)
  const { violations, ...counts } = await cutEverywhere(recording, CHOICES)
  t.comment({ ...counts, acknowledged: recording.ledger.acknowledged })
  t.strictSame(violations.slice(0, 20), [])
  t.ok(counts.syncs > 50, 'there were syncs to cut the power before')
})

t.test('the same with synchronous=NORMAL does lose writes: the test sees it', async (normal) => {
  const file = `${copy}/service/engine/store/sqlite/file.ts`
  const source = readFileSync(file, 'utf8')
  writeFileSync(file, source.replace('synchronous = FULL', 'synchronous = NORMAL').replace('!== 2n', '!== 1n'))
  const recording = await record(normal, LIVES).finally(() => writeFileSync(file, source))
  const { violations, ...counts } = await cutEverywhere(recording, 0)
  const lost = violations.filter((wrong) => wrong.includes(': lost: '))
  normal.comment({ ...counts, losses: lost.length, of: new Set(lost.map((wrong) => wrong.replace(/.*: /, ''))).size })
  normal.ok(lost.length > 100)
})

t.test('what is acknowledged after a start that follows a failed sync is not lost', async (t) => {
  const recording = await record(t, [
    { writes: 100, end: 'SIGKILL' },
    { writes: Infinity, end: 'fault', inject: ['-e', 'inject=fsync,fdatasync:error=EIO:when=20'] },
    { writes: 100, end: 'SIGKILL' },
  ])
  const failed = recording.events.filter(({ what }) => what === 'failedSync')
  t.strictSame(
    failed.map((event) => 'path' in event && event.path.slice(-4)),
    ['-wal'],
  )
  const { violations, ...counts } = await cutEverywhere(recording, CHOICES)
  t.comment({ ...counts, acknowledged: recording.ledger.acknowledged })
  t.strictSame(violations.slice(0, 20), [])
})
