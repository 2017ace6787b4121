// Each keyword of JSON Schema, with allowed and refused values, compared with Ajv. Each file of keywords needs rows.
import { globSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import t, { type Test } from 'tap'
import { standardCheck } from './standard.ts'

/** A schema, with allowed and refused values. */
interface Row {
  readonly schema: Readonly<Record<string, unknown>>
  readonly valid: readonly unknown[]
  readonly invalid: readonly unknown[]
  /** Why Ajv is wrong about this row. */
  readonly ajv?: string
}

const text = { type: 'string' }
const integer = { type: 'integer' }

const NO_BIGINT = 'it knows no bigint'
const FINDS_PROTOTYPE = 'without ownProperties it finds the member of the prototype'

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  $ref: [
    {
      schema: { $ref: '#/properties/a', properties: { a: { minProperties: 1 } } },
      valid: [{ b: 1 }, { a: { b: 1 } }],
      invalid: [{}, { a: {} }],
    },
    {
      schema: {
        $ref: '#/$defs/A',
        $defs: { A: { properties: { next: { $ref: '#/$defs/A' } }, maxProperties: 1 } },
      },
      valid: [{ next: { next: {} } }],
      invalid: [{ next: { a: 1, b: 1 } }],
    },
  ],
  type: [
    { schema: { type: 'string' }, valid: ['', 'a'], invalid: [1, null, [], {}, true] },
    { schema: { type: 'integer' }, valid: [1, 1.0, -3], invalid: [1.5, '1', null] },
    { schema: { type: 'number' }, valid: [1, 1.5], invalid: ['1', true] },
    { schema: { type: 'boolean' }, valid: [true, false], invalid: [0, 'true', null] },
    { schema: { type: 'null' }, valid: [null], invalid: [0, '', false, {}] },
    { schema: { type: 'array' }, valid: [[], [1]], invalid: [{}, 'a'] },
    { schema: { type: 'object' }, valid: [{}], invalid: [[], null, 'a'] },
    { schema: { type: ['integer', 'null'] }, valid: [1, null], invalid: [1.5, 'a'] },
    {
      schema: { type: 'integer', format: 'int32' },
      valid: [2147483647, -2147483648],
      invalid: [2147483648, -2147483649],
    },
    {
      schema: { type: 'integer', format: 'int64' },
      valid: [9223372036854775807n, -9223372036854775808n],
      invalid: [9223372036854775808n, -9223372036854775809n],
      ajv: NO_BIGINT,
    },
  ],
  minimum: [
    { schema: { minimum: 2 }, valid: [2, 3, '1'], invalid: [1, 1.9] },
    {
      schema: { minimum: 9007199254740993n },
      valid: [9007199254740993n],
      invalid: [9007199254740992n],
      ajv: NO_BIGINT,
    },
  ],
  maximum: [{ schema: { maximum: 2 }, valid: [2, 1, '3'], invalid: [3, 2.1] }],
  exclusiveMinimum: [{ schema: { exclusiveMinimum: 2 }, valid: [2.1, '1'], invalid: [2, 1] }],
  exclusiveMaximum: [{ schema: { exclusiveMaximum: 2 }, valid: [1.9, '3'], invalid: [2, 3] }],
  multipleOf: [
    { schema: { multipleOf: 3 }, valid: [0, 6, -3, 'a'], invalid: [1, 3.5] },
    {
      schema: { multipleOf: 0.01 },
      valid: [19.99, 1e2],
      invalid: [0.001],
      ajv: 'it divides doubles',
    },
  ],
  enum: [
    { schema: { enum: ['a', 1, null] }, valid: ['a', 1, null], invalid: ['b', '1', false] },
    { schema: { enum: [[1], { a: 1, b: 2 }] }, valid: [[1], { b: 2, a: 1 }], invalid: [[], {}] },
  ],
  const: [
    { schema: { const: null }, valid: [null], invalid: [0, ''] },
    { schema: { const: { a: [1] } }, valid: [{ a: [1] }], invalid: [{ a: 1 }, {}] },
  ],
  minLength: [{ schema: { minLength: 2 }, valid: ['ab', '🌱🌱', 1], invalid: ['a', '🌱'] }],
  maxLength: [{ schema: { maxLength: 2 }, valid: ['ab', '🌱🌱', 123], invalid: ['abc', '🌱🌱🌱'] }],
  pattern: [{ schema: { pattern: '^a.$' }, valid: ['ab', 'a🌱', 1], invalid: ['abc', 'b'] }],
  format: [
    {
      schema: { format: 'uuid' },
      valid: ['2eb8aa08-aa98-11ea-b4aa-73b441d16380', 1],
      invalid: ['2eb8aa08'],
    },
    { schema: { format: 'nobody-knows' }, valid: ['a'], invalid: [] },
    {
      schema: { format: 'date-time' },
      valid: ['2026-01-01T00:00:00Z'],
      invalid: ['2026-01-01 00:00:00Z', '2026-01-01T00:00:00+01'],
      ajv: 'its format allows more than RFC 3339',
    },
  ],
  minItems: [{ schema: { minItems: 1 }, valid: [[1], {}], invalid: [[]] }],
  maxItems: [{ schema: { maxItems: 1 }, valid: [[], [1], {}], invalid: [[1, 2]] }],
  uniqueItems: [
    {
      schema: { uniqueItems: true },
      valid: [[], [1, '1', true], [{ a: 1 }, { a: 2 }]],
      invalid: [
        [1, 1],
        [
          { a: 1, b: 2 },
          { b: 2, a: 1 },
        ],
      ],
    },
  ],
  minProperties: [{ schema: { minProperties: 1 }, valid: [{ a: 1 }, []], invalid: [{}] }],
  maxProperties: [
    { schema: { maxProperties: 1 }, valid: [{}, { a: 1 }], invalid: [{ a: 1, b: 1 }] },
  ],
  required: [
    { schema: { required: ['a'] }, valid: [{ a: null }, [], 'a'], invalid: [{}, { b: 1 }] },
    {
      schema: { required: ['constructor'] },
      valid: [{ constructor: 1 }],
      invalid: [{}],
      ajv: FINDS_PROTOTYPE,
    },
    {
      schema: { required: [''] },
      valid: [{ '': 1 }],
      invalid: [{}],
      ajv: 'without loopRequired: 0 it takes an empty name for none',
    },
  ],
  dependentRequired: [
    {
      schema: { dependentRequired: { a: ['b'] } },
      valid: [{}, { a: 1, b: 1 }],
      invalid: [{ a: 1 }],
    },
    {
      schema: { dependentRequired: { toString: ['b'] } },
      valid: [{}],
      invalid: [{ toString: 1 }],
      ajv: FINDS_PROTOTYPE,
    },
  ],
  dependentSchemas: [
    {
      schema: { dependentSchemas: { a: { maxProperties: 1 } } },
      valid: [{ a: 1 }, { b: 1, c: 1 }],
      invalid: [{ a: 1, b: 1 }],
    },
    {
      schema: { dependentSchemas: { toString: false } },
      valid: [{}],
      invalid: [{ toString: 1 }],
      ajv: FINDS_PROTOTYPE,
    },
  ],
  allOf: [
    { schema: { allOf: [text, { minLength: 1 }] }, valid: ['a'], invalid: ['', 1] },
    { schema: { allOf: [true, false] }, valid: [], invalid: [1] },
  ],
  anyOf: [{ schema: { anyOf: [text, { minimum: 2 }] }, valid: ['a', 2], invalid: [1] }],
  oneOf: [
    {
      schema: { oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      valid: [2, 3],
      invalid: [1, 6, 'a'],
    },
  ],
  not: [{ schema: { not: text }, valid: [1, null], invalid: ['a'] }],
  if: [
    { schema: { if: text, then: false }, valid: [1], invalid: ['a'] },
    { schema: { if: text }, valid: ['a', 1], invalid: [] },
  ],
  then: [
    { schema: { if: text, then: { minLength: 1 } }, valid: ['a', 1], invalid: [''] },
    { schema: { then: false }, valid: [1], invalid: [] },
  ],
  else: [
    { schema: { if: text, else: { minimum: 1 } }, valid: ['', 1], invalid: [0] },
    { schema: { else: false }, valid: [1], invalid: [] },
  ],
  properties: [
    {
      schema: { properties: { a: text, b: false } },
      valid: [{ a: '' }, {}, []],
      invalid: [{ a: 1 }, { b: 1 }],
    },
  ],
  patternProperties: [
    {
      schema: { patternProperties: { '^a': text, b$: { minLength: 1 } } },
      valid: [{ ab: 'x', c: 1 }],
      invalid: [{ a: 1 }, { ab: '' }],
    },
  ],
  additionalProperties: [
    {
      schema: {
        properties: { a: true },
        patternProperties: { '^b': true },
        additionalProperties: false,
      },
      valid: [{ a: 1, bc: 1 }],
      invalid: [{ c: 1 }],
    },
    { schema: { additionalProperties: text }, valid: [{ a: '' }], invalid: [{ a: 1 }] },
  ],
  propertyNames: [
    { schema: { propertyNames: { maxLength: 1 } }, valid: [{ a: 1 }, {}], invalid: [{ ab: 1 }] },
  ],
  prefixItems: [
    {
      schema: { prefixItems: [text, integer] },
      valid: [['a', 1, null], ['a'], []],
      invalid: [[1], ['a', 'b']],
    },
  ],
  items: [
    { schema: { items: integer }, valid: [[], [1, 2], {}], invalid: [['a'], [1, 'a']] },
    { schema: { prefixItems: [text], items: false }, valid: [['a'], []], invalid: [['a', 1]] },
  ],
  contains: [
    { schema: { contains: text }, valid: [['a'], [1, 'a'], {}], invalid: [[], [1]] },
    {
      schema: { prefixItems: [true, true], contains: text },
      valid: [['a']],
      invalid: [[1]],
    },
  ],
  minContains: [
    { schema: { contains: text, minContains: 2 }, valid: [['a', 'b', 1]], invalid: [['a', 1]] },
    { schema: { contains: text, minContains: 0 }, valid: [[], [1]], invalid: [] },
  ],
  maxContains: [
    { schema: { contains: text, maxContains: 1 }, valid: [['a', 1]], invalid: [['a', 'b']] },
  ],
  unevaluatedProperties: [
    {
      schema: { allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
      valid: [{ a: 1 }, {}],
      invalid: [{ a: 1, b: 1 }],
    },
    {
      schema: {
        anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      valid: [{ a: 1, b: 1 }, { b: 1 }],
      invalid: [{ a: 2 }, { c: 1 }],
    },
    {
      schema: {
        $ref: '#/$defs/X',
        oneOf: [
          { required: ['y'], properties: { y: true } },
          { required: ['z'], properties: { z: true } },
        ],
        unevaluatedProperties: false,
        $defs: { X: { properties: { x: true } } },
      },
      valid: [{ x: 1, y: 1 }, { x: 1, z: 1 }, { z: 1 }],
      invalid: [{ x: 1 }, { x: 1, y: 1, a: 1 }],
      ajv: 'beside $ref it takes the first alternative only',
    },
  ],
  unevaluatedItems: [
    {
      schema: { allOf: [{ prefixItems: [true] }], unevaluatedItems: text },
      valid: [[1, 'a'], [1], []],
      invalid: [[1, 2]],
    },
    {
      schema: { contains: text, unevaluatedItems: false },
      valid: [['a', 'b']],
      invalid: [['a', 1]],
      ajv: 'it takes every item for evaluated by contains',
    },
  ],
}

/** The keywords are the words in the names of their files. */
/** The keywords of `bounds.ts`, the only file not named for its keywords. */
const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

const KEYWORDS = globSync('packages/json-schema/src/keywords/*.ts')
  .map((file) => file.slice(file.lastIndexOf('/') + 1, -'.ts'.length))
  .filter((name) => name !== 'index' && name !== 'keyword')
  .flatMap((name) => (name === 'bounds' ? BOUNDS : name.split('-')))

t.test('each keyword has rows, and only a keyword has', async (t) => {
  t.strictSame(Object.keys(ROWS).sort(), KEYWORDS.sort())
  for (const [keyword, rows] of Object.entries(ROWS))
    for (const { schema } of rows) t.ok(keyword in schema, `a row of ${keyword} has it`)
})

t.test(
  'the rows of a keyword have values that it allows, and values that it does not',
  async (t) => {
    for (const [keyword, rows] of Object.entries(ROWS)) {
      t.ok(
        rows.some(({ valid }) => valid.length > 0),
        `${keyword} allows`,
      )
      t.ok(
        rows.some(({ invalid }) => invalid.length > 0),
        `${keyword} refuses`,
      )
    }
  },
)

for (const [keyword, rows] of Object.entries(ROWS)) {
  t.test(keyword, async (t) => {
    for (const row of rows) {
      checkRow(t, 'this evaluator', row, standardCheck(row.schema))
      if (row.ajv === undefined) checkRow(t, 'Ajv', row, ajvCheck(row.schema))
      else t.ok(isAjvWrong(row), `Ajv is wrong: ${row.ajv}`)
    }
  })
}

function checkRow(
  t: Test,
  name: string,
  { schema, valid, invalid }: Row,
  isValid: (value: unknown) => boolean,
): void {
  const words = show(schema)
  for (const value of valid) t.equal(isValid(value), true, `${name}: ${show(value)} by ${words}`)
  for (const value of invalid) t.equal(isValid(value), false, `${name}: ${show(value)} by ${words}`)
}

function show(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'bigint' ? `${part}n` : part,
  )
}

function ajvCheck(schema: object): (value: unknown) => boolean {
  const ajv = new Ajv2020({ strict: false, validateFormats: true, logger: false })
  ajvFormats.default(ajv)
  return ajv.compile(schema)
}

/** Ajv may become right: then its reason has to go. */
function isAjvWrong({ schema, valid, invalid }: Row): boolean {
  try {
    const isValid = ajvCheck(schema)
    return !valid.every((value) => isValid(value)) || invalid.some((value) => isValid(value))
  } catch {
    return true
  }
}
