// The disk fails under the real process: each call of a kind in turn, moved on by one until a run meets no fault.
// LONG=1 tries each of the many writes, too; without it they are tried in growing steps, and with SHORT=1 in large
// ones, and only writes, reads and syncs fail.
import { cpSync, mkdirSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call } from '../support/servers/start-product.ts'
import { inspect, Ledger, listItems, work } from '../support/histories/ledger.ts'
import { MAIN, start, startService } from '../support/processes/programs.ts'
import { demoToken, need, violationsIn } from './programs.ts'
import { injected, wholeTrace } from './strace.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'

need('strace')
need('unshare', 'util-linux')
const isLong = process.env['LONG'] !== undefined
const isShort = process.env['SHORT'] !== undefined
t.setTimeout(isLong ? 3_600_000 : 290_000)

/** So many writes may share a commit. */
const CLIENTS = 64
/** Enough for the log to be emptied into the file once. */
const WRITES = 600

/** A command under which strace lets calls on a database fail. */
function failing(folder: string, inject: string, ends = ['', '-wal', '-journal']): string[] {
  const files = ends.map((end) => `${folder}/plants.db${end}`)
  return [...injected(`${folder}.trace`, [folder, ...files], inject), ...MAIN]
}

/** Runs the service from its first start to its end by SIGTERM, unless it ends before, and looks at its files. */
async function runWith(t: Test, inject: string) {
  const folder = `${t.testdir()}/data`
  const environment = { PORT: '0', DATABASE_URL: `sqlite:${folder}/plants.db`, LOG_LEVEL: 'info' }
  const service = await start(t, failing(folder, inject), environment)
  const started = service.until(/listening at http:[^"]*:(\d+)"[^]*admin port open/)
  const [, port] = await started.catch((): string[] => [])
  const ledger = new Ledger()
  const { statuses } = ledger
  if (port !== undefined) {
    const token = await demoToken(service)
    const isOver = () => ledger.acknowledged >= WRITES || ledger.sent.size > 2 * WRITES
    await work(Number(port), token, ledger, { isOver, clients: CLIENTS })
    for (let times = 0; times < 3; times++) {
      const { status } = await call(Number(port), { path: '/plants', token }).catch(() => ({
        status: 0,
      }))
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    service.child.kill('SIGTERM')
  }
  const { code, stdout } = await service.ended
  const hasFault = (await wholeTrace(`${folder}.trace`)).includes('(INJECTED)')
  const fatal = [...stdout.matchAll(/^\{"level":60,.*"msg":"(.*)"/gm)].map(([, msg = '']) => msg)
  const violations = await violationsIn(`${folder}/plants.db`, ledger)
  const { acknowledged } = ledger
  return {
    hasFault,
    isServing: port !== undefined,
    code,
    statuses,
    fatal,
    violations,
    acknowledged,
  }
}

type Run = Awaited<ReturnType<typeof runWith>>

function outcomeOf({ isServing, code }: Run): 'atStart' | 'ended' | 'wentOn' {
  if (!isServing) return 'atStart'
  return code === 1 ? 'ended' : 'wentOn'
}

/** Checks a run. @param ends whether the fault ends the service */
function isRight(run: Run, ends: boolean): boolean {
  const { code, statuses, fatal, violations } = run
  const isKnown = [...statuses.keys()].every((status) => [0, 200, 204, 503].includes(status))
  if (!isKnown || violations.length > 0) return false
  const outcome = outcomeOf(run)
  if (outcome === 'atStart') return code === 1 && fatal.length === 1
  if (outcome === 'wentOn') return hasGoneOn(run, ends)
  return ends && /^(I\/O error of the store|.*its disk fails)$/.test(fatal.join())
}

function hasGoneOn({ code, statuses, fatal, acknowledged }: Run, ends: boolean): boolean {
  if (code !== 0 || fatal.length > 0) return false
  // The last files are written when the store is closed: SQLite leaves the log there if that fails.
  return ends ? !statuses.has(503) : acknowledged >= WRITES
}

/** The failing calls, whether the service ends then, and the distance to the next failing call. */
const kinds: [calls: string, error: string, ends: boolean, step: number][] = [
  ['fsync,fdatasync', 'EIO', true, 1.3],
  // A failed write was not acknowledged, either: only a failed sync or read ends the service.
  ['pwrite64', 'EIO', false, 1.7],
  ['pwrite64', 'ENOSPC', false, 1.7],
  ['pwrite64', 'EDQUOT', false, 1.7],
  ['pread64', 'EIO', true, 1.7],
  // A file that stays too long loses nothing.
  ['ftruncate', 'EIO', false, 1],
  ['ftruncate', 'ENOSPC', false, 1],
  ['openat', 'EIO', false, 1],
  ['openat', 'EMFILE', false, 1],
]
const isCommon = ([calls, error]: (typeof kinds)[number]) =>
  !/openat|ftruncate/.test(calls) && error !== 'EDQUOT'
for (const [calls, error, ends, step] of kinds.filter((kind) => !isShort || isCommon(kind))) {
  const passing = calls === 'openat' ? 'fails the start' : 'is 503 until it is over'
  const what = ends ? 'ends the service' : passing
  const shorter = isShort && calls !== 'pread64' ? 4 : step
  const factor = isLong ? 1 : shorter
  t.test(
    `${error} of ${calls} ${what}, and nothing that was acknowledged is lost`,
    { timeout: 0 },
    async (t) => {
      const seen = { atStart: 0, ended: 0, wentOn: 0, refusing: 0, acknowledged: 0 }
      const later = (when: number) => Math.max(when + 1, Math.floor(when * factor))
      for (let when = 1, hasFault = true; hasFault; when = later(when)) {
        const run = await runWith(t, `${calls}:error=${error}:when=${when}`)
        hasFault = run.hasFault
        const where = `${calls} ${error} ${when}: ${JSON.stringify({ ...run, statuses: [...run.statuses] })}`
        if (!isRight(run, ends)) t.fail(where)
        seen[outcomeOf(run)] += 1
        seen.acknowledged += run.acknowledged
        if (run.statuses.has(503)) seen.refusing += 1
      }
      t.comment(seen)
      // Files are opened at the start only.
      if (calls === 'openat') t.ok(seen.atStart > 0, 'a start has failed')
      else if (calls !== 'ftruncate') t.ok(seen.refusing > 0, 'requests were refused')
      if (ends) t.ok(seen.ended > 0, 'the service has ended')
    },
  )
}

t.test(
  'after an I/O error nothing is served and nothing is ready any more, and the next start goes on',
  async (t) => {
    const folder = t.testdir()
    const DATABASE_URL = `sqlite:${folder}/plants.db`
    const token = await issueTokenIn({ file: `${folder}/plants.db` })
    const command = failing(folder, 'fsync,fdatasync:error=EIO:when=8+')
    const { port, adminPort, ended } = await startService(
      t,
      { DATABASE_URL, LOG_LEVEL: 'info' },
      command,
    )
    const ready = async () =>
      (await fetch(`http://127.0.0.1:${adminPort}/readyz`).catch(() => ({ status: 0 }))).status
    t.equal(await ready(), 200)
    const create = (id: number) =>
      call(port, { method: 'POST', path: '/plants', token, body: { id, name: 'x' } })
    let id = 0
    while ((await create(id)).status === 200) id += 1
    t.ok(id > 0, 'some were created')
    // 503 until the process has ended, which may be soon.
    const statusOf = (answer: Promise<{ status: number }>) =>
      answer.then(({ status }) => status).catch(() => 503)
    const statuses = [statusOf(call(port, { path: '/plants', token })), statusOf(create(0))]
    t.strictSame(await Promise.all(statuses), [503, 503])
    t.not(await ready(), 200)
    const { code, stdout } = await ended
    t.equal(code, 1)
    t.match(
      stdout,
      /"level":60,.*"err":\{.*disk I\/O error.*"errcode":1034.*"msg":"I\/O error of the store"/,
    )

    const next = await startService(t, { DATABASE_URL })
    const { json } = await call(next.port, { path: '/plants', token })
    t.ok((json as unknown[]).length >= id) // the last one may be there, too
  },
)

t.test('a full disk at the growth of the index of the log is answered 503', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const token = await issueTokenIn({ file })
  // The first writes make the index for 4,062 pages of the log, the later ones more of it.
  const command = failing(t.testdirName, 'pwrite64:error=ENOSPC:when=9', ['-shm'])
  const { port, child, ended } = await startService(
    t,
    { DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'info' },
    command,
  )
  const reader = new DatabaseSync(file) // The log does not begin anew.
  reader.exec('BEGIN; SELECT 1 FROM plants')
  const ledger = new Ledger(() => 240)
  const isOver = () => ledger.acknowledged > 2500 && ledger.statuses.has(503)
  await work(port, token, ledger, { isOver, clients: CLIENTS })
  reader.close()
  const refused = ledger.statuses.get(503) ?? 0
  t.ok(refused > 0 && refused <= CLIENTS, `${refused} were refused`)
  child.kill('SIGTERM')
  t.equal((await ended).code, 0)
  t.strictSame(ledger.violations(inspect(file, 'joe').items), [])
})

t.test(
  'on a disk that is full writes are refused, reads go on, and with room again all does',
  async (t) => {
    const folder = t.testdir()
    const disk = `${folder}/disk`
    mkdirSync(disk)
    const mount = `mount -t tmpfs -o size=2m none '${disk}' && head -c 1000000 /dev/zero > '${disk}/ballast'`
    // Its mount ends with it.
    const unshare = [
      'unshare',
      '--mount',
      ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
    ]
    const command = [...unshare, 'sh', '-c', `${mount} && exec "$0" "$@"`, ...MAIN]
    const environment = {
      DATABASE_URL: `sqlite:${disk}/plants.db`,
      LOG_LEVEL: 'info',
      NODE_ENV: 'development',
    }
    const service = await startService(t, environment, command)
    const { child, ended, port, adminPort } = service
    const token = await demoToken(service)
    const inside = `/proc/${child.pid}/root${disk}`
    const ledger = new Ledger()
    const fill = async () => {
      const refused = ledger.statuses.get(503) ?? 0
      const isOver = () => (ledger.statuses.get(503) ?? 0) > refused + 20
      await work(port, token, ledger, { isOver })
    }
    await fill()
    const atFirst = ledger.acknowledged
    t.ok(atFirst > 20, `${atFirst} writes were acknowledged`)
    t.strictSame(ledger.violations(await listItems(port, token)), [])
    t.equal((await fetch(`http://127.0.0.1:${adminPort}/readyz`)).status, 200)
    rmSync(`${inside}/ballast`)
    await fill()
    t.ok(ledger.acknowledged > atFirst + 20, `with room again ${ledger.acknowledged}`)
    t.strictSame(ledger.violations(await listItems(port, token)), [])
    t.strictSame([...ledger.statuses.keys()].sort(), [200, 204, 503])
    // As a crash would leave it.
    child.kill('SIGSTOP')
    await delay(50)
    cpSync(inside, `${folder}/left`, { recursive: true })
    child.kill('SIGKILL')
    await ended
    t.strictSame(await violationsIn(`${folder}/left/plants.db`, ledger), [])
    t.comment({ acknowledged: ledger.acknowledged, refused: ledger.statuses.get(503) })
  },
)
