// The power fails: the writes and syncs of a process are recorded, and the disk rebuilt as it would be found afterwards.
// LONG=1 records more, and keeps more choices of the unsynced writes.
import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { Ledger, work } from '../support/histories/ledger.ts'
import { startService } from '../support/processes/programs.ts'
import { copyProject } from '../support/project/copy.ts'
import { cutEverywhere } from './disk.ts'
import { demoToken, need, violationsIn } from './programs.ts'
import { type Event, readTrace, watched } from './strace.ts'

need('strace')
const isLong = process.env['LONG'] !== undefined
/** Writes of a process, more than are between two checkpoints; random choices for each moment. */
const [WRITES, CHOICES] = isLong ? [3000, 4] : [550, 1]
/** So many writes may share a commit. */
const CLIENTS = 32
t.setTimeout(isLong ? 1_800_000 : 280_000)

/** A copy of the project: a test changes its store. */
const copy = copyProject(t)

/** The place of an answered request in the ledger, by the beginning of the request's id. */
const ACKNOWLEDGED = Object.entries({
  create: 'stored',
  change: 'changed',
  delete: 'deleted',
} as const)

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
  const DATABASE_URL = `sqlite:${folder}/data/plants.db`
  for (const [index, { writes, end, inject }] of lives.entries()) {
    const trace = `${folder}/trace.${index}`
    const command = watched(
      trace,
      [process.execPath, `${copy}/test/support/product/main.ts`],
      inject,
    )
    const service = await startService(
      t,
      { DATABASE_URL, LOG_LEVEL: 'info', NODE_ENV: 'development' },
      command,
    )
    token ||= await demoToken(service)
    const most = ledger.acknowledged + writes
    const isOver = () => {
      if (ledger.acknowledged < most) return false
      if (end === 'SIGKILL') service.child.kill(end)
      return true
    }
    await work(service.port, token, ledger, { isOver, clients: CLIENTS })
    if (end === 'SIGTERM') service.child.kill(end)
    const { code, signal } = await service.ended
    t.strictSame(
      [code, signal],
      { SIGTERM: [0, null], SIGKILL: [null, 'SIGKILL'], fault: [1, null] }[end],
    )
    const seen = await readTrace(trace, folder)
    answers += seen.filter(({ what }) => what === 'answer').length
    events.push(...seen)
    // strace does not record the last call of a killed process.
    for (const [what, set] of ACKNOWLEDGED)
      for (const id of ledger[set])
        events.push({ what: 'answer', status: 200, requestId: `${what}-${id}` })
  }
  if (answers < ledger.acknowledged - lives.length * CLIENTS)
    throw new Error(`only ${answers} answers were seen`)
  return { folder, events, ledger, token }
}

/**
 * Cuts the power in some lives of a service, and looks for all acknowledged writes.
 * @param choices the number of random choices of unsynced writes
 * @returns the losses, the ends of the names of files whose syncs failed, and how many moments there were
 */
async function cutIn(t: Test, lives: readonly Life[], choices: number) {
  const { folder, events, ledger, token } = await record(t, lives)
  const { sent, changeSent, deleteSent } = ledger
  const expected = Object.assign(new Ledger(), { sent, changeSent, deleteSent })
  let isTokenShown = false
  const violations: string[] = []
  let disks = 0
  const look = async (file: string, where: string) => {
    disks += 1
    const faults = await violationsIn(file, expected, isTokenShown ? token : undefined)
    violations.push(...faults.map((wrong) => `${where}: ${wrong}`))
  }
  const see = (event: Event) => {
    if (event.what === 'print') isTokenShown ||= event.text.includes(token)
    if (event.what !== 'answer' || event.status >= 300) return
    const [what, id] = event.requestId.split('-')
    for (const [kind, set] of ACKNOWLEDGED) if (kind === what) expected[set].add(Number(id))
  }
  const sharesOf = (draw: () => number) => [0, ...Array.from({ length: choices }, draw)]
  const moments = await cutEverywhere(t, { folder, events }, { sharesOf, look, see })
  t.comment({ moments, disks, acknowledged: ledger.acknowledged })
  const failed = events.flatMap((event) =>
    event.what === 'failedSync' ? [event.path.slice(-4)] : [],
  )
  return { moments, violations, failed }
}

const LIVES: readonly Life[] = [
  { writes: WRITES, end: 'SIGTERM' },
  { writes: 100, end: 'SIGKILL' },
  { writes: WRITES, end: 'SIGKILL' },
]
const FAILING: readonly Life[] = [
  { writes: 100, end: 'SIGKILL' },
  { writes: Infinity, end: 'fault', inject: ['-e', 'inject=fsync,fdatasync:error=EIO:when=20'] },
  { writes: 100, end: 'SIGKILL' },
]

for (const [what, lives, failing, least] of [
  [
    'a power cut at any moment loses no acknowledged write, undoes no delete and breaks no file',
    LIVES,
    [],
    50,
  ],
  [
    'what is acknowledged after a start that follows a failed sync is not lost',
    FAILING,
    ['-wal'],
    25,
  ],
] as const) {
  t.test(what, async (t) => {
    const { moments, violations, failed } = await cutIn(t, lives, CHOICES)
    t.ok(moments > least, 'there were syncs to cut the power before')
    t.strictSame(failed, failing)
    t.strictSame(violations.slice(0, 20), [])
  })
}

t.test('the same with synchronous=NORMAL does lose writes: the test sees it', async (t) => {
  const file = `${copy}/packages/store/src/sqlite/file.ts`
  const source = readFileSync(file, 'utf8')
  writeFileSync(
    file,
    source.replace('synchronous = FULL', 'synchronous = NORMAL').replace('!== 2n', '!== 1n'),
  )
  const { violations } = await cutIn(t, LIVES, 0)
  const lost = violations.filter((wrong) => wrong.includes(': lost: '))
  t.comment({
    losses: lost.length,
    of: new Set(lost.map((wrong) => wrong.replace(/.*: /, ''))).size,
  })
  t.ok(lost.length > 100)
})
