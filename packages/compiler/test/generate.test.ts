// `npm run generate`: the file it writes, its `--dry-run` and `--check`, and the types of methods.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import t, { type Test } from 'tap'
import { compile, dryRun, generateTypes } from '../../../test/support/inner/compiler.ts'
import { OPENAPI } from '../../../test/support/contracts/product-contract.ts'
import { putTestProduct } from '../../../test/support/project/copy.ts'
import { boot, contract } from '../../../test/support/contracts/serve-contract.ts'

t.test('generate writes the types, and with --check fails if they are stale', async (t) => {
  const { folder, generate } = project(t)
  const yaml = readFileSync(OPENAPI, 'utf8')
  t.equal(generate('--check').status, 0, 'what the tests have is not stale')
  writeFileSync(`${folder}/openapi.yaml`, yaml.replaceAll('deletePayout', 'removePayout'))
  t.match(generate('--check'), { status: 1, stderr: /npm run generate/ })
  const generated = () => readFileSync(`${folder}/service/contract.gen.ts`, 'utf8')
  for (const type of ['PlantId: bigint;', /Limit: number;/]) t.match(generated(), type)
  t.notMatch(generated(), 'removePayout')
  t.equal(generate().status, 0)
  t.match(generated(), 'removePayout')
  t.equal(generate('--check').status, 0)
  writeFileSync(`${folder}/openapi.yaml`, 'info:\n  title: a: b')
  t.match(generate().stderr, /openapi\.yaml:2: Nested mappings are not allowed/)
})

t.test('a start reads what was generated, without what compiles contracts', async (t) => {
  const { folder, generate, read } = project(t)
  const yaml = `paths: { /x: { $ref: 'paths.yaml#/x' } }\n`
  writeFileSync(`${folder}/openapi.yaml`, contract(yaml))
  writeFileSync(
    `${folder}/paths.yaml`,
    "x: { get: { operationId: run, responses: { '204': { description: Done } } } }",
  )
  t.match(generate(), { status: 0, stderr: '' })
  t.match(read(), 'operationId: run')
  rmSync(`${folder}/paths.yaml`)
  t.match(read(), 'operationId: run', 'the image has only the first file')
  writeFileSync(`${folder}/paths.yaml`, '')
  t.match(read(), 'it has changed since the last `npm run generate`: run it again', 'another file')
  rmSync(`${folder}/paths.yaml`)
  writeFileSync(`${folder}/openapi.yaml`, contract(`${yaml}x-a: 1`))
  t.match(read(), 'it has changed since the last `npm run generate`: run it again')
})

