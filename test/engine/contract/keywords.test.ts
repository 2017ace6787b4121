// Keywords that validators disagree about. Each line is what JSON Schema 2020-12 says.
import t from 'tap'
import { allows, serve } from './described.ts'

const PARTS = `\nX: { type: object, properties: { x: true } }\nY: { properties: { y: true }, required: [y] }`

/** The values of a text in which spaces separate them. */
const json = (text: string): unknown[] => text.split(' ').map((each) => JSON.parse(each) as unknown)

const TABLE: Readonly<
  Record<string, readonly [schema: string, valid: readonly unknown[], invalid: readonly unknown[]]>
> = {
  'unevaluatedProperties beside $ref and oneOf': [
    `{ $ref: '#/components/schemas/X', oneOf: [{ required: [y], properties: { y: true } }, { required: [z], properties: { z: true } }], unevaluatedProperties: false }`,
    [{ x: 1, y: 1 }, { x: 1, z: 1 }, { z: 1 }],
    [{ x: 1 }, { x: 1, y: 1, a: 1 }],
  ],
  'unevaluatedProperties below anyOf': [
    `{ anyOf: [{ $ref: '#/components/schemas/X', unevaluatedProperties: false }, { required: [y] }] }`,
    [{ x: 1 }, { y: 1, a: 1 }],
    [{ a: 1 }, { x: 1, a: 1 }],
  ],
  'unevaluatedProperties beside anyOf: all branches that match count': [
    `{ anyOf: [{ $ref: '#/components/schemas/X' }, { $ref: '#/components/schemas/Y' }], unevaluatedProperties: false }`,
    [{ x: 1, y: 1 }, {}],
    [{ x: 1, a: 1 }],
  ],
  'unevaluatedProperties beside if without then or else': [
    `{ if: { required: [b], properties: { b: { const: 1 } } }, unevaluatedProperties: false }`,
    [{ b: 1 }, {}],
    [{ b: 2 }, { b: 1, c: 1 }],
  ],
  'unevaluatedProperties with a schema': [
    `{ properties: { a: true }, unevaluatedProperties: { type: string } }`,
    [{ a: 1, b: 'x' }],
    [{ a: 1, b: 1 }],
  ],
  'unevaluatedItems beside contains': [
    `{ prefixItems: [true], contains: { type: string }, minContains: 0, unevaluatedItems: false }`,
    json('[1] [1,"a","b"] []'),
    json('[1,2] [1,"a",2]'),
  ],
  'unevaluatedItems below and beside others': [
    `{ allOf: [{ prefixItems: [{ type: integer }] }, { anyOf: [{ prefixItems: [true, { type: string }] }, true] }], unevaluatedItems: { type: boolean } }`,
    json('[1] [1,"a"] [1,"a",true] [1,true]'),
    json('[1,2] [1,"a","b"]'),
  ],
  'contains beside prefixItems that are more': [
    `{ type: array, prefixItems: [true, true, true], contains: { type: string } }`,
    json('["a"] [1,"a"] [1,2,3,"a"]'),
    json('[] [1] [1,2] [1,2,3,4]'),
  ],
  'an empty name that is required': [`{ required: [''] }`, [{ '': 1 }, 7], [{}, { a: 1 }]],
  'patternProperties beside anyOf with additionalProperties': [
    `{ patternProperties: { '^x': true }, anyOf: [{ additionalProperties: { type: string } }, { anyOf: [{ required: [y], additionalProperties: true }] }], unevaluatedProperties: false }`,
    [{ x: 'a' }, { y: 1 }, {}],
    [{ x: 1 }],
  ],
  'items that are equal in other spellings': [
    `{ uniqueItems: true }`,
    json('[1,"1",true,[1],{"a":1,"b":2},{"a":2,"b":1}] [[],{}] [0,false,null,""]'),
    json('[1,1] [{"a":1,"b":2},{"b":2,"a":1}] [[1,[2]],[1,[2]]] ["a","b","a"]'),
  ],
  'uniqueItems: false': [`{ uniqueItems: false }`, [[1, 1]], []],
  'enum of values of each type': [
    `{ enum: [1, 'a', null, true, [1, { b: 1, a: 2 }], {}] }`,
    [1, 'a', null, true, [1, { a: 2, b: 1 }], {}],
    [2, '1', false, [1], { a: 1 }, []],
  ],
}

for (const [name, [schema, valid, invalid]] of Object.entries(TABLE))
  t.test(name, (t) => allows(t, `A: ${schema}${PARTS}`, valid, invalid))

t.test('many items are compared in a time that grows as they do', (t) =>
  allows(
    t,
    'A: { type: array, uniqueItems: true }',
    [Array.from({ length: 60_000 }, (_, n) => [n])],
    [[...Array.from({ length: 60_000 }, (_, n) => [n]), [0]]],
  ),
)

t.test('a body that is nested too deeply for its schema is refused', async (t) => {
  const { request } = await serve(t, `A: { type: object, properties: { c: { $ref: '#/components/schemas/A' } } }`)
  const { status, text } = await request(`${'{"c":'.repeat(3000)}{}${'}'.repeat(3000)}`)
  t.equal(status, 400)
  t.match(text, 'The body is nested too deeply')
})
