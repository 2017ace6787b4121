// The keywords of JSON Schema: how each is compiled.
import type { Schema } from '../compiled.ts'
import { declaredTypes, entriesAt, isNumeric, NUMBER_FORMAT, type Part, valuesAt } from './shapes.ts'
import { BOUNDS, type NumberRule } from '../numbers.ts'
import { exactJson } from '../../http/json.ts'

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const SCHEMA = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const SCHEMA_LIST = /^(allOf|anyOf|oneOf|prefixItems)$/
const SCHEMA_MAP = /^(patternProperties|dependentSchemas)$/
/** Keywords whose schemas a valid value need not fit. */
export const CONDITIONS = /^(not|if)$/
/** Keywords whose schemas are about the same value: one schema may have `required`, another one `properties`. */
export const SAME_VALUE = /^(allOf|anyOf|oneOf|dependentSchemas|then|else)$/
const COPIED = /^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$/

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
function boundsOf(schema: Part): Record<string, string> {
  const bounds = Object.keys(BOUNDS).flatMap((key) => {
    const exclusive = key.replace(/^m(?=[ai])/, 'exclusiveM')
    const isServed = schema[key] !== undefined && typeof schema[key] !== 'boolean'
    return isServed ? [[schema[exclusive] === true ? exclusive : key, String(schema[key])] as const] : []
  })
  return Object.fromEntries(bounds)
}

/** What a schema says of numbers, as one keyword. */
export function numberRule(schema: Part): { number: NumberRule } | undefined {
  const bounds = boundsOf(schema)
  const declared = declaredTypes(schema)
  if (!declared.some(isNumeric)) return Object.keys(bounds).length === 0 ? undefined : { number: { bounds } }
  const integer = declared.includes('integer') ? 'integer' : 'number'
  const types = declared.map((type) => (type === integer && schema['format'] === 'int32' ? 'int32' : type))
  return { number: { types, bounds } }
}
