// Checks the field `encoding` of a form: only the defaults are served (OpenAPI 3.1.0, section 4.8.15).
import { isObject } from '@plant-store/json-schema'
import { deref, member } from '../read/references.ts'
import { allowedTypes, fieldsOf, isFile, schemaWith } from '../schemas/shapes.ts'

const TEXT = 'text/plain'
const JSON_TYPE = 'application/json'
const BYTES = 'application/octet-stream'

/** Whether an `encoding` has the defaults of all fields. @param schema the schema of the form */
export function isUsualEncoding(schema: unknown, encoding: object): boolean {
  const fields = fieldsOf(schema)
  for (const [name, written] of Object.entries(encoding)) {
    const described: unknown = deref(written)
    const schemas = fields.get(name)
    if (!isObject(described) || schemas === undefined) return false
    if (!schemas.every((field) => isUsual(field, described))) return false
  }
  return true
}

function isUsual(schema: unknown, encoding: Readonly<Record<string, unknown>>): boolean {
  const { contentType, style = 'form', allowReserved = false } = encoding
  const isPlain = style === 'form' && isExploded(schema, encoding) && allowReserved === false
  const hasHeaders = Object.keys(encoding['headers'] ?? {}).length > 0
  if (!isPlain || hasHeaders) return false
  return contentType === undefined || isFile(schema) || contentType === usualType(schema)
}

function isExploded(schema: unknown, { explode = true }: Readonly<Record<string, unknown>>) {
  return explode === true || isSingleValue(schema)
}

/** Whether a field is a file or a string. `explode` is a no-op there: it is about lists and objects. */
function isSingleValue(schema: unknown): boolean {
  return isFile(schema) || (usualType(schema) === TEXT && !allowedTypes(schema).includes('array'))
}

/** Whether an `encoding` names media types of files. The service does not check them. */
export function namesTypesOfFiles(schema: unknown, encoding: object): boolean {
  const fields = fieldsOf(schema)
  return Object.entries(encoding).some(([name, written]) => {
    const type = member(deref<unknown>(written), 'contentType')
    return type !== undefined && type !== BYTES && (fields.get(name) ?? []).some(isFile)
  })
}

/** The default media type of a field; undefined if there are several. For a list, it is the type of the items. */
function usualType(schema: unknown): string | undefined {
  if (isFile(schema)) return BYTES
  const types = allowedTypes(schema)
  if (types.join() === 'object') return JSON_TYPE
  if (types.join() === 'array') return usualType(schemaWith(schema, 'items')?.['items'])
  const isText = types.every((type) => !/^(object|array|any)$/.test(type))
  return isText ? TEXT : undefined
}
