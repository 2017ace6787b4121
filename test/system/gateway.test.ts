// The service behind the gateways of deploy/: nginx, which takes a path prefix off, and HAProxy. Of bytes that programs
// frame differently, what the gateway takes for one request is one for the service.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { shapes } from '../support/network/framing-shapes.ts'
import { type Answer, build, request } from '../support/servers/start-product.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { startService } from '../support/processes/programs.ts'
import { connect, freePort, serveHttp } from '../support/network/ports.ts'
import { eventually } from '../support/processes/eventually.ts'
import { exchange, readResponses } from '../support/inner/responses.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'
import { gateways, startHaproxy, startNginx } from './gateways.ts'

const PREFIX = '/any/prefix'
/** For the log of each gateway, in FILE or printed: a line for a request begins with a digit if it was passed on. */
const LOGS = {
  nginx: "log_format passed '$upstream_status|$request'; access_log FILE passed;",
  HAProxy: '  log stdout format raw daemon\n  log-format %[srv_name,regsub(.+,200)]|%r\n',
}

/** Asserts the headers of every response, and an Error of the contract. */
function assertError(
  t: Test,
  what: string,
  answer: Pick<Answer, 'status' | 'headers' | 'text'>,
  status: number,
): void {
  t.equal(answer.status, status, what)
  t.match(answer.headers, {
    'content-type': /^application\/json/,
    'cache-control': 'no-store',
    'content-security-policy': "sandbox; default-src 'none'",
    'x-content-type-options': 'nosniff',
    'x-request-id': /^[A-Za-z0-9._-]{1,64}$/,
  })
  t.equal(answer.headers['retry-after'], [502, 503].includes(status) ? '1' : undefined, what)
  if (what.startsWith('HEAD')) t.equal(answer.text, '', what)
  else t.match(JSON.parse(answer.text), { error: status, message: /^(nginx|[A-Z])/ }, what)
}

for (const [name, start] of Object.entries(gateways)) {
  t.test(`${name} answers with an Error of the contract where no replica answers`, async (t) => {
    const { port } = new URL(await serveHttp(t, ({ socket }) => socket.end()))
    const absent = name === 'nginx' ? 502 : 503
    for (const [what, replica, status] of [
      ['nobody listens', await freePort(), absent],
      ['it does not answer', Number(port), 502],
    ] as const) {
      const gateway = await start(t, [{ port: replica }])
      // HAProxy closes a used connection instead: the client then repeats the request.
      const ask = async (method: string) =>
        assertError(
          t,
          `${method}: ${what}`,
          await request(gateway.port, { method, path: '/plants' }),
          status,
        )
      await Promise.all(['GET', 'POST', 'DELETE', 'HEAD'].map(ask))
    }
  })
}

t.test(
  'while PostgreSQL is away HAProxy passes requests on, for the replicas to answer',
  async (t) => {
    const server = await startPostgres(t)
    const DATABASE_URL = await server.createDatabase()
    const environment = { DATABASE_URL, DATABASE_TIMEOUT: '1' }
    const replicas = await Promise.all([0, 1].map(() => startService(t, environment)))
    const token = await issueTokenIn({ url: DATABASE_URL })
    const gateway = await startHaproxy(t, replicas)
    const list = () => request(gateway.port, { path: '/plants', token })
    await eventually(async () => (await list()).status === 200)

    await server.crash()
    await eventually(() => gateway.printed.stderr.includes('Running on backup'))
    t.equal((await request(gateway.port, { path: '/openapi.yaml' })).status, 200)
    t.equal((await request(gateway.port, { path: '/plants' })).status, 401)
    const refused = await list()
    assertError(t, 'without PostgreSQL', refused, 503)
    const line = `"reqId":"${String(refused.headers['x-request-id'])}"`
    await eventually(() => replicas.some(({ printed }) => printed.stdout.includes(line))) // not HAProxy answered
    await server.start()
    await eventually(async () => (await list()).status === 200)
  },
)

