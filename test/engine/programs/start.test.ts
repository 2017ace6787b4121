import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call } from '../../support/helper.ts'
import { assertDocumented } from '../../support/own.ts'
import { namesIn } from '../../support/pages.ts'
import { MAIN, run, start, startService } from '../../support/process.ts'
import { copyProject, eventually, NPM, putTestProduct } from '../../support/project.ts'
import { openTestStore } from '../../support/stores.ts'
import { issueToken } from '../../support/tokens.ts'

/** Stands for a terminal; test/system/terminal.test.ts has a real one. */
const TERMINAL = 'data:text/javascript,process.stdout.isTTY = true'
const PRODUCTION = { NODE_ENV: 'production' }

/** Makes a store with a token for "joe". */
async function prepare(t: Test) {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file })
  const token = await issueToken(store, 'joe')
  await store.close()
  return { token, file, DATABASE_URL: `sqlite:${file}` }
}

/** Parses a log: each line is JSON. */
function linesOf(stdout: string): { level: number; msg: string; signal?: string }[] {
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}

const has = async (file: string): Promise<string[]> => {
  const store = await openTestStore({ file }, false)
  return await namesIn(store, 'joe').finally(() => store.close())
}

const create = (port: number, token: string, id: number) =>
  call(port, { method: 'POST', path: '/plants', token, body: { id, name: String(id) } })

/** Sends a create without the last byte of its body, and waits until the service has begun to handle it. */
async function half(t: Test, port: number, token: string): Promise<net.Socket> {
  const body = '{"id":1,"name":"1"}'
  const socket = net.connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => undefined).setEncoding('utf8')
  socket.write(
    `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`,
  )
  await once(socket, 'data')
  socket.write(body.slice(0, -1))
  return socket
}

t.test('a request that its client gives up at the end of the process is logged', async (t) => {
  const { token, DATABASE_URL } = await prepare(t)
  const { child, ended, until, port } = await startService(t, { DATABASE_URL, REQUEST_TIMEOUT: '60' })
  const socket = await half(t, port, token)
  child.kill('SIGTERM')
  await until(/"stopping"/)
  socket.destroy()
  const lines = linesOf((await ended).stdout)
  t.match(
    lines.filter(({ msg }) => msg === 'request'),
    [{ method: 'POST', aborted: true }],
  )
})

t.test('a request that takes longer than SHUTDOWN_TIMEOUT is cut off', async (t) => {
  const { token, file, DATABASE_URL } = await prepare(t)
  const times = { REQUEST_TIMEOUT: '600', SHUTDOWN_TIMEOUT: '0.5' }
  const { child, ended, port } = await startService(t, { DATABASE_URL, ...times })
  const socket = await half(t, port, token)
  const cut = once(socket, 'close')
  child.kill('SIGINT')
  const { code, stdout } = await ended
  t.strictSame({ code, last: linesOf(stdout).at(-1)?.msg }, { code: 0, last: 'stopped' })
  await cut
  t.strictSame(await has(file), [])
})

