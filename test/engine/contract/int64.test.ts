// An int64 becomes a `bigint` where the schema that says so has matched, and nowhere else: in requests and in stored items.
import { inspect } from 'node:util'
import t, { type Test } from 'tap'
import { readContract } from '../../../service/engine/contract/contract.ts'
import { itemReader } from '../../../service/engine/contract/items.ts'
import { exactJson } from '../../../service/engine/http/json.ts'
import { contract } from '../../support/small.ts'
import { allows, serve } from './described.ts'

const INT64 = '{ type: integer, format: int64 }'
const BIG = 9007199254740993n

const oneOf = (
  key: string,
) => `A: { ${key}: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }] }
Cat: { type: object, properties: { id: ${INT64}, kind: { const: cat } } }
Dog: { type: object, properties: { id: { type: integer }, kind: { const: dog } } }`

/** By name: the schemas, a text, and what a method gets for it. */
const TABLE: Readonly<Record<string, readonly (readonly [schemas: string, text: string, value: unknown])[]>> = {
  'a great int64, and a fraction that is an integer': [
    [
      `A: { type: object, properties: { a: ${INT64}, b: { type: number } } }`,
      `{"a":${BIG},"b":2.5}`,
      { a: BIG, b: 2.5 },
    ],
  ],
  'the limits': [
    [
      `A: { type: array, items: ${INT64} }`,
      '[-9223372036854775808,9223372036854775807,0,-1]',
      [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n],
    ],
  ],
  'additionalProperties, not the others': [
    [
      `A: { type: object, properties: { a: { type: integer }, b: { type: object } }, additionalProperties: ${INT64} }`,
      '{"a":1,"b":{"c":1},"d":1,"constructor":1,"toString":1}',
      { a: 1, b: { c: 1 }, d: 1n, constructor: 1n, toString: 1n },
    ],
  ],
  'a schema that holds itself': [
    [
      `A: { type: object, properties: { n: ${INT64}, next: { $ref: '#/components/schemas/A' }, all: { type: array, items: { $ref: '#/components/schemas/A' } } } }`,
      '{"n":1,"next":{"n":2,"next":{"n":3}},"all":[{"n":4,"m":1}]}',
      { n: 1n, next: { n: 2n, next: { n: 3n } }, all: [{ n: 4n, m: 1 }] },
    ],
  ],
  'two schemas that hold each other': [
    [
      `A: { type: object, properties: { other: { $ref: '#/components/schemas/Other' } } }
Other: { type: object, properties: { item: { $ref: '#/components/schemas/A' }, n: ${INT64} } }`,
      '{"other":{"n":1,"item":{"n":1,"other":{"n":1}}}}',
      { other: { n: 1n, item: { n: 1, other: { n: 1n } } } },
    ],
  ],
  'great integers in texts': [
    [
      `A: { type: object, properties: { a: { type: string }, n: ${INT64} } }`,
      `{"a":"${BIG}","n":1}`,
      { a: `${BIG}`, n: 1n },
    ],
  ],
  'a branch that fails changes nothing': [
    [oneOf('oneOf'), '{"kind":"dog","id":7}', { kind: 'dog', id: 7 }],
    [oneOf('oneOf'), '{"kind":"cat","id":7}', { kind: 'cat', id: 7n }],
    [oneOf('anyOf'), '{"kind":"dog","id":7}', { kind: 'dog', id: 7 }],
    [oneOf('anyOf'), '{"kind":"cat","id":7}', { kind: 'cat', id: 7n }],
  ],
  'not changes nothing': [[`A: { type: object, properties: { a: { not: ${INT64} } } }`, '{"a":7.5}', { a: 7.5 }]],
  'if counts where it holds': [
    [`A: { if: ${INT64}, else: { type: string } }`, '7', 7n],
    [`A: { type: object, if: { required: [b] }, then: { properties: { a: ${INT64} } } }`, '{"a":7}', { a: 7 }],
    [
      `A: { type: object, if: { required: [b] }, then: { properties: { a: ${INT64} } } }`,
      '{"a":7,"b":1}',
      { a: 7n, b: 1 },
    ],
    [`A: { type: object, if: { required: [b] }, else: { properties: { a: ${INT64} } } }`, '{"a":7}', { a: 7n }],
  ],
  'contains counts for the items that it is about': [
    [`A: { type: array, contains: { type: integer, format: int64, minimum: 5 } }`, '[1,7,"a"]', [1, 7n, 'a']],
  ],
  'unevaluated members and items, and no others': [
    [
      `A: { type: object, anyOf: [{ required: [b], properties: { b: { type: integer } } }, { properties: { c: { type: string } } }], unevaluatedProperties: ${INT64} }`,
      '{"a":7,"b":7}',
      { a: 7n, b: 7 },
    ],
    [`A: { type: array, prefixItems: [{ type: integer }], unevaluatedItems: ${INT64} }`, '[7,7]', [7, 7n]],
  ],
  'additional members and members by pattern': [
    [
      `A: { type: object, properties: { a: { type: integer } }, patternProperties: { '^b': ${INT64} }, additionalProperties: ${INT64} }`,
      '{"a":7,"b":7,"c":7}',
      { a: 7, b: 7n, c: 7n },
    ],
  ],
  'an int64 that may be null, a text or any number': [
    [`A: { type: array, items: { type: [integer, 'null', string], format: int64 } }`, '[7,null,"a"]', [7n, null, 'a']],
    [`A: { type: array, items: { type: [integer, number], format: int64 } }`, '[7,7.5,1e+30]', [7n, 7.5, 1e30]],
  ],
  'dependentSchemas, where the member is there': [
    [`A: { type: object, dependentSchemas: { b: { properties: { a: ${INT64} } } } }`, '{"a":7,"b":1}', { a: 7n, b: 1 }],
    [`A: { type: object, dependentSchemas: { b: { properties: { a: ${INT64} } } } }`, '{"a":7}', { a: 7 }],
  ],
}

