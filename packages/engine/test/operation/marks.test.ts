// `readOnly` and `writeOnly`, wherever a schema may have them: a mark counts where its schema has
// matched.
import t from 'tap'
import { exactJson, JsonText } from '@plant-store/engine/for-store'
import { serve } from './described.ts'

const SECRET = '{ type: string, maxLength: 9, writeOnly: true }'

const BRANCHES = `{ oneOf: [{ required: [a], properties: { a: ${SECRET}, kind: { const: x } } }, { properties: { a: { type: string }, kind: { const: y } } }] }`

/** By place of the mark: a schema, a value with secrets, and the JSON of the answer. */
const HIDDEN: Readonly<Record<string, readonly [schema: string, value: unknown, text: string]>> = {
  properties: [`{ properties: { a: ${SECRET} } }`, { a: 's', b: 1 }, '{"b":1}'],
  'properties, by $ref and allOf': [
    `{ properties: { a: { $ref: '#/components/schemas/S' }, b: { allOf: [{ maxLength: 9 }, ${SECRET}] } } }`,
    { a: 's', b: 's', c: 1 },
    '{"c":1}',
  ],
  additionalProperties: [
    `{ properties: { b: true }, additionalProperties: ${SECRET} }`,
    { a: 's', b: 1 },
    '{"b":1}',
  ],
  unevaluatedProperties: [
    `{ properties: { b: true }, unevaluatedProperties: ${SECRET} }`,
    { a: 's', b: 1 },
    '{"b":1}',
  ],
  patternProperties: [`{ patternProperties: { '^a': ${SECRET} } }`, { ab: 's', b: 1 }, '{"b":1}'],
  items: [`{ type: array, items: ${SECRET} }`, ['s', 's'], '[]'],
  'items, twice': [
    `{ type: array, items: ${SECRET}, allOf: [{ items: ${SECRET} }] }`,
    ['s', 's'],
    '[]',
  ],
  'items that are objects': [
    `{ items: { properties: { a: ${SECRET} } } }`,
    [{ a: 's', b: 1 }],
    '[{"b":1}]',
  ],
  'the branch that has matched': [BRANCHES, { a: 's', kind: 'x' }, '{"kind":"x"}'],
  'the branch that has not matched': [BRANCHES, { a: 's', kind: 'y' }, '{"a":"s","kind":"y"}'],
  then: [
    `{ if: { required: [b] }, then: { properties: { a: ${SECRET} } } }`,
    { a: 's', b: 1 },
    '{"b":1}',
  ],
  'if, where it holds': [
    `{ if: { required: [b], properties: { a: ${SECRET} } } }`,
    { a: 's', b: 1 },
    '{"b":1}',
  ],
  'if, where it does not hold': [
    `{ if: { required: [b], properties: { a: ${SECRET} } } }`,
    { a: 's' },
    '{"a":"s"}',
  ],
  not: [`{ not: { required: [b], properties: { a: ${SECRET} } } }`, { a: 's' }, '{"a":"s"}'],
}

for (const [name, [schema, value, text]] of Object.entries(HIDDEN)) {
  t.test(`writeOnly in ${name}`, async (t) => {
    const { request, answer } = await serve(t, `A: ${schema}\nS: ${SECRET}`)
    const before = JSON.stringify(value)
    t.strictSame(await answer(value), { status: 200, text })
    t.equal(JSON.stringify(value), before, 'what the method has is not changed')
    t.strictSame(await answer(new JsonText(before)), { status: 200, text }, 'as JSON')
    t.equal((await request(value)).status, 204)
  })

  t.test(`readOnly in ${name}`, async (t) => {
    const { request, answer } = await serve(
      t,
      `A: ${schema}\nS: ${SECRET}`.replaceAll('writeOnly', 'readOnly'),
    )
    const isHidden = JSON.stringify(value) !== text
    const { status, text: message } = await request(value)
    t.equal(status, isHidden ? 400 : 204)
    if (isHidden) t.match(message, /body\/(\d\/|0|a)?.* is read-only: leave it out/)
    t.equal((await answer(value)).status, 200)
  })
}

