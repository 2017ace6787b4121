// No value takes exponential time, valid or not: in requests, stored items and answers. Each level
// of a value has a string, and its format counts how often it is evaluated.
import t, { type Test } from 'tap'
import type { ProductHooks } from '@plant-store/engine/for-compiler'
import { itemReader } from '../../../../test/support/inner/contract.ts'
import { serve } from './described.ts'

const A = "{ $ref: '#/components/schemas/A' }"
const B = "{ $ref: '#/components/schemas/B' }"
const OWN = `s: { type: string, format: counted }, n: { type: integer, format: int64 }, d: { default: 1 },
  id: { type: integer, readOnly: true }, secret: { type: string, writeOnly: true }`

/** Wraps a value in one more level. */
type Wrap = (inner: unknown) => object
const inMember: Wrap = (next) => ({ s: 'x', n: 1, next })
const inList: Wrap = (inner) => ({ s: 'x', n: 1, list: [1, inner] })

/** By keyword: the keywords by which a schema leads back to itself, and a level of a value. */
const PARTS: Readonly<Record<string, readonly [keywords: string, wrap: Wrap]>> = {
  properties: [`properties: { ${OWN}, next: ${A} }`, inMember],
  patternProperties: [`properties: { ${OWN} }, patternProperties: { '^next': ${A} }`, inMember],
  additionalProperties: [`properties: { ${OWN} }, additionalProperties: ${A}`, inMember],
  unevaluatedProperties: [`properties: { ${OWN} }, unevaluatedProperties: ${A}`, inMember],
  items: [`properties: { ${OWN}, list: { prefixItems: [true], items: ${A} } }`, inList],
  prefixItems: [`properties: { ${OWN}, list: { prefixItems: [true, ${A}] } }`, inList],
  contains: [`properties: { ${OWN}, list: { contains: ${A}, maxContains: 1 } }`, inList],
  unevaluatedItems: [
    `properties: { ${OWN}, list: { prefixItems: [true], unevaluatedItems: ${A} } }`,
    inList,
  ],
}

/** By keyword: a schema in which several schemas evaluate the same parts. */
const CHOICES: Readonly<Record<string, (part: string) => string>> = {
  anyOf: (part) => `anyOf: [{ ${part} }, { ${part}, required: [s] }]`,
  oneOf: (part) => `oneOf: [{ ${part}, required: [none] }, { ${part} }]`,
  'two lists': (part) => `anyOf: [{ ${part} }, { ${part} }], oneOf: [{ ${part} }, { const: 1 }]`,
  'oneOf with readOnly': (part) => `oneOf: [{ ${part}, required: [id] }, { ${part} }]`,
  'oneOf with writeOnly': (part) => `oneOf: [{ ${part}, required: [secret] }, { ${part} }]`,
  allOf: (part) => `allOf: [{ ${part} }, { anyOf: [{ ${part} }, { ${part} }] }]`,
  if: (part) => `if: { ${part} }, then: { ${part} }, else: { ${part} }`,
  not: (part) => `not: { not: { ${part} } }, anyOf: [{ ${part} }, { ${part} }]`,
  dependentSchemas: (part) => `dependentSchemas: { s: { ${part} }, n: { ${part} } }`,
  unevaluatedProperties: (part) =>
    `anyOf: [{ ${part} }, { ${part} }], unevaluatedProperties: { type: string }`,
  $ref: (part) => `allOf: [{ ${part} }, ${B}, { anyOf: [${B}, ${B}] }]`,
}

/**
 * The depth of the values. Each evaluation of one schema at each level is one count; twice for each
 * level would be 2^40.
 */
const DEPTH = 40
/**
 * More than all schemas of a family need for all levels, if the work for a level grows with its
 * depth.
 */
const MAX_COUNT = DEPTH * DEPTH * 16

for (const [choice, schemaOf] of Object.entries(CHOICES)) {
  t.test(`a nested value takes no exponential time by ${choice}`, async (t) => {
    for (const [part, [keywords, wrap]] of Object.entries(PARTS)) {
      const schema = `type: object, ${schemaOf(`type: object, ${keywords}`)}`
      const schemas = `A: { ${schema} }\nB: { type: object, ${keywords} }`.replaceAll('\n  ', ' ')
      await countAll(t, schemas, wrap, part)
    }
  })
}

async function countAll(t: Test, schemas: string, wrap: Wrap, part: string): Promise<void> {
  let count = 0
  const counted = () => {
    count += 1
    if (count > MAX_COUNT) throw new Error('evaluated too often')
    return true
  }
  const product: ProductHooks = {
    formats: { counted },
    collections: { plain: { schema: 'A', key: 'int64' } },
  }
  const { request, answer, contract } = await serve(t, schemas, product)
  const readItem = itemReader(contract, 'A')
  const nest = (inner: unknown, wrapLevel: Wrap) =>
    Array.from({ length: DEPTH }).reduce(wrapLevel, inner)
  const misfit: Wrap = (inner) => ({ ...wrap(inner), n: 'x' })
  const values = [
    [nest({ s: 'x', n: 1 }, wrap), true],
    [nest(7, wrap), false],
    [nest({ s: 'x', n: 2 ** 63 }, wrap), false],
    [nest({ s: 'x', n: 1 }, misfit), false],
  ] as const
  for (const [value, isValid] of values) {
    const text = JSON.stringify(value)
    count = 0
    const { status } = await request(text)
    t.ok(count <= MAX_COUNT, `${part}: ${count} in a request`)
    t.equal(status, isValid ? 204 : 400, text)
    count = 0
    t.equal((await answer(value)).status, isValid ? 200 : 500)
    t.ok(count <= MAX_COUNT, `${part}: ${count} in an answer`)
    count = 0
    t.doesNotThrow(() => readItem(text))
    t.ok(count <= MAX_COUNT, `${part}: ${count} in an item`)
  }
}

t.test('nor does an answer with one object at several places', async (t) => {
  let count = 0
  const counted = () => (count += 1) < MAX_COUNT
  const schema = `type: object, properties: { ${OWN}, a: ${A}, b: ${A}, last: false }`
  const schemas = `A: { anyOf: [{ ${schema} }, { ${schema} }] }`.replaceAll('\n  ', ' ')
  const { answer } = await serve(t, schemas, { formats: { counted } })
  const nested = Array.from({ length: DEPTH }).reduce(
    (inner: unknown) => ({ s: 'x', a: inner, b: inner }),
    {},
  )
  t.equal((await answer({ ...Object(nested), last: 1 })).status, 500)
  t.ok(count < MAX_COUNT, `${count} evaluations`)
})
