// Keywords on which validators disagree. Each row follows JSON Schema 2020-12.
import t from 'tap'
import { allows, serve } from '../../engine/test/operation/described.ts'

/** The targets of references. */
const PARTS = `
X: { type: object, properties: { x: true } }
Y: { properties: { y: true }, required: [y] }
Yes: true
No: false
Text: { $ref: '#/components/schemas/Flag', properties: { x: { type: string } } }
Full: { $ref: '#/components/schemas/Flag', minProperties: 1 }
Flag: { properties: { x: { type: boolean }, y: { type: boolean } } }`

/** By name: the schema, and the JSON of allowed and of refused values, with a space between two of them. */
const TABLE: Readonly<Record<string, readonly [schema: string, valid: string, invalid: string]>> = {
  'unevaluatedProperties beside $ref and oneOf': [
    `{ $ref: '#/components/schemas/X', oneOf: [{ required: [y], properties: { y: true } }, { required: [z], properties: { z: true } }], unevaluatedProperties: false }`,
    '{"x":1,"y":1} {"x":1,"z":1} {"z":1}',
    '{"x":1} {"x":1,"y":1,"a":1}',
  ],
  'unevaluatedProperties below anyOf': [
    `{ anyOf: [{ $ref: '#/components/schemas/X', unevaluatedProperties: false }, { required: [y] }] }`,
    '{"x":1} {"y":1,"a":1}',
    '{"a":1} {"x":1,"a":1}',
  ],
  'unevaluatedProperties beside anyOf: all branches that match count': [
    `{ anyOf: [{ $ref: '#/components/schemas/X' }, { $ref: '#/components/schemas/Y' }], unevaluatedProperties: false }`,
    '{"x":1,"y":1} {}',
    '{"x":1,"a":1}',
  ],
  'unevaluatedProperties beside if without then or else': [
    `{ if: { required: [b], properties: { b: { const: 1 } } }, unevaluatedProperties: false }`,
    '{"b":1} {}',
    '{"b":2} {"b":1,"c":1}',
  ],
  'unevaluatedProperties with a schema': [
    `{ properties: { a: true }, unevaluatedProperties: { type: string } }`,
    '{"a":1,"b":"x"}',
    '{"a":1,"b":1}',
  ],
  'unevaluatedItems beside contains': [
    `{ prefixItems: [true], contains: { type: string }, minContains: 0, unevaluatedItems: false }`,
    '[1] [1,"a","b"] []',
    '[1,2] [1,"a",2]',
  ],
  'unevaluatedItems below and beside others': [
    `{ allOf: [{ prefixItems: [{ type: integer }] }, { anyOf: [{ prefixItems: [true, { type: string }] }, true] }], unevaluatedItems: { type: boolean } }`,
    '[1] [1,"a"] [1,"a",true] [1,true]',
    '[1,2] [1,"a","b"]',
  ],
  'contains beside prefixItems that are more': [
    `{ type: array, prefixItems: [true, true, true], contains: { type: string } }`,
    '["a"] [1,"a"] [1,2,3,"a"]',
    '[] [1] [1,2] [1,2,3,4]',
  ],
  'an empty name that is required': [`{ required: [''] }`, '{"":1} 7', '{} {"a":1}'],
  'patternProperties beside anyOf with additionalProperties': [
    `{ patternProperties: { '^x': true }, anyOf: [{ additionalProperties: { type: string } }, { anyOf: [{ required: [y], additionalProperties: true }] }], unevaluatedProperties: false }`,
    '{"x":"a"} {"y":1} {}',
    '{"x":1}',
  ],
  'items that are equal in other spellings': [
    `{ uniqueItems: true }`,
    '[1,"1",true,[1],{"a":1,"b":2},{"a":2,"b":1}] [[],{}] [0,false,null,""]',
    '[1,1] [{"a":1,"b":2},{"b":2,"a":1}] [[1,[2]],[1,[2]]] ["a","b","a"]',
  ],
  'uniqueItems: false': [`{ uniqueItems: false }`, '[1,1]', ''],
  'enum of values of each type': [
    `{ enum: [1, 'a', null, true, [1, { b: 1, a: 2 }], {}] }`,
    '1 "a" null true [1,{"a":2,"b":1}] {}',
    '2 "1" false [1] {"a":1} []',
  ],
  true: ['true', '1 {}', ''],
  false: ['false', '', '1 {}'],
  'true and false in allOf, anyOf, oneOf and not': [
    '{ allOf: [true, { anyOf: [false, { type: string }] }, { oneOf: [true, false] }, { not: false }] }',
    '"a"',
    '1',
  ],
  'true and false of if': ['{ if: true, then: { type: string }, else: false }', '"a"', '1'],
  'true and false for items': ['{ prefixItems: [true, false], contains: true }', '[1]', '[1,2] []'],
  'false for names': ['{ propertyNames: false }', '{}', '{"a":1}'],
  'true and false in dependentSchemas': [
    '{ dependentSchemas: { a: false, b: true } }',
    '{"b":1}',
    '{"a":1}',
  ],
  'true and false by pattern': [
    '{ patternProperties: { "^a": false }, $defs: { x: true } }',
    '{"b":1}',
    '{"a":1}',
  ],
  // RFC 6901 for the pointer, JSON Schema 2020-12, section 8.2.3, for where it leads
  'a $ref to the place that it spells, behind a $ref of a schema only where that lacks the member':
    [
      `{ properties: { a: { $ref: '#/components/schemas/Text/properties/x' }, b: { $ref: '#/components/schemas/Full/properties/y' } } }`,
      '{"a":"x","b":true}',
      '{"a":true} {"b":"x"}',
    ],
  'a $ref to true and to false, also in the schema itself': [
    `{ $ref: '#/components/schemas/A/$defs/any', properties: { a: { $ref: '#/components/schemas/Yes', $defs: {} }, b: { $ref: '#/components/schemas/No' } }, maxLength: 1, $defs: { any: true } }`,
    '{"a":1} "x" 1',
    '{"b":1} "xy"',
  ],
  'a $ref into the schema itself, as generators write it': [
    `{ $ref: '#/components/schemas/A/$defs/Plant', $defs: { Plant: { required: [name], properties: { next: { $ref: '#/components/schemas/A' } } } } }`,
    '{"name":"x","next":{"name":"y"}}',
    '{} {"name":"x","next":{}}',
  ],
  'an offset of a date-time has its minutes': [
    '{ format: date-time }',
    '"2026-01-01T00:00:00Z" "2026-01-01T00:00:00.5+01:00" "2026-01-01t00:00:00z"',
    '"2026-01-01T00:00:00+01" "2026-01-01T00:00:00+0100" "2026-01-01T00:00:00" "2026-02-30T00:00:00Z"',
  ],
}

