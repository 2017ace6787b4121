// Finds the types allowed by several schemas together.
import type { Keywords, Schema } from '@plant-store/json-schema'

/** Schemas for one value, which must fit all of them. */
export type FlattenedSchema = readonly Keywords[]

const ALL_TYPES = ['null', 'boolean', 'object', 'array', 'string', 'number']

const KEYWORDS_OF_TYPE: Readonly<Record<string, RegExp>> = {
  object:
    /^((additional|pattern|unevaluated)?p|minP|maxP)roperties$|^(required|dependentRequired)$/i,
  array: /^(items|prefixItems|minItems|maxItems)$/,
  string: /^(minLength|maxLength|pattern)$/,
  number: /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/,
}

/** The types allowed by all schemas. Without any `type`, the keywords imply them: `minimum` means a number. */
export function typesOf(flattened: FlattenedSchema): string[] {
  const isTyped = flattened.some(({ type }) => type !== undefined)
  return isTyped ? statedTypes(flattened) : impliedTypes(flattened)
}

function statedTypes(flattened: FlattenedSchema): string[] {
  let types = ALL_TYPES
  for (const { type, not } of flattened) {
    if (type !== undefined) types = both(types, [type].flat())
    const refused = typeof not === 'object' && hasOnlyType(not) ? [not.type ?? []].flat() : []
    types = types.filter((name) => !isRefused(name, refused))
  }
  return types
}

/** Whether `not` refuses a type. A rule against numbers refuses integers, too. */
function isRefused(type: string, refused: readonly string[]): boolean {
  return refused.includes(type) || (type === 'integer' && refused.includes('number'))
}

function impliedTypes(flattened: FlattenedSchema): string[] {
  const keys = flattened.flatMap((keywords) => Object.keys(keywords))
  return Object.keys(KEYWORDS_OF_TYPE).filter((type) =>
    keys.some((key) => KEYWORDS_OF_TYPE[type]?.test(key)),
  )
}

/** The types in both lists. An integer is a number, too. */
function both(left: readonly string[], right: readonly string[]): string[] {
  return left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === 'integer') return right.includes('number') ? [type] : []
    return type === 'number' && right.includes('integer') ? ['integer'] : []
  })
}

/** Whether a schema is `{}`: everything fits it. */
export const hasNoKeywords = (schema: Schema | undefined) =>
  typeof schema === 'object' && Object.keys(schema).length === 0

const hasOnlyType = (schema: Keywords) => Object.keys(schema).join() === 'type'
