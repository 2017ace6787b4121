// The memory shared by the bodies of all requests.
import net from 'node:net'
import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { tokenOf } from '../../../../test/support/contracts/scoped-tokens.ts'
import { boot, type Run } from '../../../../test/support/contracts/serve-contract.ts'

const MIB = 1024 * 1024
/** Bodies that together take half of the room, the most for one caller. */
const COUNT = 4

const body = (type: string) =>
  `      requestBody: { content: { ${type}: { x-body-limit: ${8 * MIB} } } }`
/** The same operation for callers with a token. */
const GUARDED = `paths:
  /x:
    post:
      operationId: run
      security: [{ token: [] }]
${body('application/json')}
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`

/** Serves a contract as the server of the service does. */
async function listen(t: Test, yaml: string, run?: Run) {
  const app = await boot(t, { yaml, ...(run && { run }) })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app
}

/** Sends the beginning of a request. @returns the connection, and the answers so far */
async function send(app: FastifyInstance, head: string, more = '') {
  const { port } = new URL(app.listeningOrigin)
  const socket = net.connect(Number(port), '127.0.0.1').on('error', () => undefined)
  const state = { socket, text: '' }
  socket.on('data', (chunk: Buffer) => (state.text += chunk.toString()))
  await once(socket, 'connect')
  socket.write(`POST /x HTTP/1.1\r\nHost: h\r\n${head}\r\n\r\n${more}`)
  return state
}

const statusOf = (text: string) => Number(/HTTP\/1\.1 ([2-5]\d\d)/.exec(text)?.[1])

async function answerOf(app: FastifyInstance, head: string, more = ''): Promise<string> {
  const state = await send(app, head, more)
  await eventually(() => statusOf(state.text) > 0)
  state.socket.destroy()
  return state.text
}

const JSON_TYPE = 'Content-Type: application/json'
const LARGE = `${JSON_TYPE}\r\nContent-Length: ${8 * MIB}`
const SMALL = `${JSON_TYPE}\r\nContent-Length: 2`

/** Takes all room. It is taken when one more is refused. */
async function fill(app: FastifyInstance, head = LARGE, count = COUNT) {
  const states = await Promise.all(Array.from({ length: count }, () => send(app, head)))
  await eventually(async () => statusOf(await answerOf(app, SMALL, '{}')) === 503)
  for (const { text } of states) if (text !== '') throw new Error(text)
  return states
}

/**
 * Its value takes more than half of the room of parsed values: it fits only while there are no
 * others.
 */
const HALF_OF_VALUES = `"${'x'.repeat(2.6 * MIB)}"`

/** Waits until there is as much room as at first. */
async function isEmpty(app: FastifyInstance) {
  const half = `${JSON_TYPE}\r\nContent-Length: ${HALF_OF_VALUES.length}`
  await eventually(async () => statusOf(await answerOf(app, half, HALF_OF_VALUES)) === 200)
  await eventually(async () => statusOf(await answerOf(app, SMALL, '{}')) === 200)
  for (const { socket } of await fill(app)) socket.destroy()
  await eventually(async () => statusOf(await answerOf(app, SMALL, '{}')) === 200)
}

t.test('bodies that are under way have a common bound, and the next one is 503', async (t) => {
  const app = await listen(t, body('application/json'))
  const states = await fill(app)
  const refused = await answerOf(app, SMALL, '{}')
  t.match(refused, /^HTTP\/1\.1 503 [^]*\r\nretry-after: 1\r\n/i)
  const expected = await answerOf(app, `${SMALL}\r\nExpect: 100-continue`)
  t.match(expected, /^HTTP\/1\.1 503 /, 'the client is not asked to go on')
  const chunked = `${JSON_TYPE}\r\nTransfer-Encoding: chunked`
  t.equal(statusOf(await answerOf(app, chunked)), 503, 'before a byte of it')
  t.equal(statusOf(await answerOf(app, 'Content-Type: text/css\r\nContent-Length: 2', '{}')), 415)
  for (const { socket } of states) socket.destroy()
  await isEmpty(app)
})

t.test('the next request of a connection is served after one that was refused', async (t) => {
  const app = await listen(t, body('application/json'))
  const states = await fill(app)
  const state = await send(app, SMALL, '{}')
  await eventually(() => statusOf(state.text) === 503)
  for (const { socket } of states) socket.destroy()
  await isEmpty(app)
  state.text = ''
  state.socket.write(`POST /x HTTP/1.1\r\nHost: h\r\n${SMALL}\r\n\r\n{}`)
  await eventually(() => statusOf(state.text) === 200)
  state.socket.destroy()
})

