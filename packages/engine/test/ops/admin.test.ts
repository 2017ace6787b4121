// The admin port: of the real process, and one on a real store that does not answer.
import { setTimeout as delay } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { openAdmin } from '../../src/ops/admin.ts'
import { Registry } from '../../src/http/metrics.ts'
import { readConfig } from '@plant-store/engine'
import { FAULTS, HEALTHY, NAME, RULES } from '../../../../test/support/figures/alert-series.ts'
import {
  build,
  type Call,
  call,
  startOnNewFile,
} from '../../../../test/support/servers/start-product.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { product } from '../../../../test/support/product/product.ts'
import { connect, freePort } from '../../../../test/support/network/ports.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueToken } from '../../../../test/support/servers/access-tokens.ts'

const { port, adminPort, file, token } = await startOnNewFile(t)

/** Opens an admin port in this process, in the state `starting`. */
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

/** The value of a metric, by its name with its labels; 0 if absent. */
function valueOf(text: string, name: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.slice(name.length) ?? 0)
}

/** The number of finished requests, by method, route and status. */
function countsOf(text: string): Record<string, number> {
  const lines = text.matchAll(
    /^http_server_request_duration_seconds_count{.*="(.*)",.*="(.*)",.*="(.*)"} (\d+)$/gm,
  )
  return Object.fromEntries(
    [...lines].map(([, method, route, status, count]) => [
      `${method} ${route} ${status}`,
      Number(count),
    ]),
  )
}

/** Sends bytes, and waits for the end of the connection, or breaks it off after some time. */
async function send(port: number, bytes: string, milliseconds = 5000): Promise<string> {
  const { socket, state, closed } = await connect(t, port)
  socket.write(bytes)
  await Promise.race([closed, delay(milliseconds, undefined, { ref: false })])
  socket.resetAndDestroy()
  return state.text
}

