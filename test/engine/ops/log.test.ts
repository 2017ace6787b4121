// A log that nobody reads: its pipe is open, and full.
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { readable } from '../../../service/engine/ops/readable.ts'
import { linesOf } from '../../support/process.ts'
import { eventually, freePort } from '../../support/project.ts'
import { issueTokenIn } from '../../support/tokens.ts'
import { unreadPipe } from './unread.ts'

/** Without tap's own hooks: they write when the process ends. */
const ENVIRONMENT = { PATH: process.env['PATH'], NODE_ENV: 'production', DRAIN_DELAY: '0' }

/** Starts the service with a log that nobody reads; it is ready when this returns. */
async function serve(t: Test, environment: Record<string, string> = {}) {
  const folder = t.testdir()
  const file = `${folder}/plants.db`
  const token = await issueTokenIn({ file })
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())]
  const env = { ...ENVIRONMENT, DATABASE_URL: `sqlite:${file}`, PORT, ADMIN_PORT, ...environment }
  const child = spawn(process.execPath, ['test/support/product/main.ts'], {
    env,
    stdio: ['ignore', unreadPipe(t, folder), 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  const isReady = () => fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`).then(({ ok }) => ok)
  await eventually(() => isReady().catch(() => false))
  const create = async (id: number) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ id, name: 'x'.repeat(200) })
    return (await fetch(`http://127.0.0.1:${PORT}/plants`, { method: 'POST', headers, body })).status
  }
  return { child, create, ended, file, isReady }
}

t.test('a line is readable on a terminal: no control character of it gets there', async (t) => {
  const time = new Date(2027, 2, 1, 12, 34, 56).getTime()
  const line = (more: object) => readable(JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...more }))
  t.equal(
    line({ msg: 'request', status: 200, route: '/plants/{id}' }),
    '12:34:56 info  request status=200 route=/plants/{id}\n',
  )
  t.equal(line({ msg: 'a\u001b[2Jb', caller: 'c\u0007 d' }), '12:34:56 info  a [2Jb caller="c\\u0007 d"\n')
  t.equal(line({ msg: 'a\nb\u009b2J', caller: 'c\nd' }), '12:34:56 info  a b 2J caller="c\\nd"\n')
  t.equal(line({ msg: 'request', route: '/docs/static/*' }), '', 'a page of the docs has a dozen of them')
  t.equal(line({ level: 60, msg: 'x', err: { stack: 'Error: y\n  at z' } }), '12:34:56 fatal x\nError: y\n  at z\n')
})

t.test('requests are answered, and SIGTERM ends the process in order', async (t) => {
  const { child, create, ended } = await serve(t)
  for (let id = 0; id < 1000; id++) if ((await create(id)) !== 200) t.fail(`create ${id}`)
  child.kill('SIGTERM')
  t.strictSame(await ended, [0, null])
})

t.test('a second signal ends the process', async (t) => {
  const { child, ended } = await serve(t, { DRAIN_DELAY: '600' })
  while (child.exitCode === null) {
    child.kill('SIGINT')
    child.kill('SIGTERM')
    await delay(50)
  }
  t.match((await ended)[0], /^[01]$/)
})

t.test('a fault of the store ends the process', async (t) => {
  const { ended, file, isReady } = await serve(t)
  rmSync(file)
  const gone = ended.then(() => true)
  while (!(await Promise.race([gone, delay(50, false)]))) await isReady().catch(() => false) // it looks at its file then
  t.strictSame(await ended, [1, null])
})

