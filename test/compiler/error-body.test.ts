// The errorBody that the compiler suggests, where the form of errors is none that the service knows: it fits as it is pasted.
import t from 'tap'
import { compile } from '../../service/compiler/compile.ts'
import { dryRun } from '../../service/compiler/draft.ts'
import type { ProductHooks } from '../../service/engine/contract/product-hooks.ts'
import { boot, contract } from '../support/small.ts'

const SCHEMAS: readonly (readonly [schema: string, text: string, answer: RegExp])[] = [
  [
    '{ type: object, required: [errors], properties: { errors: { type: array, minItems: 1, items: { type: object, required: [code, detail], properties: { code: { type: string }, detail: { type: string } } } } } }',
    '(status, message) => ({ errors: [{ code: `E${status}`, detail: message }] })',
    /^\{"errors":\[\{"code":"E400","detail":"query\/a must be an integer/,
  ],
  [
    '{ type: object, required: [statusCode, error, path, requestId], properties: { statusCode: { type: integer }, error: { type: string }, path: { type: string }, requestId: { type: string }, kind: { enum: [client, server] } } }',
    "(status, message, { path, id }) => ({ statusCode: status, error: message, path, requestId: id, kind: 'client' })",
    /^\{"statusCode":400,"error":"query\/a must be an integer.*","path":"\/x","requestId":"[\w-]+","kind":"client"\}$/,
  ],
  [
    "{ $ref: '#/components/schemas/Failure' }",
    "(status, message) => ({ 'error-code': 3, status: String(status), nested: { message } })",
    /"nested":\{"message":"query/,
  ],
]
const yaml = (schema: string) => `paths:
  /x:
    get:
      operationId: run
      parameters: [{ name: a, in: query, schema: { type: integer } }]
      responses:
        '204': { description: Done }
        default: { description: Failed, content: { application/json: { schema: ${schema} } } }
components:
  schemas:
    Failure: { type: object, required: [error-code, status, nested], properties: { error-code: { const: 3 }, status: { type: string }, nested: { type: object, required: [message], properties: { message: { type: string } } } } }
`
const SUGGESTED = /: write into product\.ts errorBody: (\(.*\) => .*),$/m

for (const [schema, text, answer] of SCHEMAS) {
  t.test(text, async (t) => {
    const file = `${t.testdir({ 'openapi.yaml': contract(yaml(schema)) })}/openapi.yaml`
    const [, suggested = ''] = SUGGESTED.exec(await compile(file, {}).then(() => '', String)) ?? []
    t.equal(suggested.replaceAll('"', "'"), text)
    t.match((await dryRun(file)).join('\n'), suggested, 'the dry run shows it, too')
    const module = `data:text/javascript,export const errorBody = ${encodeURIComponent(suggested)}`
    const product = (await import(module)) as ProductHooks
    const app = await boot(t, { yaml: yaml(schema), product: { ...product } })
    t.match((await app.inject('/x?a=b')).body, answer)
  })
}

for (const [what, schema] of [
  [
    'that no value can be made for',
    "{ type: object, required: [message, a], properties: { message: { type: string }, a: { type: string, pattern: '^[xy]{9}z$' } } }",
  ],
  [
    'without a place for the message',
    '{ type: object, required: [one], properties: { one: { type: string } } }',
  ],
] as const) {
  t.test(`a schema ${what}: only the parameters are shown`, async (t) => {
    const file = `${t.testdir({ 'openapi.yaml': contract(yaml(schema)) })}/openapi.yaml`
    await t.rejects(compile(file, {}), { message: /errorBody: \(status, message\) => \.\.\.,$/m })
  })
}
