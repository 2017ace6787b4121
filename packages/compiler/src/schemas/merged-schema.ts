// Merges the schemas for one value into one.
import { isObject, type Schema, type SchemaObject } from '@plant-store/json-schema'

/** All keywords in one object, with the least `maxLength`. */
export function mergedOf(parts: readonly SchemaObject[]): SchemaObject {
  const lengths = parts.flatMap(({ maxLength }) => (typeof maxLength === 'number' ? maxLength : []))
  const merged: SchemaObject = Object.fromEntries(parts.flatMap((part) => Object.entries(part)))
  return lengths.length === 0 ? merged : { ...merged, maxLength: Math.min(...lengths) }
}

/** The types of a value. For `any`, the keywords imply them. */
export function typesOf(allowed: readonly string[], merged: SchemaObject): readonly string[] {
  if (!allowed.includes('any')) return allowed
  if (['properties', 'required', 'additionalProperties'].some((key) => key in merged))
    return ['object']
  return ['items', 'prefixItems'].some((key) => key in merged) ? ['array'] : ['string', 'integer']
}

export function propertiesOf(parts: readonly SchemaObject[]): Map<string, Schema> {
  const described = parts.flatMap(({ properties }) => Object.entries(properties ?? {}))
  const byName = Map.groupBy(described, ([name]) => name)
  const merged = [...byName].map(([name, entries]): [string, Schema] => {
    const schemas = entries.map(([, schema]) => schema as Schema)
    const [first = true] = schemas
    return [name, schemas.length === 1 ? first : { allOf: schemas }]
  })
  return new Map(merged)
}

export function requiredOf(parts: readonly SchemaObject[]): string[] {
  return parts.flatMap(({ required }) => (Array.isArray(required) ? required.map(String) : []))
}

export function restOf(parts: readonly SchemaObject[]): Schema {
  const { additionalProperties = true } = mergedOf(parts)
  return isObject(additionalProperties) ? additionalProperties : true
}
