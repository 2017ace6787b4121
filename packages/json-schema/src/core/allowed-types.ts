// Finds out which types a schema allows, by its `type`, `enum` and `const`, and by the schemas for the same value.
/** A schema that is an object, not a boolean. */
export type SchemaObject = Readonly<Record<string, unknown>>

/** Flattens a schema: see `flattenedSchema`. */
export type FlattenAny = (schema: unknown) => readonly SchemaObject[]

/** The type that stands for any type. */
export const ANY = 'any'

/** The types that a schema allows; {@link ANY} if it says nothing of types. */
export function allowedTypes(schema: unknown, flatten: FlattenAny): string[] {
  let allowed: string[] = [ANY]
  for (const part of flatten(schema)) {
    allowed = typesInBoth(allowed, ownTypes(part))
    for (const choice of choicesIn(part)) {
      const types = choice.flatMap((alternative) => allowedTypes(alternative, flatten))
      allowed = typesInBoth(allowed, types)
    }
  }
  return [...new Set(allowed)]
}

/** The types that a schema allows by its own keywords. In OpenAPI 3.0, `nullable` adds a type. */
function ownTypes(schema: SchemaObject): string[] {
  const types = declaredTypes(schema)
  if (types.length > 0) return types
  const values: unknown[] = [schema['enum'] ?? schema['const'] ?? []].flat()
  return values.length > 0 ? values.map(typeOf) : [ANY]
}

/** The types in a schema's own `type`, with null if it is `nullable` as in OpenAPI 3.0. */
export function declaredTypes({ type, nullable }: SchemaObject): string[] {
  const types = [type ?? []].flat().map(String)
  const addsNull = nullable === true && types.length > 0 && !types.includes('null')
  return addsNull ? [...types, 'null'] : types
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'integer' : typeof value
}

/** The types that two rules allow together: an integer is a number. */
function typesInBoth(left: readonly string[], right: readonly string[]): string[] {
  if (left.includes(ANY)) return [...right]
  if (right.includes(ANY)) return [...left]
  return left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === 'integer') return right.includes('number') ? [type] : []
    return type === 'number' && right.includes('integer') ? ['integer'] : []
  })
}

/** The lists of alternatives in a schema. */
export function choicesIn({ anyOf, oneOf }: SchemaObject): unknown[][] {
  return [anyOf, oneOf].filter((schemas) => Array.isArray(schemas))
}

/**
 * The alternatives in a schema, and the alternatives in them, each together with the schemas that it is in. The schema
 * itself if it has none.
 * @param enclosing the schemas that it is in
 */
export function alternativesOf(
  schema: unknown,
  flatten: FlattenAny,
  enclosing: readonly unknown[] = [],
): unknown[] {
  const schemas = [...enclosing, schema]
  const branches = flatten(schema).flatMap(choicesIn).flat()
  if (branches.length > 0)
    return branches.flatMap((branch) => alternativesOf(branch, flatten, schemas))
  return enclosing.length === 0 ? [schema] : [{ allOf: schemas }]
}

/** The types that the alternatives of a schema allow: {@link ANY} among them if one allows all. */
export function typesOfAlternatives(schema: unknown, flatten: FlattenAny): ReadonlySet<string> {
  const alternatives = alternativesOf(schema, flatten)
  return new Set(alternatives.flatMap((alternative) => allowedTypes(alternative, flatten)))
}

/** The schemas of the items of a list. The items that several schemas describe must fit all of them. */
export function itemSchemasOf(schema: unknown, flatten: FlattenAny): unknown[] {
  const described = flatten(schema).flatMap((part) => part['items'] ?? [])
  const items = described.length > 1 ? [{ allOf: described }] : described
  const places = flatten(schema).flatMap((part) => [
    part['prefixItems'] ?? [],
    part['unevaluatedItems'] ?? [],
  ])
  return [...items, ...places.flat()]
}