t.test('a service is written with the types of what is described', (t) => {
  const { folder, generate } = project(t)
  writeFileSync(`${folder}/openapi.yaml`, contract(MANY))
  t.equal(generate().status, 0)
  const head = `import type { Request, Result } from './service/contract.gen.ts'
declare const [request, other, ranged, upload]: [Request<'run'>, Request<'other'>, Request<'ranged'>, Request<'upload'>]
declare const [file, pairs]: [Request<'file'>, Request<'pairs'>]
`
  const right = [
    'const body: { name: string; size: number; tag?: string } = request.body',
    'for (const { n } of request.body.parts ?? []) n.toString(2).slice(1)',
    'const nullable: (bigint | null)[] = request.body.ids ?? []',
    'const enumOfParameter: bigint[] = [...(other.query.ids ?? []), other.query.id ?? 0n]',
    'const mixed: bigint | string | boolean | undefined = request.body.mixed',
    "declare const capital: Request<'capital'>; const text: string = capital.body.slice(1)",
    "const capitalAnswer: Result<'capital'> = { status: 200, body: { n: 1n } }",
    'const isFilled: boolean = request.body.isNew',
    'const hasDefault: number = request.query.page',
    'for await (const chunk of upload.body) chunk.byteLength',
    "declare const form: Request<'form'>; const photo: File = form.body.photo",
    'const n: bigint[] | string | undefined = pairs.body?.n; const more: number = pairs.body?.more?.n ?? 0',
    'const a: File = file.body.a; const all: File | File[] | undefined = file.body.b',
    'const type: string = ranged.type; for await (const chunk of ranged.body) chunk.byteLength',
    "const rangedAnswer: Result<'ranged'> = { status: 200, type: 'image/png', body: new Uint8Array() }",
    "const any: Result<'pairs'> = { status: 200, body: { n: 1n } }",
    "async function* ticks() { yield { id: '1', event: 'a', data: { n: 1n } }; yield { data: { n: 2n } } }; const events: Result<'follow'> = { status: 200, body: ticks() }",
    "const answer: Result<'run'> = { status: 200, body: { id: 1n, name: 'a' }, headers: { 'X-Count': 7 } }",
    "const range: Result<'run'> = { status: 418, body: { message: 'no' } }",
    "const media: Result<'other'> = { status: 200, type: 'text/csv', body: 'a;b' }",
    "const pieces: Result<'upload'> = { status: 200, body: new Uint8Array() }",
  ]
  const wrong = [
    'request.body.id // read-only',
    'const notNull: bigint[] = request.body.ids ?? []',
    'const maybeAbsent: bigint[] = request.query.all',
    'const noDefault: number = request.query.wrong',
    'const optionalBody: string = other.body',
    "const noRangedType: Result<'ranged'> = { status: 200, body: new Uint8Array() }",
    "const writeOnly: Result<'run'> = { status: 200, body: { id: 1n, name: 'a', secret: 'b' }, headers: { 'X-Count': 7 } }",
    "async function* wrongTicks() { yield { data: { n: 'x' } } }; const noEvents: Result<'follow'> = { status: 200, body: wrongTicks() }",
    "const noHeader: Result<'run'> = { status: 200, body: { id: 1n, name: 'a' } }",
    "const onlyOfTheService: Result<'run'> = { status: 503 }",
    "const noType: Result<'other'> = { status: 200, body: 'a;b' }",
    "import type { operations } from './service/contract.gen.ts'; const webhook: keyof operations = 'on'",
  ]
  const pieces = [...right, ...wrong].map(
    (snippet) => [snippet, right.includes(snippet) ? '' : 'error'] as const,
  )
  assertErrors(t, folder, head, pieces)
  t.end()
})

t.test(
  'tsc refuses, by name, services that do not fit the contract, or have no guards',
  async (t) => {
    const head = `import { addRoutes, type AuthorizerOf } from '../../../packages/engine/src/operation/routes.ts'
import { defineProduct, type CompiledContract } from '@plant-store/engine'
import { openStore } from '@plant-store/store'
import { PlantService } from '../../../test/support/product/plant-service.ts'
import type { components, operations as All } from '../../../test/support/product/contract.gen.ts'
import type { Service } from '../../../packages/engine/src/operation/types.ts'
declare const parameters: [...Parameters<typeof addRoutes>] extends [infer App, infer Contract, ...unknown[]] ? [App, Contract] : never
declare const authorizerOf: AuthorizerOf
type operations = Pick<All, 'createPayout' | 'getPayout' | 'deletePayout'>
declare const contract: CompiledContract<components, operations>
const named = { name: 'plants', contract, store: openStore }
const collections = { plants: { schema: 'Plant', key: 'int64' } } as const
type One<Name extends keyof PlantService> = Pick<PlantService, Name>
declare const service: PlantService
declare const [creates, lists, deletes]: [One<'createPayout'>, One<'getPayout'>, One<'deletePayout'>]
declare const doesOther: { listPayout(): Promise<void> }
declare const doesMore: PlantService & typeof doesOther
`
    const of = (services: string) =>
      `export const product = defineProduct({ ...named, collections, services: () => ${services} })`
    const keeps = (schema: string, key: string) => `export const product = defineProduct({
    ...named,
    collections: { plants: { schema: '${schema}', key: '${key}' } },
    services: ({ plants }) => [new PlantService(plants)],
  })`
    const table: Snippets = [
      [keeps('Plant', 'int64'), ''],
      [keeps('Garden', 'int64'), '"Garden"'],
      [keeps('Plant', 'text'), "'bigint' is not assignable to type 'string'"],
      [
        'export const product = defineProduct({ name: "plants", contract, services: () => [service] })',
        '',
      ],
      ['export const product = defineProduct({ ...named, services: () => [service] })', ''],
      [
        `export const product = defineProduct({
    name: 'plants',
    contract,
    collections,
    services: () => [service],
  })`,
        "Property 'store' is missing",
      ],
      [of('[creates, lists, deletes]'), ''],
      [
        of('[{ ...creates, ...lists }]'),
        /^[^\n]+ error [^\n]+\n +Property 'deletePayout' is missing in type [^\n]+$/,
      ],
      [of('[creates, lists]'), /^[^\n]+\n +Property 'deletePayout' is missing in type [^\n]+\n/],
      [of('[doesMore]'), 'listPayout'],
      [
        of('[creates, lists, doesOther]'),
        /^[^\n]+ error TS2322: Type '{ listPayout\(\)[^}]+}'[^]+no operation of this name/,
      ],
      [
        'export class Of implements Service<operations> { createPayout = service.createPayout }',
        'deletePayout',
      ],
      ['export const routes = addRoutes(...parameters, { services: [service], authorizerOf })', ''],
      [
        'export const routes = addRoutes(...parameters, { services: [service] })',
        "Property 'authorizerOf' is missing",
      ],
    ]
    assertErrors(t, t.testdir(), head, table)
  },
)

