// Finds out which values a schema allows: by its own keywords, its reference and its composition (`allOf`, `anyOf`, ...).
import type { Reading } from '../engine/contract/compiled.ts'
import type { Keywords } from '../engine/json-schema/schema.ts'
import { member, resolveReference } from './references.ts'
import { jointSchemas as jointSchemasBy } from '../engine/json-schema/joint-schemas.ts'

type Resolve = (node: unknown) => unknown

/** A schema that is an object, not a boolean. */
export type SchemaObject = Readonly<Record<string, unknown>>

/** The schemas of a keyword that has several, in a list or by name. */
export const schemasAt = (schema: SchemaObject, key: string): unknown[] =>
  Object.values(schema[key] ?? {})

/** All schemas that a value of this schema must fit. @param resolve finds the target of a reference */
export const jointSchemas = (schema: unknown, resolve: Resolve = resolveReference) =>
  jointSchemasBy<SchemaObject>(schema, resolve)

/** The first joint schema that has a keyword. */
export const schemaWith = (schema: unknown, key: string, resolve?: Resolve) =>
  jointSchemas(schema, resolve).find((each) => each[key] !== undefined)

/** The schemas of the members of a form by name: of the schema itself, and of its alternatives. */
export function allFields(schema: unknown): Map<string, Set<unknown>> {
  const fields = new Map<string, Set<unknown>>()
  for (const { properties } of alternatives(schema).flatMap((each) => jointSchemas(each)))
    for (const [name, one] of Object.entries(properties ?? {}))
      fields.set(name, (fields.get(name) ?? new Set()).add(one))
  return fields
}

/** The lists of alternatives in a schema. */
const allChoices = (schema: SchemaObject) =>
  ['anyOf', 'oneOf'].filter((key) => schema[key] !== undefined).map((key) => schemasAt(schema, key))

/** The types in a schema's own `type`, with null if it is `nullable` as in OpenAPI 3.0. */
export function declaredTypes({ type, nullable }: SchemaObject): string[] {
  const types = [type ?? []].flat().map(String)
  return nullable === true && types.length > 0 ? [...new Set([...types, 'null'])] : types
}

/** The types that a schema and its joint schemas allow together, or `any`. */
export function allowedTypes(schema: unknown): string[] {
  const listed = (each: SchemaObject) => [each['enum'] ?? each['const'] ?? []].flat().map(typeOf)
  const rules = jointSchemas(schema)
    .flatMap((each) => [
      [declaredTypes(each), listed(each)].find(({ length }) => length > 0) ?? ['any'],
      ...allChoices(each).map((choice) => choice.flatMap(allowedTypes)),
    ])
    .filter((rule) => !rule.includes('any'))
  const [first = ['any'], ...others] = rules
  return [...new Set(others.reduce(typesInBoth, first))]
}

const typeOf = (value: unknown) => {
  if (typeof value === 'bigint') return 'integer'
  return value === null ? 'null' : typeof value
}

/** The types that two rules allow together: an integer is a number. */
const typesInBoth = (left: readonly string[], right: readonly string[]): string[] =>
  left.flatMap((type) => {
    if (right.includes(type)) return [type]
    if (type === 'integer') return right.includes('number') ? [type] : []
    return type === 'number' && right.includes('integer') ? ['integer'] : []
  })

/** The types that a text may be parsed as. No text is null. */
export const textTypes = (schema: unknown): string[] =>
  allowedTypes(schema).filter((type) => type !== 'null')

const ANNOTATIONS =
  /^(title|description|examples?|externalDocs|deprecated|\$(ref|comment)|contentMediaType|format|writeOnly|xml|x-.*)$/
const BYTES = { type: 'string', contentEncoding: 'binary' }

/** What a schema says of bytes: nothing but their length. Undefined if it says more. */
export function bytesRule(schema: unknown): Pick<Keywords, 'minLength' | 'maxLength'> | undefined {
  const rule: Record<string, number> = {}
  for (const [key, value] of jointSchemas(schema).flatMap((each) => Object.entries(each))) {
    if (/^(min|max)Length$/.test(key)) rule[key] = Number(value)
    else if (!ANNOTATIONS.test(key) && member(BYTES, key) !== value) return undefined
  }
  return rule
}

/** Whether a schema of a form describes a file. OpenAPI 3.1 has `contentMediaType` for what was `format: binary`. */
export function isFile(schema: unknown): boolean {
  const schemas = jointSchemas(schema)
  const marks = ['contentMediaType', 'contentEncoding']
  const isBinary = schemas.some(
    (each) => each['format'] === 'binary' || marks.some((mark) => each[mark] !== undefined),
  )
  return isBinary && schemas.every(({ contentEncoding = 'binary' }) => contentEncoding === 'binary')
}

/**
 * The alternatives in a schema, and those in them, each with the schemas that it is in; the schema itself if it has none.
 * @param around the schemas that it is in
 */
function alternatives(schema: unknown, around: readonly unknown[] = []): unknown[] {
  const branches = jointSchemas(schema).flatMap(allChoices).flat()
  if (branches.length > 0)
    return branches.flatMap((branch) => alternatives(branch, [...around, schema]))
  return around.length === 0 ? [schema] : [{ allOf: [...around, schema] }]
}

/**
 * How to read the texts of a parameter or of a field.
 * @param explode whether each item of a list has a name of its own
 * @param sentAs a field in `parts` of a multipart form may be a file or JSON; one in `pairs` of another form, JSON
 * @returns also the schema of the items of a list, and whether the texts tell the values apart
 */
export function readingOf(
  schema: unknown,
  explode: boolean,
  sentAs: keyof typeof TYPES = 'parameter',
): { reading: Reading; itemSchema: unknown; isRead: boolean } {
  const typesOf = (one: unknown) => (sentAs === 'parts' && isFile(one) ? ['file'] : textTypes(one))
  const isList = textTypes(schema).includes('array')
  const each = alternatives(schema)
  const items = [...new Set(each.flatMap((one) => jointItems(one)))]
  const own = each.flatMap(typesOf).filter((type) => type !== 'array')
  const types = [
    ...own,
    ...(isList && items.length === 0
      ? ['any']
      : items.flatMap((one) => alternatives(one)).flatMap(typesOf)),
  ]
  const list = !isList ? null : own.length > 0 ? 'either' : explode ? 'repeated' : 'commas'
  const known = TYPES[sentAs].filter((type) => types.includes(type))
  const isRead =
    types.every((type) => known.includes(type)) &&
    (explode || list !== 'either') &&
    !each.some(hasPlaces)
  const itemSchema = items.length > 1 ? { anyOf: items } : items[0]
  return { reading: { types: known, list }, itemSchema, isRead }
}

/** What each item of a list must fit: a schema; several, as one; or none. */
function jointItems(schema: unknown): unknown[] {
  const items = jointSchemas(schema).flatMap((part) => part['items'] ?? [])
  return items.length > 1 ? [{ allOf: items }] : items
}

/** Whether a schema tells the items of a list apart by their places. */
const hasPlaces = (schema: unknown) =>
  ['prefixItems', 'unevaluatedItems'].some((key) => schemaWith(schema, key) !== undefined)

export const UNREADABLE =
  'needs a "type" that a text can have: integer, number, boolean, string, or a list of these'

const SCALARS = ['integer', 'number', 'boolean', 'string', 'any']
/** The types that a text may be read as, by where it is sent, in the order in which they are tried. */
const TYPES = {
  parameter: SCALARS,
  pairs: ['object', ...SCALARS],
  parts: ['file', 'object', ...SCALARS],
}
