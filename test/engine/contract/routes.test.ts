import { spawnSync } from 'node:child_process'
import { createReadStream, readFileSync } from 'node:fs'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { OPENAPI, operations } from '../../support/own.ts'
import { eventually } from '../../support/project.ts'
import { boot } from '../../support/small.ts'

const yaml = readFileSync(OPENAPI, 'utf8')
const names = operations.map(({ id }) => id)
/** The methods of PlantService. */
const plants = ['createPayout', 'getPayout', 'deletePayout']

t.test('the boot is refused, by name, if the service does not fit the contract', async (t) => {
  const missing = 'the operation deletePayout has no method in the service'
  const others = names.filter((id) => id !== 'deletePayout')
  const table: [methods: string[], message: string][] = [
    [others, missing],
    [[...names, 'listPayout'], 'the method listPayout of the service has no operation'],
    [[...others, 'deletePayot'], `the method deletePayot of the service has no operation; ${missing}`],
  ]
  for (const [methods, message] of table) {
    await t.rejects(boot(t, { yaml, methods }), { name: 'StartupError', message })
  }
  await boot(t, { yaml, methods: names })
})

t.test('two services may have the methods together, but not the same one', async (t) => {
  const app = await boot(t, {
    yaml: `paths:
  /a: { get: { operationId: getA, responses: { '200': { description: Done, content: { application/json: {} } } } } }
  /b: { get: { operationId: getB, responses: { '200': { description: Done, content: { application/json: {} } } } } }`,
    methods: [['getA'], ['getB']],
    run: async (request) => ({ status: 200, body: Object.keys(request).length }),
  })
  for (const path of ['/a', '/b']) t.equal((await app.inject(path)).statusCode, 200)
  const [first = '', ...others] = names
  const message = `two services have a method ${first}`
  await t.rejects(boot(t, { yaml, methods: [[first], [first, ...others]] }), { name: 'StartupError', message })
})

