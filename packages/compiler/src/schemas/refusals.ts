// The keywords of JSON Schema that are refused, or are served with a note: rows of the table in SERVED.md. refusals.yaml has the
// rows of OpenAPI.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { type Growth, growthOf } from './slow-patterns.ts'
import { nameOf } from '../read/source-locations.ts'
import { declaredTypes, isFile, type SchemaObject, schemaWith, type SentAs } from './shapes.ts'
import {
  isIntegerFormat,
  isNumeric,
  isObject,
  REGISTERED,
  toRegExp,
} from '@plant-store/json-schema'

const DIALECT =
  /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/

/** A keyword of a schema that is refused, or is served with a note. */
interface KeywordRow {
  readonly level: 'error' | 'warn'
  readonly keyword: RegExp
  readonly applies: Condition
  /** With `{key}` and `{value}`. */
  readonly text: string
}
type Condition = (value: unknown, schema: SchemaObject, sentAs: SentAs) => boolean

const always: Condition = () => true
const isTrue: Condition = (value) => value === true
const isOtherDialect: Condition = (dialect) => !DIALECT.test(String(dialect))
const isNoPattern: Condition = (value) => patternsIn(value).includes(undefined)
const takesLong: Condition = (value) => patternsIn(value).some(growsBy('exponential'))
/** The names of members have no `maxLength` beside their pattern. */
const needsBound: Condition = (value, { maxLength }) =>
  (isObject(value) || maxLength === undefined) && patternsIn(value).some(growsBy('polynomial'))
const needsNoFlag: Condition = (value) => patternsIn(value).some((pattern) => pattern?.flags === '')

/** The names of members are the keys of an object, or the items of a list. */
const hasProto: Condition = (names) => {
  const list: unknown[] = isObject(names) ? Object.keys(names) : [names].flat()
  return list.includes('__proto__')
}

const hasDefault: Condition = (schemas) =>
  [schemas].flat().some((schema) => schemaWith(schema, 'default') !== undefined)

const hasFiles: Condition = (value, { items }, sentAs) =>
  value === true && sentAs === 'form' && isFile(items)

/** Whether a format is unknown, or not for the type of the schema: some are for numbers. JSON has no bytes. */
const validatesNothing: Condition = (value, schema, sentAs) => {
  const format = String(value)
  if (format === 'binary' && sentAs === 'json') return true
  const isOfNumbers = isIntegerFormat(format) || /^(float|double)$/.test(format)
  const isOfTexts = format in fullFormats || Object.hasOwn(REGISTERED, format)
  const isKnownFormat = isOfNumbers || isOfTexts
  if (!isKnownFormat) return true
  const types = declaredTypes(schema)
  const isForType = types.some((type) => (isOfNumbers ? isNumeric(type) : type === 'string'))
  return types.length > 0 && !isForType
}

const NO_DIALECT = 'only JSON Schema 2020-12 is served: leave this out'
const NO_ANCHOR = "{key} is not served: refer with $ref: '#/components/schemas/...'"
const NO_PATTERN = 'the pattern is not a regular expression of ECMAScript'
const SLOW =
  'a short text can keep this pattern busy for hours: repeat no group that has a repetition or alternatives of the same texts'
const UNBOUNDED =
  'a long text can keep this pattern busy for seconds, because its time grows with the square of the length or more: write a maxLength beside it, or let each repetition end at a character that it does not match'
const NO_FLAG = 'this pattern works only without the flag u: it is served so'
const NO_FORMAT =
  'the format {value} validates nothing here: formats in product.ts may have a function for it'
const NO_DEFAULT = 'a default below {key} is not filled in: write it beside {key}'
const NULLABLE =
  'nullable is served as OpenAPI 3.0 has it, beside a type: write "null" as one of several types'
const EXCLUSIVE = '{key} is served as OpenAPI 3.0 has it: write the bound itself'
const NO_FILES = 'files are not compared: leave uniqueItems out'
const NO_PROTO = 'a member __proto__ is not served'

