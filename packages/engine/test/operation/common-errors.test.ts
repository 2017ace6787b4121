// Errors outside of operations: they have the common form and media type of the contract's errors.
import { pathToFileURL } from 'node:url'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { buildApp } from '@plant-store/engine/for-testing'
import { readConfig } from '@plant-store/engine'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { contractOf, faultOf } from '../../../../test/support/inner/documented.ts'
import { exchange, readResponses } from '../../../../test/support/inner/responses.ts'
import { product as own } from '../../../../test/support/product/product.ts'

/** Schemas of errors, by name. */
const SCHEMAS = {
  Usual:
    '{ type: object, required: [error, message], properties: { error: { type: integer }, message: { type: string } }, additionalProperties: false }',
  Problem:
    '{ type: object, required: [type, title, status, detail], properties: { type: { type: string }, title: { type: string }, status: { type: integer }, detail: { type: string } } }',
  Coded:
    '{ type: object, required: [code, message], properties: { code: { type: integer }, message: { type: string } }, additionalProperties: false }',
  Said: '{ type: object, required: [message], properties: { message: { type: string } }, additionalProperties: false }',
  Own: '{ type: object, required: [reason], properties: { reason: { type: string } }, additionalProperties: false }',
  Listed:
    '{ type: object, required: [errors], properties: { errors: { type: array, items: { type: string } } }, additionalProperties: false }',
  Named:
    '{ type: object, required: [name, text], properties: { name: { enum: [BAD_REQUEST, NOT_FOUND, INTERNAL] }, text: { type: string } }, additionalProperties: false }',
  Text: '{ type: string }',
}
type Name = keyof typeof SCHEMAS

