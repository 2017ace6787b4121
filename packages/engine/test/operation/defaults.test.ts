// A default is filled in after the value was found valid: it makes no value valid or invalid.
import t from 'tap'
import { serve, shown } from './described.ts'

const A = 'properties: { a: { type: integer, format: int64, default: 7 } }'

/**
 * By name: a schema, valid JSON with the value for the method (a bigint with `n`), and invalid
 * JSON.
 */
const TABLE: Readonly<
  Record<string, [schema: string, got: Readonly<Record<string, string>>, ...invalid: string[]]>
> = {
  dependentRequired: [`${A}, dependentRequired: { a: [b] }`, { '{}': '{"a":7n}' }, '{"a":1}'],
  minProperties: [`${A}, minProperties: 1`, { '{"b":1}': '{"b":1,"a":7n}' }, '{}'],
  maxProperties: [`${A}, maxProperties: 1`, { '{"b":1}': '{"b":1,"a":7n}' }, '{"b":1,"c":1}'],
  dependentSchemas: [
    `${A}, dependentSchemas: { a: { required: [b], properties: { c: { default: 1 } } } }`,
    { '{}': '{"a":7n}', '{"a":1,"b":1}': '{"a":1n,"b":1,"c":1}' },
    '{"a":1}',
  ],
  not: [`${A}, not: { required: [a] }`, { '{}': '{"a":7n}' }, '{"a":1}'],
  'the order in allOf': [
    `allOf: [{ ${A} }, { required: [a] }, { properties: { b: { default: 1 } } }]`,
    { '{"a":1}': '{"a":1n,"b":1}' },
    '{}',
  ],
  'a name of JavaScript': [
    'properties: { constructor: { default: 7 } }',
    { '{}': '{"constructor":7}' },
  ],
  'a default in a default': [
    'properties: { b: { default: {}, properties: { c: { type: integer, format: int64, default: 2 } } } }',
    { '{}': '{"b":{"c":2n}}' },
  ],
  'a schema that it leads back to': [
    `properties: { b: { allOf: [{ default: {} }, { $ref: '#/components/schemas/A' }] } }`,
    { '{}': '{}', '{"b":{}}': '{"b":{}}' },
  ],
  'anyOf: where the schema has matched': [
    `anyOf: [{ required: [b], ${A} }, { required: [c], properties: { d: { default: x } } }]`,
    { '{"b":1}': '{"b":1,"a":7n}', '{"c":1}': '{"c":1,"d":"x"}' },
    '{}',
  ],
  'if: where it holds': [
    `if: { required: [b] }, then: { ${A} }, else: { properties: { c: { default: 1 } } }`,
    { '{"b":1}': '{"b":1,"a":7n}', '{}': '{"c":1}' },
  ],
  'additional and unevaluated members': [
    `properties: { a: true }, additionalProperties: { type: object, ${A} }, unevaluatedProperties: false`,
    { '{"a":{},"b":{}}': '{"a":{},"b":{"a":7n}}' },
    '{"b":{"a":"x"}}',
  ],
}

for (const [name, [schema, got, ...invalid]] of Object.entries(TABLE)) {
  t.test(`default beside ${name}`, async (t) => {
    const { request, answer } = await serve(t, `A: { type: object, ${schema} }`)
    for (const [sent, expected] of Object.entries(got)) {
      t.equal(shown((await request(sent)).got), expected)
      t.strictSame(
        await answer(JSON.parse(sent)),
        { status: 200, text: sent },
        'no default in an answer',
      )
    }
    for (const text of invalid) t.equal((await request(text)).status, 400, text)
  })
}

t.test('each request gets a default of its own', async (t) => {
  const { request } = await serve(t, 'A: { type: object, properties: { a: { default: {} } } }')
  const [first, second] = [(await request('{}')).got, (await request('{}')).got] as { a: object }[]
  t.strictSame(first, { a: {} })
  t.not(first?.a, second?.a)
})

t.test('a default fills in at most 100 members', async (t) => {
  // A default of level 6 fills in one property, of level 5 three, of level 0 127.
  const levels = [0, 1, 2, 3, 4, 5, 6].map((level) => {
    const member = `{ default: {}, allOf: [{ $ref: '#/components/schemas/L${level + 1}' }] }`
    return `L${level}: { type: object, properties: { a: ${member}, b: ${member} } }`
  })
  const filledIn = async (level: number) => {
    const schemas = [`A: { $ref: '#/components/schemas/L${level}' }`, ...levels, 'L7: {}']
    const { request } = await serve(t, schemas.join('\n'))
    const text = shown((await request('{}')).got)
    return text.split(':').length - 1
  }
  t.equal(await filledIn(1), 2 * 63)
  t.equal(await filledIn(0), 0)
})

t.test('defaults have a bound: a short list does not become many objects', async (t) => {
  const members =
    'properties: { a: { default: {} }, b: { type: object, default: {}, properties: { c: { default: 1 } } } }'
  const { request } = await serve(t, `A: { type: array, items: { ${members} } }`)
  const empty = (count: number) => `[${Array(count).fill('{}').join()}]`
  t.equal((await request(empty(33_333))).status, 204)
  t.match(await request(empty(33_334)), {
    status: 400,
    text: /more than 100000 properties with a default/,
  })
})