t.test(
  'writeOnly members of a list are left out, in batches and with each int64 exact',
  async (t) => {
    const item = `{ properties: { a: ${SECRET}, n: { type: integer, format: int64 }, f: { type: number } } }`
    const { answer } = await serve(t, `A: { type: array, items: ${item} }`)
    const stored = [2n ** 53n + 1n, -(2n ** 63n), 7n].map((n) => ({ a: 's', n, f: 1e17 }))
    const numbers = ['9007199254740993', '-9223372036854775808', '7']
    const text = `[${numbers.map((n) => `{"n":${n},"f":100000000000000000}`).join()}]`
    t.strictSame(await answer(new JsonText(exactJson(stored))), { status: 200, text })
    async function* batches() {
      for (const item of stored) yield new JsonText(exactJson([item]))
    }
    t.strictSame(await answer(batches()), { status: 200, text })
  },
)

t.test('a list of stored items has one level more than each of them', async (t) => {
  const { answer } = await serve(
    t,
    `A: { items: { properties: { a: { type: string, writeOnly: true } } } }`,
  )
  const nested = (levels: number) => `${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`
  const text = (levels: number) => `[{"a":"s","b":${nested(levels)}}]`
  const shown = { status: 200, text: `[{"b":${nested(100)}}]` }
  t.strictSame(await answer(new JsonText(text(100))), shown)
  t.equal((await answer(new JsonText(text(101)))).status, 500)
  t.equal((await answer(JSON.parse(text(100)))).status, 500, 'what is not stored')
  t.equal((await answer(JSON.parse(text(99)))).status, 200)
})

t.test(
  'readOnly and writeOnly of a schema have no effect where it is the whole body',
  async (t) => {
    const { request, answer } = await serve(t, 'A: { type: string, readOnly: true }')
    t.equal((await request('"a"')).status, 204)
    t.strictSame(await answer('a'), { status: 200, text: '"a"' })
  },
)

t.test('below not and if, required means what it says', async (t) => {
  const schema = (mark: string) =>
    `A: { properties: { id: { type: integer, ${mark}: true } }, not: { $ref: '#/components/schemas/B' } }
B: { required: [id, name], properties: { id: { ${mark}: true }, name: true } }`
  const { request } = await serve(t, schema('readOnly'))
  t.equal((await request({ name: 'x' })).status, 204)
  const { answer } = await serve(t, schema('writeOnly'))
  t.equal((await answer({ name: 'x' })).status, 200)
})

t.test('an answer that fits only with what is removed is not sent', async (t) => {
  const { answer } = await serve(t, `A: { minProperties: 1, properties: { a: ${SECRET} } }`)
  t.equal((await answer({ a: 's' })).status, 500)
  t.equal((await answer({ a: 's', b: 1 })).status, 200)
  t.equal((await answer({ a: 'too long for it', b: 1 })).status, 500)
})

t.test(
  'one object at several places of an answer loses what the schema of each place removes',
  async (t) => {
    const { answer } = await serve(
      t,
      `A: { properties: { a: { $ref: '#/components/schemas/B' }, b: true, c: { anyOf: [{ type: object, writeOnly: true }, true] } }, additionalProperties: { writeOnly: true } }
B: { properties: { in: { properties: { s: ${SECRET} } } } }`,
    )
    const shared = Object.freeze({ in: Object.freeze({ s: 's', n: 1 }) })
    t.equal(
      (await answer({ a: shared, b: shared, c: shared, d: shared })).text,
      '{"a":{"in":{"n":1}},"b":{"in":{"s":"s","n":1}}}',
    )
    // In linear time.
    t.strictSame(await answer(Object.fromEntries(Array(300_000).entries())), {
      status: 200,
      text: '{}',
    })
  },
)

const B = "$ref: '#/components/schemas/B'"
/** Schemas of an object with a property hidden in one place, and required in another. */
const REQUIRED = {
  'in allOf, by $ref': `A: { allOf: [{ ${B} }], properties: { a: ${SECRET} } }`,
  'by $ref': `A: { ${B}, properties: { a: ${SECRET} } }`,
  'in an alternative, by $ref': `A: { oneOf: [{ ${B} }], properties: { a: ${SECRET} } }`,
  'by $ref, beside another one': `A: { allOf: [{ ${B} }, { $ref: '#/components/schemas/C' }] }\nC: { properties: { a: ${SECRET} } }`,
  'beside patternProperties': `A: { required: [a], patternProperties: { '^a': ${SECRET} } }`,
  'beside additionalProperties': `A: { required: [a], properties: { b: true }, additionalProperties: ${SECRET} }`,
}

