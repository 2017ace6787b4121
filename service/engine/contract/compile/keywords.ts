// The keywords of JSON Schema: how each is compiled, and what is wrong with its value.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { toRegExp } from '../assertions.ts'
import type { Schema } from '../compiled.ts'
import { declaredTypes, entriesAt, type Part, valuesAt } from './shapes.ts'
import { BOUNDS, type NumberRule } from '../numbers.ts'
import { exactJson } from '../../http/json.ts'

/** What a schema validates. */
export type Use = 'request' | 'form' | 'response'

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const SCHEMA = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const SCHEMA_LIST = /^(allOf|anyOf|oneOf|prefixItems)$/
const SCHEMA_MAP = /^(patternProperties|dependentSchemas)$/
/** Keywords whose schemas a valid value need not fit. */
export const CONDITIONS = /^(not|if)$/
/** Keywords whose schemas are about the same value: one schema may have `required`, another one `properties`. */
export const SAME_VALUE = /^(allOf|anyOf|oneOf|dependentSchemas|then|else)$/
const COPIED = /^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$/
const NOT_SERVED = /^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/
const NUMBER_FORMAT = /^(int32|int64|float|double)$/
/** Keywords of JSON Schema and OpenAPI that validate nothing, or that schemas.ts compiles. */
const OTHERS =
  /^(title|description|default|deprecated|examples?|(read|write)Only|\$(ref|schema|comment|defs)|discriminator|xml|externalDocs|content(Encoding|MediaType|Schema)|nullable|type|enum|const|properties|required|format|x-.*)$/
const KNOWN = [SCHEMA, SCHEMA_LIST, SCHEMA_MAP, COPIED, NOT_SERVED, OTHERS]

/**
 * Compiles the value of a keyword. @param convert compiles a schema in it
 * @returns undefined if the keyword validates nothing, or if `numberRule` has it
 */
export function compileKeyword(key: string, schema: Part, convert: (schema: unknown) => Schema): unknown {
  const value = schema[key]
  if (SCHEMA.test(key)) return convert(value)
  if (SCHEMA_LIST.test(key)) return valuesAt(schema, key).map(convert)
  if (SCHEMA_MAP.test(key)) return Object.fromEntries(entriesAt(schema, key).map(([name, one]) => [name, convert(one)]))
  if (key === 'enum') return valuesAt(schema, key).map(exactJson)
  if (key === 'const') return [exactJson(value)]
  const isCopied =
    COPIED.test(key) ||
    (key === 'format' && !NUMBER_FORMAT.test(String(value))) ||
    (key === 'description' && ('pattern' in schema || 'not' in schema))
  if (key !== 'type') return isCopied ? value : undefined
  const types = declaredTypes(schema)
  return types.some(isNumeric) ? undefined : types.length > 1 ? types : types[0]
}

/** The bounds of numbers by their keywords. In OpenAPI 3.0, `exclusiveMinimum: true` makes `minimum` exclusive. */
function boundsOf(schema: Part): (readonly [key: string, value: unknown])[] {
  const bounds = Object.keys(BOUNDS).flatMap((key) =>
    typeof schema[key] === 'boolean' ? [] : [[key, schema[key]] as const],
  )
  return bounds
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => (schema[EXCLUSIVE[key] ?? ''] === true ? [EXCLUSIVE[key] ?? '', value] : [key, value]))
}
const EXCLUSIVE: Readonly<Record<string, string>> = { minimum: 'exclusiveMinimum', maximum: 'exclusiveMaximum' }

/** What a schema says of numbers, as one keyword. */
export function numberRule(schema: Part): { number: NumberRule } | undefined {
  const bounds = Object.fromEntries(boundsOf(schema).map(([key, value]) => [key, String(value)]))
  const declared = declaredTypes(schema)
  if (!declared.some(isNumeric)) return Object.keys(bounds).length === 0 ? undefined : { number: { bounds } }
  const integer = declared.includes('integer') ? 'integer' : 'number'
  const types = declared.map((type) => (type === integer && schema['format'] === 'int32' ? 'int32' : type))
  return { number: { types, bounds } }
}