for (const [name, rows] of Object.entries(TABLE)) {
  t.test(`int64: ${name}`, async (t) => {
    for (const [schemas, text, value] of rows) {
      const { request } = await serve(t, schemas)
      const { status, got, text: message } = await request(text)
      t.equal(status, 204, message)
      t.strictSame(got, value, text)
      const item = (await itemsOf(t, schemas))(text)
      t.strictSame(item, value, `a stored item, too: ${text}`)
      t.equal(exactJson(item), text, 'what is written again has the same digits')
    }
  })
}

/** Makes the reader of items. */
async function itemsOf(t: Test, schemas: string, name = 'A'): Promise<(text: string) => unknown> {
  const yaml = contract(`paths: {}\ncomponents:\n  schemas:\n${schemas.replaceAll(/^/gm, '    ')}\n`)
  const folder = t.testdir({ 'openapi.yaml': yaml })
  return itemReader(await readContract(`${folder}/openapi.yaml`), name)
}

t.test('what the schema of an item says nothing of is read as it is', async (t) => {
  t.strictSame((await itemsOf(t, `A: ${INT64}`, 'B'))('{"a":1}'), { a: 1 })
  t.strictSame((await itemsOf(t, 'A: { type: object }'))(`{"a":${BIG}}`), { a: BIG })
})

t.test('an item that is older than its schema has its int64, too', async (t) => {
  const read = await itemsOf(
    t,
    `A: { type: object, required: [a, b], minProperties: 3, additionalProperties: false, properties: { a: { type: string, maxLength: 1 }, n: ${INT64}, all: { type: array, maxItems: 1, items: ${INT64} } } }`,
  )
  t.strictSame(read('{"a":"long","c":1,"n":1,"all":[1,2]}'), { a: 'long', c: 1, n: 1n, all: [1n, 2n] })
})

