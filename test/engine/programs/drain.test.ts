// Real signals end the real process.
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { copyProject, eventually, freePort, NPM, putTestProduct } from '../../support/project.ts'
import { program, start, startService } from '../../support/process.ts'
import { openTestStore } from '../../support/stores.ts'
import { issueToken } from '../../support/tokens.ts'

const MAIN = program('main')

const database = (t: Test) => ({ DATABASE_URL: `sqlite:${t.testdir()}/plants.db`, NODE_ENV: 'production' })

const statusOf = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status

const REQUEST = 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens a connection. @returns the received text, and a promise of the end */
async function connect(t: Test, port: number) {
  const socket = net.connect(port, '127.0.0.1').setEncoding('utf8')
  t.teardown(() => socket.destroy())
  const state = { text: '', error: '', isEnded: false }
  socket.on('data', (text: string) => (state.text += text)).on('error', ({ message }) => (state.error = message))
  socket.on('end', () => (state.isEnded = true))
  await once(socket, 'connect')
  return { socket, state, closed: once(socket, 'close') }
}

/** Opens a keep-alive connection that has had one answer. */
async function connectAndKeep(t: Test, port: number) {
  const connection = await connect(t, port)
  connection.socket.write(REQUEST)
  await once(connection.socket, 'data')
  t.match(connection.state.text, /^HTTP\/1\.1 401 [^]*\r\nConnection: keep-alive\r\n/i)
  connection.state.text = ''
  return connection
}

t.test('SIGTERM: not ready at once, and requests are served for DRAIN_DELAY', async (t) => {
  const { child, insist, port, adminPort, until } = await startService(t, { ...database(t), DRAIN_DELAY: '600' })
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
  t.match(used.state, { text: /^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/i, error: '', isEnded: true })
  t.equal(await statusOf(port, '/plants'), 401)
  t.notOk(idle.state.isEnded)
  await insist('SIGTERM')
})

t.test('after DRAIN_DELAY, and not before, each connection is closed, exit 0', async (t) => {
  const environment = { ...database(t), DRAIN_DELAY: '1' }
  const { child, ended, port } = await startService(t, environment)
  const idle = await connectAndKeep(t, port)
  const start = performance.now()
  child.kill('SIGTERM')
  t.match(await ended, { code: 0, stderr: '' })
  const took = performance.now() - start
  t.ok(took > 1000, `it took ${took} ms`)
  await idle.closed
  t.strictSame(idle.state, { text: '', error: '', isEnded: true })
  t.notOk(existsSync(`${environment.DATABASE_URL.slice(7)}-wal`), 'the store is closed')
})

t.test(
  'a request that began before SIGTERM is answered, and the last one of its connection; then exit 0',
  async (t) => {
    const environment = { ...database(t), DRAIN_DELAY: '1' }
    const store = await openTestStore({ file: environment.DATABASE_URL.slice(7) })
    const token = await issueToken(store, 'joe')
    await store.close()
    const { child, ended, until, port, adminPort } = await startService(t, environment)
    const { socket, state, closed } = await connect(t, port)
    const type = 'Content-Type: application/json\r\nContent-Length: 19'
    socket.write(
      `POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${type}\r\n\r\n{"id":1,"name":"1"`,
    )
    await eventually(async () => {
      const metrics = await fetch(`http://127.0.0.1:${adminPort}/metrics`)
      return (await metrics.text()).includes('\nhttp_server_active_requests 1\n')
    })
    child.kill('SIGTERM')
    await until(/"stopping"/)
    socket.write('}')
    await closed
    t.match(state, { text: /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i, error: '' })
    const { code, stdout, stderr } = await ended
    t.strictSame({ code, stderr }, { code: 0, stderr: '' })
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { msg: string; signal?: string })
    t.equal(lines.find(({ msg }) => msg === 'stopping')?.signal, 'SIGTERM')
    t.equal(lines.at(-1)?.msg, 'stopped')
    t.notMatch(stdout, token.slice(6))
  },
)

