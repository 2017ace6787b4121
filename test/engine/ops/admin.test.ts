// The admin port: that of the real process, and one on a real store that does not answer.
import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openAdmin } from '../../../service/engine/ops/admin.ts'
import { readConfig } from '../../../service/engine/config.ts'
import { build, call } from '../../support/helper.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startService } from '../../support/process.ts'
import { eventually, freePort } from '../../support/project.ts'
import { openTestStore } from '../../support/stores.ts'
import { issueToken } from '../../support/tokens.ts'

/** The service on a file that has tokens. */
async function serve(t: Test) {
  const DATABASE_URL = `sqlite:${t.testdir()}/plants.db`
  const store = await openTestStore({ file: DATABASE_URL.slice(7) })
  const token = await issueToken(store, 'joe')
  const expired = await issueToken(store, 'joe', -1)
  await store.close()
  return { ...(await startService(t, { DATABASE_URL })), token, expired }
}

/** Opens an admin port in this process, which says that it starts. */
async function openPort(t: Test) {
  const port = await freePort()
  const config = readConfig('plants', { ADMIN_PORT: String(port) })
  const admin = await openAdmin('plants', config, pino({ level: 'silent' }))
  t.teardown(() => admin.close())
  return { admin, adminPort: port }
}

const get = (port: number, path: string, options: RequestInit = {}) =>
  fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5000), ...options })

const textOf = async (port: number) => (await get(port, '/metrics')).text()

/** The value of a metric, by its name with its labels; 0 if it is not there. */
function valueOf(text: string, name: string): number {
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? 0)
}

/** How many requests are over, by method, route and status. */
function countsOf(text: string): Record<string, number> {
  const lines = text.matchAll(/^http_server_request_duration_seconds_count{.*="(.*)",.*="(.*)",.*="(.*)"} (\d+)$/gm)
  return Object.fromEntries(
    [...lines].map(([, method, route, status, count]) => [`${method} ${route} ${status}`, Number(count)]),
  )
}

/** Sends bytes, and waits for the end of the connection, or breaks it off after some time. */
async function send(port: number, bytes: string, milliseconds = 5000): Promise<string> {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => (received += text))
  socket.write(bytes)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  await Promise.race([closed, delay(milliseconds, undefined, { ref: false })])
  socket.resetAndDestroy()
  return received
}

