// Bytes on a connection, and the answers: framing, targets, methods, and bytes that are no request.
import net from 'node:net'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { shapes, SMUGGLED } from '../../../../test/support/network/framing-shapes.ts'
import { build, statusesOf } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const { app, call, log, port, raw, token } = await build(t)
const secret = await token('http')
const bearer = `Host: h\r\nAuthorization: Bearer ${secret}\r\n`
const post = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\n`
const get = `GET /plants HTTP/1.1\r\n${bearer}`
const list = `${get}\r\n`
const json = '{"id":5,"name":"xyz"}'
const expecting = `${post}Expect: 100-continue\r\nContent-Length: 21\r\n\r\n`

/**
 * Bytes by name, with the statuses of their answers. As in framing.ts, a 404 at the end shows a
 * kept connection.
 */
const requests: Record<string, readonly [bytes: string | Buffer, ...statuses: number[]]> = {
  'no Host': [`GET /plants HTTP/1.1\r\n\r\n`, 400, 404],
  'two Hosts': [`GET /plants HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n`, 400, 404],
  'a bad Host': [`GET /plants HTTP/1.1\r\nHost: a b/c\r\n\r\n`, 400, 404],
  'user information in Host': [`GET /plants HTTP/1.1\r\nHost: u@a\r\n\r\n`, 400, 404],
  'an empty Host': [`GET /plants HTTP/1.1\r\nHost:\r\n${bearer.slice(9)}\r\n`, 200, 404],
  'a Host of another name': [list.replace('Host: h', 'Host: other.example:99'), 200, 404],
  'HTTP/1.0 without Host': [`GET /plants HTTP/1.0\r\n${bearer.slice(9)}\r\n`, 200],
  'HTTP/1.0 with keep-alive': [
    `GET /plants HTTP/1.0\r\nConnection: keep-alive\r\n${bearer}\r\n`,
    200,
    404,
  ],
  'HTTP/0.9': [`GET /plants\r\n\r\n`, 505],
  'HTTP/0.9, by name': [list.replace('1.1', '0.9'), 505],
  'HTTP/1.2': [list.replace('1.1', '1.2'), 505],
  'HTTP/2.0': [list.replace('1.1', '2.0'), 505],
  'HTTP/2.0 with keep-alive': [get.replace('1.1', '2.0') + 'Connection: keep-alive\r\n\r\n', 505],
  'a version of one digit': [list.replace('1.1', '1'), 400],
  'HTTP/2 preface': [`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, 400],
  TLS: [Buffer.from('16030100a5010000a10303', 'hex'), 400],
  'a header of 20,000 bytes': [`${get}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431],
  '100 headers': [`${get}${'X: a\r\n'.repeat(98)}\r\n`, 200, 404],
  '101 headers': [`${get}${'X: a\r\n'.repeat(99)}\r\n`, 431, 404],
  'a path of 20,000 bytes': [`DELETE /plants/${'1'.repeat(20_000)} HTTP/1.1\r\n${bearer}\r\n`, 431],
  'invalid UTF-8 in a query, without a token': [
    `GET /plants?x=%FF HTTP/1.1\r\nHost: h\r\n\r\n`,
    401,
    404,
  ],
  'CONNECT behind the last answer': [
    `${get}Connection: close\r\n\r\nCONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n`,
    200,
  ],
  // The server asks for the body only if it wants it.
  'Expect, and requests behind it': [expecting + json + list + list, 100, 200, 200, 200, 404],
  'Expect behind a request': [list + expecting + json + list, 200, 100, 200, 200, 404],
  'Expect without a valid token': [
    expecting.replace(/Bearer .*/, 'Bearer wrong') + json + list,
    401,
  ],
  'Expect with another media type': [expecting.replace('application/json', 'text/plain'), 415],
  'Expect with a length that is refused': [expecting.replace('Length: 21', 'Length: 16385'), 413],
  'Expect without a body': [expecting.replace('Length: 21', 'Length: 0'), 400],
  'Expect and Upgrade': [
    expecting.replace('Expect', 'Connection: upgrade\r\nUpgrade: x\r\nExpect') + json,
    100,
    200,
  ],
  'Expect twice': [`${get}Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n`, 417],
}

/** Methods and targets with ` | ` between, and the answers. test/README.md says why. */
const targets: [texts: string, ...statuses: number[]][] = [
  ['GET /plants?x=/../y', 200, 404],
  ['OPTIONS *', 204, 404],
  [
    'DELETE /plants/7%2F | DELETE /plants/... | DELETE /plants/7%00 | DELETE /plants/%C0%B7',
    400,
    404,
  ],
  [
    'GET /pl%FFants | GET /plants?x=%FF | DELETE /plants/%2B7 | GET http://other/plants?limit=0',
    400,
    404,
  ],
  [
    'GET /plants#x | GET /plants# | GET http://h/plants#x | GET http://u@h/plants | GET http:///plants',
    400,
    404,
  ],
  [
    'GET /sec%ret | GET http://h/sec#x | GET http:///sec | GET http://sec@h/ | GET http://h:sec/',
    400,
    404,
  ],
  ['GET plants | GET /pl\u00e4nts | GET \\\\plants | GET http://h#x | GET #x', 400],
  ['FOO /plants | get /plants', 400],
  [
    'GET ftp://other/plants | QUERY ftp://other/plants | GET /nowhere/http://u@h/ | GET * | GET /%2570lants',
    404,
    404,
  ],
  ['GET /%2E%2E/plants | GET /../plants | GET /./plants | GET /plants%3Flimit=1', 404, 404],
  ['DELETE /plants/.. | DELETE /plants/.%2e?x | DELETE http://h/plants/%2E', 404, 404],
  [
    'GET // | POST /plants/ | DELETE /plants/ | DELETE /plants/7/ | OPTIONS /plants/7/x | TRACE /nowhere',
    404,
    404,
  ],
  [
    'GET //plants | POST /Plants | GET /plants;x=1 | DELETE /plants%2f7 | GET /plants%00 | GET /metrics',
    404,
    404,
  ],
  ['POST / | QUERY /%70lants', 405, 404],
]
for (const [texts, ...statuses] of targets) {
  const isOperation = ![204, 404, 405].includes(statuses[0] ?? 0) // all else needs no token
  for (const text of texts.split(' | '))
    requests[text] = [
      `${text} HTTP/1.1\r\n${isOperation ? bearer : 'Host: h\r\n'}\r\n`,
      ...statuses,
    ]
}

const framed = shapes(secret)
for (const [name, [bytes, ...statuses]] of [
  ...Object.entries(framed),
  ...Object.entries(requests),
]) {
  t.test(`${name}: ${statuses.join(', ')}`, async (t) => {
    log.length = 0
    const answers = await raw(Infinity, bytes, name in framed ? '' : SMUGGLED)
    t.strictSame(statusesOf(answers), statuses)
    for (const { text } of answers)
      t.notMatch(text, /sec|smuggled/, 'no refusal repeats its target')
    const logged = () => log.filter(({ msg }) => msg === 'request').map(({ status }) => status)
    const expected = statuses.filter((status) => status !== 100)
    await eventually(() => logged().length >= expected.length)
    await delay(10) // for requests served without an answer
    // One answer is one line: if it is no request for the client, it is none for the operator.
    t.strictSame(logged(), expected)
  })
}

t.test('a refusal comes before a byte of the body is read', async (t) => {
  for (const [head, status] of [
    ['POST /plants HTTP/1.1', 401],
    ['POST /plants HTTP/1.1\r\nAuthorization: Bearer wrong', 401],
    ['POST /plants HTTP/1.1\r\nContent-Type: text/plain', 401],
    ['TRACE /plants HTTP/1.1\r\nContent-Type: x/y', 405],
  ] as const)
    t.strictSame(
      statusesOf(await raw(1, `${head}\r\nHost: h\r\nContent-Length: 9000000\r\n\r\n`)),
      [status],
      head,
    )
})

t.test('a path without parameters goes before a template that it fits', async (t) => {
  const id = '{ name: id, in: path, required: true, schema: { type: string } }'
  const done = "responses: { '200': { description: Done, content: { application/json: {} } } }"
  const app = await boot(t, {
    yaml: `paths:
  /plants/{id}: { delete: { operationId: remove, parameters: [${id}], ${done} } }
  /plants/search: { post: { operationId: search, ${done} } }
  /plants/{id}.csv: { get: { operationId: write, parameters: [${id}], ${done} } }\n`,
  })
  for (const [method, url, status, allow] of [
    ['POST', '/plants/search', 200, undefined],
    ['DELETE', '/plants/7', 200, undefined],
    ['DELETE', '/plants/search', 405, 'OPTIONS, POST'],
    ['POST', '/plants/7', 405, 'DELETE, OPTIONS'],
    // Methods that no path has:
    ['TRACE', '/plants/search', 405, 'OPTIONS, POST'],
    ['OPTIONS', '/plants/search', 204, 'OPTIONS, POST'],
    ['PATCH', '/plants/7.csv', 405, 'GET, HEAD, OPTIONS'],
    ['PATCH', '/plants/7%2Ecsv', 405, 'DELETE, OPTIONS'],
    ['QUERY', 'http://host/%70lants/7%2F8?x=/y', 405, 'DELETE, OPTIONS'],
    ['QUERY', '/plants/', 404, undefined],
    ['QUERY', '/plants/7/8', 404, undefined],
  ] as const) {
    const { statusCode, headers } = await app.inject({ method, url })
    t.strictSame([statusCode, headers['allow']], [status, allow], `${method} ${url}`)
  }
})

t.test('an answer has the X-Request-Id of its request, whoever makes it', async (t) => {
  for (const [head, status] of [
    [get, 200],
    ['GET /plants HTTP/1.1\r\nHost: h\r\n', 401],
    ['TRACE /plants HTTP/1.1\r\nHost: h\r\n', 405],
    ['OPTIONS /plants HTTP/1.1\r\nHost: h\r\n', 204],
    ['DELETE /plants/%zz HTTP/1.1\r\nHost: h\r\n', 400],
    ['GET /plants HTTP/1.1\r\n', 400],
    [`${get}Expect: x\r\n`, 417],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n', 501],
  ] as const)
    t.match(await raw(1, `${head}X-Request-Id: my.id\r\n\r\n`), [
      { status, headers: { 'x-request-id': 'my.id' } },
    ])
})

t.test(
  'an X-Request-Id of another pattern, or that holds a token, is replaced by a new id',
  async (t) => {
    const idFor = async (...ids: string[]) => {
      const headers = ids.flatMap((id) => ['X-Request-Id', id])
      return String((await call({ path: '/nowhere', headers })).headers['x-request-id'])
    }
    const unfit = ['', ' ', 'a b', 'a/b', 'é', 'x'.repeat(65), 'a,b', secret, `x.${secret}`]
    const ids = await Promise.all([...unfit.map((id) => idFor(id)), idFor('a', 'b')])
    for (const id of ids) t.match(id, /^[0-9a-f-]{36}$/)
    t.equal(new Set(ids).size, ids.length)
    t.equal(await idFor('x'.repeat(64)), 'x'.repeat(64))
  },
)

t.test('a refusal that a library throws has its status, but not its message', async (t) => {
  for (const [statusCode, message] of [
    [413, 'Payload Too Large'],
    [499, 'The request is refused'], // HTTP has no such status
  ] as const) {
    const refuse = () => Promise.reject(Object.assign(new Error('secret'), { statusCode }))
    const app = await boot(t, { yaml: '', run: refuse })
    t.strictSame((await app.inject('/x')).json(), { error: statusCode, message })
  }
})

t.test('what nobody foresaw is 500 and says nothing; the log has it all', async (t) => {
  const { call, log, token } = await build(t)
  const demo = await token('broken')
  new DatabaseSync(`${t.testdirName}/plants.db`).exec('DROP TABLE plants')
  const answer = await call({ path: '/plants', token: demo, failing: true })
  t.match(answer, { status: 500, json: { error: 500, message: 'Internal Server Error' } })
  const faults = log.filter(({ level }) => level === 50)
  t.match(faults, [{ err: { message: /no such table/, stack: /store\/src\/sqlite/ } }])
})

t.test('a CONNECT that is reset ends neither the process nor the service', async (t) => {
  for (let count = 0; count < 20; count += 1) {
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    socket.write(`CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`)
    if (count % 2 === 0) await delay(1)
    socket.resetAndDestroy()
  }
  await delay(50)
  t.equal((await call({ path: '/nowhere' })).status, 404)
})

t.test('a CONNECT held half open does not outlive the server', async (t) => {
  const socket = net
    .connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    .on('error', () => undefined)
  socket.write(`CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(socket, 'data')
  await app.close()
  t.pass('closed')
  socket.destroy()
})
