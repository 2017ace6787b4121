// `npm test -- <files>`: runs the named tests, or all tests except test/system/, --jobs of them at a time. A file that takes
// longer than --timeout seconds is ended. At the end it prints what failed, how many checks ran, and how long they took.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'

/** These take longest, and begin first: whatever begins late holds up the end. */
const LONG =
  /\/(postgres\/pool|compiler\/(dev|generate|types)|contract\/(docs-page|second))\.test\.ts$/
/** The most checks of a file to name. */
const MOST = 40
/** What `tap build` writes: tap, with the plugins of .taprc. */
const BUILT = 'node_modules/@tapjs/test/test-built/package.json'

const settings: { include: string[]; timeout: number } = parse(readFileSync('.taprc', 'utf8'))
const { values, positionals } = parseArgs({
  options: {
    // Two more jobs than processors, because many tests mostly wait.
    jobs: { type: 'string', default: String(availableParallelism() + 2) },
    timeout: { type: 'string', default: String(settings.timeout) },
  },
  allowPositionals: true,
})
const isWhole = positionals.length === 0
const isNewer = (file: string) =>
  statSync(file).mtimeMs > (statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0)
if (['.taprc', 'node_modules/.package-lock.json'].some(isNewer))
  spawnSync('tap', ['build'], { stdio: 'inherit' })
if (isWhole) rmSync('.tap/answers', { force: true })

const files = isWhole ? globSync(settings.include).sort() : positionals
const [long, others] = [
  files.filter((file) => LONG.test(file)),
  files.filter((file) => !LONG.test(file)),
]
const left = [...long, ...others]
const failed = new Map<string, string[]>()
let checks = 0
await Promise.all(Array.from({ length: Number(values.jobs) }, work))

const statuses = isWhole
  ? spawnSync(process.execPath, ['test/support/statuses.ts'], { stdio: 'inherit' }).status
  : 0
for (const [file, lines] of failed) {
  // A comment of a test may say which seed it had.
  const report = lines.filter((line) => !/^ *(ok \d|# Subtest|1\.\.|TAP|$)/.test(line))
  console.log(`\n${file}\n${report.slice(0, 20 * MOST).join('\n')}`)
}
const seconds = Math.round(performance.now() / 1000)
const took = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
console.log(`\n${checks.toLocaleString('en')} checks in ${files.length} files, ${took}`)
if (failed.size > 0) console.log(`Failed:\n${[...failed].flatMap(namesOf).join('\n')}`)
process.exitCode = failed.size === 0 && statuses === 0 ? 0 : 1

async function work(): Promise<void> {
  for (let file = left.shift(); file !== undefined; file = left.shift()) await run(file)
}

async function run(file: string): Promise<void> {
  const start = performance.now()
  const child = spawn(process.execPath, [file], {
    env: { ...process.env, TAP: '1', TAP_TIMEOUT: values.timeout },
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: (Number(values.timeout) + 5) * 1000, // tap ends it before, with a report
    killSignal: 'SIGKILL',
  })
  const [report, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  checks += report.match(/^ *(not )?ok \d+(?!.* # time=)/gm)?.length ?? 0
  const [, reason] = /^1\.\.0 # ?(.*)/m.exec(report) ?? []
  const took = `${((performance.now() - start) / 1000).toFixed(1)} s`
  const passed = reason === undefined ? 'ok    ' : 'skipped'
  const state = code === 0 ? passed : 'FAILED'
  console.log(`${state} ${file}, ${reason ?? took}`)
  for (const [, name, reason] of report.matchAll(/^ *ok \d+ - (.*) # SKIP (.*)$/gm))
    console.log(`skipped ${file}: ${name}, ${reason}`)
  if (code !== 0) failed.set(file, report.split('\n'))
}

/** The failed checks and tests of a file, each test below its checks; the file itself if it has no report. */
function namesOf([file, lines]: readonly [string, readonly string[]]): string[] {
  const failures = lines.flatMap((line) => {
    const [, name] = /^ *not ok \d+ - (.*?)(?: # time=.*)?$/.exec(line) ?? []
    return name === undefined ? [] : [`${file}: ${name.slice(0, 200)}`]
  })
  const names = [...new Set(failures)]
  return names.length === 0
    ? [file]
    : [...names.slice(0, MOST), ...(names.length > MOST ? [`${file}: …`] : [])]
}