for (const [name, schemas] of Object.entries(REQUIRED)) {
  t.test(`a member is required only of the other side, also ${name}`, async (t) => {
    const document = `${schemas}\nB: { required: [a], properties: { a: { type: string } } }`
    const { answer, request } = await serve(t, document)
    t.equal((await answer({ b: 1 })).status, 200)
    t.equal((await request({ b: 1 })).status, 400)
    const { answer: give, request: send } = await serve(
      t,
      document.replaceAll('writeOnly', 'readOnly'),
    )
    t.equal((await give({ b: 1 })).status, 500)
    t.equal((await send({ b: 1 })).status, 204)
  })
}

const ID = 'properties: { id: { type: integer, readOnly: true } }'
const WITH_ID = `type: object, required: [id], ${ID}`
/** Schemas that bound how many of them match, with valid and invalid JSON for requests. */
const COUNTED: Readonly<
  Record<string, readonly [schemas: string, valid: string, invalid: string]>
> = {
  'an alternative of nothing else': [
    `A: { oneOf: [{ ${WITH_ID} }, { required: [name], properties: { name: { type: string } } }] }`,
    '{"name":"x"} {} {"name":"x","more":1} {"name":7}',
    '{"name":"x","id":1}',
  ],
  'one that is there, or a new one': [
    `A: { type: object, oneOf: [{ required: [id, name], ${ID} }, { required: [name] }] }`,
    '{"name":"x"}',
    '{}',
  ],
  'an alternative, beside the member': [
    `A: { type: object, ${ID}, oneOf: [{ required: [id] }, { required: [name] }] }`,
    '{"name":"x"} {}',
    '{"id":1}',
  ],
  'alternatives by $ref, in members and items': [
    `A: { properties: { all: { items: { oneOf: [{ ${B} }, { $ref: '#/components/schemas/C' }] } } } }
B: { allOf: [{ ${WITH_ID} }] }
C: { required: [name] }`,
    '{"all":[{"name":"x"},{}]}',
    '{"all":[{"name":"x","id":1}]}',
  ],
  'alternatives in an alternative': [
    `A: { type: object, oneOf: [{ oneOf: [{ ${WITH_ID} }, { required: [a] }] }, { required: [b] }] }`,
    '{} {"a":1} {"b":1}',
    '{"a":1,"b":1}',
  ],
  'two alternatives, which are told apart by others': [
    `A: { oneOf: [{ required: [id, a], ${ID} }, { required: [id, b], ${ID} }] }`,
    '{"a":1} {"b":1}',
    '{} {"a":1,"b":1}',
  ],
  'an alternative beside two that are complete': [
    `A: { oneOf: [{ required: [a] }, { type: object, required: [b] }, { ${WITH_ID} }] }`,
    '{"a":1} {"b":1} {}',
    '{"a":1,"b":1}',
  ],
  'contains, at most': [
    `A: { contains: { ${WITH_ID} }, maxContains: 1 }`,
    '[{}] [{},{}] [{},7]',
    '[7] []',
  ],
  'contains, at most and perhaps not at all': [
    `A: { contains: { ${WITH_ID} }, minContains: 0, maxContains: 0 }`,
    '[{}] [7] []',
    '',
  ],
}

for (const [name, [schemas, valid, invalid]] of Object.entries(COUNTED)) {
  t.test(`what lacks a member of the other side is not one too many: ${name}`, async (t) => {
    const { request } = await serve(t, schemas)
    const { answer } = await serve(t, schemas.replaceAll('readOnly', 'writeOnly'))
    const texts = [...valid.split(' '), ...invalid.split(' ')]
    for (const text of texts.filter((text) => text !== '')) {
      const isValid = valid.split(' ').includes(text)
      t.equal((await request(text)).status, isValid ? 204 : 400, text)
      if (!text.includes('id'))
        t.equal((await answer(JSON.parse(text))).status, isValid ? 200 : 500)
    }
  })
}
