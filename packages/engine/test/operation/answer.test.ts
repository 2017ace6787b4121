// Answers of methods: long lists, headers, and what fails while they are sent.
import net from 'node:net'
import { once } from 'node:events'
import { DatabaseSync } from 'node:sqlite'
import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t from 'tap'
import { type Answer, boot } from '../../../../test/support/contracts/serve-contract.ts'
import { JsonText, StoreBusy } from '@plant-store/engine/for-store'
import { build } from '../../../../test/support/servers/start-product.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const COUNT = 20_000
const { call, log, port, store, token } = await build(t)
const file = `${t.testdirName}/plants.db`
const secret = await token('many')
// 20 MB in all.
const name = (id: number) => `${id} ` + '🌱'.repeat(248)
await Promise.all(
  Array.from({ length: COUNT }, (_, id) => store.create('many', BigInt(id), { name: name(id) })),
)
const bytes = `GET /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${secret}\r\n\r\n`

t.test(
  'a long page has its Link, a list without limit all plants, and HEAD the same headers',
  async (t) => {
    const counts = { '': COUNT, '?limit=3': 3, '?limit=15000': 15_000, '?limit=20000': COUNT }
    for (const [query, count] of Object.entries(counts)) {
      const get = await call({ path: `/plants${query}`, token: secret })
      const plants = Array.from({ length: count }, (_, id) => ({ name: name(id) }))
      t.strictSame([get.json, 'link' in get.headers], [plants, count < COUNT], query)
      const head = await call({ method: 'HEAD', path: `/plants${query}`, token: secret })
      const { date: _date, 'x-request-id': _id, ...headers } = head.headers
      t.hasStrict(get.headers, headers, query)
      t.strictSame(
        [head.headers['content-length'], head.text],
        [get.headers['content-length'], ''],
        query,
      )
    }
  },
)

t.test('memory is flat while readers stall', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const used = () => {
    collect()
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  const before = used()
  const sockets = Array.from({ length: 10 }, () => net.connect(port, '127.0.0.1').pause())
  for (const socket of sockets) socket.write(bytes)
  await delay(500)
  const growth = used() - before
  for (const socket of sockets) socket.destroy()
  t.ok(growth < 60e6, `${growth} bytes for ten lists of 20 MB`)
})

t.test('lists that their clients give up, pipelined ones too, are ended', async (t) => {
  for (const end of ['', 'BROKEN', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n']) {
    const requests = () => log.filter(({ msg }) => msg === 'request').length
    const before = requests()
    const socket = net.connect(port, '127.0.0.1').pause()
    socket.write(bytes.repeat(5) + end)
    await delay(300)
    socket.destroy()
    for (let left = 200; requests() < before + 5 && left > 0; left -= 1) await delay(10)
    await delay(100)
  }
  // An open reader would keep the log of the database from being emptied.
  const writer = new DatabaseSync(file)
  await store.create('other', 1n, { name: 'x' })
  t.hasStrict(writer.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get(), {
    busy: 0,
    log: 0,
    checkpointed: 0,
  })
  writer.close()
})

t.test('however many long lists are open and not read, no list is refused', async (t) => {
  const sockets: net.Socket[] = []
  const begin = async () => {
    const socket = net.connect(port, '127.0.0.1')
    socket.write(bytes)
    const [chunk] = (await once(socket, 'data')) as [Buffer]
    socket.pause()
    const isBegun = chunk.toString('latin1', 9, 12) === '200'
    if (isBegun) sockets.push(socket)
    return isBegun
  }
  // A busy machine may refuse one after too long a wait. It must begin while the others are open.
  while (sockets.length < 40) await eventually(begin)
  for (const secretToken of [await token('other'), secret])
    t.equal((await call({ path: '/plants', token: secretToken })).status, 200)
  for (const socket of sockets) socket.destroy()
})

for (const [what, error, isCounted] of [
  ['a failure midway is logged', new Error('midway'), false],
  [
    'a list that is broken off because it was read too slowly is counted',
    new StoreBusy('too slow'),
    true,
  ],
] as const) {
  t.test(`${what}; the connection breaks`, async (t) => {
    const log: Record<string, unknown>[] = []
    const body = async function* () {
      yield new JsonText('[1]')
      throw error
    }
    const app = await boot(t, {
      yaml: '',
      run: async () => ({ status: 200, body: body() }),
      log,
    })
    const response = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/x`)
    t.equal(response.status, 200)
    await t.rejects(response.text())
    const { message } = error
    const told = log.filter(({ err, reason }) => err !== undefined || reason !== undefined)
    t.match(told, [isCounted ? { msg: 'too busy', reason: message } : { err: { message } }])
    t.equal(told.length, 1)
  })
}

t.test('an answer that can not be a header is 500 in its status line, too', async (t) => {
  const responses = "{ '200': { description: Done, content: { '*/*': {} } } }"
  const unsendable: readonly Answer[] = [
    { status: 200, type: 'image/\u2028', body: Buffer.from('x') },
    { status: 200, type: 'image/a\r\nX: y', body: Buffer.from('x') },
    { status: 200, type: 'image/png', body: Buffer.from('x'), headers: { 'X Y': 'z' } },
    { status: 200, type: 'image/png', body: Buffer.from('x'), headers: { X: 'y\nz' } },
    { status: 200, type: 'image/png', body: Buffer.from('x'), headers: { X: '\u2028' } },
  ]
  for (const answer of unsendable) {
    const app = await boot(t, { yaml: `      responses: ${responses}`, run: async () => answer })
    const response = await fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/x`)
    t.strictSame([response.status, response.statusText], [500, 'Internal Server Error'])
    t.strictSame(await response.json(), { error: 500, message: 'Internal Server Error' })
  }
})

t.test('a failure before the first byte is answered with 500', async (t) => {
  const list = async function* () {
    yield* []
    throw new Error('at first')
  }
  const failed = new Readable().on('error', () => undefined).destroy(new Error('before'))
  for (const body of [list(), failed]) {
    const app = await boot(t, {
      yaml: '',
      run: async () => ({ status: 200, headers: { Link: 'x' }, body }),
    })
    const { statusCode, headers, body: text } = await app.inject('/x')
    t.strictSame([statusCode, text], [500, '{"error":500,"message":"Internal Server Error"}'])
    t.notOk('link' in headers)
  }
})
