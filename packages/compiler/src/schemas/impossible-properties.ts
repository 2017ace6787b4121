// Finds the schemas for one property of an object, or for one item of an array.
import type { Keywords, Schema } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import type { FlattenedSchema } from './impossible-types.ts'

export function itemSchemas(flattened: FlattenedSchema, index: number): Schema[] {
  return flattened.map(({ prefixItems = [], items = true }) => prefixItems[index] ?? items)
}

export function propertySchemas(flattened: FlattenedSchema, name: string): Schema[] {
  return flattened.flatMap((keywords) => {
    const { properties = {}, patternProperties = {}, additionalProperties = true } = keywords
    const byPattern = Object.entries(patternProperties).filter(([pattern]) =>
      matches(pattern, name),
    )
    const described = [valueAt(properties, name) ?? true, ...byPattern.map(([, schema]) => schema)]
    return isAdditional(keywords, name) ? [additionalProperties] : described
  })
}

/** Whether only `additionalProperties` describes a property. */
export function isAdditional(
  { properties = {}, patternProperties = {} }: Keywords,
  name: string,
): boolean {
  const patterns = Object.keys(patternProperties)
  return !Object.hasOwn(properties, name) && !patterns.some((pattern) => matches(pattern, name))
}

/** Says why a closed object has too few properties for `minProperties`; undefined if it has enough. */
export function closedFault(flattened: FlattenedSchema): Finding | undefined {
  const least = Math.max(0, ...flattened.map(({ minProperties = 0 }) => minProperties))
  const allowed = flattened
    .filter((keywords) => keywords.additionalProperties === false && !keywords.patternProperties)
    .map(({ properties = {} }) => Object.keys(properties).length)
  const most = Math.min(...allowed)
  return least > most ? { code: 'impossible-closed', least, most } : undefined
}

/** Whether a name matches a pattern; true for an invalid pattern. */
function matches(pattern: string, name: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(name)
  } catch {
    return true
  }
}

/** A value by name. An inherited one, such as `constructor`, does not count. */
export function valueAt<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** Whether a schema, or a subschema for the same value, may describe a property. @param resolve follows a reference */
export function mayDescribe(
  schema: Keywords,
  name: string,
  resolve: (schema: Keywords) => Schema | undefined,
): boolean {
  const schemas = new Set<Schema | undefined>([schema])
  // The loop also visits the schemas it adds.
  for (const keywords of schemas) {
    if (typeof keywords !== 'object') continue
    const { additionalProperties, unevaluatedProperties } = keywords
    const isDescribed = !isAdditional(keywords, name) || additionalProperties !== undefined
    const isEvaluated = keywords !== schema && unevaluatedProperties !== undefined
    if (isDescribed || isEvaluated) return true
    for (const inner of [resolve(keywords), ...inPlaceSchemas(keywords)]) schemas.add(inner)
  }
  return false
}

/** The subschemas for the same value, including conditional ones. */
function inPlaceSchemas(schema: Keywords): (Schema | undefined)[] {
  const { allOf = [], anyOf = [], oneOf = [], dependentSchemas = {} } = schema
  const conditions = [schema.if, schema.then, schema.else]
  return [...allOf, ...anyOf, ...oneOf, ...Object.values(dependentSchemas), ...conditions]
}
