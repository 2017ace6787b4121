// The open streams of events of one caller, and the room held by them.
import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { tokenOf } from '../../../../test/support/contracts/scoped-tokens.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

/** The most open streams of a caller. */
const MAX_STREAMS = 64
const CONTRACT = `paths:
  /x:
    post:
      operationId: follow
      security: [{ token: [] }, {}]
      requestBody: { content: { application/json: {} } }
      responses: { '200': { description: Events, content: { text/event-stream: {} } } }
  /y:
    post:
      operationId: send
      security: [{ token: [] }, {}]
      requestBody: { content: { application/json: {} } }
      responses: { '201': { description: Done } }
  /z:
    post:
      operationId: followOrWait
      security: [{ token: [] }, {}]
      requestBody: { content: { application/json: {} } }
      responses: { '200': { description: Events, content: { text/event-stream: {} } }, '201': { description: Done } }
components: { securitySchemes: { token: { type: http, scheme: bearer } } }
`

const CALLERS = ['alice', 'carol', 'dave', 'erin']
const TOKENS = new Map(CALLERS.map((caller) => [caller, tokenOf(caller)]))

/** Serves streams, which end when their clients leave. */
async function listen(t: Test, maxConnections = 5000, TRUST_PROXY = 'none') {
  let followed = 0
  let returned = 0
  async function* events() {
    yield { data: '1' }
    await new Promise(() => undefined)
  }
  /** A generator would not report its return before it has begun. */
  const follow = () => {
    const iterator = events()
    const next = () => iterator.next()
    const end = async () => {
      returned += 1
      return { done: true, value: undefined }
    }
    return { [Symbol.asyncIterator]: () => ({ next, return: end }) }
  }
  const app = await boot(t, {
    yaml: CONTRACT,
    environment: { MAX_CONNECTIONS: String(maxConnections), TRUST_PROXY },
    run: async (_request, name) => {
      if (name === 'send') return { status: 201 }
      followed += 1
      return { status: 200, body: follow() }
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const agent = new http.Agent()
  t.teardown(() => agent.destroy())
  /** Sends a request with a body of JSON. @returns its answer, of which nothing is read */
  let sent = 0
  const send = async (caller: string, path = '/x', body = '1') => {
    const authorization = caller === '' ? {} : { authorization: `Bearer ${TOKENS.get(caller)}` }
    const forwarded = { 'x-forwarded-for': `203.0.113.9:${5000 + (sent += 1)}` }
    const headers = { 'content-type': 'application/json', ...forwarded, ...authorization }
    const request = http.request({ port, path, method: 'POST', headers, agent }).end(body)
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
    answer.on('error', () => undefined)
    return answer
  }
  const statusOf = async (...parts: Parameters<typeof send>) => {
    const answer = await send(...parts)
    answer.destroy()
    return answer.statusCode
  }
  const open = async (caller: string, count: number, body?: string) =>
    Promise.all(Array.from({ length: count }, () => send(caller, '/x', body)))
  return { send, statusOf, open, followed: () => followed, returned: () => returned }
}

t.test('a caller may have many streams of events open, not all connections', async (t) => {
  const { send, statusOf, open, followed, returned } = await listen(t)
  const streams = await open('alice', MAX_STREAMS)
  t.ok(streams.every(({ statusCode }) => statusCode === 200))
  const refused = await send('alice')
  t.match(refused, { statusCode: 503, headers: { 'retry-after': '1' } })
  const [text] = (await once(refused.setEncoding('utf8'), 'data')) as [string]
  t.match(text, /There are 64 open streams of events, and you may have no more/)
  t.equal(followed(), MAX_STREAMS, 'the method has not run')
  t.equal(await statusOf('alice', '/z'), 503)
  t.equal(returned(), 1, 'a stream that can not begin is ended')
  t.equal(await statusOf('alice', '/y'), 201, 'the caller may do anything else')
  t.equal(await statusOf('carol'), 200, 'others have streams of their own')
  t.equal(await statusOf(''), 200)
  streams[0]?.destroy()
  await eventually(async () => (await statusOf('alice')) === 200)
})

t.test('where few connections may be open, a caller gets a quarter of them', async (t) => {
  const { statusOf, open } = await listen(t, 100)
  for (const caller of ['alice', '']) {
    const streams = await open(caller, 25)
    t.ok(streams.every(({ statusCode }) => statusCode === 200))
    t.equal(await statusOf(caller), 503)
  }
})

t.test('a client behind a gateway is the same one on each port', async (t) => {
  const { statusOf, open } = await listen(t, 100, '127.0.0.0/8')
  const streams = await open('', 25)
  t.ok(streams.every(({ statusCode }) => statusCode === 200))
  t.equal(await statusOf(''), 503)
})

t.test('open streams hold no room of bodies', async (t) => {
  const { statusOf, open } = await listen(t)
  const body = JSON.stringify('x'.repeat(100_000))
  for (const caller of ['alice', 'carol', 'dave'])
    for (const { statusCode } of await open(caller, 40, body)) t.equal(statusCode, 200)
  t.equal(await statusOf('erin', '/y', body), 201)
})
