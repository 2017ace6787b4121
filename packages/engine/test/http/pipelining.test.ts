// Pipelined requests: answered in order, and no faster than the client reads.
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { readConfig } from '@plant-store/engine'
import { HttpServer } from '../../src/http/server.ts'
import { build, statusesOf } from '../../../../test/support/servers/start-product.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { connect } from '../../../../test/support/network/ports.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const postgres = await startPostgres(t)
const stores = {
  'the embedded store': {},
  PostgreSQL: { DATABASE_URL: await postgres.createDatabase() },
}
for (const [name, environment] of Object.entries(stores)) {
  t.test(`writes that one client pipelines take effect in their order, on ${name}`, async (t) => {
    const { call, raw, token } = await build(t, environment)
    const secret = await token('pipe')
    const head = `Host: h\r\nAuthorization: Bearer ${secret}\r\n`
    const post = `POST /plants HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 21\r\n\r\n{"id":5,"name":"xyz"}`
    const remove = `DELETE /plants/5 HTTP/1.1\r\n${head}\r\n`
    const list = `GET /plants HTTP/1.1\r\n${head}\r\n`
    for (let time = 0; time < 10; time++) {
      const answers = await raw(7, post + remove + list + remove + post + list + remove)
      t.strictSame(statusesOf(answers), [200, 204, 200, 404, 200, 200, 204])
      t.strictSame([answers[2]?.json, answers[5]?.json], [[], [{ name: 'xyz' }]])
      t.strictSame((await call({ path: '/plants', token: secret })).json, [])
    }
  })
}

/** Starts a server, and connects a client to it. */
async function serve(t: Test, path: string, answer: (url: string) => unknown) {
  const { app } = new HttpServer({
    config: readConfig('plants', {}),
    log: pino({ level: 'silent' }),
    maxConnections: 100,
  })
  app.get(path, async ({ url }) => answer(url))
  let seen = 0
  app.server.on('request', () => (seen += 1))
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => app.close())
  return { seen: () => seen, ...(await connect(t, Number(new URL(app.listeningOrigin).port))) }
}

/** Starts a server with delayed answers. */
async function serveLater(t: Test) {
  const begun: string[] = []
  const answer = Promise.withResolvers<string>()
  const served = await serve(t, '/:name', (url) => {
    begun.push(url)
    return answer.promise
  })
  return { begun, release: () => answer.resolve('x'), ...served }
}

const get = (name: number) => `GET /${name} HTTP/1.1\r\nHost: h\r\n\r\n`

t.test(
  'a request begins when the answer before it has ended, and meanwhile no more is read',
  async (t) => {
    const { begun, release, seen, socket, state } = await serveLater(t)
    for (const name of [0, 1]) {
      socket.write(get(name))
      await eventually(() => seen() === name + 1)
    }
    for (let name = 2; name < 100; name++) {
      socket.write(get(name))
      if (name % 20 === 0) await delay(1)
    }
    await delay(50)
    t.strictSame([begun, seen()], [['/0'], 2])
    release()
    await eventually(() => state.text.split('HTTP/1.1 200').length === 101)
    for (const [name, path] of begun.entries()) t.equal(path, `/${name}`)
  },
)

t.test(
  'a connection on which more than 128 requests wait is closed, and none of them begins',
  async (t) => {
    for (const [count, begins] of [
      [130, 1],
      [129, 129],
    ] as const) {
      const { begun, socket, seen, release, state } = await serveLater(t)
      socket.write(Array.from({ length: count }, (_, name) => get(name)).join(''))
      await eventually(() => seen() === count)
      release()
      await eventually(() => socket.closed || state.text !== '')
      await eventually(() => begun.length >= begins)
      t.strictSame([begun.length, state.text === ''], [begins, begins === 1])
    }
  },
)

t.test(
  'a long response with CONNECT behind it is sent whole, however slowly its client reads',
  async (t) => {
    const size = 20_000_000
    const pieces = () =>
      Readable.from(Array.from({ length: size / 10_000 }, () => Buffer.alloc(10_000, 'x')))
    const { closed, socket, state } = await serve(t, '/', pieces)
    socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\nCONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n')
    await closed
    t.ok(state.text.length > size)
    t.match(
      state.text.slice(-1000),
      /x\r\n0\r\n\r\nHTTP\/1\.1 501 [^]*"CONNECT is not implemented"}$/,
    )
  },
)
