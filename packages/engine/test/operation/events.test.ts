// Server-sent events of a product in its own process.
import net from 'node:net'
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../../test/support/inner/compiler.ts'
import { linesOf, startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const CONTRACT = `openapi: 3.1.0
info: { title: Ticks, version: 1.0.0 }
paths:
  /{kind}:
    get:
      operationId: follow
      parameters:
        - { name: kind, in: path, required: true, schema: { type: string } }
        - { name: Last-Event-ID, in: header, schema: { type: string } }
      responses:
        '200': { description: Events, content: { text/event-stream: { schema: { $ref: '#/components/schemas/Tick' } } } }
        '201': { description: Texts, content: { text/event-stream: { schema: { type: string } } } }
        default: { description: An error, content: { application/json: {} } }
components:
  schemas:
    Tick: { type: object, required: [n], properties: { n: { type: integer, format: int64 }, secret: { type: string, writeOnly: true } } }
`
const METHOD = `
const big = 'x'.repeat(1_000_000)
/** The events of each kind. */
const kinds = {
  two: async function* () { yield { id: '1', event: 'tick', data: { n: 9007199254740993n, secret: 'x' } }; yield { data: { n: 2n } } },
  text: async function* () { yield { id: '', data: 'a\\r\\nid: 7\\n\\nb' } },
  wrong: async function* () { yield { data: { n: 1n } }; yield { data: { n: 'x' } } },
  id: async function* () { yield { id: '1\\ndata: x', data: { n: 1n } } },
  event: async function* () { yield { event: 'a\\rb', data: { n: 1n } } },
  number: async function* () { yield { id: 1, data: { n: 1n } } },
  soon: async function* () { yield { retry: 0, data: { n: 1n } }; yield { id: 'a', retry: 2500, data: { n: 2n } } },
  late: async function* () { yield { retry: 1.5, data: { n: 1n } } },
  never: async function* () { yield { retry: '9', data: { n: 1n } } },
  none: async function* () { yield undefined },
}
/** Counts, and waits after an event for ever; says what is asked of it. */
const counting = (log, last, data, wait) => ({
  [Symbol.asyncIterator]: () => {
    let n = Number(last)
    return {
      next: async () => {
        log.info({ n }, 'asked')
        if (n === wait) return new Promise(() => undefined)
        n += 1
        return { done: false, value: { id: String(n), data: data(n) } }
      },
      return: async () => { log.info('returned'); throw new Error('of return') },
    }
  },
})
const follow = async ({ path: { kind }, header, log }) => {
  const last = header['Last-Event-ID'] ?? '0'
  if (kind === 'text') return { status: 201, body: kinds.text() }
  if (kind === 'no-stream') return { status: 200, body: { n: 1n } }
  if (kind === 'quiet') return { status: 200, body: counting(log, last, (n) => ({ n: BigInt(n) }), Number(last) + 1) }
  if (kind === 'silent') return { status: 200, body: counting(log, 0, () => undefined, 0) }
  if (kind === 'big') return { status: 201, body: counting(log, last, () => big) }
  return { status: 200, body: kinds[kind]() }
}
`

async function serve(t: Test, environment: Record<string, string> = {}) {
  const folder = t.testdir({
    'openapi.yaml': CONTRACT,
    'main.ts': `import { defineProduct, start } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
${METHOD}
await start(defineProduct({ name: 'ticks', contract, services: () => [{ follow }] }))`,
  })
  const generated = `${folder}/contract.gen.ts`
  writeFileSync(generated, await generateTypes(`${folder}/openapi.yaml`, generated, {}))
  const service = await startService(t, environment, [process.execPath, `${folder}/main.ts`])
  const lines = () => linesOf(service.printed.stdout.replace(/[^\n]*$/, ''))
  return {
    ...service,
    get: (kind: string, init: RequestInit = {}) =>
      fetch(`http://127.0.0.1:${service.port}/${kind}`, init),
    /** The number of lines in the log with a message. */
    count: (message: string) => lines().filter(({ msg }) => msg === message).length,
  }
}

/** Reads a stream until a string appears. */
async function readUntil(response: Response, text: string): Promise<string> {
  const reader = response.clone().body?.pipeThrough(new TextDecoderStream()).getReader()
  let received = ''
  while (reader && !received.includes(text)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`the stream has ended: ${received}`)
    received += value
  }
  reader?.releaseLock()
  return received
}

