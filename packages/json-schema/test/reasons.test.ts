// Why a value is invalid, as data and as a sentence.
import t from 'tap'
import { type AddedTypes, type Schema, Untyped, type Use, Validator } from '../src/index.ts'

/** A value, and its error: the place, the keyword, its limit, and the end of the sentence. */
type Row = readonly [
  schema: Schema,
  value: unknown,
  error: readonly [path: string, keyword: string, limit: unknown, sentence: string],
  use?: Use,
]

/** A value sent twice. */
class Repeated extends Untyped {
  readonly error = 'must not be repeated'
  candidates(): readonly unknown[] {
    return []
  }
  toJSON(): unknown {
    return []
  }
}

const TYPES: AddedTypes = {
  file: { unit: 'bytes', lengthOf: (value) => (value instanceof Blob ? value.size : undefined) },
}

const INTEGER = { type: 'integer', minimum: 1, maximum: 100, multipleOf: 5 } as const
const INTEGER_SENTENCE = 'must be an integer from 1 to 100, a multiple of 5'
const FILE = { type: 'file', maxLength: 1 }
const PROPERTY = { properties: { a: { type: 'string', readOnly: true } } }
const NESTED: Schema = { properties: { a: { default: {}, $ref: 'nested' } } }

const ROWS: readonly Row[] = [
  [{ type: ['string', 'null'] }, 7, ['body', 'type', ['string', 'null'], 'must be string or null']],
  [INTEGER, 'x', ['body', 'type', ['integer'], INTEGER_SENTENCE]],
  [INTEGER, 0, ['body', 'minimum', 1, INTEGER_SENTENCE]],
  [INTEGER, 105, ['body', 'maximum', 100, INTEGER_SENTENCE]],
  [INTEGER, 7, ['body', 'multipleOf', 5, INTEGER_SENTENCE]],
  [{ exclusiveMaximum: 5 }, 5, ['body', 'exclusiveMaximum', 5, 'must be a number, < 5']],
  [{ maxLength: 2 }, 'abc', ['body', 'maxLength', 2, 'must NOT have more than 2 characters']],
  [FILE, new Blob(['ab']), ['body', 'maxLength', 1, 'must NOT have more than 1 bytes']],
  [{ minItems: 1 }, [], ['body', 'minItems', 1, 'must NOT have fewer than 1 items']],
  [{ enum: [1, 2] }, 3, ['body', 'enum', [1, 2], 'must be one of the allowed values']],
  [{ const: 1 }, 3, ['body', 'const', 1, 'must be one of the allowed values']],
  [{ pattern: '^a' }, 'b', ['body', 'pattern', '^a', 'must match pattern "^a"']],
  [{ pattern: '^a', description: 'An a' }, 'b', ['body', 'pattern', '^a', 'is invalid: An a']],
  [{ format: 'uuid' }, 'b', ['body', 'format', 'uuid', 'must match format "uuid"']],
  [{ required: ['a'] }, {}, ['body', 'required', 'a', "must have required property 'a'"]],
  [
    { items: { properties: { 'a/b': false } } },
    [{ 'a/b': 1 }],
    ['body/0', 'false', 'a/b', 'must not have the property a/b'],
  ],
  [
    { contains: { const: 1 } },
    [],
    ['body', 'contains', { least: 1, most: Infinity }, 'must contain at least 1 valid item(s)'],
  ],
  [PROPERTY, { a: 'x' }, ['body/a', 'readOnly', true, 'is read-only: leave it out'], 'incoming'],
  [NESTED, {}, ['body', 'default', 100, 'would fill in more than 100 properties'], 'incoming'],
  [
    { properties: { a: { type: 'string' } } },
    { a: new Repeated() },
    ['body/a', 'untyped', 'must not be repeated', 'must not be repeated'],
    'incoming',
  ],
]

t.test('an error has the place, the keyword and its limit, and a sentence', (t) => {
  for (const [schema, value, [path, keyword, limit, sentence], use = 'outgoing'] of ROWS) {
    const validator = new Validator({ nested: NESTED }, use, {}, TYPES)
    const { error, reason } = validator.compile('body', schema)(value)
    t.strictSame(reason, { path: path.split('/').map(toKey), keyword, limit }, keyword)
    t.equal(error, `${path} ${sentence}`)
  }
  t.end()
})

function toKey(key: string): string | number {
  return /^\d+$/.test(key) ? Number(key) : key
}

t.test('a value that is nested too deep has this as its reason', (t) => {
  const check = new Validator({ list: { items: { $ref: 'list' } } }, 'outgoing')
  let value: unknown = []
  for (let depth = 0; depth < 10_000; depth += 1) value = [value]
  const { reason } = check.compile('body', { $ref: 'list' })(value)
  t.strictSame(reason, { path: ['body'], keyword: 'nesting', limit: undefined })
  t.end()
})
