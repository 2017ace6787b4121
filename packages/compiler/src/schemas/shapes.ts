// Finds the values allowed by a schema of the document: by its keywords, its reference and its composition.
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

/** How a value is written in a request or a response. Only forms have files. */
export type ValueSyntax = 'json' | 'form'

type Resolve = (node: unknown) => unknown

export const schemasAt = (schema: SchemaObject, key: string): unknown[] =>
  Object.values(schema[key] ?? {})

/** A schema with the targets of its references and `allOf`. @param resolve follows a reference */
export const flattenedSchema = (schema: unknown, resolve: Resolve = resolveReference) =>
  flattenedSchemaBy<SchemaObject>(schema, resolve)

export const schemaWith = (schema: unknown, key: string, resolve?: Resolve) =>
  flattenedSchema(schema, resolve).find((part) => part[key] !== undefined)

export const allowedTypes = (schema: unknown) => allowedTypesBy(schema, flattenedSchema)

/** The schemas of form fields by name, from all alternatives of the form. The empty name has the schemas of unnamed fields. */
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

/** The schemas of all properties: by name, by pattern, additional and unevaluated ones. */
export const propertySchemasOf = (schema: unknown): unknown[] => [
  ...[...fieldsOf(schema).values()].flat(),
  ...otherSchemasOf(schema),
]

/** The schemas of properties without names: by pattern, additional and unevaluated ones. */
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

/** The bounds of a file's length, in bytes. Undefined if its schema has other rules. */
export function bytesRule(schema: unknown): Pick<Keywords, 'minLength' | 'maxLength'> | undefined {
  const rule: Record<string, number> = {}
  for (const [key, value] of flattenedSchema(schema).flatMap((part) => Object.entries(part))) {
    if (/^(min|max)Length$/.test(key)) rule[key] = Number(value)
    else if (!ANNOTATIONS.test(key) && member(BYTES, key) !== value) return undefined
  }
  return rule
}

/** The bounds of a file's length, in bytes, whatever its other rules. */
export function lengthsOf(schema: unknown): Pick<Keywords, 'minLength' | 'maxLength'> {
  const keywords = flattenedSchema(schema).flatMap((part) => Object.entries(part))
  const lengths = keywords.filter(([key]) => /^(min|max)Length$/.test(key))
  return Object.fromEntries(lengths.map(([key, value]) => [key, Number(value)]))
}

/** Whether a schema of a form describes a file: by `contentMediaType` of OpenAPI 3.1, or `format: binary` of 3.0. */
export function isFile(schema: unknown): boolean {
  const schemas = flattenedSchema(schema)
  const isBinary = schemas.some(
    ({ format, contentMediaType, contentEncoding }) =>
      format === 'binary' || contentMediaType !== undefined || contentEncoding !== undefined,
  )
  return isBinary && schemas.every(({ contentEncoding = 'binary' }) => contentEncoding === 'binary')
}

/** The place of a string. Only forms may have objects, as JSON; only multipart forms have files. */
type StringPlace = 'parameter' | 'urlencoded' | 'multipart'

/** Whether every value of a schema can be sent: as a string, a file, or a list of them. */
export function isReadable(schema: unknown, place: StringPlace): boolean {
  return alternativesOf(schema, flattenedSchema).every((alternative) => {
    const types = allowedTypes(alternative).filter((type) => type !== 'array')
    return areStrings(types, alternative, place) && hasStringItems(alternative, place)
  })
}

function hasStringItems(schema: unknown, place: StringPlace): boolean {
  if (!allowedTypes(schema).includes('array')) return true
  const items = itemSchemasOf(schema, flattenedSchema)
  const alternatives = items.flatMap((item) => alternativesOf(item, flattenedSchema))
  return alternatives.every((item) => areStrings(allowedTypes(item), item, place))
}

function areStrings(types: readonly string[], schema: unknown, place: StringPlace): boolean {
  if (place === 'multipart' && isFile(schema)) return true
  const isForm = place !== 'parameter'
  return types.every((type) => type !== 'array' && (type !== 'object' || isForm))
}
