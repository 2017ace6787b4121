// Finds the schemas of an object's properties.
import { isObject, toRegExp } from '@plant-store/json-schema'
import { fields, type Schema } from './schema.ts'

/** Whether a schema has no valid value. */
export const isNever = (schema: unknown) =>
  schema === false ||
  (isObject(schema) && isObject(schema['not']) && Object.keys(schema['not']).length === 0)

/** The schemas of a property: those for its name, or else those for all others. */
export function memberSchemas(parts: readonly Schema[], name: string): unknown[] {
  const own = parts.flatMap((part) => ownSchemas(part, name))
  if (own.length > 0) return own
  return parts.flatMap((part) =>
    'unevaluatedProperties' in part ? [part['unevaluatedProperties']] : [],
  )
}

/** The schemas of a property in one schema. */
export function ownSchemas(part: Schema, name: string): unknown[] {
  const properties = fields(part['properties'])
  const named = Object.hasOwn(properties, name) ? [properties[name]] : []
  const matched = Object.entries(fields(part['patternProperties'])).flatMap(([pattern, schema]) =>
    toRegExp(pattern).test(name) ? [schema] : [],
  )
  const schemas = [...named, ...matched]
  return schemas.length === 0 && 'additionalProperties' in part
    ? [part['additionalProperties']]
    : schemas
}