t.test('events are sent as their schema says', async (t) => {
  const { get, until } = await serve(t)
  const two = await get('two')
  t.strictSame([two.status, two.headers.get('content-type')], [200, 'text/event-stream'])
  t.equal(two.headers.get('x-accel-buffering'), 'no', 'nginx collects nothing of them')
  t.equal(await two.text(), 'id: 1\nevent: tick\ndata: {"n":9007199254740993}\n\ndata: {"n":2}\n\n')
  const text = await get('text')
  t.equal(text.headers.get('content-type'), 'text/event-stream')
  t.equal(await text.text(), 'id: \ndata: a\ndata: id: 7\ndata: \ndata: b\n\n')
  const soon = 'retry: 0\ndata: {"n":1}\n\nid: a\nretry: 2500\ndata: {"n":2}\n\n'
  t.equal(await (await get('soon')).text(), soon)
  t.equal(await (await get('two', { method: 'HEAD' })).text(), '')
  t.equal((await get('no-stream')).status, 500)
  const wrong = await get('wrong')
  t.equal(wrong.status, 200)
  t.equal(await readUntil(wrong, '\n\n'), 'data: {"n":1}\n\n')
  await t.rejects(wrong.text())
  await until(/the method follow answered 200 with a body that does not fit the contract: body\/n/)
  for (const kind of ['id', 'event', 'number', 'late', 'never', 'none'])
    await t.rejects(
      get(kind).then(async (response) => response.text()),
      kind,
    )
  await until(/the id of an event must be a string without line breaks/)
  await until(/the event of an event must be a string without line breaks/)
  await until(/the retry of an event must be an integer of milliseconds/)
  await until(/an event must be an object with data/)
})

t.test('the head is sent before the first event', async (t) => {
  const { get, count } = await serve(t)
  const leaving = new AbortController()
  t.equal((await get('silent', { signal: leaving.signal })).status, 200)
  leaving.abort()
  await eventually(() => count('returned') === 1)
})

t.test('when the client leaves, the iterator is returned', async (t) => {
  const { get, count } = await serve(t)
  const leaving = new AbortController()
  const response = await get('quiet', { signal: leaving.signal })
  t.equal(await readUntil(response, '\n\n'), 'id: 1\ndata: {"n":1}\n\n')
  await eventually(() => count('asked') === 2)
  t.equal(count('returned'), 0)
  leaving.abort()
  await eventually(() => count('returned') === 1)
  await eventually(() => count('request') === 1)
  t.equal((await get('two')).status, 200, 'a return that fails ends nothing')
})

t.test('a reader that stalls holds up the events, and is cut', async (t) => {
  const { port, count } = await serve(t, { STALL_TIMEOUT: '1' })
  const socket = net.connect(port, '127.0.0.1').pause()
  socket.write('GET /big HTTP/1.1\r\nHost: a\r\n\r\n')
  await eventually(() => count('returned') === 1)
  t.ok(count('asked') < 50, `${count('asked')} events of a megabyte were asked for`)
  socket.destroy()
})

t.test('a quiet stream outlasts STALL_TIMEOUT, and ends after ANSWER_TIMEOUT', async (t) => {
  const { get, count } = await serve(t, { STALL_TIMEOUT: '0.4', ANSWER_TIMEOUT: '1.5' })
  const start = performance.now()
  const received = await (await get('quiet')).text()
  t.match(received, /^id: 1\ndata: {"n":1}\n\n(:\n\n)+$/)
  t.ok(performance.now() - start > 1400)
  await eventually(() => count('returned') === 1)
  t.equal(count('response broken off'), 0)
})

t.test('a drain ends streams in time, and clients come back', async (t) => {
  const { child, ended, get, until, count } = await serve(t, {
    DRAIN_DELAY: '1',
    SHUTDOWN_TIMEOUT: '60',
  })
  const response = await get('quiet', { headers: { 'Last-Event-ID': '41' } })
  t.equal(await readUntil(response, '\n\n'), 'id: 42\ndata: {"n":42}\n\n')
  child.kill('SIGTERM')
  await until(/"stopping"/)
  const late = await get('quiet')
  t.equal(
    await readUntil(late, '\n\n'),
    'id: 1\ndata: {"n":1}\n\n',
    'served until the delay is over',
  )
  await Promise.all([response.text(), late.text()])
  t.match(await ended, { code: 0, stdout: /"stopped"/ })
  t.equal(count('returned'), 2)
})
