// Refused keywords of JSON Schema, and keywords served with a warning: they are rows of the table in SERVED.md. refusals.yaml has
// the rows of OpenAPI.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Finding } from '../sentences/sentences.ts'
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
  readonly code: KeywordCode
}
/** The codes of findings with the key and the value of a keyword, or with neither. */
type KeywordCode =
  | 'keyword-anchor'
  | 'keyword-dialect'
  | 'pattern-invalid'
  | 'pattern-exponential'
  | 'pattern-polynomial'
  | 'pattern-without-u'
  | 'files-compared'
  | 'property-proto'
  | 'format-unknown'
  | 'nullable'
  | 'bound-exclusive'
  | 'default-below'
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

const PATTERNS = /^pattern(Properties)?$/
const ROWS: readonly KeywordRow[] = [
  error(/^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/, always, 'keyword-anchor'),
  error(/^\$schema$/, isOtherDialect, 'keyword-dialect'),
  error(PATTERNS, isNoPattern, 'pattern-invalid'),
  error(/^uniqueItems$/, hasFiles, 'files-compared'),
  error(/^(properties|required)$/, hasProto, 'property-proto'),
  warning(PATTERNS, takesLong, 'pattern-exponential'),
  warning(PATTERNS, needsBound, 'pattern-polynomial'),
  warning(PATTERNS, needsNoFlag, 'pattern-without-u'),
  warning(/^format$/, isNoOpFormat, 'format-unknown'),
  warning(/^nullable$/, isTrue, 'nullable'),
  warning(/^exclusiveM..imum$/, isTrue, 'bound-exclusive'),
  warning(/^(anyOf|oneOf|then|else|not|if)$/, hasDefault, 'default-below'),
]

function error(keyword: RegExp, applies: Condition, code: KeywordCode): KeywordRow {
  return { level: 'error', keyword, applies, code }
}

function warning(keyword: RegExp, applies: Condition, code: KeywordCode): KeywordRow {
  return { level: 'warn', keyword, applies, code }
}

/** The diagnostic for a keyword; undefined if it is served as JSON Schema says. */
export function keywordDiagnostic(key: string, schema: SchemaObject, syntax: ValueSyntax) {
  const value = schema[key]
  const row = ROWS.find(
    ({ keyword, applies }) => keyword.test(key) && applies(value, schema, syntax),
  )
  if (row === undefined) return undefined
  const finding: Finding = { code: row.code, ...{ key, value: String(value) } }
  return { level: row.level, finding }
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
  readonly finding: Finding
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
  const place = { path: path.join('/'), fault: String(message) }
  const finding: Finding = Array.isArray(values)
    ? { code: 'schema-invalid-value', ...place, values: values.join(', ') }
    : { code: 'schema-invalid', ...place }
  return { path, finding }
}
