// Refused keywords of JSON Schema, and keywords served with a warning: they are rows of the table in SERVED.md. refusals.yaml has
// the rows of OpenAPI.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { type Growth, growthOf } from './slow-patterns.ts'
import { nameOf } from '../read/source-locations.ts'
import { declaredTypes, isFile, type SchemaObject, schemaWith, type ValueSyntax } from './shapes.ts'
import {
  isIntegerFormat,
  isNumeric,
  isObject,
  REGISTERED,
  toRegExp,
} from '@plant-store/json-schema'

const DIALECT =
  /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/

interface KeywordRow {
  readonly level: 'error' | 'warn'
  readonly keyword: RegExp
  readonly applies: Condition
  /** The message, with `{key}` and `{value}` to fill in. */
  readonly text: string
}
type Condition = (value: unknown, schema: SchemaObject, syntax: ValueSyntax) => boolean

const always: Condition = () => true
const isTrue: Condition = (value) => value === true
const isOtherDialect: Condition = (dialect) => !DIALECT.test(String(dialect))
const isNoPattern: Condition = (value) => patternsIn(value).includes(undefined)
const takesLong: Condition = (value) => patternsIn(value).some(growsBy('exponential'))
/** In `patternProperties` there is no `maxLength` beside a pattern. */
const needsBound: Condition = (value, { maxLength }) =>
  (isObject(value) || maxLength === undefined) && patternsIn(value).some(growsBy('polynomial'))
const needsNoFlag: Condition = (value) => patternsIn(value).some((pattern) => pattern?.flags === '')

/** Property names are the keys of `properties`, or the items of `required`. */
const hasProto: Condition = (names) => {
  const list: unknown[] = isObject(names) ? Object.keys(names) : [names].flat()
  return list.includes('__proto__')
}

const hasDefault: Condition = (schemas) =>
  [schemas].flat().some((schema) => schemaWith(schema, 'default') !== undefined)

const hasFiles: Condition = (value, { items }, syntax) =>
  value === true && syntax === 'form' && isFile(items)

/** Whether a format is unknown, or for another type than the schema's. `binary` is a no-op in JSON. */
const isNoOpFormat: Condition = (value, schema, syntax) => {
  const format = String(value)
  if (format === 'binary' && syntax === 'json') return true
  const isForNumbers = isIntegerFormat(format) || /^(float|double)$/.test(format)
  const isForStrings = format in fullFormats || Object.hasOwn(REGISTERED, format)
  const isKnownFormat = isForNumbers || isForStrings
  if (!isKnownFormat) return true
  const types = declaredTypes(schema)
  const isForType = types.some((type) => (isForNumbers ? isNumeric(type) : type === 'string'))
  return types.length > 0 && !isForType
}

const NO_DIALECT = 'only JSON Schema 2020-12 is served: leave this out'
const NO_ANCHOR = "{key} is not served: refer with $ref: '#/components/schemas/...'"
const NO_PATTERN = 'the pattern is not a regular expression of ECMAScript'
const SLOW =
  'a short string can keep this pattern busy for hours: repeat no group with a repetition in it, or with alternatives for the same string'
const UNBOUNDED =
  'a long string can keep this pattern busy for seconds, because its time grows with the square of the length or more: write a maxLength beside it, or end each repetition at a character it does not match'
const NO_FLAG = 'this pattern works only without the flag u: it is served so'
const NO_FORMAT =
  'the format {value} validates nothing here: formats in product.ts may have a function for it'
const NO_DEFAULT = 'a default below {key} is not filled in: write it beside {key}'
const NULLABLE =
  'nullable is served as OpenAPI 3.0 has it, beside a type: write "null" as one of several types'
const EXCLUSIVE = '{key} is served as OpenAPI 3.0 has it: write the bound itself'
const NO_FILES = 'files are not compared: leave uniqueItems out'
const NO_PROTO = 'a property __proto__ is not served'

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
  warning(/^format$/, isNoOpFormat, NO_FORMAT),
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

/** The diagnostic for a keyword; undefined if it is served as JSON Schema says. */
export function keywordDiagnostic(key: string, schema: SchemaObject, syntax: ValueSyntax) {
  const value = schema[key]
  const row = ROWS.find(
    ({ keyword, applies }) => keyword.test(key) && applies(value, schema, syntax),
  )
  if (row === undefined) return undefined
  const text = row.text.replaceAll('{key}', () => key).replaceAll('{value}', () => String(value))
  return { level: row.level, text }
}

/** The pattern, or the patterns of an object's keys. An invalid one is undefined. */
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

interface MetaError {
  readonly path: readonly string[]
  readonly text: string
}

/** Validates a schema and its subschemas by the meta-schema. @returns the first error of each place */
export function metaErrors(schema: object): MetaError[] {
  META.validate('https://json-schema.org/draft/2020-12/schema', schema)
  const errors = (META.errors ?? []).filter((metaError) => !isIgnored(metaError))
  const byPlace = Map.groupBy(errors, ({ instancePath }) => instancePath)
  return [...byPlace.values()].flatMap(([first]) => (first ? toMetaError(first) : []))
}

/** Keywords of earlier dialects. In 2020-12 they mean nothing, though the meta-schema checks them. */
const EARLIER_KEYWORDS = /\/(\$recursive(Ref|Anchor)|dependencies|definitions)(\/|$)/

/** Tells errors to ignore. Integers beyond 2^53 are bigints here; OpenAPI 3.0 had booleans as exclusive bounds. */
function isIgnored({ keyword, data, params, instancePath }: ErrorObject): boolean {
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
