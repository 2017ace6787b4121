// A made value fits its schema, and is one that a person reads.
import t from 'tap'
import { samplesOfCompiled } from '../src/samples/compiled-reader.ts'
import { Validator } from '@plant-store/json-schema'

const SCHEMAS = {
  tree: {
    type: 'object',
    required: ['id', 'parts'],
    properties: {
      id: { type: 'integer' },
      parts: { type: 'array', items: { $ref: 'tree' } },
      parent: { $ref: 'tree' },
    },
  },
  sum: {
    type: 'object',
    required: ['left', 'right'],
    properties: { left: { $ref: 'expression' }, right: { $ref: 'expression' } },
    additionalProperties: false,
  },
  expression: { oneOf: [{ $ref: 'sum' }, { type: 'number' }] },
} as const

const string = { type: 'string' }

/** Schemas, and the examples made from them. */
const EXAMPLES: readonly (readonly [
  schema: Readonly<Record<string, unknown>>,
  example: unknown,
])[] = [
  [
    { type: 'object', required: ['b'], properties: { a: string, b: { type: 'integer' } } },
    { a: 'string', b: 1 },
  ],
  [{ $ref: 'tree' }, { id: 1, parts: [] }],
  [{ type: 'array', items: { $ref: 'tree' } }, [{ id: 1, parts: [] }]],
  [{ $ref: 'expression' }, { left: 1, right: 1 }],
  [{ anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] }, '2026-01-31'],
  [{ anyOf: [{ type: 'null' }, string] }, null],
  [{ type: ['string', 'null'] }, 'string'],
  [{ type: 'array', uniqueItems: true, minItems: 3, items: string }, ['string', 'name', 'a']],
  [
    { type: 'array', uniqueItems: true, minItems: 3, items: { enum: ['x', 'y', 'z'] } },
    ['x', 'y', 'z'],
  ],
  [
    {
      type: 'array',
      uniqueItems: true,
      minItems: 2,
      items: { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } },
    },
    [{ a: 1 }, { a: 0 }],
  ],
  [{ type: 'array', minItems: 2, items: string }, ['string', 'string']],
  [
    { type: 'array', prefixItems: [{ type: 'number' }, string], items: false, minItems: 2 },
    [1, 'string'],
  ],
  [{ type: 'number', multipleOf: 0.01, minimum: 5.015 }, 5.02],
  [{ type: 'integer', multipleOf: 7, minimum: 50 }, 56],
  [{ type: 'integer', format: 'int64', minimum: 10 }, 10],
  [{ type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 0.5],
  [{ type: 'string', pattern: '^[A-Z]{2}-[0-9]$' }, 'AA-0'],
  [{ type: 'string', pattern: '^(?=.*[A-Z])(?=.*\\d).{8,}$' }, 'Aa1!Aa1!Aa1!'],
  [{ type: 'string', pattern: '^\\p{Lu}\\p{L}*$' }, 'A'],
  [{ type: 'string', pattern: '^#[0-9a-f]{6}$' }, '#aabbcc'],
  [{ type: 'string', pattern: '^[0-9a-f]{24}$' }, '507f1f77bcf86cd799439011'],
  [{ type: 'string', minLength: 8 }, 'stringst'],
  [{ type: 'string', maxLength: 3 }, 'str'],
  [{ type: 'string', format: 'byte', maxLength: 8 }, 'dGV4dA=='],
  [{ type: 'string', format: 'char' }, 'a'],
  [{ type: 'string', format: 'decimal' }, '9.95'],
  [{ type: 'string', format: 'duration' }, 'P1D'],
  [{ type: 'string', format: 'uuid' }, '3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  [{ type: 'string', format: 'a-company-format' }, 'string'],
  [{ type: 'string', enum: ['x', 'y'], default: 'y' }, 'x'],
  [
    {
      allOf: [
        { type: 'object', properties: { a: string } },
        { required: ['b'], properties: { b: { const: 7 } } },
      ],
    },
    { a: 'string', b: 7 },
  ],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, {}],
  [{}, 'string'],
  [{ not: {} }, undefined],
  [{ type: 'string', minLength: 2, maxLength: 1 }, undefined],
]

t.test('an example made from a schema is plain, and fits', async (t) => {
  const samples = samplesOfCompiled(SCHEMAS)
  const validator = new Validator(SCHEMAS, 'outgoing')
  for (const [schema, example] of EXAMPLES) {
    const name = JSON.stringify(schema)
    t.strictSame(samples.exampleOf(schema), example, name)
    if (example !== undefined)
      t.equal(validator.compile('value', schema)(example).error, undefined, name)
  }
})

t.test('a format of the product counts', async (t) => {
  const isShout = (text: string) => /^[A-Z]+!$/.test(text)
  const samples = samplesOfCompiled(
    {},
    {
      formats: { shout: isShout, never: () => false },
    },
  )
  t.equal(samples.exampleOf({ type: 'string', format: 'shout', pattern: '^[A-Z]{3}!$' }), 'AAA!')
  t.equal(samples.exampleOf({ type: 'string', format: 'never' }), undefined)
})
