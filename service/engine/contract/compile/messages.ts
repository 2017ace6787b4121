// Compiles the request bodies, responses and errors of a contract for bodies.ts, answer.ts and errors.ts.
import { isDeepStrictEqual } from 'node:util'
import type { Body, ErrorForm, ErrorFormat, Media, Response } from '../compiled.ts'
import { writeError } from '../errors.ts'
import { bodyKind } from '../bodies.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries } from './references.ts'
import type { Use } from './keywords.ts'
import type { Context } from './schemas.ts'
import { allMembers, allowedTypes, allParts, isFile, partWith, textType } from './shapes.ts'

/** The maximum length of a body in bytes, unless the contract sets `x-body-limit`. */
const MAX_BODY_BYTES = 1_048_576
const STATUS = /^([2-5]\d\d|[2-5]XX|default)$/
const WITHOUT_BODY = /^(204|205|304)$/
/** The statuses that the service may answer without the method. */
const SERVICE_ERRORS = /^(400|401|403|408|413|415|417|431|500|501|503|[45]XX|default)$/
/** The usual format of an error. */
const USUAL_ERROR = { type: 'application/json', form: { error: 'status', message: 'message' } } as const

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
    const limit = readLimit(context, each)
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

/** The maximum length of a body in bytes. */
function readLimit({ root, refuse, note }: Context, media: openapi.MediaType): number {
  const key = 'x-body-limit'
  const holder = [media, root].find((each) => key in each)
  if (holder === undefined) {
    note(media, `a body of up to ${MAX_BODY_BYTES} bytes is taken, more is 413: "${key}" changes that`)
    return MAX_BODY_BYTES
  }
  const limit = Number(Reflect.get(holder, key))
  if (!Number.isSafeInteger(limit) || limit < 1) refuse(holder, `${key} must be a number of bytes, from 1`, key)
  return limit
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

/** The content of an error's member, by its name and type: the members of RFC 9457, and other usual names. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /integer|number|int64/, 'status'],
  [/^(code|status|statusCode|status_code)$/, /string/, 'digits'],
  [/^type$/, /string/, 'blank'],
  [/^title$/, /string/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /string/, 'message'],
]

/** The formats of the service's own errors, by status. There are none if all are usual. */
export function readErrors(context: Context, responses: readonly (readonly [string, openapi.Response])[]) {
  const errors = responses
    .filter(([status]) => /^[45d]/.test(status))
    .map(([status, response]) => [status, readError(context, status, response)] as const)
  return errors.every(([, error]) => isDeepStrictEqual(error, USUAL_ERROR)) ? {} : Object.fromEntries(errors)
}

/** The format of an error. Where none of its members is known, only a method can answer with it. */
function readError({ schemas, refuse }: Context, status: string, response: openapi.Response): ErrorFormat {
  const content = derefEntries(response.content)
  if (content.length === 0) return null
  const isService = SERVICE_ERRORS.test(status)
  const byItself = `the service answers ${status} by itself,`
  const [type, media] = content.find(([each]) => ['json', 'text'].includes(bodyKind(each) as string)) ?? []
  if (type === undefined || media === undefined) {
    if (isService) refuse(response, `${byItself} as JSON or text: write application/json`, 'content')
    return USUAL_ERROR
  }
  if (bodyKind(type) === 'text') return { type, form: null }
  if (media.schema === undefined) return { ...USUAL_ERROR, type }
  const members = [...allMembers(allParts(media.schema))].flatMap(([name, member]) => {
    const found = MEMBERS.find(([names, types]) => names.test(name) && types.test(textType(member)))
    return found === undefined ? [] : [[name, found[2]] as const]
  })
  if (members.length === 0 && !isService) return USUAL_ERROR
  const form = Object.fromEntries(members)
  const known = 'error, code or status for the number, message or detail for the text, or those of RFC 9457'
  const fault = `${byItself} and fills in only ${known}: require no other`
  const schema = { $ref: schemas.add(media.schema, 'response') }
  if (isService) schemas.addValue(writeError(form, 400, 'reason'), schema, media, 'schema', fault)
  return { type, form }
}