t.test(
  'nginx takes the prefix off, names the client, and answers with an Error of the contract',
  async (t) => {
    const service = await build(t, { TRUST_PROXY: '127.0.0.1' })
    const { port } = await startNginx(t, [service], undefined, PREFIX)
    const sent = { port, localAddress: '127.0.0.7', headers: { 'X-Forwarded-For': '192.0.2.1' } }
    http.get({ ...sent, path: `${PREFIX}/plants`, agent: false }, (answer) => answer.resume())
    const seen = () => service.log.find(({ msg }) => msg === 'request')
    await eventually(() => seen() !== undefined)
    t.match(seen(), { client: '127.0.0.7', route: '/plants', status: 401 })

    for (const [what, first, status, ...more] of [
      ['no token', `GET ${PREFIX}/plants?limit=%zz HTTP/1.1`, 401],
      ['no such path', `GET ${PREFIX}/nowhere HTTP/1.1`, 404],
      ['outside of the prefix', 'GET /plants HTTP/1.1', 404],
      ['a long body', `POST ${PREFIX}/plants HTTP/1.1`, 413, 'Content-Length: 2000000'],
      ['a long target', `GET ${PREFIX}/${'x'.repeat(10_000)} HTTP/1.1`, 414],
      ['long headers', `GET ${PREFIX}/ HTTP/1.1`, 431, `A: ${'x'.repeat(10_000)}`],
      ['no request', 'BROKEN', 400],
      ['a method', `TRACE ${PREFIX}/plants HTTP/1.1`, 405],
      ['a coding', `POST ${PREFIX}/plants HTTP/1.1`, 501, 'Transfer-Encoding: gzip'],
      ['a version', `GET ${PREFIX}/plants HTTP/3.0`, 505],
    ] as const) {
      const [answer] = readResponses(
        await exchange(port, [[first, 'Host: h', ...more, '\r\n'].join('\r\n')], 1),
      )
      if (answer === undefined) t.fail(`${what} is not answered`)
      else assertError(t, what, answer, status)
      t.notMatch(answer?.text, 'try again later', what)
    }
  },
)

for (const [name, startGateway] of Object.entries(gateways)) {
  t.test(`${name} ends a request whose headers come byte by byte`, async (t) => {
    const gateway = await startGateway(t, [await build(t)])
    const { socket, state, closed } = await connect(t, gateway.port)
    socket.write('GET /plants HTTP/1.1\r\nHost: h\r\nA: ')
    const drip = setInterval(() => socket.write('a'), 200)
    t.teardown(() => clearInterval(drip))
    await closed
    // The last byte, which the gateway does not read, may reset the connection before the answer has come.
    t.match(state.text, /^$|^HTTP\/1\.1 408 /)
  })
}

/** Keys in two spellings: a gateway could take one of them for another path. */
const PATHS = '../plants/7 ../../any/prefix/plants/7 /../plants/7 ..%2Fplants%2F7 %2e%2e/plants/7'
/** Other keys at risk behind a gateway. */
const KEYS = [
  'a/b / // /a a/ a//b ./a a/. a/.. a/../b ... .a a. % %25 %2F a%2fb %zz a:b : a?b a#b',
  'a;b a=b&c + a+b , @ ~ * \\ \\..\\a " \' <a> [a] {a} | ^ ` é e\u0301 🌱 \u202e 日本',
].flatMap((keys) => keys.split(' '))
KEYS.push(' ', 'a b', ' a ')

/** Targets that are no key as a client writes it. Directly, each is 400, 404 or 405. */
const TARGETS = [
  '/notes/.. /notes/. /notes/%2e%2e /notes/%2E /notes/../plants/7 /./plants/7 //plants/7',
  '/notes//plants/7 /plants//7 /plants/7/ /plants/7/. /plants/7%2F /plants%2F7 /%2Fplants/7',
  '/notes /notes/ /notes/a/b /plants;a=b/7 /plants/7;a /x/..%2Fplants/7 /%252e%252e/plants/7',
].flatMap((targets) => targets.split(' '))

