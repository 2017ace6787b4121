import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import Fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { readJsonBodies } from '../../service/http/body.ts'
import { readContract } from '../../service/contract/contract.ts'
import { answerError } from '../../service/http/errors.ts'
import type { MakeGuard } from '../../service/contract/security.ts'
import type { PlantService } from '../../service/plant-service.ts'
import { addRoutes } from '../../service/contract/routes.ts'
import { validatorCompiler } from '../../service/contract/validation.ts'
import { operations } from '../support/contract.ts'

const yaml = readFileSync('openapi.yaml', 'utf8')
const answer = async () => ({ status: 204 })
const names = operations.map(({ id }) => id)

/** What only its methods make a service of, so that one can be left out or misspelled in spite of `tsc`. */
function serviceOf(methods: readonly string[], method: (request: never) => Promise<unknown> = answer): PlantService {
  const prototype = Object.fromEntries(methods.map((name) => [name, method]))
  return Object.create(Object.defineProperties({}, Object.getOwnPropertyDescriptors(prototype)))
}

/** Lets everyone pass. */
const makeGuard: MakeGuard = () => ({ challenge: 'Bearer', check: async () => ({ caller: 'joe', scopes: [] }) })

async function boot(t: Test, text: string, service: PlantService) {
  const file = `${t.testdir()}/openapi.yaml`
  writeFileSync(file, text)
  const app: FastifyInstance = Fastify()
  t.teardown(() => app.close())
  app.decorateRequest('caller', '')
  app.setErrorHandler(answerError)
  app.setValidatorCompiler(validatorCompiler())
  readJsonBodies(app)
  await addRoutes(app, readContract(file), service, makeGuard)
  await app.ready()
  return app
}

t.test('the boot is refused, by name, if the service does not fit the contract', async (t) => {
  const missing = 'the operation deletePayout has no method in the service'
  const others = names.filter((id) => id !== 'deletePayout')
  const table: [methods: string[], message: string][] = [
    [others, missing],
    [[...names, 'listPayout'], 'the method listPayout of the service has no operation'],
    [[...others, 'deletePayot'], `the method deletePayot of the service has no operation; ${missing}`],
  ]
  for (const [methods, message] of table) {
    await t.rejects(boot(t, yaml, serviceOf(methods)), { name: 'StartupError', message })
  }
  await boot(t, yaml, serviceOf(names))
})

