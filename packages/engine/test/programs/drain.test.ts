// Real signals end the real process.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { Agent } from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { request, startOnNewFile } from '../../../../test/support/servers/start-product.ts'
import { namesIn } from '../../../../test/support/stores/read-page.ts'
import {
  type Ended,
  linesOf,
  nodeAfter,
  program,
  run,
  start,
} from '../../../../test/support/processes/programs.ts'
import { connect, freePort } from '../../../../test/support/network/ports.ts'
import { copyProject, NPM, putTestProduct } from '../../../../test/support/project/copy.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueTokenIn } from '../../../../test/support/servers/access-tokens.ts'

const statusOf = async (port: number, path: string) =>
  (await fetch(`http://127.0.0.1:${port}${path}`)).status

const REQUEST = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens a keep-alive connection, and gets one answer. */
async function connectAndKeep(t: Test, port: number) {
  const connection = await connect(t, port)
  connection.socket.write(REQUEST)
  await once(connection.socket, 'data')
  t.match(connection.state.text, /^HTTP\/1\.1 401 [^]*\r\nConnection: keep-alive\r\n/i)
  connection.state.text = ''
  return connection
}

const BODY = '{"id":1,"name":"1"}'

/**
 * Opens a connection, and sends a create without its body. It waits until the service has begun to
 * handle it.
 */
async function connectAndBegin(t: Test, port: number, token: string) {
  const connection = await connect(t, port)
  const lines = [
    'POST /plants HTTP/1.1',
    'Host: a',
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
  ]
  const asking = ['Expect: 100-continue', `Content-Length: ${BODY.length}`]
  connection.socket.write([...lines, ...asking, '', ''].join('\r\n'))
  await once(connection.socket, 'data')
  return connection
}

/** Waits some seconds for the end of a process: without a bound it would be minutes. */
const soon = (ended: Promise<Ended>) =>
  Promise.race([ended, delay(15_000, 'it goes on', { ref: false })])

t.test(
  'after SIGTERM the service is not ready, and serves for DRAIN_DELAY or until a second signal',
  async (t) => {
    const { child, ended, port, adminPort, until } = await startOnNewFile(t, { DRAIN_DELAY: '600' })
    const ready = () => statusOf(adminPort, '/readyz')
    t.equal(await ready(), 200)
    const idle = await connectAndKeep(t, port)
    const used = await connectAndKeep(t, port)
    child.kill('SIGTERM')
    await until(/"stopping"/)
    t.equal(await ready(), 503)
    t.equal(await statusOf(adminPort, '/livez'), 200)

    used.socket.write(REQUEST)
    await used.closed
    t.match(used.state, {
      text: /^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/i,
      error: '',
      isEnded: true,
    })
    t.equal(await statusOf(port, '/plants'), 401)
    t.notOk(idle.state.isEnded)
    // The service ignores a second signal in the first half second.
    await eventually(() => !child.kill('SIGTERM'))
    t.match(await ended, { code: 1, stderr: '' })
  },
)

t.test(
  'after DRAIN_DELAY each connection is closed, and what began before is answered and logged; exit 0',
  async (t) => {
    const { child, ended, file, until, port, token } = await startOnNewFile(t, {
      DRAIN_DELAY: '1',
      REQUEST_TIMEOUT: '60',
    })
    const idle = await connectAndKeep(t, port)
    const [answered, givenUp, last] = [
      await connectAndBegin(t, port, token),
      await connectAndBegin(t, port, token),
      await connectAndBegin(t, port, token),
    ]
    const start = performance.now()
    child.kill('SIGTERM')
    await until(/"stopping"/)
    givenUp.socket.destroy()
    await until(/"aborted":true/)
    answered.socket.write(BODY)
    await answered.closed
    t.match(answered.state, {
      text: /\r\nHTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i,
      error: '',
    })
    await idle.closed
    const took = performance.now() - start
    t.ok(took > 1000, `it took ${took} ms`)
    t.strictSame(idle.state, { text: '', error: '', isEnded: true })
    last.socket.destroy() // The process ends at once, and still logs it.
    const { code, stdout, stderr } = await ended
    t.strictSame({ code, stderr }, { code: 0, stderr: '' })
    const aborted = { msg: 'request', method: 'POST', aborted: true }
    const requests = [aborted, { msg: 'request', status: 200 }, aborted]
    t.match(linesOf(stdout).slice(-5), [
      { msg: 'stopping', signal: 'SIGTERM' },
      ...requests,
      { msg: 'stopped' },
    ])
    t.notOk(existsSync(`${file}-wal`), 'the store is closed')
  },
)

t.test(
  'SIGINT ends the service without a drain, and cuts what outlasts SHUTDOWN_TIMEOUT',
  async (t) => {
    const times = { DRAIN_DELAY: '600', REQUEST_TIMEOUT: '600', SHUTDOWN_TIMEOUT: '0.5' }
    const { child, ended, file, port, token } = await startOnNewFile(t, times)
    const { socket, closed } = await connectAndBegin(t, port, token)
    socket.write(BODY.slice(0, -1))
    child.kill('SIGINT')
    t.match(await soon(ended), { code: 0, stdout: /"stopped"/ })
    await closed
    const store = await openTestStore({ file })
    t.strictSame(await namesIn(store, 'joe'), [])
    await store.close()
  },
)

