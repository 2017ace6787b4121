// Items as their methods get them: each int64 of their schema is a `bigint`, also where it is small. Which schemas apply is
// what alternatives.test.ts tells.
import t, { type Test } from 'tap'
import { readContract } from '../../../service/engine/contract/contract.ts'
import { itemReader } from '../../../service/engine/contract/items.ts'
import { exactJson } from '../../../service/engine/http/json.ts'
import { contract } from '../../support/small.ts'

/** Makes the reader of the schema `Item`. @param schemas in YAML, a line each */
async function reader(t: Test, schemas: string): Promise<(text: string) => unknown> {
  const yaml = `paths: {}\ncomponents:\n  schemas:\n${schemas.replaceAll(/^/gm, '    ')}\n`
  const folder = t.testdir({ 'openapi.yaml': contract(yaml) })
  return itemReader(await readContract(`${folder}/openapi.yaml`), 'Item')
}

const INT64 = '{ type: integer, format: int64 }'
const BIG = 2n ** 53n + 1n

/** What each schema makes of a text. */
const TABLE: Record<string, [schemas: string, text: string, item: unknown]> = {
  'a great int64, and a fraction that is an integer': [
    `Item: { type: object, properties: { a: ${INT64}, b: { type: number } } }`,
    `{"a":${BIG},"b":2.5}`,
    { a: BIG, b: 2.5 },
  ],
  'the limits': [
    `Item: { type: array, items: ${INT64} }`,
    '[-9223372036854775808,9223372036854775807,0,-1]',
    [-(2n ** 63n), 2n ** 63n - 1n, 0n, -1n],
  ],
  'additionalProperties, not the others': [
    `Item: { type: object, properties: { a: { type: integer }, b: { type: object } }, additionalProperties: ${INT64} }`,
    '{"a":1,"b":{"c":1},"d":1,"constructor":1,"toString":1}',
    { a: 1, b: { c: 1 }, d: 1n, constructor: 1n, toString: 1n },
  ],
  'a schema that holds itself': [
    `Item: { type: object, properties: { n: ${INT64}, next: { $ref: '#/components/schemas/Item' }, all: { type: array, items: { $ref: '#/components/schemas/Item' } } } }`,
    '{"n":1,"next":{"n":2,"next":{"n":3}},"all":[{"n":4,"m":1}]}',
    { n: 1n, next: { n: 2n, next: { n: 3n } }, all: [{ n: 4n, m: 1 }] },
  ],
  'two schemas that hold each other': [
    `Item: { type: object, properties: { other: { $ref: '#/components/schemas/Other' } } }
Other: { type: object, properties: { item: { $ref: '#/components/schemas/Item' }, n: ${INT64} } }`,
    '{"other":{"n":1,"item":{"n":1,"other":{"n":1}}}}',
    { other: { n: 1n, item: { n: 1, other: { n: 1n } } } },
  ],
  'a great integer that no schema speaks of': ['Item: { type: object }', `{"a":${BIG},"b":1}`, { a: BIG, b: 1 }],
  'great integers in texts': [
    `Item: { type: object, properties: { a: { type: string }, n: ${INT64} } }`,
    `{"a":"${BIG}","n":1}`,
    { a: `${BIG}`, n: 1n },
  ],
}

for (const [what, [schemas, text, item]] of Object.entries(TABLE)) {
  t.test(`int64 in ${what}`, async (t) => {
    const read = await reader(t, schemas)
    t.strictSame(read(text), item)
    t.equal(exactJson(read(text)), text, 'what is written again has the same digits')
  })
}

t.test('a schema that the contract does not have is read as it is', async (t) => {
  const read = await reader(t, `Other: ${INT64}`)
  t.strictSame(read('{"a":1}'), { a: 1 })
})

t.test('an item that is older than its schema has its int64, too', async (t) => {
  const schemas = `Item: { type: object, required: [a, b], minProperties: 3, additionalProperties: false, properties: { a: { type: string, maxLength: 1 }, n: ${INT64}, all: { type: array, maxItems: 1, items: ${INT64} } } }`
  const read = await reader(t, schemas)
  t.strictSame(read('{"a":"long","c":1,"n":1,"all":[1,2]}'), { a: 'long', c: 1, n: 1n, all: [1n, 2n] })
})