t.test('tsc refuses, by name, services that do not fit the contract, or have no guards', async (t) => {
  const head = `import { addRoutes } from '../../../service/engine/contract/routes.ts'
import type { OperationHooks } from '../../../service/engine/contract/routes.ts'
import { defineProduct } from '../../../service/engine/define-product.ts'
import type { CompiledContract } from '../../../service/engine/index.ts'
import { PlantService } from '../../../test/support/product/plant-service.ts'
import type { components, operations as All, Request, Result } from '../../../test/support/product/contract.gen.ts'
import type { Service } from '../../../service/engine/contract/types.ts'
declare const parameters: [...Parameters<typeof addRoutes>] extends [infer App, infer Contract, ...unknown[]] ? [App, Contract] : never
declare const hooks: OperationHooks
type operations = Pick<All, 'createPayout' | 'getPayout' | 'deletePayout'>
declare const contract: CompiledContract<components, operations>
declare const service: PlantService
const named = { name: 'plants', contract }
const collections = { plants: { schema: 'Plant', key: 'int64' } } as const
`
  const others = plants.map((id) => (id === 'deletePayout' ? '' : `  ${id} = service.${id}\n`)).join('')
  const define = (services: string) =>
    `export const product = defineProduct({ ...named, collections, services: () => ${services} })\n`
  const given = (schema: string, key: string) => `export const product = defineProduct({
  ...named,
  collections: { plants: { schema: '${schema}', key: '${key}' } },
  services: ({ plants }) => [new PlantService(plants)],
})\n`
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ extends: '../../../tsconfig.json', include: ['*.ts'] }),
    'right.ts': `${head}${given('Plant', 'int64')}export const routes = addRoutes(...parameters, [service], hooks)\n`,
    'two.ts': `${head}declare const one: Pick<PlantService, 'deletePayout'>
declare const other: Omit<PlantService, 'deletePayout'>
${define('[one, other]')}`,
    'missing.ts': `${head}declare const of: Omit<PlantService, 'deletePayout'>\n${define('[of]')}`,
    'missing2.ts': `${head}declare const one: Pick<PlantService, 'createPayout'>
declare const other: Omit<PlantService, 'createPayout' | 'deletePayout'>
${define('[one, other]')}`,
    'extra.ts': `${head}interface Of extends PlantService { listPayout(): Promise<void> }
declare const of: Of\n${define('[of]')}`,
    'extra2.ts': `${head}declare const other: { listPayout(): Promise<void> }\n${define('[service, other]')}`,
    'misspelled.ts': `${head}export class Of implements Service<operations> {
${others}  async deletePayot(_: Request<'deletePayout'>): Promise<Result<'deletePayout'>> { return { status: 204 } }
}\n`,
    'schema.ts': `${head}${given('Garden', 'int64')}`,
    'key.ts': `${head}${given('Plant', 'text')}`,
    'unguarded.ts': `${head}export const routes = addRoutes(...parameters, [service])\nexport { hooks }\n`,
    'status.ts': `${head}export const result: Result<'deletePayout'> = { status: 418 }\n`,
    'number.ts': `${head}export const id: number = (null as unknown as Request<'deletePayout'>).path.id\n`,
  })
  const { stdout } = spawnSync(
    process.execPath,
    ['node_modules/typescript/bin/tsc', '--noUnusedLocals', 'false', '-p', folder],
    {
      encoding: 'utf8',
    },
  )
  const errorsOf = (file: string) =>
    stdout
      .split(/\n(?=\S)/)
      .filter((error) => error.includes(`/${file}.ts(`))
      .join('\n')
  for (const file of ['right', 'two']) t.equal(errorsOf(file), '')
  for (const [file, name] of Object.entries({
    missing: 'deletePayout',
    missing2: 'deletePayout',
    extra: 'listPayout',
    extra2: 'listPayout',
    schema: '"Garden"',
    key: "'string' is not assignable to type 'bigint'",
    misspelled: 'deletePayout',
    unguarded: 'Expected 4-5 arguments',
    status: '418',
    number: 'bigint',
  })) {
    t.match(errorsOf(file), name, file)
  }
  t.match(errorsOf('missing'), /Property 'deletePayout' is missing in type/, 'the class is named')
  t.notMatch(errorsOf('missing'), /\n\S+ error /, 'and nothing else')
})

t.test('an operation without a method is answered 501 in a draft, with the names of both', async (t) => {
  const app = await boot(t, { yaml: "      responses: { '204': { description: Done } }", methods: [], isDraft: true })
  const { statusCode, body } = await app.inject('/x')
  t.match([statusCode, body], [501, /The operation run needs a method run in the class Small/])
})

t.test('what a method gives is answered 500 if the contract does not declare it', async (t) => {
  const table: [given: unknown, fault: RegExp][] = [
    [{ status: 201 }, /answered 201 with a status that the contract does not declare/],
    [{ status: 200, type: 'text/csv', body: 'x' }, /a body that the contract does not declare/],
    [{ status: 200 }, /a body that does not fit the contract: it is missing/],
    [{ status: 200, body: { id: 1, other: 2 } }, /body must not have the property other/],
    [{ status: 200, body: { id: '1' } }, /body\/id must be an integer/],
    [{ status: 204, body: 1 }, /a body that the contract does not declare/],
    [{ status: 202, body: {} }, /answered 202 with a body that is not bytes/],
    [{ status: 204, headers: { 'X-A': 'a', 'X-B': 'ł' } }, /Invalid character in header content ."X-B"/],
  ]
  for (const [given, fault] of table) {
    const schema = '{ type: object, properties: { id: { type: integer, format: int64 } }, additionalProperties: false }'
    const errors: unknown[] = []
    const app = await boot(t, {
      yaml: `      responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } }, '202': { description: Image, content: { image/png: {} } }, '204': { description: None } }`,
      run: async () => given as { status: number },
      onError: ({ message }) => void errors.push(message),
    })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' }) // only a real answer has its headers checked
    const answer = await fetch(`${origin}/x`)
    t.strictSame([answer.status, await answer.text()], [500, '{"error":500,"message":"Internal Server Error"}'])
    t.match(errors, [fault])
  }
})