const isNumeric = (type: string) => /^(int64|integer|number)$/.test(type)

/** What is wrong with a keyword of a schema; undefined if it is served. */
export function keywordFault(key: string, schema: Part, use: Use): string | undefined {
  if (NOT_SERVED.test(key)) return `${key} is not served: refer with $ref: '#/components/schemas/...'`
  return FAULTS[key]?.(schema[key], schema, use)
}

/** What the author of a keyword should know; undefined if it means what one expects. */
export function keywordNote(key: string, schema: Part, use: Use): string | undefined {
  const value = schema[key]
  const types = declaredTypes(schema)
  if (key === 'format') return formatNote(String(value), types, use)
  if (key === 'pattern' && !isPattern(value, 'u')) return 'this pattern works only without the flag u: it is served so'
  if (key === 'nullable' && value === true)
    return types.length === 0
      ? 'without type, nullable says nothing: write "anyOf: [..., { type: \'null\' }]"'
      : 'nullable is served as OpenAPI 3.0 has it: write "null" as one of several types'
  if (key in BOUNDS && value === true) return `${key} is served as OpenAPI 3.0 has it: write the bound itself`
  const isKnown = key in BOUNDS || KNOWN.some((each) => each.test(key))
  return isKnown ? undefined : `${key} is no keyword of JSON Schema 2020-12: it validates nothing`
}

function formatNote(format: string, types: readonly string[], use: Use): string | undefined {
  const isOfNumbers = NUMBER_FORMAT.test(format)
  if (types.length > 0 && isOfNumbers !== types.some(isNumeric) && (isOfNumbers || !types.includes('string')))
    return `the format ${format} validates nothing beside "type: ${types.join(', ')}"`
  if (format === 'binary' && use !== 'form') return 'the format binary validates nothing in JSON, which has no bytes'
  return isOfNumbers || format in fullFormats
    ? undefined
    : `the format ${format} validates nothing: formats in product.ts may have a function for it`
}

/** Matches every dialect of JSON Schema but that of OpenAPI 3.1. With what to write instead. */
export const DIALECT_REFUSAL = [
  /^(?!https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$)/,
  'only JSON Schema 2020-12 is served: leave this out',
] as const
const PROTO_FAULT = 'a member __proto__ is not served'

/** By keyword: a function that returns what is wrong with its value. */
const FAULTS: Readonly<Record<string, (value: unknown, schema: Part, use: Use) => string | undefined>> = {
  $schema: (dialect) => (DIALECT_REFUSAL[0].test(String(dialect)) ? DIALECT_REFUSAL[1] : undefined),
  pattern: (pattern) => (isPattern(pattern) ? undefined : 'the pattern is not a regular expression of ECMAScript'),
  properties: (members) => (Object.hasOwn(members ?? {}, '__proto__') ? PROTO_FAULT : undefined),
  required: (names) => ([names].flat().includes('__proto__') ? PROTO_FAULT : undefined),
  enum: bigIntFault,
  const: bigIntFault,
  default: bigIntFault,
}

function isPattern(pattern: unknown, flags?: string): boolean {
  try {
    return (flags === undefined ? toRegExp(String(pattern)) : new RegExp(String(pattern), flags)) instanceof RegExp
  } catch {
    return false
  }
}

/** Only an int64 is compared exactly. */
function bigIntFault(value: unknown, schema: Part): string | undefined {
  const isExact = declaredTypes(schema).includes('int64') || !hasBigInt(value)
  return isExact ? undefined : 'a number beyond 2^53 needs "type: integer, format: int64" beside it'
}

function hasBigInt(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && Object.values(value ?? {}).some(hasBigInt))
}