/** An operation with the given media types of its body and its answer. */
const operation = (id: string, request: string, answer = '') => `  /${id}:
    post:
      operationId: ${id}
      requestBody: { required: true, content: { ${request} } }
      responses: { '200': { description: Done, content: { ${answer} } } }`

const MANY = `x-body-limit: 1000
paths:
  x-note: 7
  /x:
    post:
      operationId: run
      parameters:
        - { name: page, in: query, schema: { $ref: '#/components/schemas/Page' } }
        - { name: wrong, in: query, schema: { type: integer, default: x } }
        - { name: all, in: query, schema: { type: array, items: { type: integer, format: int64 } } }
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } } }
      responses:
        '200':
          description: Done
          headers: { X-Count: { required: true, schema: { type: integer } }, X-More: { $ref: '#/components/headers/More' } }
          content: { application/json: { schema: { $ref: '#/components/schemas/Thing' } } }
        4XX: { description: No, content: { application/json: { schema: { type: object, properties: { message: { type: string } } } } } }
        '400': { description: Bad }
        default: { description: Other }
  /y:
    post:
      operationId: other
      parameters:
        - { name: id, in: query, schema: { type: integer, format: int64, enum: [1, 2] } }
        - { name: ids, in: query, schema: { type: array, items: { type: integer, format: int64, const: 1 } } }
      requestBody: { content: { text/plain: { schema: { type: string } } } }
      responses: { '200': { description: Done, content: { application/json: { schema: { type: integer } }, text/csv: { schema: { type: string } } } } }
  /p/{id}.json:
    post:
      operationId: pairs
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      requestBody: { content: { application/x-www-form-urlencoded: { schema: { type: object, properties: { n: { anyOf: [{ type: string }, { type: array, items: { type: integer, format: int64 } }] }, more: { type: object, required: [n], properties: { n: { type: integer } } } } } }, application/xml: {} } }
      responses: { '200': { description: Done, content: { '*/*': { schema: { type: object, properties: { n: { type: integer, format: int64 } } } }, application/xml: {} } } }
${operation('follow', 'application/json: {}', 'text/event-stream: { schema: { type: object, required: [n], properties: { n: { type: integer, format: int64 } } } }')}
${operation('upload', 'application/octet-stream: { schema: { type: string, format: binary } }', 'image/png: {}')}
${operation('form', 'multipart/form-data: { schema: { type: object, required: [photo], properties: { photo: { type: string, format: binary }, hasOwnProperty: { type: string } } } }')}
${operation('file', "multipart/form-data: { schema: { $ref: '#/components/schemas/Upload' } }")}
${operation('ranged', "'image/*': { schema: { type: string } }", "'image/*': {}")}
${operation('capital', 'Text/Plain: { schema: { type: string } }', 'Application/JSON: { schema: { type: object, properties: { n: { type: integer, format: int64 } } } }')}
webhooks: { on: { post: { operationId: on, responses: { '204': { description: Done } } } } }
components:
  headers: { More: { schema: { type: string } } }
  schemas:
    Page: { type: integer, default: 1 }
    Upload: { type: object, required: [a], properties: { a: { type: string, contentMediaType: image/png }, b: { anyOf: [{ type: string, format: binary }, { type: array, items: { type: string, format: binary } }] } } }
    Thing:
      type: object
      required: [id, name, secret]
      properties:
        id: { type: integer, format: int64, readOnly: true }
        name: { type: string }
        tag: { type: string }
        size: { $ref: '#/components/schemas/Page' }
        isNew: { type: boolean, default: false }
        parts: { type: array, items: { type: object, required: [n], properties: { n: { type: integer, format: int64 } } } }
        ids: { type: array, items: { type: [integer, 'null'], format: int64 } }
        mixed: { type: [integer, string, boolean], format: int64 }
        other: true
        secret: { type: string, writeOnly: true }
`