t.test('a body gives its room back, however it ends', async (t) => {
  const app = await listen(t, body('application/json'))
  const chunked = `${JSON_TYPE}\r\nTransfer-Encoding: chunked`
  const ends: Record<string, [head: string, rest: string, status?: number]> = {
    'it is accepted': [LARGE, `{"a":"${'x'.repeat(8 * MIB - 8)}"}`, 200],
    'it is no JSON': [LARGE, '{'.repeat(8 * MIB), 400],
    'in chunks': [chunked, '2\r\n{}\r\n0\r\n\r\n', 200],
    'in chunks, empty': [chunked, '0\r\n\r\n', 200],
    'too long': [chunked, `${(8 * MIB + 1).toString(16)}\r\n${' '.repeat(8 * MIB + 1)}\r\n`, 413],
    'malformed chunks': [chunked, 'x\r\n', 400],
    'it is broken off': [LARGE, '{"a":'],
    'nothing of it is sent': [chunked, ''],
  }
  for (const [what, [head, rest, status]] of Object.entries(ends)) {
    const states = await fill(app, head)
    for (const state of states) {
      state.socket.write(rest)
      if (status !== undefined) await eventually(() => statusOf(state.text) > 0)
      if (status !== undefined) t.equal(statusOf(state.text), status, what)
      state.socket.destroy()
    }
    await isEmpty(app)
  }
})

t.test('a stream of bytes takes what it holds, not its length', async (t) => {
  const release = Promise.withResolvers<undefined>()
  const app = await listen(t, body('image/png'), async () => {
    await release.promise
    return { status: 200, body: {} }
  })
  const head = `Content-Type: image/png\r\nContent-Length: ${8 * MIB}`
  const states = await Promise.all(Array.from({ length: 4 * COUNT }, () => send(app, head)))
  release.resolve(undefined)
  for (const state of states) {
    await eventually(() => statusOf(state.text) === 200)
    state.socket.destroy()
  }
})

t.test('who is refused for another reason takes no room', async (t) => {
  const app = await listen(t, GUARDED)
  const states = await Promise.all(Array.from({ length: 2 * COUNT }, () => send(app, LARGE)))
  for (const state of states) {
    await eventually(() => statusOf(state.text) === 401)
    state.socket.destroy()
  }
})

t.test('a caller whose bodies stay under way leaves room for others', async (t) => {
  const callers = ['alice', 'carol', 'dave', 'erin']
  const tokens = new Map(callers.map((caller) => [caller, tokenOf(caller)]))
  const app = await listen(t, GUARDED)
  const as = (caller: string, head: string) =>
    `${head}\r\nAuthorization: Bearer ${tokens.get(caller)}`
  const sockets: net.Socket[] = []
  for (const [caller, count] of [
    ['alice', COUNT],
    ['carol', COUNT / 2],
    ['dave', COUNT / 4],
  ] as const) {
    const head = as(caller, LARGE)
    const states = await Promise.all(Array.from({ length: count }, () => send(app, head)))
    sockets.push(...states.map(({ socket }) => socket))
    const statusOfNext = async () => statusOf(await answerOf(app, as(caller, SMALL), '{}'))
    await eventually(async () => (await statusOfNext()) === 503)
    t.equal(statusOf(await answerOf(app, as('erin', SMALL), '{}')), 200, `beside ${caller}`)
  }
  for (const socket of sockets) socket.destroy()
})

t.test('parsed bodies have a common bound, while their requests are answered', async (t) => {
  const release = Promise.withResolvers<undefined>()
  let begun = 0
  const app = await listen(t, body('application/json'), async () => {
    begun += 1
    await release.promise
    return { status: 200, body: {} }
  })
  const objects = `[${'{},'.repeat(MIB / 3 - 1)}{}]`
  const head = `${JSON_TYPE}\r\nContent-Length: ${objects.length}`
  const states = await Promise.all(Array.from({ length: 12 }, () => send(app, head, objects)))
  const refused = () => states.filter(({ text }) => statusOf(text) === 503).length
  await eventually(() => begun + refused() === states.length)
  t.strictSame([begun, refused()], [2, 10])
  release.resolve(undefined)
  await eventually(() => states.every(({ text }) => statusOf(text) > 0))
  for (const { socket } of states) socket.destroy()
})

/** The same operation with a slow guard, and with three kinds of answers. */
const STAGES = `paths:
  /x:
    post:
      operationId: run
      security: [{ slow: [] }, {}]
${body('application/json')}
      responses:
        '200': { description: Done, content: { application/json: {} } }
        '201': { description: Pieces, content: { text/plain: {} } }
        '202': { description: Events, content: { text/event-stream: {} } }
components: { securitySchemes: { slow: { type: apiKey, in: header, name: X-Key } } }
`
const VALUE = `{"a":"${'x'.repeat(MIB / 4)}"}`
const VALUE_HEAD = `${JSON_TYPE}\r\nContent-Length: ${VALUE.length}`
/** Too long for the system to take at once. */
const LONG = 'x'.repeat(16 * MIB)

