// Where a `$ref` leads: RFC 6901 for its pointer, JSON Schema 2020-12, section 8.2.3.
import t from 'tap'
import { compile } from '../../../service/engine/contract/compile/compile.ts'
import { contract } from '../../support/small.ts'
import { allows } from './described.ts'

t.test('a pointer names the place that it spells, also behind a schema with a $ref of its own', (t) =>
  allows(
    t,
    `A: { $ref: '#/components/schemas/B/properties/x' }
B: { $ref: '#/components/schemas/C', properties: { x: { type: string } } }
C: { type: object, properties: { x: { type: boolean } } }`,
    ['x'],
    [true],
  ),
)

t.test('a pointer steps into the target of a $ref where the schema lacks the member', (t) =>
  allows(
    t,
    `A: { $ref: '#/components/schemas/B/properties/y' }
B: { $ref: '#/components/schemas/C', minProperties: 1 }
C: { type: object, properties: { y: { type: boolean } } }`,
    [true],
    ['x'],
  ),
)

t.test('a schema may refer into itself, as generators write it', (t) =>
  allows(
    t,
    `A:
  $ref: '#/components/schemas/A/$defs/Plant'
  $defs: { Plant: { type: object, required: [name], properties: { next: { $ref: '#/components/schemas/A' } } } }`,
    [{ name: 'x', next: { name: 'y' } }],
    [{}, { name: 'x', next: {} }],
  ),
)

t.test('a $ref to an anchor, or to nothing, is refused in its line', async (t) => {
  const table = [
    "A: { type: array, items: { $ref: '#a' } } # here\n    B: { $anchor: a }",
    "A: { type: array, items: { $ref: '#/components/schemas/A/allOf/0' } } # here",
  ]
  const content = "content: { application/json: { schema: { $ref: '#/components/schemas/A' } } }"
  const head = `paths: { /x: { get: { operationId: run, responses: { '200': { description: Done, ${content} } } } } }`
  for (const schemas of table) {
    const text = contract(`${head}\ncomponents:\n  schemas:\n    ${schemas}\n`)
    const folder = t.testdir({ 'openapi.yaml': text })
    const line = text.split('\n').findIndex((each) => each.endsWith('# here')) + 1
    const message = new RegExp(`openapi.yaml:${line}: .*(\\$ref|reference)`)
    await t.rejects(compile(`${folder}/openapi.yaml`), { message }, schemas)
  }
})
