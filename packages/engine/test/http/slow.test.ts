// Clients that read slowly, or not at all.
import net from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { build, statusesOf } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const { call, log, port, raw, store, token } = await build(t, {
  HEADERS_TIMEOUT: '0.3',
  REQUEST_TIMEOUT: '0.6',
  STALL_TIMEOUT: '1',
})
const secret = await token('slow')
const post = `POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`

t.test('what is sent in part is 408, and nothing is stored', async (t) => {
  for (const bytes of [
    'GET /pla',
    'GET /plants HTTP/1.1\r\nHost: h\r\nX: a',
    `${post}Content-Length: 21\r\n\r\n{"id":1,`,
    `${post}Transfer-Encoding: chunked\r\n\r\n15\r\n{"id":1,`,
    `${post}Expect: 100-continue\r\nContent-Length: 21\r\n\r\n`,
  ]) {
    const answers = (await raw(3, bytes)).filter(({ status }) => status !== 100)
    t.match(answers, [{ status: 408, headers: { connection: 'close' } }], bytes)
    t.equal(answers.length, 1)
  }
  t.strictSame((await call({ path: '/plants', token: secret })).json, [])
})

t.test('bytes that drip in do not prolong the time', async (t) => {
  const drip = Array.from({ length: 10 }, () => ['a', 100]).flat()
  t.strictSame(statusesOf(await raw(2, 'GET /plants HTTP/1.1\r\nX: ', ...drip)), [408])
})

t.test(
  'half a second request is answered after the first, and a body that was refused is not',
  async (t) => {
    t.strictSame(
      statusesOf(await raw(3, 'GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\nGET /plants HT')),
      [404, 408],
    )
    t.strictSame(
      statusesOf(await raw(2, `${post.replace(secret, 'wrong')}Content-Length: 21\r\n\r\n`)),
      [401],
    )
  },
)

/** Asks for a list, some times on one connection, and reads nothing by itself. */
function ask(port: number, token: string, times = 1, more = ''): net.Socket {
  const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
  socket.write(
    `GET /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(times) +
      more,
  )
  return socket.pause()
}

t.test('a client that takes nothing of its answer is cut', async (t) => {
  const name = '🌱'.repeat(255)
  await Promise.all(
    Array.from({ length: 20_000 }, (_, id) => store.create('slow', BigInt(id), { name })),
  )
  for (const more of ['', 'CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n']) {
    log.length = 0
    const socket = ask(port, secret, 1, more)
    await once(socket, 'connect')
    await eventually(() => log.length > 0)
    socket.destroy()
    t.match(log.at(-1), { caller: 'slow', aborted: true }, more)
  }
})

/**
 * Lists by the number of items, the name of each, and the number of requests: too much for the
 * system's buffers.
 */
const lists = {
  'answers in one piece': [9000, 'x'.repeat(80), 20],
  'a list in pieces': [20_000, '🌱'.repeat(255), 1],
} as const
for (const [what, [count, name, times]] of Object.entries(lists)) {
  t.test(
    `a client that takes ${what} too slowly is cut, though it takes some all the time`,
    async (t) => {
      const { log, port, store, token } = await build(t, { ANSWER_TIMEOUT: '1' })
      await Promise.all(
        Array.from({ length: count }, (_, id) => store.create('slow', BigInt(id), { name })),
      )
      const socket = ask(port, await token('slow'), times)
      const reader = setInterval(() => socket.read(1000), 10)
      await eventually(() =>
        log.some(
          ({ msg, caller, aborted }) => msg === 'request' && caller === 'slow' && aborted === true,
        ),
      )
      clearInterval(reader)
      socket.destroy()
      const broken = log.find(({ msg }) => msg === 'response broken off')
      t.match(broken, { level: 40, reason: 'the client did not take the answer in time' })
    },
  )
}