t.test('an object that a method answers with stays as it is, whatever is left out of the answer', async (t) => {
  const user = { name: 'a', address: { city: 'b', door: 'c' }, password: 'd' }
  const schema = `type: object
        properties:
          name: { type: string }
          address: { type: object, properties: { city: { type: string }, door: { type: string, writeOnly: true } } }
          password: { type: string, writeOnly: true }`
  const app = await boot(t, {
    yaml: `      responses: { '200': { description: Done, content: { application/json: { schema: { $ref: '#/components/schemas/User' } } } } }
components:
  schemas:
    User:
        ${schema}`,
    run: async () => ({ status: 200, body: user }),
  })
  for (let time = 0; time < 2; time++) t.equal((await app.inject('/x')).body, '{"name":"a","address":{"city":"b"}}')
  t.strictSame(user, { name: 'a', address: { city: 'b', door: 'c' }, password: 'd' })
})

t.test('a text names its charset, and JSON and bytes have none', async (t) => {
  for (const [type, body, expected] of [
    ['text/plain', 'é', 'text/plain; charset=utf-8'],
    ['text/csv', 'é', 'text/csv; charset=utf-8'],
    ['application/json', 'é', 'application/json'],
    ['image/png', new Uint8Array(1), 'image/png'],
  ] as const) {
    const app = await boot(t, {
      yaml: `      responses: { '200': { description: Done, content: { ${type}: {} } } }`,
      run: async () => ({ status: 200, body }),
    })
    t.equal((await app.inject('/x')).headers['content-type'], expected)
  }
})