t.test('a fault at the start ends the process', async (t) => {
  const env = { ...ENVIRONMENT, PORT: 'x' }
  const child = spawn(process.execPath, ['test/support/product/main.ts'], {
    env,
    stdio: ['ignore', unreadPipe(t, t.testdir()), 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  t.strictSame(await once(child, 'exit'), [1, null])
})

t.test('what waits for the reader is bounded, and lines that are dropped are counted', async (t) => {
  const script = `const { exit, log } = await import('./service/engine/ops/log.ts')
    for (let line = 0; line < 40_000; line++) {
      log.info({ line, text: 'x'.repeat(1000) })
      if (line % 100 === 0) await new Promise(setImmediate)
    }
    const { register } = await import('prom-client')
    const counted = await register.getSingleMetricAsString('service_dropped_log_lines_total')
    process.stderr.write(Math.round(process.memoryUsage.rss() / 1e6) + ' ' + counted.split(' ').at(-1))
    process.once('SIGTERM', () => exit(0))
    setInterval(() => undefined, 1000)`
  const words = ['--input-type=module', '--eval', script]
  const child = spawn(process.execPath, words, { env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [chunk] = (await once(child.stderr, 'data')) as [Buffer]
  const [megabytes = 0, counted = 0] = chunk.toString().split(' ').map(Number)
  const stdout = text(child.stdout)
  await delay(500) // for all that waited to be read
  child.kill('SIGTERM')
  const lines = linesOf(await stdout)
  t.ok(counted > 10_000, `${counted} lines were dropped`)
  t.equal(lines.length + counted, 40_000)
  t.ok(megabytes < 250, `${megabytes} MB`)
})

t.test('a file of the log on a full disk gets all lines when there is room again', async (t) => {
  const file = `${t.testdir()}/log`
  const script = `const { exit, log } = await import('./service/engine/ops/log.ts')
    process.on('SIGXFSZ', () => undefined)
    let line = 0
    const add = () => log.info({ line: line++, text: '€'.repeat(330) })
    for (let first = 0; first < 20; first++) add()
    setInterval(add, 50).unref()
    process.once('SIGTERM', () => exit(0))
    setInterval(() => undefined, 1000)`
  const shell = `ulimit -f 8; exec "$0" --input-type=module --eval "$1" >> "$2"`
  const child = spawn('bash', ['-c', shell, process.execPath, script, file], { env: ENVIRONMENT, stdio: 'inherit' })
  t.teardown(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let saved = Buffer.alloc(0)
  const lines = () => saved.toString().split('\n').slice(0, -1)
  while (lines().length < 100) {
    // The limit is 8 KiB, and may cut a line, or a character.
    await eventually(() => existsSync(file) && statSync(file).size >= 8192)
    saved = Buffer.concat([saved, readFileSync(file)])
    truncateSync(file)
  }
  child.kill('SIGTERM')
  await ended
  for (const [line, each] of lines().entries()) t.match(each, `"line":${line},"text":"${'€'.repeat(330)}"}`)
})

t.test('a file of the log gets all that waits in one write, so that a busy service drops no line', async (t) => {
  const file = `${t.testdir()}/log`
  const script = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { write } = fs
    let writes = 0
    fs.write = (...words) => {
      writes += 1
      write(...words)
    }
    syncBuiltinESMExports()
    const { exit, log } = await import('./service/engine/ops/log.ts')
    for (let line = 0; line < 10_000; line++) log.info({ line, text: 'x'.repeat(100) })
    process.once('exit', () => fs.writeSync(2, String(writes)))
    await exit(0)`
  const output = openSync(file, 'w')
  const words = ['--input-type=module', '--eval', script]
  const { stderr } = spawnSync(process.execPath, words, { env: ENVIRONMENT, stdio: ['ignore', output, 'pipe'] })
  closeSync(output)
  const lines = readFileSync(file, 'utf8').match(/(?<="line":)\d+/g)
  t.strictSame(lines?.map(Number), [...Array(10_000).keys()])
  t.equal(String(stderr), '2', 'the first write, and one for all that arrived during it')
})

const hasScript = spawnSync('script', ['--version'], { encoding: 'utf8' }).status === 0

t.test('a terminal that is stopped', { skip: hasScript ? false : 'there is no script(1) here' }, async (t) => {
  const folder = t.testdir()
  const [PORT, ADMIN_PORT] = [String(await freePort()), String(await freePort())]
  const env = { ...ENVIRONMENT, DATABASE_URL: `sqlite:${folder}/plants.db`, PORT, ADMIN_PORT }
  // The terminal is read by script, which can't write on what it reads.
  const command = `echo $$ > '${folder}/pid' && exec '${process.execPath}' test/support/product/main.ts`
  const words = ['--quiet', '--flush', '--command', command, '/dev/null']
  const child = spawn('script', words, { env, stdio: ['ignore', unreadPipe(t, folder), 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const isReady = () =>
    fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
  await eventually(isReady)
  for (let count = 0; count < 500; count++) {
    if ((await fetch(`http://127.0.0.1:${PORT}/nowhere`)).status !== 404) t.fail('it does not answer')
  }
  process.kill(Number(readFileSync(`${folder}/pid`, 'utf8')), 'SIGTERM')
  const isGone = () =>
    fetch(`http://127.0.0.1:${ADMIN_PORT}/livez`).then(
      () => false,
      () => true,
    )
  await eventually(isGone)
})
