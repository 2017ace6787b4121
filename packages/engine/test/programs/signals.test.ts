// The signals of methods and guards, of a product in its own process.
import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { generateTypes } from '../../../../test/support/inner/compiler.ts'
import { linesOf, startService } from '../../../../test/support/processes/programs.ts'
import { connect } from '../../../../test/support/network/ports.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const CONTRACT = `openapi: 3.1.0
info: { title: Waiting, version: 1.0.0 }
paths:
  /method:
    post:
      operationId: wait
      requestBody: { content: { application/json: {} } }
      responses: { '204': { description: Done }, default: { description: An error, content: { application/json: {} } } }
  /guard:
    post:
      operationId: guarded
      security: [{ key: [] }]
      requestBody: { content: { application/json: {} } }
      responses: { '204': { description: Done }, default: { description: An error, content: { application/json: {} } } }
components: { securitySchemes: { key: { type: apiKey, in: header, name: X-Key } } }
`
const MAIN = `import { defineProduct, start } from '@plant-store/engine'
import { contract } from './contract.gen.ts'
let log
/** Waits for a signal, and says what it does. */
async function waitFor(signal, name) {
  log.info(name + ' begins')
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
  log.info({ reason: signal.reason.message }, name + ' aborted')
}
await start(defineProduct({
  name: 'waiting',
  contract,
  open: async (context) => {
    log = context.log
    return { close: () => log.info('closed') }
  },
  guards: { key: (_request, _key, signal) => waitFor(signal, 'guard') },
  services: () => [{
    wait: async ({ signal }) => { await waitFor(signal, 'method'); return { status: 204 } },
    guarded: async () => ({ status: 204 }),
  }],
}))
`

async function serve(t: Test, environment: Record<string, string>) {
  const folder = t.testdir({ 'openapi.yaml': CONTRACT, 'main.ts': MAIN })
  const generated = `${folder}/contract.gen.ts`
  writeFileSync(generated, await generateTypes(`${folder}/openapi.yaml`, generated, {}))
  const times = { DRAIN_DELAY: '0', ...environment }
  const service = await startService(t, times, [process.execPath, `${folder}/main.ts`])
  const messages = () =>
    linesOf(service.printed.stdout.replace(/[^\n]*$/, '')).map(({ msg }) => String(msg))
  /** Sends a request, and waits until its method or its guard has begun. */
  const begin = async (name: string, more = '\r\n') => {
    const connection = await connect(t, service.port)
    const count = () => messages().filter((message) => message === `${name} begins`).length
    const before = count()
    connection.socket.write(`POST /${name} HTTP/1.1\r\nHost: a\r\nX-Key: a\r\n${more}`)
    await eventually(() => count() > before)
    return connection
  }
  return { ...service, messages, begin }
}

t.test(
  'when the time of the drain is over, the signals abort before the product closes',
  async (t) => {
    const times = { REQUEST_TIMEOUT: '60', SHUTDOWN_TIMEOUT: '0.5' }
    const { child, ended, messages, begin } = await serve(t, times)
    for (const name of ['method', 'guard']) await begin(name)
    child.kill('SIGTERM')
    t.match(await ended, { code: 0 })
    const last = messages().slice(messages().indexOf('stopping'))
    const [first, ...rest] = last.filter((message) => message !== 'request')
    t.equal(first, 'stopping')
    t.strictSame(rest.slice(0, 2).sort(), ['guard aborted', 'method aborted'])
    t.strictSame(rest.slice(2), ['closed', 'stopped'])
    t.equal(last.length - rest.length - 1, 2, 'the requests that are cut are logged')
  },
)

/** The sent part of a request, whose guard does not answer. */
const SENT: Readonly<Record<string, string>> = {
  'no body': '\r\n',
  'a whole body': 'Content-Type: application/json\r\nContent-Length: 1\r\n\r\n1',
  'half a body': 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n1',
  'a body in chunks':
    'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n1\r\n',
  'a body that waits for a permission':
    'Content-Type: application/json\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n',
}

t.test('the signal of a guard aborts at REQUEST_TIMEOUT, whatever is sent', async (t) => {
  const { messages, begin } = await serve(t, { REQUEST_TIMEOUT: '1' })
  for (const [what, more] of Object.entries(SENT)) {
    const before = messages().filter((message) => message === 'guard aborted').length
    const { socket, state } = await begin('guard', more)
    await eventually(() => messages().filter((m) => m === 'guard aborted').length > before)
    await eventually(() => state.text !== '')
    t.match(state.text, /^HTTP\/1\.1 503 /, what)
    socket.destroy()
  }
})

t.test('the signal of a guard aborts when the client leaves', async (t) => {
  const { messages, begin } = await serve(t, { REQUEST_TIMEOUT: '600' })
  const { socket } = await begin('guard')
  socket.destroy()
  await eventually(() => messages().includes('guard aborted'))
})
