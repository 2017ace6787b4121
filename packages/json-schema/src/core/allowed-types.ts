// Finds the types allowed by a schema: by `type`, `enum` and `const`, and by the schemas for the same value.
/** A schema other than `true` and `false`. */
export type SchemaObject = Readonly<Record<string, unknown>>

/** Flattens a schema: see `flattenedSchema`. */
export type FlattenAny = (schema: unknown) => readonly SchemaObject[]

/** Stands for any type. */
export const ANY = 'any'

/** The types allowed by a schema; {@link ANY} if it restricts none. */
export function allowedTypes(schema: unknown, flatten: FlattenAny): string[] {
  let allowed: string[] = [ANY]
  for (const part of flatten(schema)) {
    allowed = typesInBoth(allowed, typesByKeywords(part))
    for (const choice of choicesIn(part)) {
      const types = choice.flatMap((alternative) => allowedTypes(alternative, flatten))
      allowed = typesInBoth(allowed, types)
    }
  }
  return [...new Set(allowed)]
}

/** The types allowed by the keywords of one schema, without the schemas in it. */
function typesByKeywords(schema: SchemaObject): string[] {
  const types = declaredTypes(schema)
  if (types.length > 0) return types
  const values: unknown[] = [schema['enum'] ?? schema['const'] ?? []].flat()
  return values.length > 0 ? values.map(typeOf) : [ANY]
}

/** The types in `type`. `nullable` of OpenAPI 3.0 adds null. */
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

/** The types allowed by two rules at once. An integer is a number. */
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
 * The alternatives in a schema, and those within them, each joined with its enclosing schemas. Without alternatives, the
 * schema itself.
 * @param enclosing the schemas around it
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

/** The schemas of the items of a list. Where several schemas have `items`, an item must fit all of them. */
export function itemSchemasOf(schema: unknown, flatten: FlattenAny): unknown[] {
  const described = flatten(schema).flatMap((part) => part['items'] ?? [])
  const items = described.length > 1 ? [{ allOf: described }] : described
  const places = flatten(schema).flatMap((part) => [
    part['prefixItems'] ?? [],
    part['unevaluatedItems'] ?? [],
  ])
  return [...items, ...places.flat()]
}