t.test('SIGTERM ends the process normally when nobody reads the log any more', async (t) => {
  const { DATABASE_URL } = await prepare(t)
  const env = { PATH: process.env['PATH'], DATABASE_URL, PORT: '0', ADMIN_PORT: '0', DRAIN_DELAY: '0', ...PRODUCTION }
  const child = spawn(process.execPath, ['test/support/product/main.ts'], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  child.kill()
  t.strictSame(await Promise.race([once(child, 'exit'), delay(10_000, 'it is still there')]), [0, null])
})

t.test('a signal that arrives while the modules load is not lost', async (t) => {
  const { DATABASE_URL } = await prepare(t)
  // Sends the signal when the first module of a package is imported.
  const hook = `import { registerHooks } from 'node:module'
    let sent = false
    registerHooks({ load(url, context, next) {
      if (!sent && url.includes('/node_modules/')) { sent = true; process.kill(process.pid, 'SIGTERM') }
      return next(url, context)
    } })`
  // Without tap's hooks, because they catch signals.
  const node = ['env', '-u', 'NODE_OPTIONS', process.execPath]
  const command = [
    ...node,
    '--import',
    `data:text/javascript,${encodeURIComponent(hook)}`,
    'test/support/product/main.ts',
  ]
  const { code, signal, stdout, stderr } = await run(command, { DATABASE_URL, PORT: '0', ...PRODUCTION })
  t.strictSame({ code, signal, stderr }, { code: 0, signal: null, stderr: '' })
  t.equal(linesOf(stdout).at(-1)?.msg, 'stopped')
})

t.test(
  'after an I/O error all requests are refused, the log says it in one line, the process ends, and the next start works',
  async (t) => {
    const { token, file, DATABASE_URL } = await prepare(t)
    const { ended, port, adminPort } = await startService(t, { DATABASE_URL, LOG_LEVEL: 'info', ...PRODUCTION })
    // Just long enough for a list with its own connection. All plants are still in the log.
    const long = '🌵'.repeat(255)
    const ids = Array.from({ length: 490 }, (_, id) => id)
    for (const id of ids) {
      const { status } = await call(port, {
        method: 'POST',
        path: '/plants',
        token,
        body: { id, name: long, tag: long },
      })
      t.equal(status, 200)
    }
    // A read of a shortened file is an I/O error (SQLITE_IOERR_SHORT_READ).
    const log = readFileSync(`${file}-wal`)
    truncateSync(`${file}-wal`)
    t.equal((await call(port, { path: '/plants', token })).status, 503)
    const statusOf = (request: Promise<{ status: number }>) => request.then(({ status }) => status).catch(() => 'gone')
    const ready = fetch(`http://127.0.0.1:${adminPort}/readyz`)
    for (const status of await Promise.all([create(port, token, 0), ready].map(statusOf))) {
      t.ok(status === 503 || status === 'gone', String(status))
    }
    const { code, stdout } = await ended
    t.equal(code, 1)
    const fatal = linesOf(stdout).filter(({ level }) => level === 60)
    t.match(fatal, [{ msg: /^I\/O error of the store$|-wal was truncated/ }]) // the request or the watch finds it
    t.equal(fatal.length, 1)
    writeFileSync(`${file}-wal`, log)
    const again = await startService(t, { DATABASE_URL })
    t.equal((await has(file)).length, ids.length)
    t.equal((await create(again.port, token, 100_000)).status, 200)
  },
)

t.test('a second service on the same file refuses to start, and the first service keeps running', async (t) => {
  const { token, DATABASE_URL } = await prepare(t)
  const { port } = await startService(t, { DATABASE_URL })
  const { code, stdout, stderr } = await run(MAIN, { DATABASE_URL, PORT: '0' })
  t.strictSame({ code, stderr }, { code: 1, stderr: '' })
  t.strictSame(
    linesOf(stdout).map(({ msg }) => msg),
    [`DATABASE_URL ${DATABASE_URL}: another process is using it`],
  )
  t.equal((await create(port, token, 1)).status, 200)
})

t.test('a fault at start is one line of the log and exit 1', async (t) => {
  const { DATABASE_URL } = await prepare(t)
  const taken = net.createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const port = String((taken.address() as net.AddressInfo).port)
  const faults: [Record<string, string>, RegExp][] = [
    [{ PORT: port, DATABASE_URL }, RegExp(`^HOST 127\\.0\\.0\\.1, PORT ${port}: .*EADDRINUSE`)],
    [{ ADMIN_PORT: port, DATABASE_URL }, RegExp(`^HOST 127\\.0\\.0\\.1, ADMIN_PORT ${port}: .*EADDRINUSE`)],
    [{ PORT: '0', HOST: 'no such host', DATABASE_URL: `${DATABASE_URL}2` }, /^HOST no such host, ADMIN_PORT 0: /],
    [{ DATABASE_URL: 'sqlite:/proc/none/plants.db' }, /^DATABASE_URL sqlite:\/proc\/none\/plants\.db: /],
    [{ DATABASE_URL: 'sqlite:package.json/plants.db' }, /^DATABASE_URL sqlite:package\.json\/plants\.db: /],
    [{ DATABASE_URL: 'mysql://joe:secret@host' }, /^DATABASE_URL must be sqlite:<file>/],
    [
      { PORT: 'x', LOG_LEVEL: 'y', STALL_TIMEOUT: 'z' },
      /^PORT must be .*; LOG_LEVEL must be .*; STALL_TIMEOUT must be/,
    ],
  ]
  const answers = await Promise.all(faults.map(([environment]) => run(MAIN, environment)))
  for (const [index, { code, stdout, stderr }] of answers.entries()) {
    t.strictSame({ code, stderr }, { code: 1, stderr: '' })
    const lines = linesOf(stdout)
    t.equal(lines.length, 1)
    t.equal(lines[0]?.level, 60)
    t.match(lines[0]?.msg, faults[index]?.[1])
    t.notMatch(stdout, /secret|    at /)
  }
})

t.test('warnings of the runtime are lines of the log', async (t) => {
  const { DATABASE_URL } = await prepare(t)
  const hook = `data:text/javascript,setInterval(() => process.emitWarning('beware'), 20)`
  const command = [process.execPath, '--import', hook, 'test/support/product/main.ts']
  const service = await startService(t, { DATABASE_URL }, command)
  await service.until(/beware/)
  service.child.kill('SIGTERM')
  const { code, stdout, stderr } = await service.ended
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.ok(linesOf(stdout).some(({ level }) => level === 40))
})

const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === '::1'))
const hosts = {
  '127.0.0.1': '127.0.0.1',
  localhost: '127.0.0.1',
  '0.0.0.0': '127.0.0.1',
  ...(hasIpv6 && { '::1': '[::1]', '::': '[::1]' }),
}
for (const [HOST, shown] of Object.entries(hosts)) {
  t.test(`the first start with HOST=${HOST} prints a command that works, and no later start does`, async (t) => {
    const DATABASE_URL = `sqlite:${t.testdir()}/data/plants.db`
    const environment = { DATABASE_URL, HOST, NODE_ENV: 'development' }
    const { child, ended, printed, port } = await startService(t, environment)
    for (let tries = 0; tries < 1000 && !printed.stderr.endsWith('\n\n'); tries++) await delay(20)
    const [command = '', url, token = ''] =
      /curl -H 'Authorization: Bearer (?=(\S+)')\S+' (\S+)/.exec(printed.stderr) ?? []
    t.equal(command, `curl -H 'Authorization: Bearer ${url}' http://${shown}:${port}/plants`)
    const answer = await fetch(token, { headers: { Authorization: `Bearer ${url}` } })
    const [{ status }, text] = [answer, await answer.text()]
    t.strictSame([status, text], [200, '[]'])
    assertDocumented('GET', '/plants', { status, headers: Object.fromEntries(answer.headers), text })
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    t.strictSame({ code, stderr: stderr.split('\n').length }, { code: 0, stderr: 10 })
    t.notMatch(stdout, String(url))
    linesOf(stdout)

    if (HOST !== '127.0.0.1') return
    const second = await startService(t, environment)
    second.child.kill('SIGTERM')
    t.notMatch((await second.ended).stderr, /plant_|curl/)
  })
}

