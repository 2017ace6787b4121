import net from 'node:net'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build } from '../../support/helper.ts'

const { app, call, port, raw, token } = await build(t)
const bearer = `Host: h\r\nAuthorization: Bearer ${await token('http')}\r\n`
const post = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\n`
const get = `GET /plants HTTP/1.1\r\n${bearer}`
const json = '{"id":5,"name":"xyz"}'

/** What a client sends by name (for the framing of bodies see framing.ts), the status, and whether the connection is kept. */
const requests: Record<string, [bytes: string | Buffer, status: number, connection: 'kept' | 'closed']> = {
  'no Host': [`GET /plants HTTP/1.1\r\n\r\n`, 400, 'kept'],
  'two Hosts': [`GET /plants HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n`, 400, 'kept'],
  'a bad Host': [`GET /plants HTTP/1.1\r\nHost: a b/c\r\n\r\n`, 400, 'kept'],
  'user information in Host': [`GET /plants HTTP/1.1\r\nHost: u@a\r\n\r\n`, 400, 'kept'],
  'an empty Host': [`GET /plants HTTP/1.1\r\nHost:\r\n${bearer.slice(9)}\r\n`, 200, 'kept'],
  'HTTP/1.0 without Host': [`GET /plants HTTP/1.0\r\n${bearer.slice(9)}\r\n`, 200, 'closed'],
  'HTTP/1.0 with keep-alive': [`GET /plants HTTP/1.0\r\nConnection: keep-alive\r\n${bearer}\r\n`, 200, 'kept'],
  'HTTP/0.9': [`GET /plants\r\n\r\n`, 505, 'closed'],
  'HTTP/0.9, by name': [get.replace('1.1', '0.9') + '\r\n', 505, 'closed'],
  'HTTP/1.2': [get.replace('1.1', '1.2') + '\r\n', 505, 'closed'],
  'HTTP/2.0': [get.replace('1.1', '2.0') + '\r\n', 505, 'closed'],
  'HTTP/2.0 with keep-alive': [get.replace('1.1', '2.0') + 'Connection: keep-alive\r\n\r\n', 505, 'closed'],
  'a version of one digit': [get.replace('1.1', '1') + '\r\n', 400, 'closed'],
  'HTTP/2 preface': [`PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, 400, 'closed'],
  TLS: [Buffer.from('16030100a5010000a10303', 'hex'), 400, 'closed'],
  'absolute form, of a request that is otherwise invalid': [
    `GET http://other/plants?limit=0 HTTP/1.1\r\n${bearer}\r\n`,
    400,
    'kept',
  ],
  'no slash before the path': [`GET plants HTTP/1.1\r\n${bearer}\r\n`, 400, 'closed'],
  'a path that is not ASCII': [`GET /pl\u00e4nts HTTP/1.1\r\n${bearer}\r\n`, 400, 'closed'],
  'empty lines before a request that is otherwise invalid': [
    `\r\n\r\n${get.replace('plants', 'plants?limit=0')}\r\n`,
    400,
    'kept',
  ],
  'a header of 20,000 bytes': [`${get}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, 'closed'],
  '100 headers': [`${get}${'X: a\r\n'.repeat(98)}\r\n`, 200, 'kept'],
  '101 headers': [`${get}${'X: a\r\n'.repeat(99)}\r\n`, 431, 'kept'],
  'a path of 20,000 bytes': [`DELETE /plants/${'1'.repeat(20_000)} HTTP/1.1\r\n${bearer}\r\n`, 431, 'closed'],
  'an Expect that is not met': [`${post}Expect: foo\r\nContent-Length: 21\r\n\r\n`, 417, 'closed'],
  'Expect twice': [`${get}Expect: 100-continue\r\nExpect: 100-continue\r\n\r\n`, 417, 'closed'],
  'Upgrade to h2c': [`${get}Connection: upgrade\r\nUpgrade: h2c\r\n\r\n`, 200, 'closed'],
  'a Host of another name': [`${get.replace('Host: h', 'Host: other.example:99')}\r\n`, 200, 'kept'],
  'an absolute form of another host and port': [`GET http://other:99/plants HTTP/1.1\r\n${bearer}\r\n`, 200, 'kept'],
  'an absolute form of another scheme': [`GET ftp://other/plants HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'user information in an absolute form': [`GET http://u@h/plants HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'an at sign in a path': [`GET /nowhere/http://u@h/ HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'an absolute form without a host': [`GET http:///plants HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'OPTIONS of the server': [`OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n`, 204, 'kept'],
  'GET of the server': [`GET * HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'two Authorizations': [`${get}Authorization: Bearer x\r\n\r\n`, 401, 'kept'],
  'two X-Request-Ids': [`${get}X-Request-Id: a\r\nX-Request-Id: b\r\n\r\n`, 200, 'kept'],
  TRACE: [`TRACE /plants HTTP/1.1\r\n${bearer}\r\n`, 405, 'kept'],
  'TRACE of an unknown path': [`TRACE /nowhere HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'Upgrade to websocket': [
    `${get}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    200,
    'closed',
  ],
  '%2F between plants and an id': [`DELETE /plants%2F7 HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  '%2F in an id': [`DELETE /plants/7%2F HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  '%2E%2E before plants': [`GET /%2E%2E/plants HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'dots before plants': [`GET /../plants HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'two dots in the place of an id': [`DELETE /plants/.. HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'encoded dots in the place of an id': [`DELETE /plants/.%2e?x HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'a dot before a path': [`GET /./plants HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'dots in the path of an absolute form': [`DELETE http://h/plants/%2E HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'three dots in the place of an id': [`DELETE /plants/... HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'dots in a query': [`GET /plants?x=/../y HTTP/1.1\r\n${bearer}\r\n`, 200, 'kept'],
  '%3F in the place of a question mark': [`GET /plants%3Flimit=1 HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'a backslash in the place of a slash': [`GET \\\\plants HTTP/1.1\r\n${bearer}\r\n`, 400, 'closed'],
  '%00 in a path': [`GET /plants%00 HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  '%00 in an id': [`DELETE /plants/7%00 HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'invalid UTF-8 in a path': [`GET /pl%FFants HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'invalid UTF-8 in an id': [`DELETE /plants/%C0%B7 HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'invalid UTF-8 in a query': [`GET /plants?x=%FF HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'twice encoded': [`GET /%2570lants HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'a fragment': [`GET /plants#x HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'an empty fragment': [`GET /plants# HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'a fragment of an absolute form': [`GET http://h/plants#x HTTP/1.1\r\n${bearer}\r\n`, 400, 'kept'],
  'a fragment of an absolute form without a path': [`GET http://h#x HTTP/1.1\r\n${bearer}\r\n`, 400, 'closed'],
  'a fragment without a path': [`GET #x HTTP/1.1\r\n${bearer}\r\n`, 400, 'closed'],
  'invalid UTF-8 in a query of an unknown path': [`GET /nowhere?x=%FF HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  'invalid UTF-8 in a query, without a token': [`GET /plants?x=%FF HTTP/1.1\r\nHost: h\r\n\r\n`, 401, 'kept'],
  '%23 in the place of a number sign': [`GET /plants%23x HTTP/1.1\r\n${bearer}\r\n`, 404, 'kept'],
  CONNECT: [`CONNECT a:80 HTTP/1.1\r\nHost: a\r\nX-Request-Id: c\r\n\r\n`, 501, 'closed'],
  'a folded header': [`${get}X: a\r\n b\r\n\r\n`, 400, 'closed'],
  'a bare LF': [`${get}X: a\n\r\n`, 400, 'closed'],
  'a bare CR': [`${get}X: a\rY: b\r\n\r\n`, 400, 'closed'],
  'a space before the colon': [`${get}X : a\r\n\r\n`, 400, 'closed'],
  'NUL in a header': [`${get}X: a\0b\r\n\r\n`, 400, 'closed'],
}

for (const [name, [bytes, status, connection]] of Object.entries(requests)) {
  t.test(`${name}: ${status}, and the connection is ${connection}`, async (t) => {
    // A second answer comes only if the connection is kept.
    const answers = await raw(2, bytes, 50, `GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n`)
    t.strictSame(
      answers.map((each) => each.status),
      connection === 'kept' ? [status, 404] : [status],
    )
  })
}

t.test('with Expect: 100-continue, the body is asked for, and only if it is wanted', async (t) => {
  const head = `${post}Expect: 100-continue\r\nContent-Length: 21\r\n\r\n`
  const statuses = async (...parts: string[]) => (await raw(2, ...parts)).map(({ status }) => status)
  t.strictSame(await statuses(head, json), [100, 200])
  t.strictSame(await statuses(head.replace(/Bearer .*/, 'Bearer wrong')), [401], '401 without 100, closed')
  t.strictSame(await statuses(head.replace('application/json', 'text/plain')), [415])
  t.strictSame(await statuses(head.replace('Length: 21', 'Length: 16385')), [413], 'a length that is refused')
  t.strictSame(await statuses(head.replace('Length: 21', 'Length: 0'), `${get}\r\n`), [400], 'there is none')
  const upgrade = head.replace('Expect', 'Connection: upgrade\r\nUpgrade: websocket\r\nExpect')
  t.strictSame(
    (await raw(3, upgrade, json, `${get}\r\n`)).map(({ status }) => status),
    [100, 200],
    'closed after an Upgrade, too',
  )
})

t.test('no refusal of a target repeats it', async (t) => {
  for (const target of ['/sec%ret', 'http://h/secret#x', 'http:///secret', 'http://secret@h/', 'http://h:secret/']) {
    const [answer] = await raw(1, `GET ${target} HTTP/1.1\r\n${bearer}\r\n`)
    t.equal(answer?.status, 400, target)
    t.notMatch(answer?.text, /sec/, target)
  }
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
  const socket = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined)
  socket.write(`CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n`)
  await once(socket, 'data')
  await app.close()
  t.pass('closed')
  socket.destroy()
})
