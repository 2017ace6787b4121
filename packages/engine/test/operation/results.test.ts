// The results of methods that refuse a request: what `refusal` and `problem` send, and which results compile.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { problem, refusal } from '@plant-store/engine'
import { faultsOf } from '../../../../test/support/doors/example-programs.ts'
import { generateTypes } from '../../../../test/support/inner/compiler.ts'
import { boot } from '../../../../test/support/contracts/serve-contract.ts'

const schemaOf = (name: string) => `{ schema: { $ref: '#/components/schemas/${name}' } }`
const PROBLEM = `application/problem+json: ${schemaOf('Problem')}`
const ERROR = `application/json: ${schemaOf('Error')}`
const STRICT = `application/problem+json: ${schemaOf('Detailed')}`

const CONTRACT = `openapi: 3.1.0
info: { title: Library, version: 1.0.0 }
paths:
  /loans/{isbn}:
    put:
      operationId: borrowBook
      parameters: [{ name: isbn, in: path, required: true, schema: { type: string } }]
      responses:
        '200': { description: Lent, content: { application/json: ${schemaOf('Book')} } }
        '403': { description: Not yours, content: { ${ERROR} } }
        '409': { description: Not now, content: { ${PROBLEM} } }
        '410': { description: It was there, content: { ${ERROR}, ${PROBLEM} } }
        '422': { description: Not so, content: { ${STRICT} } }
components:
  schemas:
    Book: { type: object, required: [title], properties: { title: { type: string } } }
    Error:
      type: object
      required: [error, message]
      properties: { error: { type: integer }, message: { type: string } }
    Problem:
      type: object
      required: [title, status]
      properties:
        type: { type: string, format: uri-reference }
        title: { type: string }
        status: { type: integer }
        detail: { type: string }
    Detailed: { allOf: [{ $ref: '#/components/schemas/Problem' }], required: [detail] }
`

t.test('a problem is sent in the form of RFC 9457', async (t) => {
  const results = [
    problem(409, 'Not now'),
    problem(410, 'Gone', 'It was sold'),
    problem(422, 'Not so', 'A loan has a day'),
    refusal(410, 'It was there'),
    problem(422, 'Not so'),
  ]
  const app = await boot(t, { yaml: CONTRACT, run: async () => results.shift() ?? { status: 500 } })
  const answer = async () => {
    const { statusCode, headers, body } = await app.inject({ method: 'PUT', url: '/loans/7' })
    return [statusCode, headers['content-type'], body]
  }
  const type = 'application/problem+json'
  t.strictSame(
    [await answer(), await answer(), await answer(), await answer()],
    [
      [409, type, '{"type":"about:blank","title":"Not now","status":409}'],
      [410, type, '{"type":"about:blank","title":"Gone","status":410,"detail":"It was sold"}'],
      [
        422,
        type,
        '{"type":"about:blank","title":"Not so","status":422,"detail":"A loan has a day"}',
      ],
      [410, 'application/json', '{"error":410,"message":"It was there"}'],
    ],
  )
  t.match(await answer(), [500], 'a problem that its schema refuses')
})

const undeclared = (status: number) =>
  new RegExp(`the contract declares no ${status}: add it to the responses of borrowBook`)

/** Code behind `return` in `borrowBook`, and a part of the error of tsc; none where it compiles. */
const RETURNED: readonly (readonly [code: string, error?: RegExp])[] = [
  ["problem(409, 'Not now')"],
  ["problem(409, 'Not now', reason)"],
  ["problem(410, 'Gone', 'It was sold')"],
  ["problem(422, 'Not so', 'A loan has a day')"],
  ["refusal(403, 'Not yours')"],
  ["problem(422, 'Not so')", /'detail' is missing/],
  ["problem(422, 'Not so', reason)", /'detail' is optional/],
  ["problem(403, 'Not yours')", /'Problem<403, "Not yours">' is not assignable/],
  ["refusal(404, 'No such book')", undeclared(404)],
  ["problem(404, 'No such book')", undeclared(404)],
  ["problem(404, 'No such book', 'It was sold')", undeclared(404)],
  ["reason === undefined ? problem(409, 'Not now') : refusal(404, reason)", undeclared(404)],
  ["{ status: 404, body: { error: 404, message: 'No such book' } }", undeclared(404)],
  ["{ status: 201, headers: {}, body: { title: 'Moss' } }", undeclared(201)],
  ["{ status: 201, headers: { Location: '/moss' }, body: 'Moss' }", undeclared(201)],
  ['{ status: 204 }', undeclared(204)],
  ["{ status: 200, body: { name: 'Moss' } }", /'name' does not exist/],
  ['{ status: 200 }', /'body' is missing/],
]

t.test('a result compiles where the contract describes it', async (t) => {
  const folder = t.testdir({ 'openapi.yaml': CONTRACT })
  const generated = join(folder, 'contract.gen.ts')
  writeFileSync(generated, await generateTypes(join(folder, 'openapi.yaml'), generated, {}))
  const files = RETURNED.map(([code], index) => {
    const file = join(folder, `${index}.ts`)
    writeFileSync(file, program(code))
    return file
  })
  const product = join(folder, 'product.ts')
  writeFileSync(product, PRODUCT)
  const faults = faultsOf([generated, ...files, product], folder)
  for (const [index, [code, error]] of RETURNED.entries()) {
    const shown = faults.filter((fault) => fault.startsWith(`${index}.ts: `))
    if (error === undefined) t.strictSame(shown, [], code)
    else t.match(shown.join('\n'), error, code)
  }
  t.notOk(faults.some((fault) => fault.startsWith('contract')))
  const ofProduct = faults.filter((fault) => fault.startsWith('product.ts: '))
  t.match(ofProduct.join('\n'), undeclared(404), 'of a method without a type')
})

/** A product with a method that names no type. */
const PRODUCT = `import { defineProduct, refusal } from '@plant-store/engine'
import { contract } from './contract.gen.ts'

export const product = defineProduct({
  name: 'library',
  contract,
  services: () => [{ borrowBook: async () => refusal(404, 'No such book') }],
})
`

/** A class whose method returns some code. */
function program(code: string): string {
  return `import { problem, refusal } from '@plant-store/engine'
import type { Result } from './contract.gen.ts'

export const used = [problem, refusal]
export class Loans {
  async borrowBook(reason: string | undefined): Promise<Result<'borrowBook'>> {
    console.log(reason)
    return ${code}
  }
}
`
}