const JSON_TYPE = 'application/json'
const PROBLEM_TYPE = 'application/problem+json'
/** The bodies of a form of errors, by the name of the schema. */
const BODIES: Readonly<Record<Name, (status: number) => RegExp>> = {
  Usual: (status) => new RegExp(`^{"error":${status},"message":"[^"]+"}$`),
  Problem: (status) =>
    new RegExp(`^{"type":"about:blank","title":"[A-Z][^"]+","status":${status},"detail":"[^"]+"}$`),
  Coded: (status) => new RegExp(`^{"code":${status},"message":"[^"]+"}$`),
  Said: () => /^{"message":"[^"]+"}$/,
  Own: (status) => new RegExp(`^{"reason":"${status} [^"]+"}$`),
  Listed: () => /^{"errors":\["[^"]+"\]}$/,
  Named: (status) => new RegExp(`^{"name":"${nameFor(status)}","text":"[^"]+"}$`),
  Text: () => /^[A-Z][^{"]+$/,
}
function nameFor(status: number): string {
  if (status >= 500) return 'INTERNAL'
  return status === 404 ? 'NOT_FOUND' : 'BAD_REQUEST'
}

const errorBody = (status: number, message: string) => ({ reason: `${status} ${message}` })

/** An error of a contract. */
const described = (name: Name, type = JSON_TYPE) =>
  `{ description: Failed, content: { ${type}: { schema: { $ref: '#/components/schemas/${name}' } } } }`

/** A contract. @param errors of each of its operations, as fields of `responses` */
const contractWith = (...errors: readonly string[]) => `openapi: 3.1.0
info: { title: Books, version: 1.0.0 }
paths:
${errors.map(pathWith).join('')}
components:
  schemas:
${Object.entries(SCHEMAS)
  .map(([name, schema]) => `    ${name}: ${schema}\n`)
  .join('')}`

const pathWith = (errors: string, index: number) => `  /v1/books${index}/{id}:
    get:
      operationId: get${index}
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { '204': { description: Done }${errors === '' ? '' : `, ${errors}`} }
`

/** Serves a contract. @returns a function for sending bytes, and reading the answer to them */
async function serve(t: Test, yaml: string, added: ProductHooks) {
  const folder = t.testdir({ 'openapi.yaml': yaml })
  const file = pathToFileURL(`${folder}/openapi.yaml`).href
  const count = yaml.match(/operationId/g)?.length ?? 0
  const methods = Array.from({ length: count }, (_, index) => [
    `get${index}`,
    async () => ({ status: 204 }),
  ])
  const product = {
    name: 'books',
    tokenPrefix: 'books',
    contract: { ...own.contract, file },
    collections: {},
    services: () => [Object.fromEntries(methods) as object],
    ...added,
  }
  const config = readConfig('books', {})
  const log = pino({ level: 'silent' })
  const app = await buildApp({ product, loadCompiler, config, log })
  t.teardown(() => app.close())
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const contract = await contractOf(product)
  return async (method: string, url: string, bytes?: string) => {
    const head = bytes ?? `${method} ${url} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`
    const [answer] = readResponses(await exchange(Number(port), [head], 1))
    if (answer === undefined) throw new Error(`no answer to ${head}`)
    return { ...answer, fault: faultOf(contract, method, url, answer) }
  }
}

/** Requests of no operation: the method, the path, the status; the bytes, if they are special. */
const OUTSIDE: readonly (readonly [string, string, number, bytes?: string])[] = [
  ['GET', '/none', 404],
  ['GET', '/none/%ff', 400],
  ['PATCH', '/v1/books0/1', 405],
  ['GET', '/v1/books0/1/', 404],
  ['GET', '*', 404],
  ['GET', '/', 501, 'CONNECT h:1 HTTP/1.1\r\nHost: h\r\n\r\n'],
  ['GET', '/', 400, 'no HTTP\r\n\r\n'],
  ['GET', '/', 505, 'GET / HTTP/3.0\r\n\r\n'],
  ['GET', '/', 431, `GET / HTTP/1.1\r\nHost: h\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`],
]
/** Paths with bad percent-encoding of UTF-8. */
const BAD_TEXTS = ['%', '%zz', '%ff', 'a%C0%80', '%ED%A0%80b', '%2', '%41%']

const BOTH = [described('Said'), described('Problem', PROBLEM_TYPE)] as const
const CASES: readonly (readonly [
  what: string,
  errors: readonly string[],
  expected: Name,
  type: string,
  added?: ProductHooks,
])[] = [
  ['{ error, message }', [`default: ${described('Usual')}`], 'Usual', JSON_TYPE],
  ['RFC 9457', [`default: ${described('Problem', PROBLEM_TYPE)}`], 'Problem', PROBLEM_TYPE],
  [
    'RFC 9457 by its media type alone',
    ["'400': { description: Failed, content: { application/problem+json: {} } }"],
    'Problem',
    PROBLEM_TYPE,
  ],
  ['RFC 9457 as application/json', [`4XX: ${described('Problem')}`], 'Problem', JSON_TYPE],
  ['{ code, message }', [`default: ${described('Coded')}`], 'Coded', JSON_TYPE],
  [
    '{ code, message } of another media type',
    [`'400': ${described('Coded', 'application/vnd.books+json')}`],
    'Coded',
    'application/vnd.books+json',
  ],
  [
    '{ code, message } of a media type with parameters',
    [`default: ${described('Coded', "'application/json; charset=utf-8'")}`],
    'Coded',
    JSON_TYPE,
  ],
  ['{ message }', [`default: ${described('Said')}`], 'Said', JSON_TYPE],
  ['a text', [`default: ${described('Text', 'text/plain')}`], 'Text', 'text/plain; charset=utf-8'],
  [
    'the form of errorBody',
    [`default: ${described('Own', PROBLEM_TYPE.replace('problem', 'own'))}`],
    'Own',
    'application/own+json',
    { errorBody },
  ],
  [
    'that of a template',
    [`default: ${described('Listed', 'application/own+json')}`],
    'Listed',
    'application/own+json',
  ],
  [
    'that of a template with names of statuses',
    [`default: ${described('Named')}`, `default: ${described('Named')}`, `default: ${BOTH[0]}`],
    'Named',
    JSON_TYPE,
  ],
  [
    'that of a template, where each status is described by itself',
    [`'400': ${described('Named')}, '404': ${described('Named')}, 5XX: ${described('Named')}`],
    'Named',
    JSON_TYPE,
  ],
  [
    'the form of most errors, beside a template',
    [`default: ${BOTH[1]}`, `default: ${BOTH[1]}`, `default: ${described('Listed')}`],
    'Problem',
    PROBLEM_TYPE,
  ],
  [
    'the form of most errors: of operations',
    [`default: ${BOTH[0]}`, `default: ${BOTH[1]}`, `4XX: ${BOTH[1]}`],
    'Problem',
    PROBLEM_TYPE,
  ],
  [
    'the form of most errors: of statuses',
    [`'404': ${BOTH[0]}, default: ${BOTH[1]}`],
    'Problem',
    PROBLEM_TYPE,
  ],
  [
    'the first form, where two have as many errors',
    [`default: ${BOTH[0]}`, `default: ${BOTH[1]}`],
    'Said',
    JSON_TYPE,
  ],
  [
    'the form of most errors, beside that of errorBody',
    [`default: ${BOTH[1]}`, `default: ${BOTH[1]}`, `default: ${described('Own')}`],
    'Problem',
    PROBLEM_TYPE,
    { errorBody },
  ],
  [
    'the form of the errors that are described',
    ['', "'400': { description: Bad }", `default: ${BOTH[1]}`],
    'Problem',
    PROBLEM_TYPE,
  ],
  ['{ error, message }, where no error is described', [''], 'Usual', JSON_TYPE],
  ['that of errorBody, where no error is described', [''], 'Own', JSON_TYPE, { errorBody }],
]
for (const [what, errors, expected, type, added = {}] of CASES) {
  t.test(`the errors outside of operations have one form: ${what}`, async (t) => {
    const ask = await serve(t, contractWith(...errors), added)
    const first = await ask('GET', '/v1/books0/1')
    t.equal(first.status, 204)
    for (const [method, url, status, bytes] of OUTSIDE) {
      const { headers, text, fault, ...answer } = await ask(method, url, bytes)
      t.strictSame([answer.status, headers['content-type']], [status, type], url)
      t.match(text, BODIES[expected](status), `${method} ${url} ${bytes?.slice(0, 30) ?? ''}`)
      t.equal(fault, undefined, 'the tests from the contract expect it')
    }
  })

  t.test(`a bad text in a path is refused as its operation describes it: ${what}`, async (t) => {
    const ask = await serve(t, contractWith(...errors), added)
    for (const index of errors.keys())
      for (const text of BAD_TEXTS) {
        const url = `/v1/books${index}/${text}`
        const { status, fault } = await ask('GET', url)
        t.strictSame([status, fault], [400, undefined], url)
      }
  })
}