t.test('with a path in servers, the log, the welcome and the command with the token say so', async (t) => {
  const folder = copyProject(t)
  putTestProduct(folder)
  const file = `${folder}/openapi.yaml`
  const changed = readFileSync(file, 'utf8')
    .replace("'{base_url}'", "'{base_url}/v1'")
    .replace('name: limit', 'name: limit\n      required: true') // so the command can't be for plants
    .replace(/type: http\n +scheme: bearer/, 'type: apiKey\n      in: header\n      name: X-Key')
  writeFileSync(file, changed)
  const command = [process.execPath, '--import', TERMINAL, 'service/main.ts']
  const { printed, until } = await start(t, command, { DATABASE_URL: 'sqlite:plants.db', PORT: '0' }, folder)
  const [, origin = ''] = await until(/Server listening at (http:.*:\d+)\/v1\n/)
  await eventually(() => printed.stderr.endsWith('\n\n'))
  t.match(printed.stderr, `\n  API     ${origin}/v1\n  Docs    ${origin}/docs/\n`)
  const [, token = '', url = ''] = /curl -H 'x-key: (\S+)' (\S+)\n/.exec(printed.stderr) ?? []
  t.equal(url, `${origin}/v1/notes`)
  const answer = await fetch(url, { headers: { 'X-Key': token } })
  t.strictSame([answer.status, await answer.text()], [200, '[]'])
})

