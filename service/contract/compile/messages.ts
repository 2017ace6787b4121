// Request bodies, responses and errors of a contract, as bodies.ts, answer.ts and errors.ts have them.
import { isDeepStrictEqual } from 'node:util'
import type { Body, ErrorForm, ErrorFormat, Media, Response } from '../compiled.ts'
import { writeError } from '../errors.ts'
import { kindOf } from '../bodies.ts'
import { entriesOf } from './document.ts'
import type * as openapi from './openapi.ts'
import type { Context, Use } from './schemas.ts'
import { isFile, maxJsonBytes, maxLength, membersOf, partsOf, partWith, textType, typesOf } from './shapes.ts'

/** The most bytes of a body for which the contract says nothing else with `x-body-limit`. */
const MAX_BODY_BYTES = 16_384
const STATUS = /^([2-5]\d\d|[2-5]XX|default)$/
const WITHOUT_BODY = /^(204|205|304)$/
/** What is answered without the method, or whatever that gives. */
const OWN_ERRORS = /^(400|401|403|408|413|415|417|431|500|501|503|[45]XX|default)$/
/** Of these nothing need be said. */
const USUAL_ERROR = { type: 'application/json', form: { error: 'status', message: 'message' } } as const

/** A request body, by media type. */
export function readBody(context: Context, body: NonNullable<openapi.Operation['requestBody']>): Body {
  const { required = false, content } = body
  const all = entriesOf(content)
  if (all.length === 0) context.refuse(body, 'a body without media types is not served: write "content"')
  const media = all.map(([type, each]): [string, Media] => {
    const isForm = kindOf(type) === 'form'
    const standard = required ? undefined : partWith(each.schema, 'default')
    if (standard) context.refuse(standard, 'the default of a whole body is not served: leave it out', 'default')
    const schema = readMedia(context, type, each, isForm ? 'form' : 'request')
    return [type, { schema, limit: readLimit(context, type, each), ...(isForm && { fields: readFields(each.schema) }) }]
  })
  return { required, content: Object.fromEntries(media) }
}

/** A response, by media type. */
export function readResponse(context: Context, status: string, response: openapi.Response): Response {
  const { refuse } = context
  const content = entriesOf(response.content)
  if (!STATUS.test(status))
    refuse(response, `the status ${status} is not served: write 200 to 599, 2XX to 5XX, or default`)
  if (WITHOUT_BODY.test(status) && content.length > 0)
    refuse(response, `${status} has no body: leave it out`, 'content')
  for (const [name, header] of entriesOf(response.headers)) {
    // OpenAPI 3.1.0, section 4.8.17.1: Content-Type is ignored.
    if (/^content-type$/i.test(name) || (header.schema !== undefined && !/object|array/.test(textType(header.schema))))
      continue
    refuse(header, `the header ${name} is not served: write a "schema" of one text, number or boolean`)
  }
  return Object.fromEntries(content.map(([type, each]) => [type, readMedia(context, type, each, 'response')]))
}

/** The id of the schema of a media type; null if there is none, or no use for one. */
function readMedia({ schemas, refuse }: Context, type: string, media: openapi.MediaType, use: Use): string | null {
  const kind = kindOf(type)
  const { schema } = media
  const types = schema === undefined ? undefined : typesOf(schema)?.join()
  const isAny = partsOf(schema).every((part) => Object.keys(part).length === 0)
  const fault = (wanted: string) => refuse(media, `the schema of ${type} is not served: write ${wanted}`, 'schema')
  if (typeof kind !== 'string') refuse(media, `the media type ${type} is not served: ${kind.instead}`)
  else if (kind === 'form' && use === 'response') refuse(media, `${type} is no response: write application/json`)
  else if (kind === 'form' && types !== 'object') fault('"type: object", with a property for each field and file')
  else if (kind === 'text' && types !== undefined && types !== 'string') fault('"type: string"')
  else if (kind === 'bytes' && !isAny && !isFile(schema)) fault('"type: string, format: binary"')
  else if ('encoding' in media) refuse(media, '"encoding" is not served: leave it out', 'encoding')
  else if (schema !== undefined && kind !== 'bytes') return schemas.add(schema, use)
  return null
}