t.test('SIGTERM ends the process normally when the reader of the log is gone', async (t) => {
  const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
  const env = {
    PATH: process.env['PATH'],
    DATABASE_URL,
    PORT: '0',
    ADMIN_PORT: '0',
    DRAIN_DELAY: '0',
  }
  const child = spawn(process.execPath, ['test/support/product/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.stdout.destroy()
  child.kill()
  t.strictSame(await Promise.race([once(child, 'exit'), delay(10_000, 'it is still there')]), [
    0,
    null,
  ])
})

t.test('a signal that arrives while the modules load is not lost', async (t) => {
  // Sends the signal when the first module of a package is imported.
  const hook = `import { registerHooks } from 'node:module'
    let sent = false
    registerHooks({ load(url, context, next) {
      if (!sent && url.includes('/node_modules/')) { sent = true; process.kill(process.pid, 'SIGTERM') }
      return next(url, context)
    } })`
  const environment = {
    DATABASE_URL: `sqlite:${t.testdir()}/plants.db`,
    PORT: '0',
    NODE_ENV: 'production',
  }
  const ended = await run(nodeAfter(hook, 'test/support/product/main.ts'), environment)
  t.match(ended, { code: 0, signal: null, stderr: '' })
  t.match(linesOf(ended.stdout).at(-1), { msg: 'stopped' })
})

t.test('a request that arrives just before the drain ends is answered', async (t) => {
  const { child, ended, until, port } = await startOnNewFile(t, { DRAIN_DELAY: '0.3' })
  const kept = await connectAndKeep(t, port)
  child.kill('SIGTERM')
  await until(/"stopping"/)
  // The stopped process can't read. When it continues, the time is over and the requests are there.
  child.kill('SIGSTOP')
  kept.socket.write(REQUEST)
  const fresh = await Promise.all(Array.from({ length: 5 }, () => connect(t, port)))
  for (const { socket } of fresh) socket.write(REQUEST)
  await delay(600)
  child.kill('SIGCONT')
  await Promise.all([kept, ...fresh].map(({ closed }) => closed))
  for (const { state } of [kept, ...fresh]) {
    t.match(state, {
      text: /^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/i,
      error: '',
      isEnded: true,
    })
  }
  t.match(await ended, { code: 0, stderr: '' })
})

t.test(
  'Ctrl-C on `npm start`, which sends the signal twice, lets the requests in flight finish',
  async (t) => {
    const folder = copyProject(t)
    putTestProduct(folder)
    mkdirSync(`${folder}/data`)
    const token = await issueTokenIn({ file: `${folder}/data/plants.db` })
    for (let time = 0; time < 5; time++) {
      const environment = { PORT: '0', NODE_ENV: 'production' }
      const place = { cwd: folder, isDetached: true }
      const { child, ended, until } = await start(t, [...NPM, 'start'], environment, place)
      const [, port] = await until(/listening at http:[^"]*:(\d+)"/)
      const { socket, state, closed } = await connectAndBegin(t, Number(port), token)
      process.kill(-Number(child.pid), 'SIGINT')
      await until(/"stopping"/)
      await delay(100) // by now npm has sent the signal, too
      socket.write(BODY)
      await closed
      t.match(state.text, /\r\nHTTP\/1\.1 200 OK\r\n/)
      t.match(await ended, { code: 0, stdout: /"stopped"/ })
    }
  },
)

t.test(
  'a service that waits for its database is live, not ready, and ends soon after SIGTERM',
  async (t) => {
    // A database that accepts connections and never answers.
    const silent = net
      .createServer((socket) => void socket.on('error', () => undefined))
      .listen(0, '127.0.0.1')
    await once(silent, 'listening')
    t.teardown(() => silent.close())
    const DATABASE_URL = `postgres://joe:secret@127.0.0.1:${(silent.address() as net.AddressInfo).port}/plants`
    const adminPort = await freePort()
    const environment = {
      DATABASE_URL,
      ADMIN_PORT: String(adminPort),
      PORT: '0',
      DRAIN_DELAY: '600',
    }
    const connected = once(silent, 'connection')
    const { child, ended } = await start(t, program('main'), environment)
    await connected
    t.equal(await statusOf(adminPort, '/livez'), 200)
    const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`)
    t.strictSame(
      [response.status, await response.json()],
      [503, { error: 503, message: 'The service is starting' }],
    )
    child.kill('SIGTERM')
    const { code, stdout, stderr } = await ended
    t.strictSame({ code, stderr }, { code: 0, stderr: '' })
    t.notMatch(stdout, /listening/)
  },
)

t.test('clients that go on writing do not delay the end', async (t) => {
  const { child, ended, port, token, until } = await startOnNewFile(t, { SHUTDOWN_TIMEOUT: '1' })
  const [kept, fresh] = [new Agent({ keepAlive: true }), new Agent()]
  let [sent, answered, isOver] = [0, 0, false]
  const write = async (agent: Agent) => {
    for (; !isOver; sent += 1) {
      const body = { id: sent, name: 'x' }
      const sending = request(port, { method: 'POST', path: '/plants', token, body, agent })
      if (await sending.catch(() => false)) answered += 1
    }
  }
  const clients = Array.from({ length: 128 }, (_, index) => write(index % 4 === 0 ? kept : fresh))
  await eventually(() => answered > 500)
  child.kill('SIGTERM')
  await until(/"stopping"/)
  t.match(await soon(ended), { code: 0, stderr: '' })
  isOver = true
  await Promise.all(clients)
})
