// `npm test -- <files and options of tap>`: runs the named tests, or all tests except test/system/. At the end it prints
// what failed or did not run, how many checks ran, and how long they took.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { createInterface } from 'node:readline'
import { parse } from 'yaml'

/** The most lines to print for a failed check. */
const MAX_LINES = 40
const RESULTS = '.tap/test-results'
/** What `tap build` writes: tap, with the plugins of .taprc. */
const BUILT = 'node_modules/@tapjs/test/test-built/package.json'

const words = process.argv.slice(2)
const isWhole = words.length === 0
// Two more jobs than processors, because many tests mostly wait.
const jobs = isWhole ? [`--jobs=${availableParallelism() + 2}`] : []

const isNewer = (file: string) => statSync(file).mtimeMs > (statSync(BUILT, { throwIfNoEntry: false })?.mtimeMs ?? 0)
if (['.taprc', 'node_modules/.package-lock.json'].some(isNewer)) spawnSync('tap', ['build'], { stdio: 'inherit' })
if (isWhole) rmSync('.tap/answers', { force: true })

const failed: string[] = []
const ran = new Set<string>()
let checks = 0
const command = ['--disable-coverage', '--reporter=tap', ...jobs, ...words]
const tap = spawn('tap', command, { stdio: ['ignore', 'pipe', 'inherit'] })
const ended = once(tap, 'exit')
for await (const line of createInterface({ input: tap.stdout })) {
  const [, not, file, time, reason] = /^(not )?ok \d+ - (\S+\.test\.ts) # (?:time=([\d.]+)ms|SKIP(.*))/.exec(line) ?? []
  if (file !== undefined) {
    ran.add(file)
    if (not !== undefined) failed.push(file)
    const state = not !== undefined ? 'FAILED' : time === undefined ? 'skipped' : 'ok    '
    console.log(`${state} ${file},${reason ?? ` ${(Number(time) / 1000).toFixed(1)} s`}`)
  } else if (/^ +(not )?ok \d+(?!.* # time=)/.test(line)) checks += 1
}
const [code] = await ended
const statuses = isWhole ? spawnSync(process.execPath, ['test/support/statuses.ts'], { stdio: 'inherit' }).status : 0
for (const file of failed) console.log(`\n${file}\n${failuresIn(file)}`)
const seconds = Math.round(performance.now() / 1000)
const took = seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
console.log(`\n${checks.toLocaleString('en')} checks in ${ran.size} files, ${took}`)
if (failed.length > 0) console.log(`Failed:\n${failed.flatMap(namesOf).join('\n')}`)
const lost = filesToRun().filter((file) => !ran.has(file))
if (lost.length > 0) console.log(`Not run: ${lost.join(', ')}`)
process.exitCode = code === 0 && statuses === 0 && lost.length === 0 ? 0 : 1

/** The files that this run was asked for: those that are named, or else all that .taprc includes. */
function filesToRun(): string[] {
  const named = words.filter((word) => !word.startsWith('-') && word.endsWith('.ts'))
  if (named.length > 0) return named.map((file) => relative('.', file))
  const { include }: { include: string[] } = parse(readFileSync('.taprc', 'utf8'))
  return globSync(include)
}

function linesOf(file: string): string[] {
  const report = `${RESULTS}/${file}.tap`
  return existsSync(report) ? readFileSync(report, 'utf8').split('\n') : []
}

/** The failed checks of a file: `<file>: <test> > <check>`; the file itself if it has no report. */
function namesOf(file: string): string[] {
  const found = linesOf(file).flatMap((line) => {
    const [, indent, name = ''] = /^( *)not ok \d+(?: - (.*?))?(?: # time=.*)?$/.exec(line) ?? []
    return indent === undefined ? [] : [{ depth: indent.length, name: name.slice(0, 200) }]
  })
  // The line of a test is below those of its checks.
  const names = found.flatMap(({ depth, name }, at) => {
    if ((found[at - 1]?.depth ?? 0) > depth) return []
    const around = found.slice(at + 1).reduce<typeof found>((all, each) => {
      return each.depth < (all.at(-1)?.depth ?? depth) ? [...all, each] : all
    }, [])
    return [`${file}: ${[...around.map((each) => each.name).reverse(), name].join(' > ')}`]
  })
  return names.length === 0
    ? [file]
    : [...names.slice(0, MAX_LINES), ...(names.length > MAX_LINES ? [`${file}: …`] : [])]
}

/** The report of each failed check in a file, with the names of its tests. */
function failuresIn(file: string): string {
  const lines = linesOf(file)
  const starts = lines.flatMap((line, at) => (/^\s*not ok/.test(line) ? [at] : []))
  return starts.map((at) => lines.slice(at, endOfReport(lines, at)).join('\n')).join('\n')
}

function endOfReport(lines: readonly string[], at: number): number {
  const end = lines.findIndex((line, n) => n > at && /^\s*\.\.\.$/.test(line))
  // The report of a test says no more than the reports of its checks.
  const hasReport = /^\s*---$/.test(lines[at + 1] ?? '') && end !== -1 && !lines[at]?.includes(' # time=')
  return hasReport ? Math.min(end, at + MAX_LINES) : at + 1
}
