// Empty bodies, on connections: the beginning of a chunked body tells whether it has any bytes.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import t, { type Test } from 'tap'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** Serves an operation with a body of JSON, or of bytes, and sends requests on one connection. */
async function connect(t: Test, required: boolean) {
  const app = await boot(t, {
    yaml: `      requestBody: { required: ${required}, content: { application/json: {}, image/png: {} } }`,
    run: async ({ body }) => {
      const isBytes = Symbol.asyncIterator in Object(body)
      const bytes = isBytes ? await Array.fromAsync(body as AsyncIterable<Buffer>) : []
      return { status: 200, body: isBytes ? Buffer.concat(bytes).toString() : (body ?? 'none') }
    },
  })
  app.server.on('checkContinue', (...parts) => app.server.emit('request', ...parts))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = net.connect(port, '127.0.0.1').setEncoding('latin1')
  t.teardown(() => socket.destroy())
  /**
   * Sends the parts of a request, each when the one before has arrived. @returns its status and its
   * body
   */
  return async (headers: string, ...parts: readonly string[]) => {
    const seen = once(app.server, 'request')
    socket.write(`POST /x HTTP/1.1\r\nHost: h\r\n${headers}\r\n`)
    for (const part of parts) {
      await seen
      socket.write(part, 'latin1')
    }
    const [text] = (await once(socket, 'data')) as [string]
    const [, status, body] = /^HTTP\/1.1 (\d+) [^]*\r\n\r\n(.*)$/.exec(text) ?? []
    return `${status} ${body}`
  }
}

const TYPES = ['', 'image/png', 'text/xml', 'x', 'application/json', 'application/json; charset=x']
const typeOf = (type: string) => (type === '' ? '' : `Content-Type: ${type}\r\n`)

t.test('an empty body that is optional is none, and its connection goes on', async (t) => {
  const send = await connect(t, false)
  for (const type of TYPES) {
    t.equal(await send(`${typeOf(type)}${CHUNKED}`, '0\r\n\r\n'), '200 "none"', type)
    t.equal(await send(`${typeOf(type)}${CHUNKED}\r\n0\r\n`), '200 "none"', type)
    t.equal(await send(`${typeOf(type)}Content-Length: 00\r\n`), '200 "none"', type)
    t.equal(await send(typeOf(type)), '200 "none"', type)
  }
})

t.test('an empty body that is required is 400, and its connection goes on', async (t) => {
  const send = await connect(t, true)
  for (const type of TYPES) {
    t.match(await send(`${typeOf(type)}${CHUNKED}`, '0\r\n\r\n'), /^400 .*needs a body/, type)
    t.match(await send(`${typeOf(type)}${CHUNKED}\r\n0\r\n`), /^400 .*needs a body/, type)
    t.match(await send(`${typeOf(type)}Content-Length: 0\r\n`), /^400 .*needs a body/, type)
  }
})

t.test('who waits for a permission to send is not asked for a body that is refused', async (t) => {
  const send = await connect(t, true)
  const waiting = `${typeOf('text/xml')}${CHUNKED}Expect: 100-continue\r\n`
  t.match(await send(waiting), /^415 /)
})

for (const required of [false, true]) {
  t.test(`a chunked body is read from its first byte on, required: ${required}`, async (t) => {
    const send = await connect(t, required)
    const json = `${typeOf('application/json')}${CHUNKED}`
    t.equal(await send(json, '1\r\n[\r\n', '2\r\n7]\r\n0\r\n\r\n'), '200 [7]')
    t.equal(await send(`${json}\r\n3\r\n[8]\r\n0\r\n`), '200 [8]')
    const bytes = `${typeOf('image/png')}${CHUNKED}`
    t.equal(await send(bytes, '1\r\na\r\n', '1\r\nb\r\n', '0\r\n\r\n'), '200 "ab"')
    const chunkedXml = `${typeOf('text/xml')}${CHUNKED}`
    t.match(await send(chunkedXml, '1\r\na\r\n', '0\r\n\r\n'), /^415 /)
  })
}
