// An int64 becomes a `bigint` only where its schema has matched: in requests and in stored items.
// Other numbers of bodies are rounded to a double (IEEE 754, binary64).
import t, { type Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { itemReader, readContract } from '../../../../test/support/inner/contract.ts'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { exactJson } from '@plant-store/engine/for-store'
import { boot, contract } from '../../../../test/support/contracts/serve-contract.ts'
import { post } from '../../../../test/support/contracts/exchanges.ts'
import { allows, serve, shown } from './described.ts'

const INT64 = '{ type: integer, format: int64 }'
const BIG = 9007199254740993n

const A = "{ $ref: '#/components/schemas/A' }"
const CAT_OR_DOG = `[{ properties: { id: ${INT64}, kind: { const: cat } } }, { properties: { id: { type: integer }, kind: { const: dog } } }]`

/**
 * By name: the schema `A`, and values for a method, with `n` behind each bigint. They are sent
 * without it.
 */
const TABLE: Readonly<Record<string, readonly [schema: string, ...values: string[]]>> = {
  'the limits': [`{ items: ${INT64} }`, '[-9223372036854775808n,9223372036854775807n,0n,-1n]'],
  'not fractions, great numbers and texts': [
    `{ properties: { a: ${INT64}, b: { items: { type: number } }, c: { type: string } } }`,
    '{"a":9007199254740993n,"b":[2.5,9007199254740992],"c":"9007199254740993"}',
  ],
  'members by pattern and additional ones, not the others': [
    `{ properties: { a: { type: integer }, o: { type: object } }, patternProperties: { '^b': ${INT64} }, additionalProperties: ${INT64} }`,
    '{"a":1,"o":{"c":1},"b":1n,"d":1n,"constructor":1n,"toString":1n}',
  ],
  'two schemas that hold each other': [
    `{ properties: { other: { properties: { item: ${A}, n: ${INT64} } } } }`,
    '{"other":{"n":1n,"item":{"n":1,"other":{"n":1n}}}}',
  ],
  'oneOf and anyOf: a branch that fails changes nothing': [
    `{ prefixItems: [{ oneOf: ${CAT_OR_DOG} }, { anyOf: ${CAT_OR_DOG} }] }`,
    '[{"kind":"dog","id":7},{"kind":"dog","id":7}]',
    '[{"kind":"cat","id":7n},{"kind":"cat","id":7n}]',
  ],
  'the exact value decides which alternative it is': [
    `{ oneOf: [{ type: integer, format: int64, minimum: ${BIG} }, { type: number, maximum: 9007199254740992 }] }`,
    '9007199254740993n',
    '9007199254740992',
  ],
  'not changes nothing': [`{ properties: { a: { not: ${INT64} } } }`, '{"a":7.5}'],
  'if counts where it holds': [`{ if: ${INT64}, else: { type: string } }`, '7n', '"a"'],
  'then and else, one of them': [
    `{ if: { required: [b] }, then: { properties: { a: ${INT64} } }, else: { properties: { c: ${INT64} } } }`,
    '{"a":7n,"b":1,"c":7}',
    '{"a":7,"c":7n}',
  ],
  'contains counts for the items that it is about': [
    `{ contains: { type: integer, format: int64, minimum: 5 } }`,
    '[1,7n,"a"]',
  ],
  'unevaluated members, and no others': [
    `{ anyOf: [{ required: [b], properties: { b: { type: integer } } }, { properties: { c: { type: string } } }], unevaluatedProperties: ${INT64} }`,
    '{"a":7n,"b":7}',
  ],
  'unevaluated items, and no others': [
    `{ prefixItems: [{ type: integer }], unevaluatedItems: ${INT64} }`,
    '[7,7n]',
  ],
  'one of several types': [
    `{ prefixItems: [{ items: { type: [integer, 'null', string], format: int64 } }, { items: { type: [integer, number], format: int64 } }] }`,
    '[[7n,null,"a"],[7n,7.5,1e+30]]',
  ],
  'dependentSchemas, where the member is there': [
    `{ dependentSchemas: { b: { properties: { a: ${INT64} } } } }`,
    '{"a":7n,"b":1}',
    '{"a":7}',
  ],
}

for (const [name, [schema, ...values]] of Object.entries(TABLE)) {
  t.test(`int64: ${name}`, async (t) => {
    const { request } = await serve(t, `A: ${schema}`)
    const readItem = await itemsOf(t, `A: ${schema}`)
    for (const value of values) {
      const sent = value.replaceAll(/(?<=\d)n/g, '')
      const { got, text } = await request(sent)
      t.equal(shown(got), value, text)
      t.equal(shown(readItem(sent)), value, 'a stored item, too')
      t.equal(exactJson(got), sent, 'what is written again has the same digits')
    }
  })
}

async function itemsOf(t: Test, schemas: string, name = 'A'): Promise<(text: string) => unknown> {
  const yaml = contract(
    `paths: {}\ncomponents:\n  schemas:\n${schemas.replaceAll(/^/gm, '    ')}\n`,
  )
  const folder = t.testdir({ 'openapi.yaml': yaml })
  const product: ProductHooks = { collections: { plain: { schema: 'A', key: 'int64' } } }
  const read = await readContract(`${folder}/openapi.yaml`, { product, loadCompiler })
  return itemReader(read, name)
}

t.test('what the schema of an item says nothing of is read as it is', async (t) => {
  t.strictSame((await itemsOf(t, `A: ${INT64}`, 'B'))('{"a":1}'), { a: 1 })
  t.strictSame((await itemsOf(t, 'A: { type: object }'))(`{"a":${BIG}}`), { a: BIG })
})

t.test(
  'an item that is older than its schema, or than an alternative, has its int64, too',
  async (t) => {
    const list = `list: { type: array, maxItems: 1, items: ${INT64} }`
    const members = `{ a: { type: string, maxLength: 1 }, n: ${INT64}, ${list} }`
    const rules = 'required: [a, b], minProperties: 3, additionalProperties: false'
    const read = await itemsOf(t, `A: { type: object, ${rules}, properties: ${members} }`)
    t.strictSame(read('{"a":"long","c":1,"n":1,"list":[1,2]}'), {
      a: 'long',
      c: 1,
      n: 1n,
      list: [1n, 2n],
    })
    const kinds = ['cat', 'dog'].map(
      (kind) =>
        `{ required: [kind, more], properties: { kind: { const: ${kind} }, id: ${INT64} } }`,
    )
    t.strictSame((await itemsOf(t, `A: { oneOf: [${kinds.join()}] }`))('{"kind":"cat","id":5}'), {
      kind: 'cat',
      id: 5n,
    })
  },
)

t.test('enum and const of lists and objects with an int64', async (t) => {
  const list = `{ type: array, items: ${INT64} }`
  for (const schemas of [
    `A: { allOf: [${list}, { enum: [[1, 2], [3]] }] }`,
    `A: { $ref: '#/components/schemas/B', enum: [[1, 2], [3]] }\nB: ${list}`,
    `A: { type: array, items: ${INT64}, enum: [[1, 2], [3]] }`,
  ]) {
    await allows(t, schemas, [[1, 2], [3]], [[1], [], [2, 1]])
  }
  const { request, answer } = await serve(
    t,
    `A: { properties: { a: ${INT64} }, const: { a: 7, b: [1] } }`,
  )
  t.equal(shown((await request('{"b":[1.0],"a":7}')).got), '{"b":[1],"a":7n}')
  t.equal((await answer({ b: [1n], a: 7n })).status, 200)
  t.equal((await answer({ b: [1n], a: 8n })).status, 500)
})

/** A value within nested objects. @param rest further properties of the objects */
const nested = (value: string, levels: number, rest = '') =>
  `{"next":`.repeat(levels) + value + `${rest}}`.repeat(levels)

const member = (name: string, schema: string) =>
  `{ type: object, properties: { ${name}: ${schema}, next: ${A} } }`
const B = `\nB: ${member('n', INT64)}`
const TO_B = "$ref: '#/components/schemas/B'"
const MATCHING = `[${member('n', INT64)}, ${member('extra', '{ type: string }')}]`
const KINDS = ['a', 'b'].map((kind) => member('kind', `{ const: ${kind} }`)).join()
/** Recursive schemas, with a deep part of a valid value, and of an invalid one. */
const NESTED: readonly (readonly [
  schemas: string,
  valid: string,
  invalid: string,
  rest?: string,
])[] = [
  [`A: { anyOf: ${MATCHING} }`, '{"n":1n,"extra":"x"}', '7'],
  [`A: { unevaluatedProperties: false, anyOf: ${MATCHING} }`, '{"n":1n,"extra":"x"}', '7'],
  [`A: { allOf: [{ ${TO_B} }, { properties: { next: ${A} } }] }${B}`, '{"n":1n}', '{"n":"1"}'],
  [
    `A: { ${TO_B}, unevaluatedProperties: false, patternProperties: { e: ${A} } }${B}`,
    '{"n":1n}',
    '{"n":"1"}',
  ],
  [
    `A: { unevaluatedProperties: false, oneOf: [${member('id', INT64)}, { type: string }] }`,
    '{"id":1n}',
    '{"ib":1}',
  ],
  [`A: { oneOf: [${KINDS}, { type: string }] }`, '""', '7', ',"kind":"b"'],
]

t.test('a nested value takes no exponential time: in requests, items and answers', async (t) => {
  for (const [schemas, inner, wrong, rest] of NESTED) {
    const { request, answer } = await serve(t, schemas)
    const [valid, invalid] = [nested(inner, 60, rest), nested(wrong, 60, rest)]
    const sent = valid.replaceAll('1n', '1')
    const { got } = await request(sent)
    t.equal(shown(got), valid, schemas)
    t.equal((await answer(got)).status, 200)
    t.equal((await request(invalid)).status, 400)
    t.equal(shown((await itemsOf(t, schemas))(sent)), valid)
  }
})

t.test(
  'a part that is deep in a body takes no more time and memory than one that is not',
  async (t) => {
    const numbers = `[${Array(480_000).fill(1).join()}]`
    for (const schema of [
      `A: { properties: { all: { type: array, items: ${INT64} }, next: ${A} } }`,
      `A: { anyOf: [{ properties: { all: { type: array, items: ${INT64} }, next: ${A} } }, { type: 'null' }] }`,
      `A: { not: { const: [1] }, properties: { next: { anyOf: [{ enum: [none] }, { const: { a: [] } }, ${A}] } } }`,
    ]) {
      const { request } = await serve(t, schema)
      t.equal((await request(nested(`{"all":${numbers}}`, 90))).status, 204)
    }
  },
)

/** Numbers read as the nearest double, unless the schema requires an integer. */
const NUMBERS = [
  ...['0.1', '1e-400', '1.000000000000000005', '9007199254740992.5', '-3.855087475011986e+16'],
  ...['9007199254740993', '9223372036854776000', '36893488147419103233', '1e300'],
]

t.test('a number of a body is rounded where the schema asks for no integer', async (t) => {
  for (const schema of [
    '{ type: number }',
    '{}',
    "{ type: [number, 'null'] }",
    '{ minimum: -1e+300 }',
  ]) {
    const { request } = await serve(t, `A: { properties: { a: { items: ${schema} } } }`)
    const rounded = NUMBERS.map(Number)
    const { got } = await request(`{"a":[${NUMBERS.join()}],"b":[${NUMBERS.join()}]}`)
    t.strictSame(got, { a: rounded, b: rounded }, schema)
    for (const text of ['1e400', '-1e400', '9'.repeat(400)])
      t.equal((await request(`{"a":[${text}]}`)).status, 400, text)
  }
})

t.test('a fraction is no integer, however small, and has its place among bounds', async (t) => {
  const { request } = await serve(
    t,
    'A: { type: array, prefixItems: [{ type: integer }, { type: integer, format: int64 }, { enum: [1] }, { minimum: 2 }, { maximum: 0 }, { type: [integer, string] }, { type: object }, { type: string }] }',
  )
  const valid = ['1', '1', '1', '2', '0', '"x"', '{}', '""']
  t.equal((await request(`[${valid.join()}]`)).status, 204)
  for (const at of valid.keys()) {
    const text = valid.with(at, '1.000000000000000005').join()
    t.match(await request(`[${text}]`), { status: 400, text: new RegExp(`body/${at} `) }, text)
  }
})

t.test('what an answer writes for a double is a number that a request may have', async (t) => {
  const { request, answer } = await serve(t, 'A: { type: array, items: { type: number } }')
  for (const value of [2 ** 63, 2 ** 64, -(2 ** 70), 1e23, 5e-324, Number.MAX_VALUE]) {
    const { text } = await answer([value])
    t.strictSame((await request(text)).got, [value], text)
  }
  for (const value of [NaN, Infinity]) t.equal((await answer([value])).status, 500, String(value))
})

const NUMBER_RULES = [
  'maximum: 9007199254740992',
  'exclusiveMinimum: 9007199254740992',
  'minimum: 9007199254740993',
  'exclusiveMaximum: 9007199254740993',
  'multipleOf: 2',
  'enum: [9007199254740992, -9007199254740992]',
  'const: 9007199254740993',
  'not: { const: 9007199254740992 }',
  'oneOf: [{ type: number, maximum: 9007199254740992 }, { type: number, minimum: 9007199254740993 }]',
]
const NEAR = ['9007199254740991', '9007199254740992', '9007199254740993', '9007199254740994']
/** Numbers around 2^53, in several spellings. */
const AROUND = [...NEAR, ...NEAR.map((text) => `-${text}`), ...NEAR.map((text) => `${text}.5`)]

t.test('a rule of numbers says the same of a number, wherever it is sent', async (t) => {
  const content = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
  for (const rule of NUMBER_RULES) {
    const schema = `{ type: number, ${rule} }`
    const form = `{ schema: { type: object, required: [a], properties: { a: ${schema} } } }`
    const listSchema = `{ type: array, items: ${schema} }`
    const parameters = ['path', 'query', 'header'].map(
      (place) => `{ name: a, in: ${place}, required: true, schema: ${schema} }`,
    )
    const list = `{ name: list, in: query, schema: ${listSchema} }`
    const app = await boot(t, {
      yaml: `paths:
  /x: { post: { operationId: body, requestBody: { content: { ${content.map((type) => `${type}: ${form}`).join()} } }, responses: { '200': { description: Done, content: { application/json: {} } } } } }
  /x/{a}: { get: { operationId: run, parameters: [${[...parameters, list].join()}], responses: { '200': { description: Done, content: { application/json: {} } } } } }\n`,
    })
    for (const text of [...AROUND, '9007199254740993e0', '9007199254740993.0', '1e400']) {
      const body = await app.inject(post(`{"a":${text}}`))
      const sent = [
        post(`a=${text}`, 'application/x-www-form-urlencoded'),
        post(
          `--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${text}\r\n--b--`,
          'multipart/form-data; boundary=b',
        ),
        { url: `/x/${text}?a=${text}&list=${text}`, headers: { a: text } },
      ]
      for (const request of sent) {
        const answer = await app.inject(request)
        t.equal(
          answer.statusCode,
          body.statusCode,
          `${rule}: ${text} in ${JSON.stringify(request)}`,
        )
        if (answer.statusCode !== 200) continue
        const got: unknown = JSON.parse(answer.body)
        const expected = { a: Number(text) }
        const isGet = 'url' in request && request.url !== '/x'
        t.match(got, isGet ? { query: expected } : { body: expected })
      }
    }
  }
})
