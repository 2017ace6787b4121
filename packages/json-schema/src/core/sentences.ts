// Makes the sentence of an error: the only place with words for people.
import { RANGES, typesOf } from './numbers.ts'
import type { Keywords } from './schema.ts'
import type { BoundKeyword, ErrorKeyword, Key, Limits, Problem } from './validation-error.ts'

type Sentences = {
  readonly [Name in ErrorKeyword]: (limit: Limits[Name], schema: Keywords, unit: string) => string
}

export const TOO_NESTED = 'is nested too deep for its schema'
/** The most properties filled in for an absent one: itself, and those in its default. */
export const MAX_FILLED_IN = 100
export const FILLS_IN_TOO_MUCH = `would fill in more than ${MAX_FILLED_IN} properties`

const SENTENCES: Sentences = {
  type: (_, schema) => typeSentence(schema),
  minimum: (_, schema) => typeSentence(schema),
  maximum: (_, schema) => typeSentence(schema),
  exclusiveMinimum: (_, schema) => typeSentence(schema),
  exclusiveMaximum: (_, schema) => typeSentence(schema),
  multipleOf: (_, schema) => typeSentence(schema),
  minLength: (least, _, unit) => `must NOT have fewer than ${least} ${unit}`,
  maxLength: (most, _, unit) => `must NOT have more than ${most} ${unit}`,
  minItems: (least) => `must NOT have fewer than ${least} items`,
  maxItems: (most) => `must NOT have more than ${most} items`,
  minProperties: (least) => `must NOT have fewer than ${least} properties`,
  maxProperties: (most) => `must NOT have more than ${most} properties`,
  enum: () => 'must be one of the allowed values',
  const: () => 'must be one of the allowed values',
  pattern: (source, { description }) =>
    description === undefined ? `must match pattern "${source}"` : `is invalid: ${description}`,
  format: (name) => `must match format "${name}"`,
  uniqueItems: () => 'must NOT have duplicate items',
  required: (name) => `must have required property '${name}'`,
  anyOf: () => 'must match a schema in anyOf',
  oneOf: () => 'must match exactly one schema in oneOf',
  not: (_, { description }) => (description ? `is invalid: ${description}` : 'must NOT be valid'),
  contains: ({ least, most }) => {
    const bound = most < Infinity ? ` and no more than ${most}` : ''
    return `must contain at least ${least}${bound} valid item(s)`
  },
  false: (key) => {
    const noun = typeof key === 'number' ? 'item' : 'property'
    return `must not have the ${noun} ${String(key).slice(0, MAX_NAME_LENGTH)}`
  },
  readOnly: () => 'is read-only: leave it out',
  untyped: (sentence) => sentence,
  default: () => FILLS_IN_TOO_MUCH,
  defaults: (most) => `must NOT lack more than ${most} properties with a default`,
  nesting: () => TOO_NESTED,
}

const MAX_NAME_LENGTH = 100
const MAX_POINTER_LENGTH = 500

/** The sentence of an error, without its place. */
export function sentenceOf<Name extends ErrorKeyword>({
  keyword,
  limit,
  schema = {},
  unit = 'characters',
}: Problem<Name>): string {
  return SENTENCES[keyword](limit, schema, unit)
}

/** The place of a value as a JSON pointer (RFC 6901), beginning with the name of the whole value. A long one is cut. */
export function pointerOf(path: readonly Key[]): string {
  const names = path.map((key) => {
    const name = String(key).slice(0, MAX_POINTER_LENGTH)
    return name.replaceAll('~', '~0').replaceAll('/', '~1')
  })
  return names.join('/').slice(0, MAX_POINTER_LENGTH)
}

const BOUND_WORDS: Readonly<Record<BoundKeyword, string>> = {
  minimum: '>=',
  maximum: '<=',
  exclusiveMinimum: '>',
  exclusiveMaximum: '<',
  multipleOf: 'a multiple of',
}

/** What a valid value is: `must be an integer from 1 to 100, a multiple of 5`. */
function typeSentence(schema: Keywords): string {
  const types = typesOf(schema)
  const noun = types.map(nounOf).join(' or ') || 'a number'
  const range = types.map((type) => RANGES[type]).find((integers) => integers !== undefined)
  const minimum = greater(schema.minimum, range && BigInt(range.least))
  const maximum = smaller(schema.maximum, range?.greatest)
  if (minimum === undefined || maximum === undefined) return `must be ${noun}${boundsOf(schema)}`
  const others = { ...schema, minimum: undefined, maximum: undefined }
  return `must be ${noun} from ${minimum} to ${maximum}${boundsOf(others)}`
}

function boundsOf(schema: { readonly [Name in BoundKeyword]?: Limit }): string {
  const keywords = Object.keys(BOUND_WORDS) as BoundKeyword[]
  const present = keywords.filter((keyword) => schema[keyword] !== undefined)
  return present.map((keyword) => `, ${BOUND_WORDS[keyword]} ${schema[keyword]}`).join('')
}

type Limit = number | bigint | undefined

/** The stricter lower bound. */
function greater(written: Limit, ofType: Limit): Limit {
  if (written === undefined || ofType === undefined) return written ?? ofType
  return written > ofType ? written : ofType
}

/** The stricter upper bound. */
function smaller(written: Limit, ofType: Limit): Limit {
  if (written === undefined || ofType === undefined) return written ?? ofType
  return written < ofType ? written : ofType
}

const WITHOUT_ARTICLE: readonly string[] = ['string', 'boolean', 'null', 'array', 'object']

function nounOf(type: string): string {
  if (type in RANGES) return 'an integer'
  return WITHOUT_ARTICLE.includes(type) ? type : `a ${type}`
}
