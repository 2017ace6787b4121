// One request from its first byte to its line in the log: id, caller, address, early answers.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build, statusesOf } from '../../../../test/support/servers/start-product.ts'
import { connect } from '../../../../test/support/network/ports.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const { call, log, port, raw, token } = await build(t)
const secret = await token('eve')
const bearer = `Host: h\r\nAuthorization: Bearer ${secret}\r\n`
const get = `GET /plants HTTP/1.1\r\n${bearer}\r\n`
const chunked = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
const lines = () => log.filter(({ msg }) => msg === 'request')

/**
 * Waits for lines of the log. They are written at the end of the turn in which a response has
 * closed.
 */
const logged = (count: number) => eventually(() => lines().length >= count).then(lines)

t.test('the answer to what is no request is not taken for that to an earlier one', async (t) => {
  for (const [bytes, status] of [
    ['\x01\x02\r\n\r\n', 400],
    [`${chunked}ZZ\r\n`, 400],
    [`${chunked.replace(secret, 'wrong')}ZZ\r\n`, 401], // decided before the body is read
    ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 501],
  ] as const)
    t.strictSame(statusesOf(await raw(4, get + get + bytes)), [200, 200, status], bytes)
})

t.test(
  'each request is one line with its id, caller, route, status and time, and no token that was sent',
  async (t) => {
    log.length = 0
    await call({ path: '/plants?limit=1', token: secret, headers: { 'X-Request-Id': 'mine' } })
    await call({
      method: 'DELETE',
      path: '/plants/77',
      token: secret,
      headers: { 'X-Request-Id': 'gone' },
    })
    await call({ path: '/plants', headers: { 'X-Request-Id': 'nobody' } })
    await call({ method: 'TRACE', path: '/plants', headers: { 'X-Request-Id': 'trace' } })
    await raw(1, `BROKEN ${secret}\r\n\r\n`)
    await raw(1, `CONNECT ${secret}:1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: tunnel\r\n\r\n`)
    await raw(1, `${chunked.replace('Host', 'X-Request-Id: chunk\r\nHost')}ZZ\r\n`)
    await raw(1, `GET /plants HTTP/1.1\r\n${bearer}Broken : ${secret}\r\n\r\n`)
    await raw(1, `CONNECT a:1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: ${secret}\r\n\r\n`)
    await call({ path: `/%zz${secret}` })
    const lines = await logged(10)
    t.match(lines, [
      {
        reqId: 'mine',
        client: '127.0.0.1',
        caller: 'eve',
        method: 'GET',
        route: '/plants',
        status: 200,
        ms: Number,
      },
      {
        reqId: 'gone',
        caller: 'eve',
        method: 'DELETE',
        route: '/plants/:id',
        status: 404,
        ms: Number,
      },
      { reqId: 'nobody', method: 'GET', route: '/plants', status: 401, ms: Number },
      { reqId: 'trace', method: 'TRACE', status: 405, ms: Number },
      { reqId: /^[0-9a-f-]{36}$/, status: 400 },
      { reqId: 'tunnel', status: 501 },
      { reqId: 'chunk', caller: 'eve', route: '/plants', status: 400 },
      { status: 400 },
      { status: 501 },
      { method: 'GET', status: 400 },
    ])
    t.equal(lines.length, 10)
    t.notMatch(JSON.stringify(log), secret)
    t.notOk('caller' in (lines[2] ?? {}))
  },
)

t.test(
  'the client of the line is the address that a trusted gateway names, and no other text',
  async (t) => {
    for (const [TRUST_PROXY, forwarded, client] of [
      ['none', '192.0.2.7', '127.0.0.1'],
      ['10.0.0.0/8', '192.0.2.7', '127.0.0.1'],
      ['127.0.0.0/8', '198.51.100.9, 192.0.2.7', '192.0.2.7'], // the first is what the client sent
      ['127.0.0.0/8,192.0.2.0/24', '198.51.100.9, 192.0.2.7', '198.51.100.9'],
      ['127.0.0.0/8', secret, undefined],
      ['127.0.0.0/8', '203.0.113.9:41234', '203.0.113.9'],
      ['127.0.0.0/8', '[2001:db8::9]:41234', '2001:db8::9'],
      ['127.0.0.0/8', '[2001:db8::9]', '2001:db8::9'],
      ['127.0.0.0/8', '2001:db8::9', '2001:db8::9'],
      ['127.0.0.0/8,192.0.2.0/24', '198.51.100.9:5000, 192.0.2.7:443', '198.51.100.9'],
      ['127.0.0.1,2001:db8::/32', '198.51.100.9, [2001:db8::7]:443', '198.51.100.9'],
      ['127.0.0.1,10.0.0.0/8', '198.51.100.9, ::ffff:10.0.0.7', '198.51.100.9'],
      ['127.0.0.0/8', '203.0.113.9:', undefined],
      ['127.0.0.0/8', '203.0.113.999:80', undefined],
      ['127.0.0.0/8', 'unknown', undefined],
    ] as const) {
      const { call, log } = await build(t, { TRUST_PROXY })
      await call({ path: '/nowhere', headers: { 'X-Forwarded-For': forwarded } })
      await eventually(() => log.some(({ msg }) => msg === 'request'))
      t.equal(
        log.find(({ msg }) => msg === 'request')?.['client'],
        client,
        `${TRUST_PROXY}: ${forwarded}`,
      )
    }
  },
)

t.test('a request that its client gives up is logged as aborted', async (t) => {
  log.length = 0
  const { socket } = await connect(t, port)
  socket.write(`${chunked.replace('Host', 'X-Request-Id: half\r\nHost')}1\r\n`)
  await delay(100)
  socket.destroy()
  t.match(await logged(1), [{ reqId: 'half', caller: 'eve', aborted: true }])
  t.equal(log.length, 1, 'it is no fault of the service')
})
