// Finds out which values a schema of the document allows: by its own keywords, its reference and its composition.
import {
  allowedTypes as allowedTypesBy,
  alternativesOf,
  flattenedSchema as flattenedSchemaBy,
  isObject,
  itemSchemasOf,
  type Keywords,
  type SchemaObject,
} from '@plant-store/json-schema'
import { member, resolveReference } from '../read/references.ts'

export { declaredTypes, type SchemaObject } from '@plant-store/json-schema'

/** How values are sent: only a form has files. */
export type SentAs = 'json' | 'form'

type Resolve = (node: unknown) => unknown

/** The schemas of a keyword with several schemas, in a list or by name. */
export const schemasAt = (schema: SchemaObject, key: string): unknown[] =>
  Object.values(schema[key] ?? {})

/** Flattens a schema: all schemas that a value of it must fit. @param resolve finds the target of a reference */
export const flattenedSchema = (schema: unknown, resolve: Resolve = resolveReference) =>
  flattenedSchemaBy<SchemaObject>(schema, resolve)

/** Of the schemas that a value must fit, the first with a keyword. */
export const schemaWith = (schema: unknown, key: string, resolve?: Resolve) =>
  flattenedSchema(schema, resolve).find((part) => part[key] !== undefined)

/** The types that a schema allows, or `any`. */
export const allowedTypes = (schema: unknown) => allowedTypesBy(schema, flattenedSchema)

/** The schemas of the fields of a form by name, from all alternatives of its schema; by an empty name, of any other field. */
export function fieldsOf(form: unknown): Map<string, unknown[]> {
  const fields = new Map<string, unknown[]>()
  const add = (name: string, schema: unknown): void => {
    const schemas = fields.get(name) ?? []
    fields.set(name, schemas.includes(schema) ? schemas : [...schemas, schema])
  }
  for (const alternative of alternativesOf(form, flattenedSchema))
    for (const { properties } of flattenedSchema(alternative))
      for (const [name, schema] of Object.entries(properties ?? {})) add(name, schema)
  const additional = schemaWith(form, 'additionalProperties')?.['additionalProperties']
  if (isObject(additional)) add('', additional)
  return fields
}

/** The schemas of the members of an object, in whatever way they are described. */
export const memberSchemasOf = (schema: unknown): unknown[] => [
  ...[...fieldsOf(schema).values()].flat(),
  ...otherSchemasOf(schema),
]

/** The schemas of the members of an object that are not described by their names. */
export function otherSchemasOf(schema: unknown): unknown[] {
  const alternatives = alternativesOf(schema, flattenedSchema)
  const parts = alternatives.flatMap((alternative) => flattenedSchema(alternative))
  const others = parts.flatMap((part) => [
    ...schemasAt(part, 'patternProperties'),
    part['additionalProperties'] ?? false,
    part['unevaluatedProperties'] ?? false,
  ])
  return others.filter((schema) => schema !== false)
}

const ANNOTATIONS =
  /^(title|description|examples?|externalDocs|deprecated|\$(ref|comment)|contentMediaType|format|writeOnly|xml|x-.*)$/
const BYTES = { type: 'string', contentEncoding: 'binary' }

/** The bounds of the length of bytes. Undefined if a schema says more of them than their length. */
export function bytesRule(schema: unknown): Pick<Keywords, 'minLength' | 'maxLength'> | undefined {
  const rule: Record<string, number> = {}
  for (const [key, value] of flattenedSchema(schema).flatMap((part) => Object.entries(part))) {
    if (/^(min|max)Length$/.test(key)) rule[key] = Number(value)
    else if (!ANNOTATIONS.test(key) && member(BYTES, key) !== value) return undefined
  }
  return rule
}

/** Whether a schema of a form describes a file. `contentMediaType` of OpenAPI 3.1 took the place of `format: binary`. */
export function isFile(schema: unknown): boolean {
  const schemas = flattenedSchema(schema)
  const isBinary = schemas.some(
    ({ format, contentMediaType, contentEncoding }) =>
      format === 'binary' || contentMediaType !== undefined || contentEncoding !== undefined,
  )
  return isBinary && schemas.every(({ contentEncoding = 'binary' }) => contentEncoding === 'binary')
}

/** Where a text is sent: only a form may have objects, as JSON, and only one in parts files. */
type TextPlace = 'parameter' | 'urlencoded' | 'multipart'

/** Whether each value of a schema can be sent: as a text, as a file, or as a list of these. */
export function isReadable(schema: unknown, place: TextPlace): boolean {
  return alternativesOf(schema, flattenedSchema).every((alternative) => {
    const types = allowedTypes(alternative).filter((type) => type !== 'array')
    return areTexts(types, alternative, place) && hasTextItems(alternative, place)
  })
}

/** Whether the items of a list can be sent. */
function hasTextItems(schema: unknown, place: TextPlace): boolean {
  if (!allowedTypes(schema).includes('array')) return true
  const items = itemSchemasOf(schema, flattenedSchema)
  const alternatives = items.flatMap((item) => alternativesOf(item, flattenedSchema))
  return alternatives.every((item) => areTexts(allowedTypes(item), item, place))
}

function areTexts(types: readonly string[], schema: unknown, place: TextPlace): boolean {
  if (place === 'multipart' && isFile(schema)) return true
  const isForm = place !== 'parameter'
  return types.every((type) => type !== 'array' && (type !== 'object' || isForm))
}

export const UNREADABLE =
  'needs a "type" that a text can have: integer, number, boolean, string, or a list of these'
