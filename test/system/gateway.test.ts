// The service behind the gateways of deploy/: nginx, which takes a path prefix off, and HAProxy.
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import t, { type Test } from 'tap'
import { type Answer, build, request } from '../support/helper.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/process.ts'
import { eventually, freePort } from '../support/project.ts'
import { exchange, readResponses } from '../support/responses.ts'
import { issueTokenIn } from '../support/tokens.ts'
import { gateways, startHaproxy, startNginx } from './gateways.ts'

const PREFIX = '/any/prefix'

/** Asserts that an answer has the headers of every response, and an Error of the contract. */
function assertError(t: Test, what: string, answer: Pick<Answer, 'status' | 'headers' | 'text'>, status: number): void {
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
    const broken = net.createServer((socket) => socket.once('data', () => socket.end()))
    await once(broken.listen(0, '127.0.0.1'), 'listening')
    t.teardown(() => broken.close())
    const { port } = broken.address() as net.AddressInfo
    const absent = name === 'nginx' ? 502 : 503
    for (const [what, replica, status] of [
      ['nobody listens', await freePort(), absent],
      ['it does not answer', port, 502],
    ] as const) {
      const gateway = await start(t, [{ port: replica }])
      // On a connection that was used before HAProxy closes instead, for the client to repeat it.
      for (const method of ['GET', 'POST', 'DELETE', 'HEAD']) {
        const answer = await request(gateway.port, { method, path: '/plants' })
        assertError(t, `${method}: ${what}`, answer, status)
      }
    }
  })
}

t.test('while PostgreSQL is away HAProxy passes requests on, for the replicas to answer', async (t) => {
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
})

t.test('nginx takes the prefix off, names the client, and answers with an Error of the contract', async (t) => {
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
    const [answer] = readResponses(await exchange(port, [[first, 'Host: h', ...more, '\r\n'].join('\r\n')], 1))
    if (answer === undefined) t.fail(`${what} is not answered`)
    else assertError(t, what, answer, status)
    t.notMatch(answer?.text, 'try again later', what)
  }
})