t.test('every request is counted once, whoever answers it, and so is one that nobody could answer', async (t) => {
  const { port, adminPort, token, expired } = await serve(t)
  const bearer = `Host: a\r\nAuthorization: Bearer ${token}\r\n`
  const zeros = '0'.repeat(40)
  for (let count = 0; count < 20; count++) await call(port, { path: '/plants', token })
  for (const name of ['x', 'y']) await call(port, { method: 'POST', path: '/plants', token, body: { id: 1, name } })
  await call(port, { method: 'DELETE', path: '/plants/1', token })
  await call(port, { method: 'HEAD', path: '/plants', token })
  for (const path of ['/a', '/b', `/${token}`, '/%zz']) await call(port, { path })
  await call(port, { method: 'TRACE', path: '/plants', token })
  await call(port, { method: 'OPTIONS', path: '/plants' })
  for (const method of ['PROPFIND', 'LINK', 'M-SEARCH']) await call(port, { method, path: '/plants' })
  await call(port, { path: '/plants' })
  const unknown = `plant_${zeros}${crc32(zeros).toString(16).padStart(8, '0')}`
  for (const each of ['x', unknown, expired]) await call(port, { path: '/plants', token: each })
  await call(port, { path: '/plants', headers: ['Authorization', 'Bearer x', 'Authorization', 'Bearer y'] })
  await send(port, 'BROKEN\r\n\r\n')
  await send(port, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await send(port, `GET /plants HTTP/1.1\r\n${bearer}A: ${'x'.repeat(20_000)}\r\n\r\n`)
  await send(port, `GET /plants HTTP/1.1\r\n\r\n`, 200)
  await send(port, `GET /plants HTTP/1.1\r\n${bearer}\r\n`.repeat(3) + 'BROKEN\r\n\r\n')
  await send(port, `GET /plants HTTP/1.1\r\n${bearer}\r\n`.repeat(2) + 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  const half = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`
  await send(port, half, 200)
  const closed = send(port, half, 500)
  await delay(250)
  t.match(valueOf(await textOf(adminPort), 'http_server_active_requests'), 1)
  await closed
  await delay(100)
  const text = await textOf(adminPort)
  t.equal(valueOf(text, 'http_server_active_requests'), 0)
  t.strictSame(countsOf(text), {
    'GET /plants 200': 25,
    'POST /plants 200': 1,
    'POST /plants 409': 1,
    'POST /plants ': 2,
    'DELETE /plants/:id 204': 1,
    'HEAD /plants 200': 1,
    'GET _OTHER 404': 3,
    'GET _OTHER 400': 1,
    'TRACE _OTHER 405': 1,
    'OPTIONS _OTHER 204': 1,
    'PROPFIND _OTHER 405': 1,
    'LINK _OTHER 405': 1,
    'M-SEARCH _OTHER 405': 1,
    'GET /plants 401': 5,
    'GET /plants 400': 1,
    '_OTHER _OTHER 400': 2,
    'CONNECT _OTHER 501': 2,
    '_OTHER _OTHER 431': 1,
  })
  const refused = [...text.matchAll(/^plants_refused_authentications_total{reason="(.*)"} (\d+)$/gm)]
  const reasons = refused.map(([, reason, count]) => `${reason} ${count}`)
  t.strictSame(reasons.sort(), ['expired 1', 'malformed 1', 'missing 1', 'repeated 1', 'unknown 1'])
  t.notMatch(text, token)
})

t.test('the metrics tell of the process, the event loop and the store', async (t) => {
  const { port, adminPort, token } = await serve(t)
  const before = await textOf(adminPort)
  const create = (id: number) => call(port, { method: 'POST', path: '/plants', token, body: { id, name: 'x' } })
  await Promise.all(Array.from({ length: 20 }, (_, id) => create(id)))
  const after = await textOf(adminPort)
  const grown = (name: string) => valueOf(after, name) - valueOf(before, name)
  t.equal(grown('plants_store_writes_total'), 20)
  t.ok(grown('plants_store_commits_total') >= 1 && grown('plants_store_commits_total') <= 20)
  for (const name of ['plants_store_wal_bytes', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds']) {
    t.ok(valueOf(after, name) > 0, name)
  }
  const buckets = [...after.matchAll(/_duration_seconds_bucket{le="(.*?)",.*"POST".*} (\d+)/g)]
  t.match(buckets.at(-1)?.slice(1), ['+Inf', '20'])
  t.ok(valueOf(after, after.match(/^http\S+_sum{.*"POST".*}/m)?.[0] ?? '') > 0)
})

t.test('the admin port answers as the service does: its headers, Errors, HEAD; and no query matters', async (t) => {
  const { adminPort } = await serve(t)
  const livez = await get(adminPort, '/livez?verbose', { headers: { 'X-Request-Id': 'mine' } })
  t.strictSame([livez.status, await livez.text()], [200, 'ok\n'])
  const standard = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
  t.match(Object.fromEntries(livez.headers), { ...standard, 'x-request-id': 'mine' })
  const head = await get(adminPort, '/readyz', { method: 'HEAD' })
  t.strictSame([head.status, head.headers.get('content-length'), await head.text()], [200, '3', ''])
  for (const [path, method, status, allow] of [
    ['/plants', 'GET', 404, null],
    ['/toString', 'GET', 404, null],
    ['/livez', 'POST', 405, 'GET, HEAD, OPTIONS'],
  ] as const) {
    const answer = await get(adminPort, path, { method, ...(method === 'POST' && { body: 'x'.repeat(100_000) }) })
    t.strictSame([answer.status, answer.headers.get('allow')], [status, allow])
    t.match(Object.fromEntries(answer.headers), { ...standard, 'content-type': 'application/json' })
    t.match(await answer.json(), { error: status, message: /^[A-Z]/ })
  }
  t.match(await send(adminPort, 'BROKEN\r\n\r\n'), /^HTTP\/1\.1 400 [^]*{"error":400,/)
  t.match(await send(adminPort, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 [^]*ok\n$/)
  t.equal((await get(adminPort, '/livez', { method: 'OPTIONS' })).status, 204)
  t.match(await send(adminPort, 'GET /livez HTTP/1.1\r\n'), /^HTTP\/1\.1 408 [^]*{"error":408,/)
})

t.test('what is refused because there is too much is counted', async (t) => {
  const { port } = await build(t, { MAX_CONNECTIONS: '1' })
  const store = { ping: async () => undefined, figures: () => ({ commits: 0, writes: 0 }) }
  const { admin, adminPort } = await openPort(t)
  admin.serving(store)
  const shed = async () => valueOf(await textOf(adminPort), 'plants_shed_requests_total')
  const before = await shed()
  const open = net.connect(port, '127.0.0.1')
  await once(open, 'connect')
  for (let count = 0; count < 3; count++) t.equal(await send(port, 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n'), '')
  t.equal((await shed()) - before, 3)
  open.destroy()
  await eventually(async () => (await send(port, 'GET /nowhere HTTP/1.0\r\n\r\n')).startsWith('HTTP/1.1 404'))
})

t.test('the admin port has 100 connections at most', async (t) => {
  const { adminPort } = await openPort(t)
  const all = Array.from({ length: 100 }, () => net.connect(adminPort, '127.0.0.1').on('error', () => undefined))
  t.teardown(() => all.forEach((each) => each.destroy()))
  await Promise.all(all.map((each) => once(each, 'connect')))
  t.equal(await send(adminPort, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'), '')
  all.pop()?.destroy()
  await eventually(async () => (await send(adminPort, 'GET /livez HTTP/1.0\r\n\r\n')).startsWith('HTTP/1.1 200'))
})

t.test('a database that does not answer', async (t) => {
  const server = await startPostgres(t)
  const DATABASE_URL = await server.createDatabase()
  const { store, port, token } = await build(t, { DATABASE_URL })
  const bearer = `Host: a\r\nAuthorization: Bearer ${await token('joe')}\r\n`
  const { admin, adminPort } = await openPort(t)
  let pings = 0
  const ping = () => {
    pings += 1
    return store.ping()
  }
  const ready = async () => (await get(adminPort, '/readyz')).status

  t.equal(await ready(), 503, 'while it starts')
  t.equal((await get(adminPort, '/metrics')).status, 503)
  admin.serving({ ping, figures: () => store.figures() })
  t.strictSame(await Promise.all(Array.from({ length: 20 }, ready)), Array(20).fill(200))
  t.equal(await ready(), 200)
  t.equal(pings, 1, 'all who ask within a second share a check')

  await delay(1000)
  await server.pause()
  t.teardown(() => server.resume())
  const start = performance.now()
  t.strictSame(await Promise.all(Array.from({ length: 20 }, ready)), Array(20).fill(200), 'a stall may end in time')
  t.equal(pings, 2)
  t.equal((await get(adminPort, '/livez')).status, 200)

  const before = await textOf(adminPort)
  await send(port, `GET /plants HTTP/1.1\r\n${bearer}\r\n`, 200)
  await eventually(async () => (countsOf(await textOf(adminPort))['GET /plants '] ?? 0) === 1)
  const text = await textOf(adminPort)
  t.equal(valueOf(text, 'http_server_active_requests'), valueOf(before, 'http_server_active_requests'))
  t.match(text, /^plants_store_pool_size 5$/m)
  t.match(text, /^plants_store_pool_used [1-9]/m)

  await eventually(async () => (await ready()) === 503)
  t.match(await (await get(adminPort, '/readyz')).json(), { message: /^The store is not available: (the|there) / })
  t.ok(performance.now() - start > 3000, 'not ready when requests are given up, by DATABASE_TIMEOUT')
  server.resume()
  await eventually(async () => (await ready()) === 200)
  admin.stopping()
  const answer = await get(adminPort, '/readyz')
  t.strictSame([answer.status, await answer.json()], [503, { error: 503, message: 'The service is stopping' }])
})