/** The most bytes of a body. What the schema allows beyond that must be refused by the contract itself. */
function readLimit({ root, refuse }: Context, type: string, media: openapi.MediaType): number {
  const holder = [media, root].find((each) => each['x-body-limit'] !== undefined)
  const limit = Number(holder?.['x-body-limit'] ?? MAX_BODY_BYTES)
  if (holder && !(Number.isSafeInteger(limit) && limit > 0))
    refuse(holder, 'x-body-limit is a number of bytes, from 1', 'x-body-limit')
  const [kind, { schema }] = [kindOf(type), media]
  const most = kind === 'json' ? maxJsonBytes(schema) : kind === 'text' ? 4 * maxLength(partsOf(schema)) : Infinity
  if (holder === undefined && most > limit && typeof kind === 'string') {
    const allowed = most === Infinity ? 'any length' : `${most} bytes`
    const instead = `write "x-body-limit: ${limit}", or more, here or at the top`
    refuse(media, `the schema allows a body of ${allowed}, and ${limit} bytes are taken: ${instead}`)
  }
  return limit
}

/** What the fields of a form are read as. */
function readFields(schema: unknown): NonNullable<Media['fields']> {
  const fields = [...membersOf(partsOf(schema))].map(([name, field]) => {
    const isList = textType(field) === 'array'
    const one = isList ? partWith(field, 'items')?.['items'] : field
    return [name, { type: isFile(one) ? 'file' : textType(one), isList }] as const
  })
  return Object.fromEntries(fields)
}

/** What a member of an error is given, by its name and its type: those of RFC 9457, and what is usual beside. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /integer|number|int64/, 'status'],
  [/^(code|status|statusCode|status_code)$/, /string/, 'digits'],
  [/^type$/, /string/, 'blank'],
  [/^title$/, /string/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /string/, 'message'],
]

/** How to write the errors that the service answers by itself, by status, where that is not as usual. */
export function readErrors(context: Context, responses: readonly (readonly [string, openapi.Response])[]) {
  const errors = responses
    .filter(([status]) => /^[45d]/.test(status))
    .flatMap(([status, response]) => {
      const error = readError(context, status, response)
      return error === undefined || isDeepStrictEqual(error, USUAL_ERROR) ? [] : [[status, error] as const]
    })
  return Object.fromEntries(errors)
}

/** Undefined for an error that only a method gives, in a form that is not known. */
function readError({ schemas, refuse }: Context, status: string, response: openapi.Response): ErrorFormat | undefined {
  const content = entriesOf(response.content)
  const [type, media] = content.find(([each]) => ['json', 'text'].includes(kindOf(each) as string)) ?? []
  if (content.length === 0) return null
  if (type !== undefined && kindOf(type) === 'text') return { type, form: null }
  if (type !== undefined && media?.schema === undefined) return { ...USUAL_ERROR, type }
  const members = [...membersOf(partsOf(media?.schema))].map(([name, member]) => {
    const found = MEMBERS.find(([names, types]) => names.test(name) && types.test(textType(member)))
    return [name, found?.[2]] as const
  })
  const form = Object.fromEntries(members.filter(([, given]) => given !== undefined)) as ErrorForm
  if (type !== undefined && schemas.accepts(media?.schema, writeError(form, 400, 'reason'))) return { type, form }
  const known = 'error, code or status for the number, message or detail for the text, or those of RFC 9457'
  const instead =
    type === undefined ? 'as JSON or text: write application/json' : `and fills in only ${known}: require no other`
  if (OWN_ERRORS.test(status))
    refuse(media ?? response, `the service answers ${status} by itself, ${instead}`, media ? 'schema' : 'content')
  return undefined
}