/** Every byte in percent-encoding, as some clients write it. */
const encodeAll = (text: string) => Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')

t.test('a text key leads through a gateway to where it leads directly', async (t) => {
  const service = await build(t)
  const { call } = service
  const seen: string[] = []
  service.app.server.on('request', ({ method = '', url = '' }) => seen.push(`${method} ${url}`))
  const token = await service.token('texts')
  await call({ method: 'POST', path: '/plants', token, body: { id: 7, name: 'x' } })
  const nginx = await startNginx(t, [service], undefined, PREFIX)
  const haproxy = await startHaproxy(t, [service])
  const ways = [
    ['directly', service.port, ''],
    ['nginx', nginx.port, PREFIX],
    ['HAProxy', haproxy.port, ''],
  ] as const
  const agent = new http.Agent({ keepAlive: true })
  t.teardown(() => agent.destroy())
  for (const [way, port, prefix] of ways) {
    /** Sends a request, which the service must see as it was sent. */
    const send = async (method: string, target: string) => {
      const answer = await request(port, { method, path: prefix + target, token, agent })
      t.equal(seen.at(-1), `${method} ${target}`, `${way}: ${method} ${target}`)
      return answer
    }
    const spelled = [...KEYS, ...PATHS.split(' ')].map((key) => [key, encodeURIComponent(key)])
    for (const key of PATHS.split(' ')) spelled.push([key, encodeAll(key)])
    for (const [key = '', spelling = ''] of spelled) {
      const body = { key, text: `the note ${key}` }
      await call({ method: 'POST', path: '/notes', token, body })
      const target = `/notes/${spelling}`
      t.match((await send('PUT', target)).json, { text: body.text, count: 2n ** 53n + 1n }, target)
      t.equal((await send('DELETE', target)).status, 204, target)
    }
    for (const target of TARGETS)
      t.match((await send('DELETE', target)).status, /^40[045]$/, `${way}: ${target}`)
    t.strictSame((await call({ path: '/notes', token })).json, [])
    t.strictSame((await call({ path: '/plants', token })).json, [{ name: 'x' }])
  }

  // nginx decodes a path before it looks at the configuration, and refuses a path that leads out of it.
  for (const key of ['../'.repeat(9), 'a\0'].map(encodeURIComponent)) {
    const before = seen.length
    const path = `${PREFIX}/notes/${key}`
    assertError(t, path, await request(nginx.port, { method: 'DELETE', path, token }), 400)
    t.equal(seen.length, before, 'the service sees nothing')
  }
  for (const path of [PREFIX, `${PREFIX}x/plants`, `/x/..%2f${PREFIX}/plants`, '/', '/error'])
    assertError(t, path, await request(nginx.port, { path, token }), 404)
})

// packages/engine/test/http/server.test.ts has the direct answers to these.
for (const name of ['nginx', 'HAProxy'] as const) {
  t.test(`what ${name} passes on as one request is one request for the service`, async (t) => {
    const service = await build(t)
    const file = `${t.testdir({ log: '' })}/log`
    const { port, printed } = await gateways[name](t, [service], LOGS[name].replace('FILE', file))
    const passed = () =>
      (readFileSync(file, 'utf8') + printed.stdout).match(/^\d.*\n/gm)?.length ?? 0
    const served = () => service.log.filter(({ msg }) => msg === 'request').length
    const table = Object.entries(shapes(await service.token('gateway')))
    for (const [shape, [bytes]] of table) {
      await exchange(port, [Buffer.from(bytes, 'latin1')], Infinity, 300)
      // The two write their logs when they come to it.
      for (let left = 20; passed() !== served() && left > 0; left -= 1) await delay(20)
      if (passed() !== served())
        t.fail(`${shape}: ${passed()} are passed on, and ${served()} served`)
    }
    await delay(500) // for late answers
    t.equal(served(), passed())
    t.ok(served() > table.length / 4, 'which is not nothing')
  })
}
