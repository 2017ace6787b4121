// The routes of a contract: paths, methods, media types and answers of operations.
import { createReadStream, readFileSync } from 'node:fs'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { OPENAPI, operations } from '../../../../test/support/contracts/product-contract.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const yaml = readFileSync(OPENAPI, 'utf8')
const names = operations.map(({ id }) => id)
const DONE = "responses: { '200': { description: Done, content: { application/json: {} } } }"
const described = (type: string, schema = '{ type: string }') =>
  `{ description: A, content: { ${type}: { schema: ${schema} } } }`
const IMAGE = "      responses: { '200': { description: Done, content: { image/png: {} } } }"
/** The last request of a connection, which closes it. */
const LAST = 'GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'

t.test('the start is refused, by name, if the services do not fit the contract', async (t) => {
  const missing = 'the operation deletePayout has no method in the service'
  const others = names.filter((id) => id !== 'deletePayout')
  const table: [methods: string[][], message: string][] = [
    [[others], missing],
    [
      [[...names, 'listPayout']],
      'the method listPayout of the service has no operation (a private one begins with #)',
    ],
    [
      [[...others, 'deletePayot']],
      `the method deletePayot of the service has no operation (a private one begins with #); ${missing}`,
    ],
    [[['deletePayout'], names], 'two services have a method deletePayout'],
  ]
  for (const [methods, message] of table) {
    await t.rejects(boot(t, { yaml, methods }), { name: 'StartupError', message })
  }
  await boot(t, { yaml, methods: [['deletePayout'], others] })
})

function done(body: string) {
  return async () => ({ status: 200, body })
}