type Snippets = readonly (readonly [snippet: string, error: string | RegExp])[]

/**
 * Compiles snippets of TypeScript, each in a file.
 * @param head the beginning of each file
 * @param table snippets, each with a pattern of its errors; '' for none
 */
function assertErrors(t: Test, folder: string, head: string, table: Snippets): void {
  for (const [index, [snippet]] of table.entries())
    writeFileSync(`${folder}/snippet${index}.ts`, `${head}${snippet}\nexport {}\n`)
  const compilerOptions = { noUnusedLocals: false, types: ['node'] }
  const settings = { extends: resolve('tsconfig.json'), include: ['*.ts'], compilerOptions }
  writeFileSync(`${folder}/tsconfig.json`, JSON.stringify(settings))
  const words = ['node_modules/typescript/bin/tsc', '-p', folder]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  const errors = stdout.split(/\n(?=\S)/)
  for (const [index, [snippet, error]] of table.entries()) {
    const ofSnippet = errors.filter((error) => error.includes(`/snippet${index}.ts(`)).join('\n')
    t.match(ofSnippet, error || /^$/, snippet)
  }
}

/** Copies the service, and returns functions to generate and read its contract. */
function project(t: Test) {
  const folder = t.testdir()
  cpSync('service', `${folder}/service`, { recursive: true })
  putTestProduct(folder)
  mkdirSync(`${folder}/node_modules`)
  symlinkSync(`${process.cwd()}/node_modules/@types`, `${folder}/node_modules/@types`)
  const node = (...words: string[]) =>
    spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' })
  /** Prints the contract as an image reads it, or its error: the packages for development are absent there. */
  const script = `import { registerHooks } from 'node:module'
const resolve = (name, context, next) => {
  if (/^(@redocly|yaml|openapi-typescript|typescript)/.test(name)) throw Object.assign(new Error('absent: ' + name), { code: 'ERR_MODULE_NOT_FOUND' })
  return next(name, context)
}
registerHooks({ resolve })
const { readContract } = await import('${resolve('packages/engine/src/contract/contract.ts')}')
const { contract: generated } = await import('./service/contract.gen.ts')
const { loadCompiler } = await import('@plant-store/compiler')
const read = readContract('openapi.yaml', { generated, loadCompiler })
console.log(await read.then(({ bytes }) => String(bytes), ({ message }) => message))`
  return {
    folder,
    generate: (...words: string[]) => node('service/generate.ts', ...words),
    read: () => node('--input-type=module', '--eval', script).stdout,
  }
}