/** Serves `STAGES`. Each reached stage is counted, and goes on when told to. */
async function listenInStages(t: Test) {
  const gate = Promise.withResolvers<undefined>()
  const reached = { guard: 0, method: 0, answer: 0 }
  const closed = { count: 0 }
  async function* pieces(piece: unknown) {
    reached.answer += 1
    for (;;) {
      yield piece
      await new Promise(setImmediate)
    }
  }
  const run: Run = async ({ body }) => {
    const { how } = Object(body)
    if (how === undefined) return { status: 200, body: {} }
    reached.method += 1
    if (how === 'method' || how === 'late events') await gate.promise
    if (how === 'pieces') return { status: 201, body: pieces(LONG) }
    if (String(how).endsWith('events')) return { status: 202, body: pieces({ data: LONG }) }
    reached.answer += 1
    return { status: 200, body: LONG }
  }
  const app = await boot(t, {
    yaml: STAGES,
    run,
    product: {
      guards: {
        slow: async () => {
          reached.guard += 1
          await gate.promise
          return { caller: 'alice', scopes: [] }
        },
      },
    },
  })
  app.server.on('request', (_request, response) => response.on('close', () => closed.count++))
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, reached, closed, goOn: () => gate.resolve(undefined) }
}

/** The stages at which a client leaves: the bytes sent by then, and the reached stage. */
const LEFT: Readonly<
  Record<string, [head: string, sent: string, stage?: 'guard' | 'method' | 'answer']>
> = {
  'while its credentials are checked': [`X-Key: a\r\n${LARGE}`, '', 'guard'],
  'while its credentials are checked, with a whole body': [`X-Key: a\r\n${SMALL}`, '{}', 'guard'],
  'while its credentials are checked, in chunks': [
    `X-Key: a\r\n${JSON_TYPE}\r\nTransfer-Encoding: chunked`,
    '2\r\n{}\r\n',
    'guard',
  ],
  'before a chunk': [`${JSON_TYPE}\r\nTransfer-Encoding: chunked`, ''],
  'while the body is sent': [LARGE, '{"a":'],
  'while the body is parsed': [VALUE_HEAD, VALUE],
  ...Object.fromEntries(
    (['method', 'answer', 'pieces', 'events', 'late events'] as const).map((how) => {
      const text = VALUE.replace('{', `{"how":"${how}",`)
      const head = `${JSON_TYPE}\r\nContent-Length: ${text.length}`
      const stage = how === 'method' || how === 'late events' ? 'method' : 'answer'
      return [`in the stage: ${how}`, [head, text, stage]] as const
    }),
  ),
}

for (const [when, [head, sent, stage]] of Object.entries(LEFT)) {
  t.test(`a client that leaves gives its room back: ${when}`, async (t) => {
    const { app, reached, closed, goOn } = await listenInStages(t)
    const states = await Promise.all(Array.from({ length: COUNT }, () => send(app, head, sent)))
    for (const { socket } of states) socket.pause()
    if (stage !== undefined) await eventually(() => reached[stage] === COUNT)
    for (const { socket } of states) socket.resetAndDestroy()
    await eventually(() => closed.count === COUNT)
    goOn()
    await new Promise(setImmediate)
    await isEmpty(app)
  })
}

t.test('what the evaluation of a schema takes counts, too', async (t) => {
  const tree = '#/components/schemas/tree'
  const json = `content: { application/json: { x-body-limit: ${8 * MIB}, schema: { $ref: '${tree}' } } }`
  const app = await listen(
    t,
    `paths:
  /x: { post: { operationId: run, requestBody: { ${json} }, responses: { '200': { description: Done, content: { application/json: {} } } } } }
components: { schemas: { tree: { anyOf: [{ type: integer, format: int64 }, { type: array, items: { $ref: '${tree}' } }] } } }
`,
    async () => ({ status: 200, body: {} }),
  )
  const sizes = { 1: 200, 4: 413 }
  for (const [size, status] of Object.entries(sizes)) {
    const integers = `[${'[7],'.repeat((Number(size) * MIB) / 4)}7]`
    const head = `${JSON_TYPE}\r\nContent-Length: ${integers.length}`
    t.equal(statusOf(await answerOf(app, head, integers)), status, `${size} MiB`)
  }
})
