// The service behind the gateways of deploy/: nginx, which takes a path prefix off, and HAProxy.
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { build } from '../support/helper.ts'
import { startPostgres } from '../support/postgres.ts'
import { startService } from '../support/process.ts'
import { eventually, freePort } from '../support/project.ts'
import { issueTokenIn } from '../support/tokens.ts'
import { gateways, startHaproxy, startNginx } from './gateways.ts'

const PREFIX = '/any/prefix'

/** Asserts that an answer has the headers of every response, and an Error of the contract. */
async function assertError(t: Test, what: string, answer: Response, status: number, isEmpty = false): Promise<void> {
  t.equal(answer.status, status, what)
  t.match(Object.fromEntries(answer.headers), {
    'content-type': /^application\/json/,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-request-id': /^[A-Za-z0-9._-]{1,64}$/,
  })
  t.equal(answer.headers.get('retry-after'), status > 500 ? '1' : null, what)
  if (isEmpty) t.equal(await answer.text(), '', what)
  else t.match(await answer.json(), { error: status, message: /^[A-Z]/ }, what)
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
      const headers = { Connection: 'close' }
      const ask = async (method: string) => {
        const answer = await fetch(`http://127.0.0.1:${gateway.port}/plants`, { method, headers })
        await assertError(t, `${method}: ${what}`, answer, status, method === 'HEAD')
      }
      await Promise.all(['GET', 'POST', 'DELETE', 'HEAD'].map(ask))
    }
  })
}

t.test('while PostgreSQL is away HAProxy passes requests on, for the replicas to answer', async (t) => {
  const server = await startPostgres(t)
  const DATABASE_URL = await server.createDatabase()
  const environment = { DATABASE_URL, DATABASE_TIMEOUT: '1' }
  const replicas = await Promise.all([0, 1].map(() => startService(t, environment)))
  const headers = { Authorization: `Bearer ${await issueTokenIn({ url: DATABASE_URL })}` }
  const gateway = await startHaproxy(t, replicas)
  const get = (path: string, headers = {}) => fetch(`http://127.0.0.1:${gateway.port}${path}`, { headers })
  await eventually(async () => (await get('/plants', headers)).status === 200)

  await server.crash()
  await eventually(() => gateway.printed.stderr.includes('Running on backup'))
  t.equal((await get('/openapi.yaml')).status, 200)
  t.equal((await get('/plants')).status, 401)
  const refused = await get('/plants', headers)
  await assertError(t, 'without PostgreSQL', refused, 503)
  const line = `"reqId":"${refused.headers.get('x-request-id')}"`
  await eventually(() => replicas.some(({ printed }) => printed.stdout.includes(line))) // not HAProxy answered
  await server.start()
  await eventually(async () => (await get('/plants', headers)).status === 200)
})

t.test('nginx takes the prefix off, names the client, and answers with an Error of the contract', async (t) => {
  const service = await build(t, { TRUST_PROXY: '127.0.0.1' })
  const { port } = await startNginx(t, [service], PREFIX)
  const url = `http://127.0.0.1:${port}`
  const headers = { 'X-Forwarded-For': '192.0.2.1' }
  http.get(`${url}${PREFIX}/plants`, { localAddress: '127.0.0.7', agent: false, headers }, (answer) => answer.resume())
  const seen = () => service.log.find(({ msg }) => msg === 'request')
  await eventually(() => seen() !== undefined)
  t.match(seen(), { client: '127.0.0.7', route: '/plants', status: 401 })

  await assertError(t, 'no token', await fetch(`${url}${PREFIX}/plants?limit=%zz`), 401)
  await assertError(t, 'no such path', await fetch(`${url}${PREFIX}/nowhere`), 404)
  await assertError(t, 'outside of the prefix', await fetch(`${url}/plants`), 404)
  const body = 'x'.repeat(2_000_000)
  await assertError(t, 'a long body', await fetch(`${url}${PREFIX}/plants`, { method: 'POST', body }), 413)
  await assertError(t, 'a long target', await fetch(`${url}${PREFIX}/${'x'.repeat(10_000)}`), 414)
  await assertError(t, 'long headers', await fetch(`${url}${PREFIX}/`, { headers: { a: 'x'.repeat(10_000) } }), 431)
  for (const [lines, status] of [
    ['BROKEN', 400],
    [`TRACE ${PREFIX}/plants HTTP/1.1\r\nHost: h`, 405],
    [`POST ${PREFIX}/plants HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip`, 501],
    [`GET ${PREFIX}/plants HTTP/3.0\r\nHost: h`, 505],
  ] as const) {
    const socket = net.connect(port, '127.0.0.1')
    socket.end(`${lines}\r\n\r\n`)
    const answer = await text(socket)
    t.match(answer, new RegExp(`^HTTP/1.1 ${status} [^]*{"error":${status},"message":"`))
    t.notMatch(answer, 'try again later')
  }
})