t.test(
  'a dry run says how each operation is served, and which operations a fault concerns',
  async (t) => {
    const path = (name: string, schema: string) =>
      `  /${name}: { get: { operationId: ${name}, responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } } } } }\n`
    const shared = "{ $ref: '#/components/schemas/A' }"
    const text = `openapi: 3.1.0
info: { title: Small, version: 1.0.0 }
paths:
${path('good', '{ type: string }')}${path('a', shared)}${path('b', `{ type: array, items: ${shared} }`)}${path('c', '{ default: 1, properties: { d: { type: 7, default: 1 } } }')}
components: { schemas: { A: { patternProperties: { '(': {} } }, B: { pattern: '(' } } }
webhooks: { c: { get: { parameters: [{ name: c, in: query, style: spaceDelimited, schema: {} }] } } }
`
    const folder = t.testdir({ 'openapi.yaml': text })
    const lines = await dryRun(`${folder}/openapi.yaml`)
    t.strictSame(lines.slice(0, 4), [
      'GET /good: served',
      'GET /a: refused',
      'GET /b: refused',
      'GET /c: refused',
    ])
    t.match(
      lines.slice(4, -1).join('\n'),
      /openapi.yaml:7: .*type[^]*openapi.yaml:9: the pattern is not a regular/,
    )
    t.match(
      lines[4],
      /^warning: .*openapi.yaml:10: this style is not served/,
      'no operation uses it',
    )
    t.equal(
      lines.at(-1),
      "1 of 4 operations are served: for the rest, mend what is refused above; until then write into product.ts: without: ['a', 'b', 'c'],",
    )
    writeFileSync(
      `${folder}/openapi.yaml`,
      text.replace('[{ name', "[{ $ref: 'other.yaml' }, { name"),
    )
    writeFileSync(`${folder}/other.yaml`, 'name: a\nin: }')
    await t.rejects(dryRun(`${folder}/openapi.yaml`), {
      message: /other\.yaml:2: Unexpected flow-map-end/,
    })
  },
)

t.test(
  'an operation that is refused does not spoil the others: the product leaves it out',
  async (t) => {
    const get = (id: string, schema: string) =>
      `{ get: { ${id} responses: { '200': { description: Done, content: { application/json: { schema: ${schema} } } } } } }`
    const yaml = `paths:
  /good: ${get('operationId: good,', '{ type: string }')}
  /bad: ${get('operationId: bad,', "{ $ref: '#/components/schemas/Bad' }")}
  /unnamed: ${get('', '{ pattern: "(" }')}
components: { schemas: { Bad: { type: 7 } } }
`
    const file = `${t.testdir({ 'openapi.yaml': contract(yaml) })}/openapi.yaml`
    const code = "write into product.ts: without: ['bad', 'GET /unnamed'],"
    const advice = `to serve the other operations, ${code}`
    await t.rejects(compile(file), { message: new RegExp(`${RegExp.escape(advice)}$`) })
    t.match((await dryRun(file)).at(-1), new RegExp(`${RegExp.escape(code)}$`))
    const without = ['bad', 'GET /unnamed']
    const { operations } = await compile(file, { without })
    t.strictSame(
      operations.map(({ id }) => id),
      ['good'],
    )
    const types = await generateTypes(file, `${file}.ts`, { without })
    t.match(types, 'good: {')
    t.notMatch(types, 'bad: {')
    const unknown = /: product\.ts leaves out worse: there is no such operation$/
    await t.rejects(compile(file, { without: [...without, 'worse'] }), { message: unknown })
    const app = await boot(t, { yaml, product: { without } })
    const statuses = await Promise.all(
      ['/good', '/bad', '/unnamed'].map(async (url) => (await app.inject(url)).statusCode),
    )
    t.strictSame(
      statuses,
      [500, 404, 404],
      'the method of the first one answers an object, no string',
    )
  },
)

t.test(
  'a schema that leads nowhere, or has no type of JSON, in an operation that is left out, is of an unknown type',
  async (t) => {
    const body = `requestBody: { content: { application/json: { schema: { $ref: '#/components/schemas/Bad' } } } }`
    const done = `responses: { '204': { description: Done } }`
    const yaml = `paths: { /x: { get: { operationId: good, ${done} }, put: { operationId: bad, ${body}, ${done} } } }\ncomponents: { schemas: { Bad: { properties: { a: { $ref: '#/components/schemas/None' }, b: { type: int } } } } }\n`
    const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
    const [file, target] = [`${folder}/openapi.yaml`, `${folder}/contract.gen.ts`]
    t.match(
      await generateTypes(file, target, { without: ['bad'] }),
      /a\?: unknown;\s+b\?: unknown;/,
    )
  },
)