t.test(
  'every request is counted once, whoever answers it, and so is one that nobody could answer',
  async (t) => {
    const store = await openTestStore({ file }, { isExclusive: false })
    const expired = await issueToken(store, 'joe', -1)
    await store.close()
    const zeros = '0'.repeat(40)
    const unknown = `plant_${zeros}${crc32(zeros).toString(16).padStart(8, '0')}`
    const bearer = `Host: a\r\nAuthorization: Bearer ${token}\r\n`
    const list = `GET /plants HTTP/1.1\r\n${bearer}\r\n`
    const half = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{`
    const connect = 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'
    const twice = ['Authorization', 'Bearer x', 'Authorization', 'Bearer y']
    const plants = (method: string, more = {}): Call => ({ method, path: '/plants', ...more })
    /** Requests, by the method, route and status under which they are counted. */
    const sent: Record<string, (Call | string)[]> = {
      'GET /plants 200': Array<Call>(20).fill(plants('GET', { token })),
      'POST /plants 200': [plants('POST', { token, body: { id: 1, name: 'x' } })],
      'POST /plants 409': [plants('POST', { token, body: { id: 1, name: 'y' } })],
      'DELETE /plants/:id 204': [{ method: 'DELETE', path: '/plants/1', token }],
      'HEAD /plants 200': [plants('HEAD', { token })],
      'GET _OTHER 404': [{ path: '/a' }, { path: '/b' }, { path: `/${token}` }],
      'GET _OTHER 400': [{ path: '/%zz' }],
      'OPTIONS _OTHER 204': [plants('OPTIONS')],
      'TRACE _OTHER 405': [plants('TRACE', { token })],
      'PROPFIND _OTHER 405': [plants('PROPFIND')],
      'LINK _OTHER 405': [plants('LINK')],
      'M-SEARCH _OTHER 405': [plants('M-SEARCH')],
      'GET /plants 401': [
        {},
        { token: 'x' },
        { token: unknown },
        { token: expired },
        { headers: twice },
      ].map((more) => plants('GET', more)),
      'GET /plants 400': ['GET /plants HTTP/1.1\r\nConnection: close\r\n\r\n'],
      '_OTHER _OTHER 400': ['BROKEN\r\n\r\n', list.repeat(3) + 'BROKEN\r\n\r\n'],
      'CONNECT _OTHER 501': [connect, list.repeat(2) + connect],
      '_OTHER _OTHER 431': [`GET /plants HTTP/1.1\r\n${bearer}A: ${'x'.repeat(20_000)}\r\n\r\n`],
    }
    const counts = Object.entries(sent).map(([counted, { length }]) => [counted, length])
    for (const request of Object.values(sent).flat())
      await (typeof request === 'string' ? send(port, request) : call(port, request))
    await send(port, half, 200)
    const closed = send(port, half, 500)
    await delay(250)
    t.match(valueOf(await textOf(adminPort), 'http_server_active_requests'), 1)
    await closed
    await delay(100)
    const text = await textOf(adminPort)
    t.equal(valueOf(text, 'http_server_active_requests'), 0)
    t.strictSame(countsOf(text), {
      ...Object.fromEntries(counts),
      'GET /plants 200': 25,
      'POST /plants ': 2,
    })
    const refused = [
      ...text.matchAll(/^plants_refused_authentications_total{reason="(.*)"} (\d+)$/gm),
    ]
    const reasons = refused.map(([, reason, count]) => `${reason} ${count}`)
    t.strictSame(reasons.sort(), [
      'expired 1',
      'malformed 1',
      'missing 1',
      'repeated 1',
      'unknown 1',
    ])
    t.notMatch(text, token)
  },
)

t.test('the metrics tell of the process, the event loop and the store', async (t) => {
  const before = await textOf(adminPort)
  const create = (id: number) =>
    call(port, { method: 'POST', path: '/plants', token, body: { id, name: 'x' } })
  await Promise.all(Array.from({ length: 20 }, (_, id) => create(id)))
  const after = await textOf(adminPort)
  const grown = (name: string) => valueOf(after, name) - valueOf(before, name)
  t.equal(grown('plants_store_writes_total'), 20)
  t.ok(grown('plants_store_commits_total') >= 1 && grown('plants_store_commits_total') <= 20)
  for (const name of [
    'plants_store_wal_bytes',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    t.ok(valueOf(after, name) > 0, name)
  }
  const [posts = ''] =
    /(?<=^http_server_request_duration_seconds_count){.*"POST".*"200"}/m.exec(after) ?? []
  t.equal(
    grown(`http_server_request_duration_seconds_bucket${posts.replace('{', '{le="+Inf",')}`),
    20,
  )
  t.ok(grown(`http_server_request_duration_seconds_sum${posts}`) > 0)
})

/** The names of metrics in a rule for the service of deploy/, renamed for the tests' product. */
const namesIn = (text: string) =>
  [...text.matchAll(/\b([a-z]\w+)(?=\{)/g)].map(([name]) =>
    name.replace(`${NAME}_`, `${product.name}_`),
  )
/** The names of labels in a rule. */
const labelsIn = (text: string) =>
  [...text.matchAll(/[{,](\w+)(?=(?:=~|!=|=)")/g)].map(([, label = '']) => label)

// Whether each rule fires, system/metrics.test.ts tests with promtool.
t.test(
  'the rules of deploy/alerts.yaml ask for metrics and labels that there are, each with a case',
  async (t) => {
    const { admin, adminPort: secondPort } = await openPort(t)
    const pool = { size: 0, used: 0, idle: 0, waiting: 0 }
    admin.serving({ ping: async () => undefined, stats: () => ({ commits: 0, writes: 0, pool }) })
    await call(port, { path: '/plants' })
    const shown = (await textOf(adminPort)) + (await textOf(secondPort))
    // Prometheus adds the job, and contract/answer.test.ts shows error_type.
    const names = new Set([
      'up',
      ...[...shown.matchAll(/^([a-z]\w*)[ {]/gm)].map(([, name]) => name),
    ])
    const labels = new Set(['job', 'error_type', ...labelsIn(shown)])
    for (const text of [...RULES.map(({ expr }) => expr), ...Object.keys(HEALTHY)]) {
      for (const name of namesIn(text)) t.ok(names.has(name), name)
      for (const label of labelsIn(text)) t.ok(labels.has(label), label)
    }
    t.ok(RULES.flatMap(({ expr }) => namesIn(expr)).length > 8)
    t.strictSame(RULES.map(({ alert }) => alert).sort(), Object.keys(FAULTS).sort())
  },
)

t.test(
  'the admin port answers as the service does: its headers, Errors, HEAD; and no query matters',
  async (t) => {
    const livez = await get(adminPort, '/livez?verbose', { headers: { 'X-Request-Id': 'mine' } })
    t.strictSame([livez.status, await livez.text()], [200, 'ok\n'])
    const standard = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }
    t.match(Object.fromEntries(livez.headers), { ...standard, 'x-request-id': 'mine' })
    const head = await get(adminPort, '/readyz', { method: 'HEAD' })
    t.strictSame(
      [head.status, head.headers.get('content-length'), await head.text()],
      [200, '3', ''],
    )
    for (const [path, method, status, allow] of [
      ['/plants', 'GET', 404, null],
      ['/toString', 'GET', 404, null],
      ['/livez', 'POST', 405, 'GET, HEAD, OPTIONS'],
    ] as const) {
      const answer = await get(adminPort, path, {
        method,
        ...(method === 'POST' && { body: 'x'.repeat(100_000) }),
      })
      t.strictSame([answer.status, answer.headers.get('allow')], [status, allow])
      t.match(Object.fromEntries(answer.headers), {
        ...standard,
        'content-type': 'application/json',
      })
      t.match(await answer.json(), { error: status, message: /^[A-Z]/ })
    }
    t.match(await send(adminPort, 'BROKEN\r\n\r\n'), /^HTTP\/1\.1 400 [^]*{"error":400,/)
    t.match(await send(adminPort, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 [^]*ok\n$/)
    t.equal((await get(adminPort, '/livez', { method: 'OPTIONS' })).status, 204)
    t.match(await send(adminPort, 'GET /livez HTTP/1.1\r\n'), /^HTTP\/1\.1 408 [^]*{"error":408,/)
  },
)

t.test('what is refused because there is too much is counted', async (t) => {
  const { port } = await build(t, { MAX_CONNECTIONS: '1' })
  const store = { ping: async () => undefined, stats: () => ({ commits: 0, writes: 0 }) }
  const { admin, adminPort } = await openPort(t)
  admin.serving(store)
  const shed = async () => valueOf(await textOf(adminPort), 'plants_shed_requests_total')
  const before = await shed()
  const { socket } = await connect(t, port)
  for (let count = 0; count < 3; count++)
    t.equal(await send(port, 'GET /plants HTTP/1.1\r\nHost: a\r\n\r\n'), '')
  t.equal((await shed()) - before, 3)
  socket.destroy()
  await eventually(async () =>
    (await send(port, 'GET /nowhere HTTP/1.0\r\n\r\n')).startsWith('HTTP/1.1 404'),
  )
})

t.test('the admin port has 100 connections at most', async (t) => {
  const { adminPort } = await openPort(t)
  const [first] = await Promise.all(Array.from({ length: 100 }, () => connect(t, adminPort)))
  t.equal(await send(adminPort, 'GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'), '')
  first?.socket.destroy()
  await eventually(async () =>
    (await send(adminPort, 'GET /livez HTTP/1.0\r\n\r\n')).startsWith('HTTP/1.1 200'),
  )
})

t.test('a check that hung once is called again, and its signal aborts', async (t) => {
  const { admin, adminPort } = await openPort(t)
  const signals: AbortSignal[] = []
  const check = async (signal: AbortSignal) => {
    signals.push(signal)
    if (signals.length === 1) await new Promise(() => undefined)
  }
  admin.serving(undefined, { opened: { check }, metrics: new Registry() })
  const ready = async () => (await get(adminPort, '/readyz')).status
  t.strictSame(await Promise.all([ready(), ready()]), [503, 503])
  t.equal(signals.length, 1, 'probes that arrive together share a call')
  t.equal(await ready(), 200)
  t.strictSame(
    signals.map(({ aborted }) => aborted),
    [true, false],
  )
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
  admin.serving({ ping, stats: () => store.stats() })
  t.strictSame(await Promise.all(Array.from({ length: 20 }, ready)), Array(20).fill(200))
  t.equal(await ready(), 200)
  t.equal(pings, 1, 'all who ask within a second share a check')

  await delay(1000)
  await server.pause()
  t.teardown(() => server.resume())
  const start = performance.now()
  t.strictSame(
    await Promise.all(Array.from({ length: 20 }, ready)),
    Array(20).fill(200),
    'a stall may end in time',
  )
  t.equal(pings, 2)
  t.equal((await get(adminPort, '/livez')).status, 200)

  const before = await textOf(adminPort)
  await send(port, `GET /plants HTTP/1.1\r\n${bearer}\r\n`, 200)
  await eventually(async () => (countsOf(await textOf(adminPort))['GET /plants '] ?? 0) === 1)
  const text = await textOf(adminPort)
  t.equal(
    valueOf(text, 'http_server_active_requests'),
    valueOf(before, 'http_server_active_requests'),
  )
  t.match(text, /^plants_store_pool_size 5$/m)
  t.match(text, /^plants_store_pool_used [1-9]/m)

  await eventually(async () => (await ready()) === 503)
  t.match(await (await get(adminPort, '/readyz')).json(), {
    message: /^The store is not available: (the|there) /,
  })
  t.ok(
    performance.now() - start > 3000,
    'not ready when requests are given up, by DATABASE_TIMEOUT',
  )
  server.resume()
  await eventually(async () => (await ready()) === 200)
  admin.stopping()
  const answer = await get(adminPort, '/readyz')
  t.strictSame(
    [answer.status, await answer.json()],
    [503, { error: 503, message: 'The service is stopping' }],
  )
})
