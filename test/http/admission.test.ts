import net from 'node:net'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { Gate } from '../../service/http/admission.ts'
import { build } from '../support/helper.ts'

/** Keeps the event loop busy for milliseconds. */
function work(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

t.test('of many requests at once 64 begin in each turn, in order, and none is refused', async (t) => {
  const traffic = { shed: 0 }
  const gate = new Gate(pino({ level: 'silent' }), traffic)
  const begun: number[] = []
  for (let id = 0; id < 200; id++) gate.pass(() => void begun.push(id))
  const turns: number[] = []
  while (begun.length < 200) {
    turns.push(begun.length)
    await new Promise(setImmediate)
  }
  t.strictSame(turns, [64, 128, 192])
  t.strictSame(
    begun,
    Array.from({ length: 200 }, (_, id) => id),
  )
  t.equal(traffic.shed, 0)
})

t.test('one that has waited too long is refused, and one that comes then begins', async (t) => {
  const lines: Record<string, unknown>[] = []
  const traffic = { shed: 0 }
  const gate = new Gate(pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) }), traffic)
  let [begun, refused] = [0, 0]
  const pass = () =>
    gate.pass(
      () => (begun += 1),
      () => (refused += 1),
    )
  for (let id = 0; id < 200; id++) pass()
  t.strictSame([begun, refused], [64, 0])
  work(600)
  await new Promise(setImmediate)
  t.strictSame([begun, refused], [64, 24], 'not all in one turn')
  await delay(50)
  t.strictSame([begun, refused, traffic.shed], [64, 136, 136])
  pass()
  t.equal(begun, 65)
  await delay(1100)
  t.match(lines, [{ level: 40, msg: 'too busy', refused: 136 }])
})

t.test('no more than 5000 wait', async (t) => {
  const traffic = { shed: 0 }
  const gate = new Gate(pino({ level: 'silent' }), traffic)
  let refused = 0
  for (let id = 0; id < 5100; id++) {
    gate.pass(
      () => undefined,
      () => (refused += 1),
    )
  }
  t.equal(refused, 5100 - 5000 - 64)
})

t.test('a request that has waited too long gets 503 with Retry-After, and nothing is done', async (t) => {
  const { app, call, raw, token } = await build(t)
  const secret = await token('late')
  const get = 'GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n'
  const json = '{"id":1,"name":"x"}'
  const bearer = `Host: h\r\nAuthorization: Bearer ${secret}\r\nX-Request-Id: mine\r\n`
  const post = `POST /plants HTTP/1.1\r\n${bearer}Content-Type: application/json\r\nContent-Length: ${json.length}\r\n`
  // All of these arrive in one turn, and the last of them keeps it busy.
  app.server.on('checkContinue', () => work(800))
  const answers = await raw(66, `${get.repeat(64)}${post}\r\n${json}${post}Expect: 100-continue\r\n\r\n`)
  t.strictSame(
    answers.map(({ status }) => status),
    [...Array<number>(64).fill(404), 503, 503],
  )
  t.match(answers[64]?.headers, { 'retry-after': '1', 'x-request-id': 'mine', connection: 'keep-alive' })
  t.match(answers[65]?.headers, { 'retry-after': '1', 'x-request-id': 'mine', connection: 'close' })
  t.strictSame((await call({ path: '/plants', token: secret })).json, [])
})

t.test('what is no request is not answered before the requests that wait', async (t) => {
  const { raw } = await build(t)
  const get = 'GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n'
  for (const [bytes, status] of [
    ['BROKEN\r\n\r\n', 400],
    ['GET / HTTP/1.1\r\nContent-Length: x\r\n\r\n', 400],
  ] as const) {
    const answers = await raw(101, get.repeat(100) + bytes)
    t.strictSame(
      answers.map((each) => each.status),
      [...Array<number>(100).fill(404), status],
    )
  }
})

t.test('a connection too many gets 503 with Retry-After, and a later one is served', async (t) => {
  const { call, port, raw } = await build(t, { MAX_CONNECTIONS: '2' })
  const others = [net.connect(port, '127.0.0.1'), net.connect(port, '127.0.0.1')]
  await Promise.all(others.map((each) => once(each, 'connect')))
  const [refused, ...more] = await raw(2, 'GET /plants HTTP/1.1\r\nHost: h\r\n\r\n')
  t.match(refused, { status: 503, headers: { 'retry-after': '1', connection: 'close' }, json: { error: 503 } })
  t.strictSame(more, [])
  for (const each of others) each.destroy()
  await delay(50)
  t.equal((await call({ path: '/nowhere' })).status, 404)
})