const PATTERNS = /^pattern(Properties)?$/
const ROWS: readonly KeywordRow[] = [
  error(/^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/, always, NO_ANCHOR),
  error(/^\$schema$/, isOtherDialect, NO_DIALECT),
  error(PATTERNS, isNoPattern, NO_PATTERN),
  error(/^uniqueItems$/, hasFiles, NO_FILES),
  error(/^(properties|required)$/, hasProto, NO_PROTO),
  warning(PATTERNS, takesLong, SLOW),
  warning(PATTERNS, needsBound, UNBOUNDED),
  warning(PATTERNS, needsNoFlag, NO_FLAG),
  warning(/^format$/, validatesNothing, NO_FORMAT),
  warning(/^nullable$/, isTrue, NULLABLE),
  warning(/^exclusiveM..imum$/, isTrue, EXCLUSIVE),
  warning(/^(anyOf|oneOf|then|else|not|if)$/, hasDefault, NO_DEFAULT),
]

function error(keyword: RegExp, applies: Condition, text: string): KeywordRow {
  return { level: 'error', keyword, applies, text }
}

function warning(keyword: RegExp, applies: Condition, text: string): KeywordRow {
  return { level: 'warn', keyword, applies, text }
}

/** The report about a keyword of a schema; undefined if the keyword is served as JSON Schema says. */
export function keywordDiagnostic(key: string, schema: SchemaObject, sentAs: SentAs) {
  const value = schema[key]
  const row = ROWS.find(
    ({ keyword, applies }) => keyword.test(key) && applies(value, schema, sentAs),
  )
  if (row === undefined) return undefined
  const text = row.text.replaceAll('{key}', () => key).replaceAll('{value}', () => String(value))
  return { level: row.level, text }
}

/** A pattern, or that of each key of an object, as it is served; undefined if it is not valid. */
function patternsIn(value: unknown): (RegExp | undefined)[] {
  const patterns = isObject(value) ? Object.keys(value) : [value]
  return patterns.map(patternOf)
}

function patternOf(pattern: unknown): RegExp | undefined {
  try {
    return toRegExp(String(pattern))
  } catch {
    return undefined
  }
}

function growsBy(growth: Growth): (pattern: RegExp | undefined) => boolean {
  return (pattern) => pattern !== undefined && growthOf(pattern) === growth
}

const META = new Ajv2020({
  allErrors: true,
  strict: false,
  strictNumbers: true,
  validateFormats: false,
  verbose: true,
})

/** An error of a schema, and the path to the member that has it. */
interface MetaError {
  readonly path: readonly string[]
  readonly text: string
}

/** The errors that JSON Schema's own schema finds in a schema, and in the schemas in it: the first error of each place. */
export function metaErrors(schema: object): MetaError[] {
  META.validate('https://json-schema.org/draft/2020-12/schema', schema)
  const errors = (META.errors ?? []).filter((metaError) => !isServed(metaError))
  const byPlace = Map.groupBy(errors, ({ instancePath }) => instancePath)
  return [...byPlace.values()].flatMap(([first]) => (first ? toMetaError(first) : []))
}

/** Words of earlier dialects that are no keywords of 2020-12. */
const EARLIER_KEYWORDS = /\/(\$recursive(Ref|Anchor)|dependencies|definitions)(\/|$)/

/** An integer beyond 2^53 is a bigint here. OpenAPI 3.0 had booleans as exclusive bounds. */
function isServed({ keyword, data, params, instancePath }: ErrorObject): boolean {
  const isForPeople =
    params['type'] === 'string' && /\/(title|description|\$comment)$/.test(instancePath)
  if (isForPeople) return true
  if (keyword === 'uniqueItems' || EARLIER_KEYWORDS.test(instancePath)) return true
  if (typeof data === 'bigint') return true
  return typeof data === 'boolean' && /\/exclusiveM..imum$/.test(instancePath)
}

function toMetaError({ instancePath, message, params }: ErrorObject): MetaError {
  const path = instancePath.split('/').slice(1).map(nameOf)
  const values: unknown = params['allowedValues']
  const list = Array.isArray(values) ? `: ${values.join(', ')}` : ''
  return { path, text: `${path.join('/')} ${message}${list}` }
}
