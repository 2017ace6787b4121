// The id of a request in its errors: a caller's X-Request-Id never breaks the form in the contract.
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

/** A contract whose errors show an id. @param id its schema */
const contractWith = (id: string) => `openapi: 3.1.0
info: { title: Ids, version: 1.0.0 }
paths:
  /things/{n}:
    get:
      operationId: get
      parameters: [{ name: n, in: path, required: true, schema: { type: integer } }]
      responses: { '204': { description: Done }, default: { $ref: '#/components/responses/Failed' } }
components:
  responses:
    Failed:
      description: Failed
      content:
        application/json:
          schema: { type: object, required: [status, id], properties: { status: { type: integer }, id: ${id} }, additionalProperties: false }
`

type ErrorBody = NonNullable<ProductHooks['errorBody']>
const showing: ErrorBody = (status, _message, { id }) => ({ status, id })

/**
 * Serves the contract. @returns a function for sending a request with an id, and reading the answer
 */
async function serve(t: Test, schema: string, errorBody?: ErrorBody) {
  const folder = t.testdir({ 'openapi.yaml': contractWith(schema) })
  const file = pathToFileURL(`${folder}/openapi.yaml`).href
  const product = {
    name: 'ids',
    tokenPrefix: 'ids',
    contract: { ...own.contract, file },
    collections: {},
    services: () => [{ get: async () => ({ status: 204 }) }],
    ...(errorBody && { errorBody }),
  }
  const log = pino({ level: 'silent' })
  const app = await buildApp({ product, loadCompiler, config: readConfig('ids', {}), log })
  t.teardown(() => app.close())
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }))
  const contract = await contractOf(product)
  return async (line: string, id: string) => {
    const head = `${line} HTTP/1.1\r\nHost: h\r\nConnection: close\r\nX-Request-Id: ${id}\r\n\r\n`
    const [answer] = readResponses(await exchange(Number(port), [head], 1))
    if (answer === undefined) throw new Error(`no answer to ${head}`)
    const [method = '', path = ''] = line.split(' ')
    return { ...answer, fault: faultOf(contract, method, path, answer) }
  }
}

const UUID = '0d4b0dc6-5c6c-4b55-9e5b-b6f0a9b3c1de'
/** Requests with an error: of an operation, and outside of them. */
const REQUESTS = [
  'GET /things/x',
  'GET /none',
  'DELETE /things/1',
  'GET /things/%ff',
  'CONNECT h:1',
]
/** Ids of callers that are no UUID, or a UUID unlike the service's. */
const UNFIT = ['a', 'my.id', '7'.repeat(36), 'x'.repeat(64), UUID.replaceAll('-', '')]

for (const [what, schema, errorBody] of [
  ['a format', '{ type: string, format: uuid }', showing],
  ['a pattern', "{ type: string, pattern: '^[0-9a-f-]{36}$' }", showing],
  ['a length', '{ type: string, minLength: 36, maxLength: 36 }', showing],
  ['the format in a template', '{ type: string, format: uuid }', undefined],
  [
    'an errorBody that throws',
    '{ type: string }',
    (status, message, origin) => {
      if (origin.id.length !== 36) throw new Error('no UUID')
      return showing(status, message, origin)
    },
  ],
] as const satisfies [string, string, ErrorBody | undefined][]) {
  t.test(`an id that breaks the errors is replaced by a new one: ${what}`, async (t) => {
    const send = await serve(t, schema, errorBody)
    for (const line of REQUESTS) {
      for (const id of UNFIT) {
        const { text, headers, fault } = await send(line, id)
        const shown = String(headers['x-request-id'])
        t.match(shown, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/)
        t.not(shown, id)
        t.match(JSON.parse(text), { id: shown }, `${line} ${id}`)
        t.equal(fault, undefined)
      }
      const { text, headers } = await send(line, UUID)
      t.equal(headers['x-request-id'], UUID)
      t.match(JSON.parse(text), { id: UUID })
    }
  })
}

t.test('where the errors take any id, the id of the caller stays', async (t) => {
  for (const errorBody of [showing, () => ({ status: 400, id: 'none' }), undefined]) {
    const send = await serve(t, '{ type: string }', errorBody)
    for (const line of REQUESTS)
      for (const id of ['a', 'my.id', 'x'.repeat(64), UUID]) {
        const { headers } = await send(line, id)
        t.equal(headers['x-request-id'], id)
      }
  }
})
