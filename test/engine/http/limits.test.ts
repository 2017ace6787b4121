// What the maker of HTTP servers promises of each of them, whatever the configuration is.
import { once } from 'node:events'
import net from 'node:net'
import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { type Config, readConfig } from '../../../service/engine/config.ts'
import { listen, makeServer } from '../../../service/engine/http/server.ts'

const make = (config: Config) => makeServer({ config, log: pino({ level: 'silent' }), maxConnections: 10 })

const portOf = (app: FastifyInstance) => Number(new URL(app.listeningOrigin).port)

const times = [
  'ANSWER_TIMEOUT',
  'DRAIN_DELAY',
  'HEADERS_TIMEOUT',
  'KEEP_ALIVE_TIMEOUT',
  'REQUEST_TIMEOUT',
  'SHUTDOWN_TIMEOUT',
  'STALL_TIMEOUT',
] as const

/** Spellings of seconds that the table may allow. */
const seconds = fc.oneof(
  fc.integer({ min: 0, max: 3600 }).map(String),
  fc.double({ min: 0, max: 3600, noNaN: true }).map((time) => time.toFixed(20).replace(/0+$/, '')),
  fc.constantFrom('16.1', '0.1', '0.10', '0.15', '2', '10', '3599.9999', '3600.0', '1.005', '0.1000000000000000055'),
)

/** A value of the configuration, if the table allows the text. */
function read(name: (typeof times)[number], text: string): Partial<Config> {
  try {
    return { [name]: readConfig('plants', { [name]: text })[name] }
  } catch {
    return {}
  }
}

t.test('every combination of times that the table allows makes a server, with those times', async () => {
  const one = (name: (typeof times)[number]) => seconds.map((text) => read(name, text))
  await fc.assert(
    fc.asyncProperty(fc.tuple(...times.map(one)), async (all) => {
      const config: Config = Object.assign({}, readConfig('plants', {}), ...all)
      const app = make(config)
      const { headersTimeout, keepAliveTimeout, requestTimeout, timeout } = app.server
      await app.close()
      const near = (milliseconds: number, time: number) => Math.abs(milliseconds - 1000 * time) <= 0.5
      return (
        near(headersTimeout, Math.min(config.HEADERS_TIMEOUT, config.REQUEST_TIMEOUT)) &&
        near(keepAliveTimeout, config.KEEP_ALIVE_TIMEOUT) &&
        near(requestTimeout, config.REQUEST_TIMEOUT) &&
        near(timeout, config.STALL_TIMEOUT)
      )
    }),
    { numRuns: 500 },
  )
})

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const server = net.createServer().once('error', () => resolve(false))
  server.listen(0, '::1', () => server.close(() => resolve(true)))
})

/** Whether something listens there. */
async function answers(host: string, port: number): Promise<boolean> {
  const socket = net.connect(port, host)
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return isOpen
}

/** By HOST: where it can be reached. */
const hosts: Record<string, { reached: string[]; not: string[] }> = {
  '127.0.0.1': { reached: ['127.0.0.1'], not: ['::1'] },
  localhost: { reached: ['127.0.0.1'], not: ['::1'] },
  LOCALHOST: { reached: ['127.0.0.1'], not: ['::1'] },
  '0.0.0.0': { reached: ['127.0.0.1'], not: [] },
  ...(hasIpv6 && {
    '::1': { reached: ['::1'], not: ['127.0.0.1'] },
    '::': { reached: ['::1'], not: [] },
    '0:0:0:0:0:0:0:1': { reached: ['::1'], not: ['127.0.0.1'] },
  }),
}

for (const [host, { reached, not }] of Object.entries(hosts)) {
  t.test(`HOST=${host} is one server, with all its bounds`, async (t: Test) => {
    const app = make(readConfig('plants', {}))
    t.teardown(() => app.close())
    await listen(app, host, 0, 'PORT')
    t.equal(app.addresses().length, 1)
    const port = portOf(app)
    for (const address of reached) t.ok(await answers(address, port), address)
    for (const address of not) t.notOk(await answers(address, port), address)
    t.equal(app.server.maxConnections, 10)
  })
}

t.test('a connection is kept as long as the configuration says, and that is told to its client', async (t) => {
  const app = make(readConfig('plants', {}))
  t.teardown(() => app.close())
  app.get('/', async () => 'x')
  await listen(app, '127.0.0.1', 0, 'PORT')
  const socket = net.connect(portOf(app), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n')
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  t.match(String(chunk), /\r\nkeep-alive: timeout=72\r\n/i)
  socket.destroy()
})