/** The values of JSON strings with a space between two of them. */
const valuesOf = (texts: string): unknown[] =>
  texts.match(/\S+/g)?.map((text): unknown => JSON.parse(text)) ?? []

for (const [name, [schema, valid, invalid]] of Object.entries(TABLE))
  t.test(name, (t) => allows(t, `A: ${schema}${PARTS}`, valuesOf(valid), valuesOf(invalid)))

t.test('members may have the names of an object of JavaScript', async (t) => {
  const names = [
    'constructor',
    'hasOwnProperty',
    'toString',
    'valueOf',
    'isPrototypeOf',
    'prototype',
    'length',
  ]
  for (const name of names) {
    const schemas = `A: { $ref: '#/components/schemas/${name}' }
${name}: { type: object, required: [${name}], properties: { ${name}: { type: integer } }, dependentRequired: { ${name}: [a] }, dependentSchemas: { ${name}: { minProperties: 2 } }, $defs: { ${name}: { type: string } }, additionalProperties: false, patternProperties: { '^a': true } }`
    await allows(
      t,
      schemas,
      [{ [name]: 1, a: 1 }],
      [{}, { a: 1 }, { [name]: 1 }, { [name]: 'x', a: 1 }],
    )
  }
})

t.test('a member of an answer that is undefined is none: JSON leaves it out', async (t) => {
  const { answer } = await serve(
    t,
    'A: { minProperties: 1, maxProperties: 1, propertyNames: { const: a }, items: { type: object }, uniqueItems: true }',
  )
  t.strictSame(await answer({ a: 1, b: undefined }), { status: 200, text: '{"a":1}' })
  t.equal((await answer({ a: undefined })).status, 500)
  t.equal((await answer([{ a: undefined }, {}])).status, 500)
  t.equal((await answer(Array(1))).status, 500, 'an item that is missing is sent as null')
})

