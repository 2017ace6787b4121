// The memory shared by all answers that are sent whole.
import net from 'node:net'
import type { ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { tokenOf } from '../../../../test/support/contracts/scoped-tokens.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const MIB = 1024 * 1024
/** The length of an answer. A system takes less of it from the service at once. */
const LENGTH = 16 * MIB
/** Answers that together take all room. */
const COUNT = 4

/** Bodies of answers, by media type. */
const BODIES = {
  'text/plain': 'é'.repeat(LENGTH / 2),
  'application/json': 'x'.repeat(LENGTH - 2),
  'image/png': Buffer.alloc(LENGTH),
}

const TOKENS = new Map(['bob', 'mallory'].map((caller) => [caller, tokenOf(caller)]))

/** Serves an operation with long answers. */
async function listen(t: Test, type: keyof typeof BODIES) {
  const app = await boot(t, {
    yaml: `paths:
  /x:
    get:
      operationId: run
      security: [{ token: [] }, {}]
      responses: { '200': { description: Done, content: { ${type}: {} } } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`,
    run: async () => ({ status: 200, body: BODIES[type] }),
  })
  const responses: ServerResponse[] = []
  app.server.on('request', (_request, response) => responses.push(response))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const port = Number(new URL(app.listeningOrigin).port)
  /** Asks for an answer, and reads nothing of it until the socket is resumed. */
  const stall = async (caller = '', localAddress = '127.0.0.1') => {
    const count = responses.length
    const socket = net
      .connect({ port, host: '127.0.0.1', localAddress })
      .pause()
      .on('error', () => undefined)
    t.teardown(() => socket.destroy())
    const credentials = caller === '' ? '' : `Authorization: Bearer ${TOKENS.get(caller)}\r\n`
    socket.write(`GET /x HTTP/1.1\r\nHost: h\r\n${credentials}\r\n`)
    await eventually(() => responses[count]?.headersSent === true)
    return socket
  }
  const states = () => responses.map(({ destroyed }) => (destroyed ? 'cut' : 'open'))
  return { port, stall, states, responses }
}

async function fill(stall: () => Promise<net.Socket>, count: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = []
  while (sockets.length < count) sockets.push(await stall())
  return sockets
}

for (const type of Object.keys(BODIES) as (keyof typeof BODIES)[]) {
  t.test(`answers that are not taken have a common bound: ${type}`, async (t) => {
    const { port, stall, states } = await listen(t, type)
    await fill(stall, COUNT)
    t.strictSame(states(), Array(COUNT).fill('open'))
    await fill(stall, 2)
    t.strictSame(states(), ['cut', 'cut', ...Array(COUNT).fill('open')], 'the oldest are cut')
    const answer = await fetch(`http://127.0.0.1:${port}/x`)
    t.equal((await answer.arrayBuffer()).byteLength, LENGTH, 'a client that reads gets all of it')
  })
}

t.test('only who leaves most untaken loses an answer, whoever was first', async (t) => {
  const { stall, states } = await listen(t, 'text/plain')
  await stall('bob')
  await fill(() => stall('mallory'), 2 * COUNT)
  const cut = Array<string>(COUNT + 1).fill('cut')
  t.strictSame(states(), ['open', ...cut, ...Array(COUNT - 1).fill('open')])
})

t.test('without credentials, an address loses only its own', async (t) => {
  const { stall, states } = await listen(t, 'text/plain')
  await stall('', '127.0.0.2')
  await fill(() => stall('', '127.0.0.3'), COUNT)
  t.strictSame(states(), ['open', 'cut', ...Array(COUNT - 1).fill('open')])
})

t.test('an answer gives its room back, taken or broken off', async (t) => {
  const { stall, states, responses } = await listen(t, 'text/plain')
  for (const end of ['resume', 'destroy'] as const) {
    for (const socket of await fill(stall, COUNT)) socket[end]()
    await eventually(() => responses.every(({ closed }) => closed))
    responses.length = 0
  }
  await fill(stall, COUNT)
  t.strictSame(states(), Array(COUNT).fill('open'))
})