t.test('a component that leads nowhere spoils only the operations that use it', async (t) => {
  const done = `responses: { '204': { description: Done } }`
  const none = "{ $ref: 'none.yaml#/x' }"
  const yaml = `paths: { /x: { get: { operationId: good, ${done} }, put: { operationId: bad, security: [{ b: [] }], parameters: [{ $ref: '#/components/parameters/p' }], ${done} } } }\ncomponents: { securitySchemes: { b: ${none} }, parameters: { p: ${none} }, examples: { e: ${none} } }\n`
  const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
  const said = (await dryRun(`${folder}/openapi.yaml`)).join('\n')
  t.match(said, /^GET \/x: served/m)
  t.match(said, /^1 of 2 operations are served: for the rest, /m)
  const types = generateTypes(`${folder}/openapi.yaml`, `${folder}/a.ts`, { without: ['bad'] })
  t.match(await types, /good: \{/)
})

t.test('responses with an extension alone describe no status', async (t) => {
  const yaml = 'paths: { /x: { get: { operationId: run, responses: { x-a: 1 } } } }\n'
  const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
  const { operations } = await compile(`${folder}/openapi.yaml`)
  t.match(operations, [{ id: 'run', errors: {} }])
  t.strictSame(operations[0]?.responses, {})
})

t.test('a line that is half written is a fault of that line, and hides no other', async (t) => {
  const folder = t.testdir()
  for (const [line, fault] of [
    ['servers:', /warning: .*openapi.yaml:3: this is empty/],
    ['servers: [{ url: }]', /openapi.yaml:3: The field `url`/],
    ['servers: [{ url: "/{a}", variables: }]', /openapi.yaml:3: The `a` variable/],
    ['components:', /openapi.yaml:6: Can't resolve \$ref/],
    ['components: { parameters: { A: { name: a, in: , schema: {} } } }', /openapi.yaml:3: /],
  ] as const) {
    const operation = `{ get: { operationId: a, parameters: [{ $ref: '#/components/parameters/A' }], responses: { '204': 7 } } }`
    const text = `openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\n${line}\npaths:\n  /x: { get: { responses: 7 } }\n  /y: ${operation}\n`
    writeFileSync(`${folder}/openapi.yaml`, text)
    const said = (await dryRun(`${folder}/openapi.yaml`)).join('\n')
    t.match(said, fault, line)
    t.match(
      said,
      /openapi.yaml:5: Expected type `Responses`[^]*openapi.yaml:6: Expected type `Response`/,
      line,
    )
  }
})

t.test('of one text three places are told, and how many are left', async (t) => {
  const operation =
    "{ get: { operationId: OF, security: [{ no: [] }], responses: { '204': { description: Done } } } }"
  const paths = [1, 2, 3, 4, 5].map(
    (index) => `  /${index}: ${operation.replace('OF', `run${index}`)}\n`,
  )
  const folder = t.testdir({ 'openapi.yaml': contract(`paths:\n${paths.join('')}`) })
  const text = 'the security scheme no is not in components/securitySchemes'
  const said = await compile(`${folder}/openapi.yaml`).then(() => '', String)
  const [first = '', second = '', third = '', ...rest] = said.split('\n')
  t.match([first, second, third], [/yaml:4: the security/, /yaml:5: the/, /yaml:6: the/])
  t.strictSame(rest, [`and 2 more: ${text}`])
  const lines = await dryRun(`${folder}/openapi.yaml`)
  t.equal(lines.filter((line) => line.startsWith('refused: ')).length, 4)
})

t.test('types that alternatives change at each of many levels do not double at each', async (t) => {
  const levels = Array.from({ length: 14 }, (_, level) => {
    const next = `$ref: '#/components/schemas/L${level + 1}'`
    const exact = `{ allOf: [{ ${next} }], properties: { id: { type: integer, format: int64 } } }`
    const members = `{ id: { type: integer }, x: { anyOf: [{ ${next} }, ${exact}] } }`
    return `    L${level}: { type: object, properties: ${members} }`
  })
  const yaml = `paths: {}
components:
  schemas:
${levels.join('\n')}
    L14: { type: object, properties: { id: { type: integer } } }
`
  const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
  const types = await generateTypes(`${folder}/openapi.yaml`, `${folder}/contract.gen.ts`)
  t.ok(types.length < 1_000_000, `${types.length} characters`)
})