t.test('bytes of a body arrive as they are sent, and the method may answer before they end', async (t) => {
  const app = await boot(t, {
    yaml: `      requestBody: { required: true, content: { application/octet-stream: { x-body-limit: 1000000 } } }`,
    run: async ({ body }) => {
      const first = await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next()
      return { status: 200, body: first.done === true ? 0 : first.value.length }
    },
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  let send: ReadableStreamDefaultController | undefined
  const body = new ReadableStream({ start: (controller) => void (send = controller) })
  const answer = fetch(`${origin}/x`, {
    method: 'POST',
    body,
    duplex: 'half',
    headers: { 'Content-Type': 'application/octet-stream' },
  })
  send?.enqueue(new Uint8Array(10))
  t.equal(await (await answer).text(), '10')
  send?.close()
  const long = fetch(`${origin}/x`, {
    method: 'POST',
    body: new Uint8Array(1_000_001),
    headers: { 'Content-Type': 'application/octet-stream' },
  })
  t.equal((await long).status, 413)
})

t.test('the request behind a body that is not read to its end is answered', async (t) => {
  const app = await boot(t, {
    yaml: `x-body-limit: 400000
paths:
  /x: { post: { operationId: run, requestBody: { content: { application/octet-stream: {}, application/json: {} } }, responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    run: async ({ body }) => {
      await (body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next()
      return { status: 200, body: 0 }
    },
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  for (const [type, status] of [
    ['application/octet-stream', '200'],
    ['application/json', '413'],
  ] as const) {
    const socket = net.connect(port, '127.0.0.1')
    const body = `7a120\r\n${'x'.repeat(500_000)}\r\n0\r\n\r\n`
    socket.write(`POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n${body}`)
    socket.write('GET /y HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
    const statuses = [...(await text(socket)).matchAll(/HTTP\/1.1 (\d+)/g)].map(([, each]) => each)
    t.strictSame(statuses, [status, '404'], type)
  }
})

t.test('an operation without a body ignores one, however it arrives', async (t) => {
  const operation = (id: string, body = '') =>
    `    put: { operationId: ${id}, ${body}responses: { '200': { description: Done, content: { application/json: {} } } } }`
  const content =
    'requestBody: { content: { application/json: {}, image/png: {}, multipart/form-data: { schema: { type: object } } } }, '
  const app = await boot(t, { yaml: `paths:\n  /x:\n${operation('run')}\n  /y:\n${operation('other', content)}\n` })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const end = 'GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n'
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
    for (const isLate of [false, true]) {
      const socket = net.connect(port, '127.0.0.1')
      socket.write(`PUT /x HTTP/1.1\r\nHost: h\r\n${headers}\r\n\r\n${isLate ? '' : body + end}`)
      let answers = ''
      socket.on('data', (data) => {
        if (isLate && answers === '') socket.write(body + end)
        answers += String(data)
      })
      await once(socket, 'close')
      const statuses = [...answers.matchAll(/HTTP\/1.1 (\d+)/g)].map(([, each]) => each)
      t.strictSame(statuses, ['200', '404'], `${headers} ${isLate}`)
    }
  }
})

t.test('a stream of the web may be a body', async (t) => {
  const app = await boot(t, {
    yaml: `      responses: { '200': { description: Done, content: { image/png: {} } } }`,
    run: async () => ({ status: 200, body: new Blob(['PNG']).stream() }),
  })
  t.equal((await app.inject('/x')).body, 'PNG')
})

t.test('a stream of Node that is a body is destroyed when nobody reads it', async (t) => {
  const streams: Readable[] = []
  const app = await boot(t, {
    yaml: `      responses: { '200': { description: Done, content: { image/png: {} } } }`,
    run: async () => {
      const body = createReadStream('/dev/zero')
      streams.push(body)
      return { status: 200, body }
    },
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  await fetch(`${origin}/x`, { method: 'HEAD' })
  const reader = (await fetch(`${origin}/x`)).body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await eventually(() => streams.length === 2 && streams.every(({ destroyed }) => destroyed))
})

t.test('a stream of Node that is over before it is a body is answered', async (t) => {
  const consumed = Readable.from(['x'])
  await consumed.toArray()
  const late: Readable = new Readable({ read: () => setImmediate(() => late.destroy()) })
  for (const [body, status] of [
    [new Readable().destroy(), 500],
    [consumed, 200],
    [late, 500],
  ] as const) {
    const app = await boot(t, {
      yaml: `      responses: { '200': { description: Done, content: { image/png: {} } } }`,
      run: async () => ({ status: 200, body }),
    })
    const { statusCode, body: text } = await app.inject('/x')
    t.equal(statusCode, status)
    if (status === 200) t.equal(text, '')
  }
})

t.test('of several credentials, those that are not valid or missing are told before a scope that is', async (t) => {
  const schemes = 'b: { type: http, scheme: bearer }, k: { type: apiKey, in: header, name: X-Key }'
  for (const [security, headers, status] of [
    ['[{ b: [], k: [] }, {}]', {}, 200],
    ['[{ b: [], k: [] }, {}]', { 'x-key': 'x' }, 401],
    ['[{ b: [], k: [] }, {}]', { authorization: 'Bearer x' }, 401],
    ['[{ b: [], k: [admin] }]', { 'x-key': 'joe:' }, 401],
    ['[{ b: [], k: [admin] }]', { 'x-key': 'joe:', authorization: 'Bearer x' }, 401],
    ['[{ b: [], k: [admin] }]', { 'x-key': 'joe:', authorization: 'Bearer bob:' }, 403],
    ['[{ b: [] }, { k: [admin] }]', { 'x-key': 'joe:' }, 403],
    ['[{ b: [] }, { k: [] }]', { 'x-key': 'away:' }, 503],
  ] as const) {
    const app = await boot(t, {
      yaml: `      security: ${security}
      responses: { '200': { description: Done, content: { application/json: {} } } }
components: { securitySchemes: { ${schemes} } }`,
    })
    const { statusCode, body } = await app.inject({ url: '/x', headers })
    t.equal(statusCode, status, `${security} ${JSON.stringify(headers)}: ${body}`)
  }
})