t.test('a property named toJSON is sent like every other property', async (t) => {
  const { request, answer } = await serve(
    t,
    'A: { uniqueItems: true, properties: { a: { writeOnly: true } } }',
  )
  t.equal((await request('[{"toJSON":1,"a":9007199254740993},{"toJSON":1}]')).status, 204)
  t.equal((await request('[{"toJSON":1,"a":2},{"a":2,"toJSON":1}]')).status, 400)
  t.strictSame(await answer({ toJSON: 1, a: 2 }), { status: 200, text: '{"toJSON":1}' })
})

t.test('many items are compared in a time that grows as they do', async (t) => {
  const lists = Array.from({ length: 60_000 }, (_, n) => [n])
  await allows(t, 'A: { type: array, uniqueItems: true }', [lists], [[...lists, [0]]])
  const few = lists.slice(0, 20_000)
  await allows(
    t,
    `A: { items: { enum: ${JSON.stringify(few)} } }`,
    [[...few, ...few, ...few]],
    [lists],
  )
})

t.test('the items of lists in lists are compared with one look at each value', async (t) => {
  const { answer } = await serve(
    t,
    `A: { uniqueItems: true, items: { $ref: '#/components/schemas/A' } }`,
  )
  let looks = 0
  const getter = { enumerable: true, get: () => (looks += 1) }
  const nest = (depth: number): unknown =>
    depth === 0 ? Object.defineProperty({}, 'a', getter) : [nest(depth - 1), 7]
  t.equal((await answer(nest(99))).status, 200)
  t.ok(looks < 10, `${looks} looks`)
})

t.test('a long text is compared with a format in a time that grows as the text does', (t) =>
  allows(
    t,
    'A: { format: url }',
    [`http://a.com/${':'.repeat(500_000)}`],
    [`http://a.${':'.repeat(500_000)}`],
  ),
)

t.test('the place of a fault is told, but not all of a long name', async (t) => {
  const { request } = await serve(
    t,
    'A: { additionalProperties: { additionalProperties: { type: string } } }',
  )
  t.match((await request({ a: { b: 1 } })).text, 'body/a/b must be string')
  const { status, text } = await request({ a: { [`b${'~'.repeat(300_000)}`]: 1 } })
  t.equal(status, 400)
  t.match(text, /body\/a\/b(~0){200,300} must be string/)
})

/** How a schema leads back to itself. */
const RECURSIVE = [
  `{ properties: { c: { $ref: '#/components/schemas/A' } } }`,
  `{ allOf: [{ anyOf: [{ type: string }, { properties: { c: { $ref: '#/components/schemas/A' } }, if: { required: [c] }, then: { minProperties: 1 } }] }] }`,
  `{ oneOf: [{ type: string }, { type: object, required: [c], additionalProperties: { $ref: '#/components/schemas/A' } }, { maxProperties: 0 }], unevaluatedProperties: false }`,
]

t.test('values have up to 100 levels, whatever their schema: 400 and 500 beyond', async (t) => {
  for (const schema of ['{}', ...RECURSIVE]) {
    const { request, answer } = await serve(t, `A: ${schema}`)
    const text = (levels: number) => `${'{"c":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
    t.equal((await request(text(100))).status, 204, schema)
    t.equal((await answer(JSON.parse(text(100)))).status, 200, schema)
    for (const levels of [101, 1000, 5000, 8000]) {
      const refused = await request(text(levels))
      t.equal(refused.status, 400, schema)
      t.match(refused.text, /JSON must not be nested more than 100 levels deep/)
      t.equal((await answer(JSON.parse(text(levels)))).status, 500, schema)
    }
  }
})

t.test('the levels of an answer are those of its JSON', async (t) => {
  const { answer } = await serve(t, 'A: {}')
  const nest = (levels: number, inner: unknown): unknown =>
    levels === 0 ? inner : [nest(levels - 1, inner)]
  t.equal((await answer(nest(98, { toJSON: () => [[7n]] }))).status, 200)
  t.equal((await answer(nest(99, { toJSON: () => [[7n]] }))).status, 500)
  t.equal((await answer(nest(99, [1n, [2n]]))).status, 500)
  t.equal((await answer(nest(100, new Date(0)))).status, 200)
  const loop: unknown[] = []
  loop.push(loop)
  t.equal((await answer(loop)).status, 500)
})
