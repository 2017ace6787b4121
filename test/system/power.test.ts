// The power fails: the writes and syncs of a process are recorded, and the disk rebuilt as it would be found afterwards.
// LONG=1 records more, and keeps more choices of the unsynced writes.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { inspect, Ledger, work } from '../support/histories/ledger.ts'
import { lend, LendingRecord } from '../support/histories/lending.ts'
import { faultsIn, fillLibrary, readLibrary } from '../support/library/stock.ts'
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

/** A service whose calls to the disk are recorded. */
interface Recorded {
  /** The folder of its database, and of the records. */
  readonly folder: string
  readonly main: string
  readonly file: string
  /** How many writes were acknowledged. */
  readonly acknowledged: () => number
  /** Lets clients write until `isOver`. */
  readonly work: (service: Service, isOver: () => boolean) => Promise<void>
}
type Service = Awaited<ReturnType<typeof startService>>

/** Lives one life of a service. @returns the events that were seen */
async function live(
  t: Test,
  { folder, main, file, acknowledged, work }: Recorded,
  { writes, end, inject }: Life,
): Promise<Event[]> {
  const trace = `${folder}/trace.${readdirSync(folder).length}`
  const command = watched(trace, [process.execPath, main], inject)
  const environment = { DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'info', NODE_ENV: 'development' }
  const service = await startService(t, environment, command)
  const most = acknowledged() + writes
  const isOver = () => {
    if (acknowledged() < most) return false
    if (end === 'SIGKILL') service.child.kill(end)
    return true
  }
  await work(service, isOver)
  if (end === 'SIGTERM') service.child.kill(end)
  const { code, signal } = await service.ended
  t.strictSame(
    [code, signal],
    { SIGTERM: [0, null], SIGKILL: [null, 'SIGKILL'], fault: [1, null] }[end],
  )
  return readTrace(trace, folder)
}

/** Records the lives of the service in some folder, the first one of which begins without a database. */
async function record(t: Test, lives: readonly Life[]) {
  const folder = t.testdir()
  const ledger = new Ledger()
  const events: Event[] = []
  let token = ''
  let answers = 0
  const recorded: Recorded = {
    folder,
    main: `${copy}/test/support/product/main.ts`,
    file: `${folder}/data/plants.db`,
    acknowledged: () => ledger.acknowledged,
    work: async (service, isOver) => {
      token ||= await demoToken(service)
      await work(service.port, token, ledger, { isOver, clients: CLIENTS })
    },
  }
  for (const life of lives) {
    const seen = await live(t, recorded, life)
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

/** The shares of unsynced writes to keep: none, and random ones. */
const sharesWith = (choices: number, draw: () => number) => [
  0,
  ...Array.from({ length: choices }, draw),
]

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
  const sharesOf = (draw: () => number) => sharesWith(choices, draw)
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
const LENDING: readonly Life[] = [
  { writes: isLong ? 3000 : 100, end: 'SIGTERM' },
  { writes: 100, end: 'SIGKILL' },
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

t.test('a power cut in the middle of a change leaves all of it or nothing', async (t) => {
  const folder = t.testdir()
  const file = `${folder}/plants.db`
  const token = await fillLibrary({ file })
  const before = readdirSync(folder).map((name) => `${folder}/${name}`)
  const files = Object.fromEntries(before.map((path) => [path, readFileSync(path)]))
  const lendings = new LendingRecord()
  const events: Event[] = []
  const recorded: Recorded = {
    folder,
    main: 'test/support/library/main.ts',
    file,
    acknowledged: () => lendings.answered,
    work: ({ port }, isOver) => lend([port], token, lendings, isOver),
  }
  for (const life of LENDING) {
    events.push(...(await live(t, recorded, life)))
    const answered = lendings.asked.flatMap(({ isLent }, place) =>
      isLent === undefined ? [] : [place],
    )
    for (const place of answered)
      events.push({ what: 'answer', status: 200, requestId: `lend-${place}` })
  }
  const seen = new Set<number>()
  const violations: string[] = []
  const look = async (kept: string, where: string) => {
    const faults = await lendingFaults(kept, lendings, seen).catch((error: unknown) => [
      String(error),
    ])
    violations.push(...faults.map((wrong) => `${where}: ${wrong}`))
  }
  const see = (event: Event) => {
    if (event.what === 'answer' && event.requestId.startsWith('lend-'))
      seen.add(Number(event.requestId.slice(5)))
  }
  const sharesOf = (draw: () => number) => sharesWith(CHOICES, draw)
  const moments = await cutEverywhere(t, { folder, files, events }, { sharesOf, look, see })
  t.comment({ moments, answers: Object.fromEntries(lendings.answers) })
  t.ok(moments > 10, 'there were syncs to cut the power before')
  t.strictSame(violations.slice(0, 20), [])
})

/** What is wrong with a library whose answers to some requests were seen. */
async function lendingFaults(
  file: string,
  lendings: LendingRecord,
  seen: ReadonlySet<number>,
): Promise<string[]> {
  const stock = await readLibrary({ file })
  const { faults } = inspect(file, '')
  return [
    ...faults.map(String),
    ...faultsIn(stock),
    ...lendings.violations(stock, (place) => seen.has(place)),
  ]
}
