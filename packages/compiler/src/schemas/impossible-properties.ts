// The schemas of the members and the items of values.
import type { Keywords, Schema } from '@plant-store/json-schema'
import type { Parts } from './impossible-types.ts'

/** The schemas of the item at an index of a list. */
export function itemSchemas(parts: Parts, index: number): Schema[] {
  return parts.map(({ prefixItems = [], items = true }) => prefixItems[index] ?? items)
}

/** The schemas of a member. */
export function memberSchemas(parts: Parts, name: string): Schema[] {
  return parts.flatMap((part) => {
    const { properties = {}, patternProperties = {}, additionalProperties = true } = part
    const byPattern = Object.entries(patternProperties).filter(([pattern]) =>
      matches(pattern, name),
    )
    const described = [ownValue(properties, name) ?? true, ...byPattern.map(([, schema]) => schema)]
    return isOther(part, name) ? [additionalProperties] : described
  })
}

/** Whether a member is described only by `additionalProperties`. */
export function isOther(
  { properties = {}, patternProperties = {} }: Keywords,
  name: string,
): boolean {
  const patterns = Object.keys(patternProperties)
  return !Object.hasOwn(properties, name) && !patterns.some((pattern) => matches(pattern, name))
}

/** Why fewer members are allowed than are required, whatever their names. */
export function closedFault(parts: Parts): string | undefined {
  const least = Math.max(0, ...parts.map(({ minProperties = 0 }) => minProperties))
  const allowed = parts
    .filter((part) => part.additionalProperties === false && !part.patternProperties)
    .map(({ properties = {} }) => Object.keys(properties).length)
  const most = Math.min(...allowed)
  return least > most
    ? `minProperties ${least} is more than the members that additionalProperties: false allows: ${most}`
    : undefined
}

/** Whether a name has a pattern; true if nobody can say. */
function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name)
  } catch {
    return true
  }
}

/** A value by its name. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Whether a schema, or one for the same value in it, may describe a member. @param resolve finds the target of a reference */
export function mentions(
  schema: Keywords,
  name: string,
  resolve: (schema: Keywords) => Schema | undefined,
): boolean {
  const schemas = new Set<Schema | undefined>([schema])
  // The loop goes on with the schemas that it adds.
  for (const part of schemas) {
    if (typeof part !== 'object') continue
    const { additionalProperties, unevaluatedProperties } = part
    const isDescribed = !isOther(part, name) || additionalProperties !== undefined
    const isEvaluated = part !== schema && unevaluatedProperties !== undefined
    if (isDescribed || isEvaluated) return true
    for (const inner of [resolve(part), ...schemasFor(part)]) schemas.add(inner)
  }
  return false
}

/** The schemas in a schema for the same value, under conditions, too. */
function schemasFor(schema: Keywords): (Schema | undefined)[] {
  const { allOf = [], anyOf = [], oneOf = [], dependentSchemas = {} } = schema
  const conditions = [schema.if, schema.then, schema.else]
  return [...allOf, ...anyOf, ...oneOf, ...Object.values(dependentSchemas), ...conditions]
}
