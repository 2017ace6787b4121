// Methods whose clients have left before they answer with a stream.
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import t from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

/** Pieces of streams, by media type. */
const PIECES = {
  'text/event-stream': { data: 'x' },
  'text/plain': 'x',
  'application/json': ['x'],
}

for (const [type, piece] of Object.entries(PIECES)) {
  t.test(`a stream ends if its client had left before it began: ${type}`, async (t) => {
    const gate = Promise.withResolvers<undefined>()
    const seen = { begun: 0, closed: 0, ended: 0 }
    const next = async () => {
      await new Promise(setImmediate)
      return { done: false, value: piece }
    }
    const end = async () => {
      seen.ended += 1
      return { done: true, value: undefined }
    }
    const app = await boot(t, {
      yaml: `      responses: { '200': { description: Done, content: { ${type}: {} } } }`,
      run: async () => {
        seen.begun += 1
        await gate.promise
        return { status: 200, body: { [Symbol.asyncIterator]: () => ({ next, return: end }) } }
      },
    })
    app.server.on('request', (_request, response) => response.on('close', () => seen.closed++))
    await app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = app.server.address() as AddressInfo
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined)
    await once(socket, 'connect')
    socket.write('GET /x HTTP/1.1\r\nHost: h\r\n\r\n')
    await eventually(() => seen.begun === 1)
    socket.resetAndDestroy()
    await eventually(() => seen.closed === 1)
    gate.resolve(undefined)
    await eventually(() => seen.ended === 1)
  })
}
