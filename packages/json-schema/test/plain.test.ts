// Plain schemas are checked without an evaluation: compared with the evaluation, on random schemas and values.
import fc from 'fast-check'
import t from 'tap'
import { PlainSchemas } from '../src/plain.ts'
import { type Keywords, type Schema, type Use, Validator } from '../src/index.ts'

const USES: readonly Use[] = ['incoming', 'outgoing', 'stored', 'storing']
const STRINGS = ['', 'a', 'ab', 'abc', ' ', '\u{1f331}', 'a\u{1f331}', '\ud800', '\0', 'ä']
const NUMBERS = [0, -0, 1, 7, 128, 2 ** 31, 2 ** 53, 2 ** 63, 0.5, NaN, Infinity]
const BIGINTS = [0n, 7n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n) - 1n]
const NAMES = ['a', 'b', 'c', '__proto__', 'toString']

/** Keywords that are not plain, or only sometimes. */
const RARE: readonly Keywords[] = [
  { description: 'Some' },
  { type: ['string', 'null'] },
  { readOnly: true },
  { writeOnly: true },
  { default: 'a' },
  { uniqueItems: true },
  { additionalProperties: true },
  { maxProperties: 1 },
  { format: 'date' },
  { enum: ['a', null] },
  { const: 7 },
  { not: true },
  { $ref: 'self' },
]

const string = fc.record<Keywords>(
  {
    type: fc.constant('string'),
    minLength: fc.nat(3),
    maxLength: fc.nat(3),
    pattern: fc.constantFrom('^[^\\x00]*$', '^a', '^.{2}$'),
    enum: fc.subarray(STRINGS),
  },
  { requiredKeys: ['type'] },
)
const integer = fc.record<Keywords>(
  {
    type: fc.constant('integer'),
    format: fc.constantFrom('int8', 'int32', 'int64', 'uint64', 'double-int', 'other'),
    minimum: fc.constantFrom<number | bigint>(-5, 1, 2n ** 60n),
    maximum: fc.constantFrom<number | bigint>(7, 2n ** 62n),
  },
  { requiredKeys: ['type'] },
)
const { schema } = fc.letrec<{ schema: Keywords }>((tie) => {
  const list = fc.record<Keywords>(
    { type: fc.constant('array'), items: tie('schema'), minItems: fc.nat(2), maxItems: fc.nat(3) },
    { requiredKeys: ['type', 'items'] },
  )
  const object = fc.record<Keywords>({
    type: fc.constant('object'),
    properties: fc.dictionary(fc.constantFrom(...NAMES), tie('schema'), { maxKeys: 4 }),
    required: fc.subarray(NAMES, { maxLength: 2 }),
    additionalProperties: fc.constant(false),
  })
  const plain = fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    string,
    integer,
    fc.constant<Keywords>({ type: 'boolean' }),
    list,
    object,
  )
  const mixed = fc
    .tuple(plain, fc.constantFrom(...RARE))
    .map(([base, rare]) => ({ ...base, ...rare }))
  return { schema: fc.oneof({ weight: 9, arbitrary: plain }, { weight: 1, arbitrary: mixed }) }
})

const scalar = fc.constantFrom<unknown>(...STRINGS, ...NUMBERS, ...BIGINTS, true, null, undefined)

/** Values that mostly have the type of a schema, and often fit it. */
function valueOf({ type, properties = {}, items = true }: Keywords): fc.Arbitrary<unknown> {
  const typed = () => {
    if (type === 'string') return fc.constantFrom<unknown>(...STRINGS)
    if (type === 'integer') return fc.constantFrom<unknown>(...NUMBERS, ...BIGINTS, Symbol('7.1'))
    if (type === 'boolean') return fc.boolean()
    if (type === 'array') return fc.array(valueOfPart(items), { maxLength: 4 })
    const parts = Object.entries(properties).map(([name, part]) => [name, valueOfPart(part)])
    return fc
      .record(Object.fromEntries(parts) as Record<string, fc.Arbitrary<unknown>>, {
        requiredKeys: [],
      })
      .map((value) => ({ ...value }))
  }
  return fc.oneof({ weight: 12, arbitrary: typed() }, { weight: 1, arbitrary: scalar })
}

function valueOfPart(part: Schema): fc.Arbitrary<unknown> {
  return typeof part === 'boolean' ? scalar : valueOf(part)
}

/** Copies a value: a check changes it. `structuredClone` takes no symbols. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, copy(part)]))
}

t.test('a plain schema accepts and changes a value as the evaluation does', async (t) => {
  let accepted = 0
  const withValue = schema.chain((root) => fc.tuple(fc.constant(root), valueOf(root)))
  fc.assert(
    fc.property(withValue, fc.constantFrom(...USES), ([schema, value], use) => {
      const schemas = { self: schema }
      if (new PlainSchemas(() => schema).of(schema)?.fits(value) === true) accepted += 1
      const validator = new Validator(schemas, use)
      const plain = validator.compile('body', schema)(copy(value))
      // A schema in `allOf` is not plain.
      const evaluated = validator.compile('body', { allOf: [schema] })(copy(value))
      t.strictSame(plain, evaluated)
      return t.passing()
    }),
    { numRuns: 3000, seed: 7 },
  )
  t.ok(accepted > 500, `${accepted} values were accepted`)
})

t.test('a plain schema holds references, and none to itself', (t) => {
  const schemas: Record<string, Schema> = {
    Id: { type: 'integer', format: 'int64' },
    Plant: {
      type: 'object',
      properties: { id: { $ref: 'Id' }, ids: { type: 'array', items: { $ref: 'Id' } } },
      additionalProperties: false,
    },
    Tree: {
      type: 'object',
      properties: { tree: { $ref: 'Tree' } },
      additionalProperties: false,
    },
  }
  const plain = new PlainSchemas((id) => schemas[id])
  const plainOf = ($ref: string) => plain.of({ $ref })
  t.equal(plainOf('Tree'), undefined)
  t.equal(plainOf('None'), undefined)
  t.equal(plainOf('Plant')?.fits({ id: 7, ids: [8, undefined] }), false)
  t.equal(plainOf('Plant')?.fits({ id: 7, ids: Array(1) }), false, 'a hole')
  t.strictSame(plainOf('Plant')?.decode?.({ id: 7, ids: [8] }), { id: 7n, ids: [8n] })
  t.end()
})
