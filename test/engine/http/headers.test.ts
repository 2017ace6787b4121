import t from 'tap'
import { type Answer, build } from '../../support/helper.ts'

const { call, raw, token } = await build(t)
const demo = await token('headers')

t.test('every response has the standard headers and echoes X-Request-Id, whoever makes it', async (t) => {
  const headers = { 'X-Request-Id': 'my.id_1-2' }
  const json = { method: 'POST', path: '/plants', token: demo, headers }
  const host = 'Host: h\r\nX-Request-Id: my.id_1-2\r\n'
  const answers: Record<string, [status: number, answer: Promise<Answer | undefined>]> = {
    list: [200, call({ path: '/plants', token: demo, headers })],
    head: [200, call({ method: 'HEAD', path: '/plants', token: demo, headers })],
    create: [200, call({ ...json, body: { id: 1, name: 'x' } })],
    options: [204, call({ method: 'OPTIONS', path: '/plants', headers })],
    invalid: [400, call({ ...json, body: {} })],
    unauthorized: [401, call({ path: '/plants', headers })],
    'not found': [404, call({ path: '/nowhere', headers })],
    'not allowed': [405, call({ method: 'TRACE', path: '/plants', headers })],
    'too large': [413, call({ ...json, body: 'x'.repeat(16_385) })],
    'bad URL': [400, call({ path: '/plants/%zz', headers })],
    'no Host': [400, raw(1, `GET /plants HTTP/1.1\r\n${host.slice(9)}\r\n`).then(([answer]) => answer)],
    expectation: [417, raw(1, `GET /plants HTTP/1.1\r\n${host}Expect: x\r\n\r\n`).then(([answer]) => answer)],
    connect: [501, raw(1, `CONNECT a:1 HTTP/1.1\r\n${host}\r\n`).then(([answer]) => answer)],
  }
  for (const [name, [status, promise]] of Object.entries(answers)) {
    const answer = await promise
    t.equal(answer?.status, status, name)
    t.match(
      answer?.headers,
      {
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': 'my.id_1-2',
      },
      name,
    )
  }
})

t.test('an X-Request-Id of another pattern, or that holds a token, is replaced by a new id', async (t) => {
  const ids = new Set<unknown>()
  const unfit = ['', ' ', 'a b', 'a/b', 'é', 'x'.repeat(65), 'a,b', demo, `x.${demo}`]
  for (const id of unfit) {
    const { headers } = await call({ path: '/nowhere', headers: { 'X-Request-Id': id } })
    t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/)
    ids.add(headers['x-request-id'])
  }
  const { headers } = await call({ path: '/nowhere', headers: ['X-Request-Id', 'a', 'X-Request-Id', 'b'] })
  t.match(headers['x-request-id'], /^[0-9a-f-]{36}$/, 'two of them')
  t.equal(ids.size, unfit.length)
  const longest = 'x'.repeat(64)
  const { headers: echoed } = await call({ path: '/nowhere', headers: { 'X-Request-Id': longest } })
  t.equal(echoed['x-request-id'], longest)
})

t.test('what the HTTP parser refuses has them too', async (t) => {
  for (const bytes of ['BROKEN\r\n\r\n', `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`]) {
    const [answer] = await raw(1, bytes)
    t.match(answer?.headers, { date: /GMT$/, connection: 'close', 'x-request-id': /^[0-9a-f-]{36}$/ })
  }
})
