// A log without a reader: its pipe is open, and full.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import fs, { openSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { prettyPrint } from '../../src/ops/pretty-print.ts'
import { call } from '../../../../test/support/servers/start-product.ts'
import { linesOf, MAIN, run, start } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { freePort } from '../../../../test/support/network/ports.ts'
import { issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'

/** Without tap's hooks: they write when the process ends. */
const ENVIRONMENT = { PATH: process.env['PATH'], NODE_ENV: 'production' }

/** A command with a full pipe without a reader as standard output. */
function unread(t: Test, command: readonly string[]): string[] {
  const path = `${t.testdir()}/unread`
  execFileSync('mkfifo', [path])
  const pipe = openSync(path, fs.constants.O_RDWR | fs.constants.O_NONBLOCK)
  t.teardown(() => fs.closeSync(pipe))
  try {
    for (;;) fs.writeSync(pipe, 'x'.repeat(1024))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  }
  return ['sh', '-c', `exec "$0" "$@" > '${path}'`, ...command]
}

/** Starts a service whose log nobody reads, and waits until it is ready. */
async function serve(
  t: Test,
  environment: Record<string, string> = {},
  command: readonly string[] = MAIN,
) {
  const file = `${t.testdir()}/plants.db`
  const words = unread(t, command)
  const token = await issueTokenIn({ file })
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())]
  const env = {
    DATABASE_URL: `sqlite:${file}`,
    NODE_ENV: 'production',
    PORT,
    ADMIN_PORT,
    ...environment,
  }
  const { child, ended } = await start(t, words, env)
  const ready = () => fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`).catch(() => undefined)
  await eventually(async () => (await ready())?.ok === true)
  const createMany = async () => {
    for (let id = 0; id < 1000; id++) {
      const body = { id, name: 'x'.repeat(200) }
      const { status } = await call(Number(PORT), { method: 'POST', path: '/plants', token, body })
      if (status !== 200) t.fail(`create ${id}`)
    }
  }
  return { child, createMany, ended, file, ready }
}

t.test('a line is readable on a terminal: no control character of it gets there', async (t) => {
  const time = new Date(2027, 2, 1, 12, 34, 56).getTime()
  const line = (more: object) =>
    prettyPrint(JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...more }))
  t.equal(
    line({ msg: 'request', status: 200, route: '/a/{id}' }),
    '12:34:56 info  request status=200 route=/a/{id}\n',
  )
  t.equal(
    line({ msg: 'a\u001b[2Jb', caller: 'c\u0007 d' }),
    '12:34:56 info  a\\u001b[2Jb caller="c\\u0007 d"\n',
  )
  t.equal(
    line({ msg: 'a\nb\u009b2J', caller: 'c\nd' }),
    '12:34:56 info  a\\u000ab\\u009b2J caller="c\\nd"\n',
  )
  t.equal(
    line({ msg: 'x', 'k\u202ee': '\u202e\u2028\u007f\ud800' }),
    '12:34:56 info  x k\\u202ee="\\u202e\\u2028\\u007f\\ud800"\n',
  )
  t.equal(
    line({ msg: 'request', route: '/docs/static/swagger-ui.css' }),
    '',
    'a page of the docs has a dozen of them',
  )
  t.equal(
    line({ level: 60, msg: 'x', err: { stack: 'Error: y\n12:34:56 info  z\r\u202e\n  at z' } }),
    '12:34:56 fatal x\n    Error: y\n    12:34:56 info  z\\u000d\\u202e\n      at z\n',
    'no line of a stack looks like an entry',
  )
})

t.test('requests are answered, and SIGTERM ends the process in order', async (t) => {
  const { child, createMany, ended } = await serve(t)
  await createMany()
  child.kill('SIGTERM')
  t.match(await ended, { code: 0, stderr: '' })
})

t.test('a second signal ends the process', async (t) => {
  const { child, ended } = await serve(t, { DRAIN_DELAY: '600' })
  await eventually(() => !child.kill('SIGINT') || !child.kill('SIGTERM'))
  t.match((await ended).code, /^[01]$/)
})

t.test('a fault of the store, or at the start, ends the process', async (t) => {
  const { ended, file, ready } = await serve(t)
  rmSync(file)
  const gone = ended.then(() => true)
  while (!(await Promise.race([gone, delay(50, false)]))) await ready() // it looks at its file then
  t.match(await ended, { code: 1, stderr: '' })
  t.match(await run(unread(t, MAIN), { PORT: 'x' }), { code: 1, stderr: '' })
})

/**
 * Logs lines of 1 KB as fast as it can, then prints the MB of its memory, and the number of dropped
 * lines.
 */
const FLOOD = `const { exit, log } = await import('./packages/engine/src/ops/log.ts')
  process.once('SIGTERM', () => exit(0))
  for (let line = 0; line < Number(process.argv[1]); line++) {
    log.info({ line, text: 'x'.repeat(1000) })
    if (line % 100 === 0) await new Promise(setImmediate)
  }
  const { register } = await import('prom-client')
  const counted = await register.getSingleMetricAsString('service_dropped_log_lines_total')
  process.stderr.write(Math.round(process.memoryUsage.rss() / 1e6) + ' ' + counted.split(' ').at(-1))
  setInterval(() => undefined, 1000)`

/** @param output for its log */
async function flood(t: Test, lines: number, output: 'pipe' | number) {
  const words = ['--input-type=module', '--eval', FLOOD, String(lines)]
  const child = spawn(process.execPath, words, {
    env: ENVIRONMENT,
    stdio: ['ignore', output, 'pipe'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [chunk] = (await once(child.stderr as Readable, 'data')) as [Buffer]
  const [megabytes = 0, dropped = 0] = chunk.toString().split(' ').map(Number)
  return { child, megabytes, dropped }
}

t.test(
  'what waits for the reader is bounded, and lines that are dropped are counted',
  async (t) => {
    const { child, megabytes, dropped } = await flood(t, 40_000, 'pipe')
    const stdout = text(child.stdout as Readable)
    await delay(500) // for all waiting lines
    child.kill('SIGTERM')
    t.ok(dropped > 10_000, `${dropped} lines were dropped`)
    t.equal(linesOf(await stdout).length + dropped, 40_000)
    t.ok(megabytes < 250, `${megabytes} MB`)
  },
)

t.test('a file gets all lines, however busy the service is', async (t) => {
  const file = `${t.testdir()}/log`
  // More than may wait: with a turn of the event loop for each 4 KB of it, lines would be dropped.
  const { dropped } = await flood(t, 10_000, openSync(file, 'w'))
  const lines = () => linesOf(readFileSync(file, 'utf8')).map(({ line }) => line)
  await eventually(() => lines().length + dropped === 10_000)
  t.equal(dropped, 0)
  t.strictSame(lines(), [...Array(10_000).keys()])
})

t.test('a file of the log on a full disk gets all lines when there is room again', async (t) => {
  const file = `${t.testdir()}/log`
  const script = `const { exit, log } = await import('./packages/engine/src/ops/log.ts')
    process.on('SIGXFSZ', () => undefined)
    let line = 0
    const add = () => log.info({ line: line++, text: '€'.repeat(330) })
    for (let first = 0; first < 20; first++) add()
    setInterval(add, 50).unref()
    process.once('SIGTERM', () => exit(0))
    setInterval(() => undefined, 1000)`
  const shell = `ulimit -f 8; exec "$0" --input-type=module --eval "$1" >> "$2"`
  const { child, ended } = await start(t, ['bash', '-c', shell, process.execPath, script, file], {})
  let saved = Buffer.alloc(0)
  const lines = () => saved.toString().split('\n').slice(0, -1)
  while (lines().length < 100) {
    // The limit is 8 KiB, and may cut a line, or a character.
    await eventually(() => fs.existsSync(file) && fs.statSync(file).size >= 8192)
    saved = Buffer.concat([saved, readFileSync(file)])
    fs.truncateSync(file)
  }
  child.kill('SIGTERM')
  await ended
  for (const [line, entry] of lines().entries())
    t.match(entry, `"line":${line},"text":"${'€'.repeat(330)}"}`)
})

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).status === 0

t.test(
  'a terminal that is stopped',
  { skip: hasScript ? false : 'there is no script(1) here' },
  async (t) => {
    // script reads the terminal, and can't write on it.
    const command = `echo $$ > '${t.testdirName}/pid' && exec '${MAIN.join("' '")}'`
    const words = ['--quiet', '--flush', '--command', command, '/dev/null']
    const { createMany, ready } = await serve(t, {}, ['script', ...words])
    await createMany()
    process.kill(Number(readFileSync(`${t.testdirName}/pid`, 'utf8')), 'SIGTERM')
    await eventually(async () => (await ready()) === undefined)
  },
)