t.test('tsc refuses, by name, a service that does not fit the contract, or has no guards', async (t) => {
  const head = `import { addRoutes } from '../../../service/contract/routes.ts'
import type { MakeGuard } from '../../../service/contract/security.ts'
import { PlantService } from '../../../service/plant-service.ts'
import type { Request, Result, Service } from '../../../service/contract/contract.ts'
declare const parameters: [...Parameters<typeof addRoutes>] extends [infer App, infer Contract, ...unknown[]] ? [App, Contract] : never
declare const makeGuard: MakeGuard
declare const service: PlantService
`
  const add = 'export const routes = (service: Of) => addRoutes(...parameters, service, makeGuard)\n'
  const folder = t.testdir({
    'tsconfig.json': JSON.stringify({ extends: '../../../tsconfig.json', include: ['*.ts'] }),
    'right.ts': `${head}export const routes = addRoutes(...parameters, service, makeGuard)\n`,
    'missing.ts': `${head}type Of = Omit<PlantService, 'deletePayout'>\n${add}`,
    'extra.ts': `${head}interface Of extends PlantService { listPayout(): Promise<void> }\n${add}`,
    'misspelled.ts': `${head}export class Of implements Service {
  createPayout = service.createPayout
  getPayout = service.getPayout
  async deletePayot(_: Request<'deletePayout'>): Promise<Result<'deletePayout'>> { return { status: 204 } }
}\n`,
    'unguarded.ts': `${head}export const routes = addRoutes(...parameters, service)\nexport { makeGuard }\n`,
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
  t.equal(errorsOf('right'), '')
  for (const [file, name] of Object.entries({
    missing: 'deletePayout',
    extra: 'listPayout',
    misspelled: 'deletePayout',
    unguarded: 'Expected 4-6 arguments',
    status: '418',
    number: 'bigint',
  })) {
    t.match(errorsOf(file), name, file)
  }
})

t.test('a schema that cannot be held to the letter refuses the boot', async (t) => {
  const id = "schema: { $ref: '#/components/schemas/PlantId' }"
  const limit = 'schema: { type: integer, format: int32, minimum: 1, maximum: 2147483647 }'
  const table: [reason: RegExp, from: string, to: string][] = [
    [/int64 .* allows no enum/, id, 'schema: { type: integer, format: int64, enum: [1] }'],
    [/int64 .* allows no const/, id, 'schema: { type: integer, format: int64, const: 1 }'],
    [/int64 .* allows no multipleOf/, id, 'schema: { type: integer, format: int64, multipleOf: 2 }'],
    [/int64 .* allows no exclusiveMinimum/, id, 'schema: { type: integer, format: int64, exclusiveMinimum: 2 }'],
    [/int64 .* allows no other type/, id, 'schema: { type: string, format: int64 }'],
    [/bound 9007199254740992 .* no exact/, id, 'schema: { type: integer, format: int64, minimum: 9007199254740993 }'],
    [/bounds of a number need its "type"/, id, "schema: { $ref: '#/components/schemas/PlantId', minimum: 1 }"],
    [
      /parameter limit needs a "type": .* not undefined/,
      limit,
      'schema: { oneOf: [{ type: integer }, { type: boolean }] }',
    ],
    [/parameter limit needs .* not array/, limit, 'schema: { type: array, items: { type: integer } }'],
    [/parameter limit needs .* not object/, limit, 'schema: { type: object }'],
    [/parameter limit needs .* not integer,null/, limit, "schema: { type: [integer, 'null'] }"],
    [/unknown keyword: "minimun"/, limit, 'schema: { type: integer, minimun: 1 }'],
    [/unknown format "int46"/, limit, 'schema: { type: integer, format: int46 }'],
  ]
  for (const [message, from, to] of table) {
    const text = yaml.replace(from, () => to)
    if (text === yaml) throw new Error(`the contract has no ${from}`)
    await t.rejects(boot(t, text, serviceOf(names)), { message }, to)
  }
})

t.test(
  'a contract that breaks the schema of OpenAPI refuses the boot, validated by `npm run generate` or not',
  async (t) => {
    const text = yaml.replace(/^ {2}version: .*\n/m, '')
    await t.rejects(boot(t, text, serviceOf(names)), { message: /valid specification/ })
  },
)

t.test('the contract that `npm run generate` has validated is not validated again, and any other is', async (t) => {
  const compiled = t.capture(
    Validator.prototype as Validator & { getAjvValidator: (version: string) => unknown },
    'getAjvValidator',
  )
  await boot(t, `# a comment\n${yaml}`, serviceOf(names))
  t.equal(compiled().length, 0)
  await t.rejects(boot(t, yaml.replace('title: Plant Store', 'title: Other'), serviceOf(names)))
  t.equal(compiled().length, 1)
})

t.test('a method gets the header parameters of the contract, by the names that it has for them', async (t) => {
  const headers = ['X-Count: { type: integer, format: int64 }', 'X-Text: { type: string, minLength: 2 }'].map(
    (each) => {
      const [name = '', schema = ''] = each.split(/: (.*)/)
      return `        - { name: ${name}, in: header, required: ${name === 'X-Text'}, schema: ${schema} }\n`
    },
  )
  const received: unknown[] = []
  const service = serviceOf(names, async (request: { header: unknown }) => {
    received.push(request.header)
    return { status: 204 }
  })
  const app = await boot(
    t,
    yaml.replace('        - name: limit\n', (text) => headers.join('') + text),
    service,
  )
  const send = async (headers: Record<string, string | string[]>) => {
    const { statusCode, body } = await app.inject({ url: '/plants', headers })
    return [statusCode, statusCode === 204 ? received.pop() : (JSON.parse(body) as { message: string }).message]
  }
  t.strictSame(await send({ 'x-text': 'ab', 'X-COUNT': '9007199254740993', 'x-other': 'y' }), [
    204,
    { 'X-Count': 9007199254740993n, 'X-Text': 'ab' },
  ])
  t.strictSame(await send({ 'x-text': '12' }), [204, { 'X-Text': '12' }])
  t.match(await send({}), [400, /header must have required property 'X-Text'/])
  t.match(await send({ 'x-text': 'a' }), [400, /header\/X-Text/])
  t.match(await send({ 'x-text': ['ab', 'ab'] }), [400, 'header/X-Text must not be repeated'])
  t.match(await send({ 'x-text': 'ab', 'x-count': '1.0' }), [400, /header\/X-Count must be an integer/])
})

t.test('a method gets the parameters of the contract, read as their types, and no other', async (t) => {
  const limit = 'schema: { type: integer, format: int32, minimum: 1, maximum: 2147483647 }'
  const table: [schema: string, text: string, value: unknown][] = [
    ['type: integer', '7', 7],
    ['type: integer', '9007199254740991', 9007199254740991],
    ['type: integer', '9007199254740993', undefined],
    ['type: integer', '7.0', undefined],
    ['type: integer, format: int64, minimum: 5', '9007199254740993', 9007199254740993n],
    ['type: integer, format: int64, minimum: 5', '4', undefined],
    ['type: number', '-1.5e3', -1500],
    ['type: number', '1e999', undefined],
    ['type: number', '.5', undefined],
    ['type: boolean', 'true', true],
    ['type: boolean', 'false', false],
    ['type: boolean', '1', undefined],
    ['type: string', '7', '7'],
    ["$ref: '#/components/schemas/Tag', maxLength: 2", '77', '77'],
    ["$ref: '#/components/schemas/Tag', maxLength: 2", '777', undefined],
  ]
  for (const [schema, text, value] of table) {
    let query: unknown
    const service = serviceOf(names, async (request: { query: unknown }) => {
      query = request.query
      return { status: 204 }
    })
    const app = await boot(
      t,
      yaml.replace(limit, () => `schema: { ${schema} }`),
      service,
    )
    const { statusCode } = await app.inject(`/plants?limit=${text}&x=1`)
    t.strictSame(
      [statusCode, query],
      value === undefined ? [400, undefined] : [204, { limit: value }],
      `${schema}: ${text}`,
    )
  }
})