t.test('a method may be inherited, a property, or what a getter returns', async (t) => {
  const ids = ['own', 'inherited', 'arrow', 'assigned', 'got', 'toString', 'traced', 'plain']
  const paths = ids.map((id) => `  /${id}: { get: { operationId: ${id}, ${DONE} } }`)
  class Base {
    readonly #name = 'base'
    inherited() {
      return Promise.resolve({ status: 200, body: this.#name })
    }
    helper = done('a function of the class itself')
  }
  class Main extends Base {
    static missing = done('static')
    assigned: () => Promise<object>
    arrow = async () => this.#answer('arrow')
    constructor() {
      super()
      this.assigned = this.#answer.bind(this, 'assigned')
    }
    own() {
      return this.#answer('own')
    }
    override toString = () => this.#answer('toString') as unknown as string
    get got() {
      return () => this.#answer('got')
    }
    get size(): number {
      throw new Error('nobody asks for it')
    }
    async *[Symbol.asyncIterator]() {
      yield await this.own()
    }
    async #answer(body: string) {
      return { status: 200, body }
    }
  }
  class Traced {
    async traced() {
      return { status: 200, body: 'traced' }
    }
  }
  const proxy = new Proxy(new Traced(), {})
  const services = [new Main(), proxy, { plain: done('plain') }]
  const app = await boot(t, { yaml: `paths:\n${paths.join('\n')}`, services })
  for (const id of ids) {
    const { body } = await app.inject(`/${id}`)
    t.equal(body, JSON.stringify(id === 'inherited' ? 'base' : id))
  }
})

t.test('what is no method of a service is missing, or has no operation', async (t) => {
  const path = (id: string) => `paths: { /x: { get: { operationId: ${id}, ${DONE} } } }`
  class Named {
    static run = done('static')
    name = 'run'
    get got() {
      return 7
    }
  }
  const nothing = Object.create(null) as object
  class Static extends EventTarget {}
  const services = [new Named(), nothing, Static]
  const builtIn = [Object.prototype, Function.prototype].flatMap(Object.getOwnPropertyNames)
  for (const id of new Set(['run', 'got', 'name', 'absent', ...builtIn])) {
    const missing = `the operation ${id} has no method in the service`
    const message = id === 'constructor' ? /this can't be the name of a method/ : missing
    await t.rejects(boot(t, { yaml: path(id), services }), { message }, id)
  }
  class Helpful {
    run = done('')
    help() {
      return this.run()
    }
  }
  await t.rejects(boot(t, { yaml: path('run'), services: [new Helpful()] }), {
    message: 'the method help of the service has no operation (a private one begins with #)',
  })
  class Heir extends Helpful {
    override run = done('')
  }
  const two = [
    [new Heir(), { run: done('') }],
    [new Heir(), new Heir()],
  ]
  for (const services of two)
    await t.rejects(boot(t, { yaml: path('run'), services }), {
      message: 'two services have a method run',
    })
  t.equal(
    (await (await boot(t, { yaml: path('run'), services: [new Heir()] })).inject('/x')).body,
    '""',
  )
})

t.test('what a method gives is answered 500 if the contract does not declare it', async (t) => {
  const table: [answered: unknown, fault: RegExp][] = [
    [{ status: 201 }, /answered 201 with a status that the contract does not declare/],
    [{ status: 200, type: 'text/csv', body: 'x' }, /a body that the contract does not declare/],
    [{ status: 200 }, /a body that does not fit the contract: it is missing/],
    [{ status: 200, body: { id: 1, more: 2 } }, /body must not have the property more/],
    [{ status: 200, body: { id: '1' } }, /body\/id must be an integer/],
    [{ status: 204, body: 1 }, /a body that the contract does not declare/],
    [{ status: 202, body: {} }, /answered 202 with a body that is not bytes/],
    [
      { status: 204, headers: { 'X-A': 'a', 'X-B': 'ł' } },
      /Invalid character in header content ."X-B"/,
    ],
  ]
  const schema =
    '{ type: object, properties: { id: { type: integer, format: int64 } }, additionalProperties: false }'
  const log: Record<string, unknown>[] = []
  let received: unknown
  const app = await boot(t, {
    yaml: `      responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } }, '202': { description: Image, content: { image/png: {} } }, '204': { description: None } }`,
    run: async () => received as { status: number },
    log,
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' }) // only a real answer has its headers checked
  for (const [misfit, fault] of table) {
    received = misfit
    const answer = await fetch(`${origin}/x`)
    t.strictSame(
      [answer.status, await answer.text()],
      [500, '{"error":500,"message":"Internal Server Error"}'],
    )
    t.match(
      log.findLast(({ err }) => err !== undefined),
      { err: { message: fault } },
    )
  }
})

t.test('HEAD has no length where the status has no content, RFC 9110, section 8.6', async (t) => {
  for (const [status, length] of [
    [200, '0'],
    [204, undefined],
    [304, undefined],
  ] as const) {
    const yaml = `      responses: { '${status}': { description: Done } }`
    const app = await boot(t, { yaml, run: async () => ({ status }) })
    const { statusCode, headers } = await app.inject({ method: 'HEAD', url: '/x' })
    t.strictSame([statusCode, headers['content-length']], [status, length])
  }
})

t.test('an error that a contract does not describe has the form of another', async (t) => {
  const problem =
    '{ type: object, required: [title], properties: { title: { type: string }, detail: { type: string } } }'
  const asProblem = /"title":"Not Implemented","status":501,"detail":"The operation run needs/
  const asText = /^The operation run needs/
  for (const [errors, type, body] of [
    [
      `'400': ${described('application/problem+json', problem)}`,
      'application/problem+json',
      asProblem,
    ],
    [
      `'400': { description: Bad }, '500': ${described('text/html')}`,
      'text/html; charset=utf-8',
      asText,
    ],
    [
      "'400': { description: Bad }",
      'application/json',
      /^{"error":501,"message":"The operation run needs a method run in the class Small/,
    ],
  ] as const) {
    const yaml = `      responses: { '204': { description: Done }, ${errors} }`
    const answer = await (await boot(t, { yaml, methods: [], isDraft: true })).inject('/x')
    t.strictSame([answer.statusCode, answer.headers['content-type']], [501, type])
    t.match(answer.body, body)
  }
})

t.test(
  'a method may answer before a body ends, and the request behind it is answered',
  async (t) => {
    const app = await boot(t, {
      yaml: `x-body-limit: 400000
paths:
  /x: { post: { operationId: run, requestBody: { content: { application/octet-stream: {}, application/json: {} } }, ${DONE} } }\n`,
      run: async ({ body }) => {
        await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next()
        return { status: 200, body: 1 }
      },
    })
    const body = `7a120\r\n${'x'.repeat(500_000)}\r\n0\r\n\r\n`
    for (const [type, status] of Object.entries({
      'application/octet-stream': '200',
      'application/json': '413',
    })) {
      const head = `POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`
      t.strictSame(await statusesOf(app, head + body + LAST), [status, '404'], type)
      const [begin, end] = [head + body.slice(0, 450_000), body.slice(450_000) + LAST]
      t.strictSame(await statusesOf(app, begin, end), [status, '404'], `${type}, late`)
    }
  },
)

t.test('an operation without a body ignores one, however it arrives', async (t) => {
  const content =
    '{ application/json: {}, image/png: {}, multipart/form-data: { schema: { type: object } } }'
  const app = await boot(t, {
    yaml: `paths:
  /x: { put: { operationId: run, ${DONE} } }
  /y: { put: { operationId: other, requestBody: { content: ${content} }, ${DONE} } }\n`,
  })
  for (const [headers, body] of [
    ['Content-Type: application/json\r\nContent-Length: 2', '{}'],
    ['Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 2', '--'],
    ['Content-Type: image/png\r\nContent-Length: 2', '--'],
    ['Content-Type: text/plain\r\nContent-Length: 2000000', 'x'.repeat(2_000_000)],
    ['Content-Length: 2', '{}'],
    ['Content-Type: x\r\nContent-Length: 2', '{}'],
    ['Transfer-Encoding: chunked', '0\r\n\r\n'],
    ['Transfer-Encoding: chunked', '2\r\n{}\r\n0\r\n\r\n'],
  ] as const) {
    const head = `PUT /x HTTP/1.1\r\nHost: h\r\n${headers}\r\n\r\n`
    t.strictSame(await statusesOf(app, head + body + LAST), ['200', '404'], headers)
    t.strictSame(await statusesOf(app, head, body + LAST), ['200', '404'], `${headers}, late`)
  }
})

t.test('a stream of Node that is a body is destroyed when nobody reads it', async (t) => {
  const streams: Readable[] = []
  const run = async () => {
    streams.push(createReadStream('/dev/zero'))
    return { status: 200, body: streams.at(-1) }
  }
  const app = await boot(t, { yaml: IMAGE, run })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await fetch(`${origin}/x`, { method: 'HEAD' })
  const reader = (await fetch(`${origin}/x`)).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await eventually(() => streams.length === 2 && streams.every(({ destroyed }) => destroyed))
})

t.test(
  'a stream of the web is answered, and one of Node that is over before it is a body',
  async (t) => {
    const consumed = Readable.from(['x'])
    await consumed.toArray()
    const late: Readable = new Readable({ read: () => setImmediate(() => late.destroy()) })
    for (const [body, status, text] of [
      [new Blob(['PNG']).stream(), 200, /^PNG$/],
      [consumed, 200, /^$/],
      [new Readable().destroy(), 500, /Internal/],
      [late, 500, /Internal/],
    ] as const) {
      const app = await boot(t, { yaml: IMAGE, run: async () => ({ status: 200, body }) })
      const answer = await app.inject('/x')
      t.equal(answer.statusCode, status)
      t.match(answer.body, text)
    }
  },
)

/**
 * The statuses of all answers on a connection. @param later is sent when the first answer begins
 */
async function statusesOf(
  app: FastifyInstance,
  first: string,
  later = '',
): Promise<(string | undefined)[]> {
  if (!app.server.listening) await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const socket = net.connect(port, '127.0.0.1')
  let answered = ''
  socket.on('data', (data) => {
    if (answered === '') socket.write(later)
    answered += String(data)
  })
  socket.write(first)
  await once(socket, 'close')
  return [...answered.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, status]) => status)
}

t.test('a segment is split at its plain text before it is decoded', async (t) => {
  const texts = ['-', ':', '.', ',', ';', '=', '@', '~', '+', '!', "'", '(', '$', '&', '_']
  for (const text of [...texts, 'to', '2', 'A', '::', '-x-', '.tar.', ':archive:', "('"]) {
    const parameters = (names: readonly string[]) =>
      names.map((name) => `{ name: ${name}, in: path, required: true, schema: {} }`).join()
    const operation = (id: string, ...names: readonly string[]) =>
      `operationId: ${id}, parameters: [${parameters(names)}], ${DONE}`
    const app = await boot(t, {
      yaml: `paths:
  "/two/{a}${text}{b}": { get: { ${operation('two', 'a', 'b')} } }
  "/items/{a}${text}archive": { post: { ${operation('archive', 'a')} } }
  "/items/{a}": { delete: { ${operation('remove', 'a')} } }\n`,
    })
    const hex = Buffer.from(text).toString('hex').replaceAll(/../g, '%$&')
    for (const encoded of [hex, hex.toUpperCase()]) {
      const ask = async (method: 'GET' | 'POST' | 'DELETE', url: string) => {
        const answer = await app.inject({ method, url })
        return answer.statusCode === 200 ? (JSON.parse(answer.body) as object) : answer.statusCode
      }
      t.strictSame(await ask('GET', `/two/x${encoded}y${text}z${encoded}`), {
        path: { a: `x${text}y`, b: `z${text}` },
      })
      t.strictSame(await ask('GET', `/two/x%2F${text}z%2f%25?q=${text}`), {
        path: { a: 'x/', b: 'z/%' },
      })
      t.strictSame(await ask('GET', `http://h/two/%C3%A9${text}${encoded}`), {
        path: { a: 'é', b: text },
      })
      t.equal(await ask('GET', `/two/x${encoded}z`), 404)
      t.strictSame(await ask('DELETE', `/items/x${encoded}archive`), {
        path: { a: `x${text}archive` },
      })
      t.equal(await ask('POST', `/items/x${encoded}archive`), 405)
      t.strictSame(await ask('POST', `/items/x${encoded}${text}archive`), {
        path: { a: `x${text}` },
      })
      t.equal(await ask('DELETE', `/items/x${text}archive`), 405)
    }
  }
})
