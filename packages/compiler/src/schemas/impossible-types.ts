// The types that schemas allow together.
import type { Keywords, Schema } from '@plant-store/json-schema'

/** Schemas that a value must fit, all of them. */
export type Parts = readonly Keywords[]

const ALL = ['null', 'boolean', 'object', 'array', 'string', 'number']

/** The keywords that say something of one type only. */
const OF_TYPE: Readonly<Record<string, RegExp>> = {
  object:
    /^((additional|pattern|unevaluated)?p|minP|maxP)roperties$|^(required|dependentRequired)$/i,
  array: /^(items|prefixItems|minItems|maxItems)$/,
  string: /^(minLength|maxLength|pattern)$/,
  number: /^(minimum|maximum|exclusiveMinimum|exclusiveMaximum|multipleOf)$/,
}

/**
 * The types that schemas allow together. Where none says a type, those of which they say something: whoever writes `minimum`
 * means a number.
 */
export function typesOf(parts: Parts): string[] {
  const isTyped = parts.some(({ type }) => type !== undefined)
  return isTyped ? statedTypes(parts) : impliedTypes(parts)
}

function statedTypes(parts: Parts): string[] {
  let types = ALL
  for (const { type, not } of parts) {
    if (type !== undefined) types = both(types, [type].flat())
    const refused = typeof not === 'object' && hasOnlyType(not) ? [not.type ?? []].flat() : []
    types = types.filter((name) => !isRefused(name, refused))
  }
  return types
}

/** An integer is a number, so a rule against numbers refuses it. */
function isRefused(type: string, refused: readonly string[]): boolean {
  return refused.includes(type) || (type === 'integer' && refused.includes('number'))
}

function impliedTypes(parts: Parts): string[] {
  const keys = parts.flatMap((part) => Object.keys(part))
  return Object.keys(OF_TYPE).filter((type) => keys.some((key) => OF_TYPE[type]?.test(key)))
}

/** The types that two rules allow together. */
function both(left: readonly string[], right: readonly string[]): string[] {
  return left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === 'integer') return right.includes('number') ? [type] : []
    return type === 'number' && right.includes('integer') ? ['integer'] : []
  })
}

/** Whether a schema is an object without keywords: everything fits it. */
export const hasNoKeywords = (schema: Schema | undefined) =>
  typeof schema === 'object' && Object.keys(schema).length === 0

const hasOnlyType = (schema: Keywords) => Object.keys(schema).join() === 'type'