t.test('each start says where data, docs and tokens are; a terminal gets readable log lines', async (t) => {
  const { file, DATABASE_URL } = await prepare(t)
  const TERMINALS = [process.execPath, '--import', TERMINAL, 'test/support/product/main.ts']
  for (const [plants, known, DOCS, page, command, NODE_ENV] of [
    [0, '0', 'on', '/docs/', TERMINALS, 'production'],
    [1, '1', 'off', '/openapi.yaml', MAIN, 'development'],
    [500, '500', 'on', '/docs/', MAIN, ''],
    [501, '500 or more', 'on', '/docs/', TERMINALS, ''],
  ] as const) {
    const store = await openTestStore({ file })
    await Promise.all(Array.from({ length: plants }, (_, id) => store.create('joe', BigInt(id), { name: 'a' })))
    await store.close()
    const { child, ended, printed, until } = await start(t, command, { DATABASE_URL, PORT: '0', DOCS, NODE_ENV })
    const [, address] = await until(/Server listening at (http:.*:\d+)["\n]/)
    await until(/admin port open/)
    await eventually(() => printed.stderr.endsWith('issue <name>\n'))
    t.equal(
      printed.stderr,
      `\n  Data    ${file} (plants: ${known}, notes: 0)\n  Docs    ${address}${page}\n  Token   DATABASE_URL='${DATABASE_URL}' npm run token -- issue <name>\n`,
    )
    child.kill('SIGINT')
    const { code, stdout } = await ended
    t.equal(code, 0)
    const isReadable = command === TERMINALS
    for (const line of stdout.trim().split('\n')) t.match(line, isReadable ? /^\d\d:\d\d:\d\d info / : /^\{.*\}$/)
  }
})

t.test('the command for a token needs no DATABASE_URL where the service has none', async (t) => {
  const command = [process.execPath, '--import', TERMINAL, resolve('test/support/product/main.ts')]
  const { printed } = await start(t, command, { PORT: '0' }, t.testdir())
  await eventually(() => printed.stderr.includes('\n  Token   npm run token -- issue <name>\n'))
})

t.test('in production nothing secret is printed, and no token is issued', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const { child, ended } = await startService(t, { DATABASE_URL: `sqlite:${file}`, ...PRODUCTION })
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.notMatch(stdout, /plant_/)
  t.notOk(readFileSync(file).includes('demo'))
})

t.test('SIGUSR1 opens no inspector in `npm start` and in the image', async (t) => {
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, PORT: '0', ...PRODUCTION }
  const { ended, until } = await start(t, [...NPM, '--silent', 'start'], environment)
  const [, pid] = await until(/"pid":(\d+),.*admin port open/)
  process.kill(Number(pid), 'SIGUSR1')
  process.kill(Number(pid), 'SIGTERM')
  const { stdout, stderr } = await ended
  t.equal(stderr, '')
  t.equal(linesOf(stdout).at(-1)?.msg, 'stopped')
  const { scripts }: { scripts: { start: string } } = JSON.parse(readFileSync('package.json', 'utf8'))
  const [, image = ''] = /^CMD (.*)$/m.exec(readFileSync('Dockerfile', 'utf8')) ?? []
  t.equal(scripts.start.replace(/^.* exec /, ''), (JSON.parse(image) as string[]).join(' '))
})