t.test('enum and const of lists and objects with an int64', async (t) => {
  const list = `{ type: array, items: ${INT64} }`
  const schemas = [
    `A: { allOf: [${list}, { enum: [[1, 2], [3]] }] }`,
    `A: { $ref: '#/components/schemas/B', enum: [[1, 2], [3]] }\nB: ${list}`,
    `A: { type: array, items: ${INT64}, enum: [[1, 2], [3]] }`,
  ]
  for (const each of schemas) await allows(t, each, [[1, 2], [3]], [[1], [], [2, 1]])
  const { request, answer } = await serve(
    t,
    `A: { type: object, properties: { a: ${INT64} }, const: { a: 7, b: [1] } }`,
  )
  t.strictSame((await request('{"b":[1.0],"a":7}')).got, { a: 7n, b: [1] })
  t.equal((await answer({ b: [1n], a: 7n })).status, 200)
  t.equal((await answer({ b: [1n], a: 8n })).status, 500)
})

t.test('the exact value decides which alternative it is', async (t) => {
  const { request } = await serve(
    t,
    `A: { oneOf: [{ type: integer, format: int64, minimum: ${BIG} }, { type: number, maximum: 9007199254740992 }] }`,
  )
  t.strictSame((await request(String(BIG))).got, BIG)
  t.strictSame((await request('9007199254740992')).got, 2 ** 53)
})

t.test('alternatives that match take no exponential time, and all of them change the value', async (t) => {
  const next = "c: { $ref: '#/components/schemas/A' }"
  for (const rest of ['', 'unevaluatedProperties: false, ']) {
    const { request } = await serve(
      t,
      `A: { ${rest}anyOf: [{ properties: { ${next}, n: ${INT64} } }, { properties: { ${next}, extra: { type: string } } }] }`,
    )
    let nested = '{"n":1,"extra":"x"}'
    for (let level = 0; level < 40; level += 1) nested = `{"c":${nested}}`
    const { status, got } = await request(nested)
    t.equal(status, 204)
    t.equal(exactJson(got), nested)
    t.match(inspect(got, { depth: 50 }), 'n: 1n')
  }
})

t.test(
  'a schema that leads back to itself twice takes no exponential time: in requests, items and answers',
  async (t) => {
    const next = "next: { $ref: '#/components/schemas/A' }"
    const base = `B: { type: object, properties: { ${next}, n: ${INT64} } }`
    const schemas = [
      `A: { allOf: [{ $ref: '#/components/schemas/B' }, { properties: { ${next} } }] }\n${base}`,
      `A: { $ref: '#/components/schemas/B', unevaluatedProperties: false, patternProperties: { e: { $ref: '#/components/schemas/A' } } }\n${base}`,
    ]
    let nested = '{"n":1}'
    for (let level = 0; level < 60; level += 1) nested = `{"next":${nested}}`
    for (const each of schemas) {
      const { request, answer } = await serve(t, each)
      const { status, got } = await request(nested)
      t.strictSame([status, exactJson(got)], [204, nested])
      t.match(inspect(got, { depth: 70 }), 'n: 1n')
      t.equal((await request(nested.replace(':1}', ':"1"}'))).status, 400)
      t.equal((await answer(got)).status, 200)
      t.match(inspect((await itemsOf(t, each))(nested), { depth: 70 }), 'n: 1n')
    }
  },
)

t.test('alternatives within alternatives take no exponential time', async (t) => {
  const { request } = await serve(
    t,
    `A: { unevaluatedProperties: false, oneOf: [{ type: object, properties: { id: ${INT64}, next: { $ref: '#/components/schemas/A' } } }, { type: string }] }`,
  )
  let nested = '{"id":1}'
  for (let level = 0; level < 60; level += 1) nested = `{"next":${nested}}`
  t.equal((await request(nested)).status, 204)
  t.equal((await request(nested.replace('"id"', '"ib"'))).status, 400)
  const one = (kind: string) =>
    `{ type: object, properties: { kind: { const: ${kind} }, next: { $ref: '#/components/schemas/A' } } }`
  const { request: choose } = await serve(t, `A: { oneOf: [${one('a')}, ${one('b')}, { type: string }] }`)
  for (const [leaf, status] of [
    ['""', 204],
    ['7', 400],
  ] as const) {
    let value: string = leaf
    for (let level = 0; level < 60; level += 1) value = `{"next":${value},"kind":"b"}`
    t.equal((await choose(value)).status, status)
  }
})
