// The service behind the gateways of deploy/: nginx, which takes a path prefix off, and HAProxy. Of bytes that programs
// frame differently, what the gateway takes for one request is one for the service.
import { readFileSync } from 'node:fs'
import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { shapes } from '../support/framing.ts'
import { type Answer, build, request } from '../support/helper.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/process.ts'
import { eventually, freePort, serveHttp } from '../support/project.ts'
import { exchange, readResponses } from '../support/responses.ts'
import { issueTokenIn } from '../support/tokens.ts'
import { gateways, startHaproxy, startNginx } from './gateways.ts'

const PREFIX = '/any/prefix'
/** For the log of each gateway, in FILE or printed: a line for a request begins with a digit if it was passed on. */
const LOGS = {
  nginx: "log_format passed '$upstream_status|$request'; access_log FILE passed;",
  HAProxy: '  log stdout format raw daemon\n  log-format %[srv_name,regsub(.+,200)]|%r\n',
}

/** Asserts that an answer has the headers of every response, and an Error of the contract. */
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
      // On a connection that was used before HAProxy closes instead, for the client to repeat it.
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

// The service's own answers to these are in ../engine/http/server.test.ts.
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
    await delay(500) // for what would come late
    t.equal(served(), passed())
    t.ok(served() > table.length / 4, 'which is not nothing')
  })
}
