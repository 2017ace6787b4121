// Admission control: a busy service refuses requests early.
import net from 'node:net'
import { promisify } from 'node:util'
import { register } from 'prom-client'
import t from 'tap'
import { Admission } from '../../src/http/server.ts'
import { build } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { readResponses } from '../../../../test/support/inner/responses.ts'

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

/** Admission control without a server. */
function admissionOf() {
  const counts = { begun: [] as number[], refused: 0 }
  const admission = new Admission()
  const refuse = () => void (counts.refused += 1)
  return { counts, pass: (id: number) => admission.admit(() => counts.begun.push(id), refuse) }
}

t.test('of many requests at once 64 begin in each turn, in order, and 5000 wait', async (t) => {
  const { counts, pass } = admissionOf()
  for (let id = 0; id < 200; id++) pass(id)
  for (const begun of [64, 128, 192, 200]) {
    t.strictSame(counts.begun, [...Array(begun).keys()])
    await new Promise(setImmediate)
  }
  t.equal(counts.refused, 0)
  for (let id = 200; id < 5300; id++) pass(id)
  t.strictSame([counts.begun.length, counts.refused], [264, 5100 - 5000 - 64])
})

t.test('a request that has waited too long is refused, and the next one begins', async (t) => {
  const { counts, pass } = admissionOf()
  for (let id = 0; id < 200; id++) pass(id)
  t.strictSame([counts.begun.length, counts.refused], [64, 0])
  work(600)
  await new Promise(setImmediate)
  t.strictSame([counts.begun.length, counts.refused], [64, 24], 'not all in one turn')
  await eventually(() => counts.refused === 136)
  t.equal(counts.begun.length, 64)
  pass(200)
  t.equal(counts.begun.at(-1), 200)
})

t.test(
  'a request that has waited too long gets 503 with Retry-After, and nothing is done',
  async (t) => {
    const { app, call, log, port, token } = await build(t)
    const secret = await token('late')
    const json = '{"id":1,"name":"x"}'
    const post = `POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${secret}\r\nX-Request-Id: mine\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n`
    const get = 'GET /nowhere HTTP/1.1\r\nHost: h\r\n\r\n'
    // All of these arrive in one turn, whose last request keeps it busy.
    const requests = [
      ...Array<string>(64).fill(get),
      `${post}\r\n${json}`,
      `${post}Expect: 100-continue\r\n\r\n`,
    ]
    const clients = requests.map((bytes) => ({
      bytes,
      text: '',
      socket: net.connect(port, '127.0.0.1'),
    }))
    for (const client of clients)
      client.socket.on('data', (chunk: Buffer) => (client.text += chunk.toString()))
    const connections = promisify(app.server.getConnections.bind(app.server))
    await eventually(async () => (await connections()) === clients.length)
    let seen = 0
    const count = () => {
      seen += 1
      if (seen === clients.length) work(800)
    }
    app.server.on('request', count).on('checkContinue', count)
    for (const { bytes, socket } of clients) socket.write(bytes)
    work(100)
    await eventually(() => clients.every(({ text }) => text.includes('}')))
    const answers = clients.map(({ text }) => readResponses(Buffer.from(text))[0])
    for (const [index, answer] of answers.entries()) t.equal(answer?.status, index < 64 ? 404 : 503)
    const late = { 'retry-after': '1', 'x-request-id': 'mine' }
    t.match(answers[64]?.headers, { ...late, connection: 'keep-alive' })
    t.match(
      answers[65]?.headers,
      { ...late, connection: 'close' },
      'whether the body follows is not known',
    )
    for (const { socket } of clients) socket.destroy()
    // The label keeps alerts from counting them as failures.
    t.match(await register.metrics(), /_count{.*"503",error_type="too_busy"} 2$/m)
    t.strictSame((await call({ path: '/plants', token: secret })).json, [])
    const busy = log.filter(({ msg }) => msg === 'too busy')
    t.match(busy, [{ level: 40 }])
    t.equal(busy.length, 1, 'one warning a second, not one for each')
  },
)