t.test('a request that arrives just before the drain ends is answered', async (t) => {
  const { child, ended, until, port } = await startService(t, { ...database(t), DRAIN_DELAY: '0.3' })
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
    t.match(state, { text: /^HTTP\/1\.1 401 [^]*\r\nConnection: close\r\n/i, error: '', isEnded: true })
  }
  t.match(await ended, { code: 0, stderr: '' })
})

t.test('SIGINT from a terminal ends the service without a drain', async (t) => {
  const { child, ended } = await startService(t, { ...database(t), DRAIN_DELAY: '600' })
  child.kill('SIGINT')
  t.match(await ended, { code: 0, stderr: '' })
})

t.test('a second signal ends the drain at once', async (t) => {
  const { child, ended, insist, until } = await startService(t, { ...database(t), DRAIN_DELAY: '600' })
  child.kill('SIGTERM')
  await until(/"stopping"/)
  await insist('SIGTERM')
  t.match(await ended, { code: 1, stderr: '' })
})

t.test('Ctrl-C on `npm start`, which sends the signal twice, lets the requests in flight finish', async (t) => {
  const folder = copyProject(t)
  putTestProduct(folder)
  const file = `${folder}/data/plants.db`
  const environment = { DATABASE_URL: `sqlite:${file}`, NODE_ENV: 'production' }
  mkdirSync(`${folder}/data`)
  const store = await openTestStore({ file })
  const token = await issueToken(store, 'joe')
  await store.close()
  for (let time = 0; time < 5; time++) {
    const { child, ended, until } = await start(t, [...NPM, 'start'], { ...environment, PORT: '0' }, folder, true)
    const [, port] = await until(/listening at http:[^"]*:(\d+)"/)
    const { socket, state, closed } = await connect(t, Number(port))
    const type = 'Content-Type: application/json\r\nContent-Length: 19\r\nExpect: 100-continue'
    socket.write(`POST /plants HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n${type}\r\n\r\n`)
    await once(socket, 'data')
    process.kill(-Number(child.pid), 'SIGINT')
    await until(/"stopping"/)
    await delay(100) // by now npm has sent the signal, too
    socket.write('{"id":1,"name":"1"}')
    await closed
    t.match(state.text, /\r\nHTTP\/1\.1 200 OK\r\n/)
    const { code, stdout } = await ended
    t.equal(code, 0)
    t.match(stdout, /"stopped"/)
  }
})

t.test('a service that waits for its database is live, not ready, and ends soon after SIGTERM', async (t) => {
  // A database that accepts connections and never answers.
  const silent = net.createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as net.AddressInfo
  const adminPort = await freePort()
  const environment = {
    DATABASE_URL: `postgres://joe:secret@127.0.0.1:${port}/plants`,
    ADMIN_PORT: String(adminPort),
    PORT: '0',
    DRAIN_DELAY: '600',
  }
  const connected = once(silent, 'connection')
  const { child, ended } = await start(t, MAIN, environment)
  await connected
  t.equal(await statusOf(adminPort, '/livez'), 200)
  const response = await fetch(`http://127.0.0.1:${adminPort}/readyz`)
  t.strictSame([response.status, await response.json()], [503, { error: 503, message: 'The service is starting' }])
  child.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  t.strictSame({ code, stderr }, { code: 0, stderr: '' })
  t.notMatch(stdout, /listening/)
})

t.test('clients that go on writing do not delay the end', async (t) => {
  const environment = { ...database(t), DRAIN_DELAY: '0', SHUTDOWN_TIMEOUT: '1' }
  const store = await openTestStore({ file: environment.DATABASE_URL.slice(7) })
  const token = await issueToken(store, 'joe')
  await store.close()
  const { child, ended, port, until } = await startService(t, environment)
  const writers = await start(t, [process.execPath, 'test/engine/programs/writers.ts', String(port), token], {})
  await writers.until(/writing/)
  child.kill('SIGTERM')
  await until(/"stopping"/)
  // Two seconds are promised. Without a bound the service would serve as long as the clients write.
  t.match(await Promise.race([ended, delay(30_000, 'it goes on', { ref: false })]), { code: 0, stderr: '' })
})
