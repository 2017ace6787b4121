// Compiles the request bodies and responses of a contract for bodies.ts and answer.ts.
import type { Body, Media, Response } from '../compiled.ts'
import { bodyKind } from '../bodies.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries } from './references.ts'
import type { Use } from './keywords.ts'
import type { Context } from './schemas.ts'
import { allMembers, allowedTypes, allParts, isFile, maxJsonBytes, maxLength, partWith, textType } from './shapes.ts'

/** The maximum length of a body in bytes, unless the contract sets `x-body-limit`. */
const MAX_BODY_BYTES = 16_384
const STATUS = /^([2-5]\d\d|[2-5]XX|default)$/
const WITHOUT_BODY = /^(204|205|304)$/

/** A request body, by media type. */
export function readBody(context: Context, body: openapi.RequestBody): Body {
  const { required = false } = body
  const content = derefEntries(body.content)
  if (content.length === 0) context.refuse(body, 'a body without media types is not served: write "content"')
  const media = content.map(([type, each]): [string, Media] => {
    const isForm = bodyKind(type) === 'form'
    const standard = required ? undefined : partWith(each.schema, 'default')
    if (standard) context.refuse(standard, 'the default of a whole body is not served: leave it out', 'default')
    const schema = readMedia(context, type, each, isForm ? 'form' : 'request')
    const limit = readLimit(context, type, each)
    return [type.toLowerCase(), { schema, limit, ...(isForm && { fields: readFields(each.schema) }) }]
  })
  for (const [index, [type]] of content.entries())
    if (media.findIndex(([each]) => each === type.toLowerCase()) < index)
      context.refuse(deref(body.content), `the media type ${type} is there twice: leave one out`, type)
  return { required, content: Object.fromEntries(media) }
}

/** A response, by media type. */
export function readResponse(context: Context, status: string, response: openapi.Response): Response {
  const { refuse } = context
  const content = derefEntries(response.content)
  if (!STATUS.test(status))
    refuse(response, `the status ${status} is not served: write 200 to 599, 2XX to 5XX, or default`)
  if (WITHOUT_BODY.test(status) && content.length > 0)
    refuse(response, `${status} has no body: leave it out`, 'content')
  for (const [name, header] of derefEntries(response.headers)) {
    if (/^content-type$/i.test(name)) continue // OpenAPI 3.1.0, section 4.8.17.1
    if (header.schema === undefined || /object|array/.test(textType(header.schema)))
      refuse(header, `the header ${name} is not served: write a "schema" of one text, number or boolean`)
  }
  return Object.fromEntries(content.map(([type, each]) => [type, readMedia(context, type, each, 'response')]))
}

/** Adds the schema of a media type. @returns its id; null if there is none, or if the body is bytes */
function readMedia({ schemas, refuse }: Context, type: string, media: openapi.MediaType, use: Use): string | null {
  const kind = bodyKind(type)
  const { schema } = media
  const types = allowedTypes(schema).join()
  const isAny = allParts(schema).every((part) => Object.keys(part).length === 0)
  const fault = (wanted: string) => refuse(media, `the schema of ${type} is not served: write ${wanted}`, 'schema')
  if (typeof kind !== 'string') refuse(media, `the media type ${type} is not served: ${kind.instead}`)
  else if (kind === 'form' && use === 'response') refuse(media, `${type} is no response: write application/json`)
  else if (kind === 'form' && types !== 'object') fault('"type: object", with a property for each field and file')
  else if (kind === 'text' && !/^(string|any)$/.test(types)) fault('"type: string"')
  else if (kind === 'bytes' && !isAny && !isFile(schema)) fault('"type: string, format: binary"')
  else if ('encoding' in media) refuse(media, '"encoding" is not served: leave it out', 'encoding')
  else if (schema !== undefined && kind !== 'bytes') return schemas.add(schema, use)
  return null
}

/** The maximum length of a body in bytes. Refuses a schema that allows more, unless the contract sets `x-body-limit`. */
function readLimit({ root, refuse }: Context, type: string, media: openapi.MediaType): number {
  const key = 'x-body-limit'
  const holder = [media, root].find((each) => key in each)
  const limit = holder === undefined ? MAX_BODY_BYTES : Number(Reflect.get(holder, key))
  const most = maxBytes(bodyKind(type), media.schema)
  if (!Number.isSafeInteger(limit) || limit < 1) {
    refuse(holder ?? media, `${key} must be a number of bytes, from 1`, key)
  } else if (holder === undefined && most > limit) {
    const allowed = most === Infinity ? 'any length' : `${most} bytes`
    const instead = `write "${key}: ${limit}", or more, here or at the top`
    refuse(media, `the schema allows a body of ${allowed}, and ${limit} bytes are taken: ${instead}`)
  }
  return limit
}

function maxBytes(kind: ReturnType<typeof bodyKind>, schema: unknown): number {
  if (kind === 'json') return maxJsonBytes(schema)
  if (kind === 'text') return 4 * maxLength(allParts(schema))
  return typeof kind === 'string' ? Infinity : 0
}

/** The types of the fields of a form. */
function readFields(schema: unknown): NonNullable<Media['fields']> {
  const fields = [...allMembers(allParts(schema))].map(([name, field]) => {
    const isList = textType(field) === 'array'
    const one = isList ? partWith(field, 'items')?.['items'] : field
    return [name, { type: isFile(one) ? 'file' : textType(one), isList }] as const
  })
  return Object.fromEntries(fields)
}
