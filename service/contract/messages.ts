// Request bodies, responses and errors of a contract, as bodies.ts, answer.ts and errors.ts have them.
import type { Body, ErrorForm, Media, Operation, Response } from './contract.ts'
import type { Place } from './document.ts'
import { writeError } from './errors.ts'
import { kindOf } from './media-types.ts'
import type { Context } from './operations.ts'
import { keywordOf, membersOf, partsOf, typesOf } from './schema-parts.ts'
import { isFile, textTypes } from './schemas.ts'
import { maxJsonBytes, maxLength } from './size.ts'
import { Validators } from './validation.ts'

/** The most bytes of a body for which the contract says nothing else with `x-body-limit`. */
const BODY_LIMIT = 16_384
const STATUS = /^([2-5]\d\d|[2-5]XX|default)$/
const WITHOUT_BODY = /^(204|205|304)$/
/** What is answered without the method, or whatever that gives. */
const OWN_ERRORS = /^(400|401|403|408|413|415|417|431|500|501|503|[45]XX|default)$/
/** Of these nothing need be said. */
const USUAL_ERROR = { type: 'application/json', form: { error: 'status', message: 'message' } } as const

/** A request body, by media type. */
export function readBody(context: Context, place: Place): Body {
  const required = place.get('required').value === true
  const content = place.get('content').entries()
  if (content.length === 0) context.refuse(place, 'a body without media types is not served: write "content"')
  const media = content.map(([type, each]): [string, Media] => {
    const schema = each.get('schema')
    const isForm = kindOf(type) === 'form'
    const standard = required ? undefined : keywordOf(schema, 'default')
    if (standard) context.refuse(standard, 'the default of a whole body is not served: leave it out')
    const id = readMedia(context, type, each, isForm ? 'form' : 'request')
    return [type, { schema: id, limit: readLimit(context, type, each), ...(isForm && { fields: readFields(schema) }) }]
  })
  return { required, content: Object.fromEntries(media) }
}

/** A response, by media type. */
export function readResponse(context: Context, status: string, place: Place): Response {
  const { refuse } = context
  const content = place.get('content')
  if (!STATUS.test(status))
    refuse(place, `the status ${status} is not served: write 200 to 599, 2XX to 5XX, or default`)
  if (WITHOUT_BODY.test(status) && content.entries().length > 0) refuse(content, `${status} has no body: leave it out`)
  for (const [name, header] of place.get('headers').entries()) {
    const schema = header.get('schema')
    const isText = schema.value !== undefined && !textTypes(schema).some((type) => /^(object|array)$/.test(type))
    // OpenAPI 3.1.0, section 4.8.17.1: Content-Type is ignored.
    if (isText || /^content-type$/i.test(name)) continue
    refuse(header, `the header ${name} is not served: write a "schema" of one text, number or boolean`)
  }
  return Object.fromEntries(content.entries().map(([type, each]) => [type, readMedia(context, type, each, 'response')]))
}

/** How the errors are written that the service answers by itself, where that is not as usual. */
export function readErrors(context: Context, responses: readonly [string, Place][]): Operation['errors'] {
  const all = responses.filter(([status]) => /^[45d]/.test(status))
  const errors = all.map(([status, place]) => [status, readError(context, status, place.get('content'))] as const)
  const isUsual = (error: unknown) => JSON.stringify(error) === JSON.stringify(USUAL_ERROR)
  return Object.fromEntries(
    errors.flatMap(([status, error]) => (error === undefined || isUsual(error) ? [] : [[status, error]])),
  )
}

/** Undefined for one that only a method gives, and in a form that is not known. */
function readError(
  { schemas, ...context }: Context,
  status: string,
  content: Place,
): Operation['errors'][string] | undefined {
  const refuse = (place: Place, fault: string) => {
    if (OWN_ERRORS.test(status)) context.refuse(place, fault)
  }
  if (content.entries().length === 0) return null
  const [type, media] = content.entries().find(([each]) => ['json', 'text'].includes(kindOf(each) as string)) ?? []
  if (type === undefined || media === undefined) {
    refuse(content, `the service answers ${status} by itself, as JSON or text: write application/json`)
    return undefined
  }
  if (kindOf(type) === 'text') return { type, form: null }
  const schema = media.get('schema')
  if (schema.value === undefined) return { ...USUAL_ERROR, type }
  const id = schemas.add(schema, 'response')
  const form = schemas.errorForms.get(id) ?? errorForm(schema, id, schemas.all)
  if (form !== undefined) {
    schemas.errorForms.set(id, form)
    return { type, form }
  }
  const known = 'error, code or status for the number, message or detail for the text, or those of RFC 9457'
  refuse(schema, `the service answers ${status} by itself, and fills in only ${known}: require no other`)
  return undefined
}

/** The id of the schema of a media type; null if there is none, or no use for one. */
function readMedia(
  { schemas, refuse }: Context,
  type: string,
  place: Place,
  use: 'request' | 'form' | 'response',
): string | null {
  const kind = kindOf(type)
  const [schema, encoding] = [place.get('schema'), place.get('encoding')]
  const types = schema.value === undefined ? undefined : typesOf(schema)?.join()
  const fault = (wanted: string) => refuse(schema, `the schema of ${type} is not served: write ${wanted}`)
  if (typeof kind !== 'string') refuse(place, `the media type ${type} is not served: ${kind.instead}`)
  else if (kind === 'form' && use === 'response') refuse(place, `${type} is no response: write application/json`)
  else if (kind === 'form' && types !== 'object') fault('"type: object", with a property for each field and file')
  else if (kind === 'text' && types !== undefined && types !== 'string') fault('"type: string"')
  else if (kind === 'bytes' && schema.entries().length > 0 && !isFile(schema)) fault('"type: string, format: binary"')
  else if (encoding.value !== undefined) refuse(encoding, '"encoding" is not served: leave it out')
  else if (schema.value !== undefined && kind !== 'bytes') return schemas.add(schema, use)
  return null
}

/** The most bytes of a body. What the schema allows beyond that must be refused by the contract itself. */
function readLimit({ root, refuse }: Context, type: string, place: Place): number {
  const limit = [place, root].map((each) => each.get('x-body-limit')).find(({ value }) => value !== undefined)
  if (limit !== undefined) {
    const isCount = Number.isSafeInteger(limit.value) && Number(limit.value) > 0
    if (!isCount) refuse(limit, 'x-body-limit is a number of bytes, from 1')
    return Number(limit.value)
  }
  const [kind, schema] = [kindOf(type), place.get('schema')]
  const most = kind === 'json' ? maxJsonBytes(schema) : kind === 'text' ? 4 * maxLength(partsOf(schema)) : Infinity
  if (most > BODY_LIMIT && typeof kind === 'string') {
    const instead = `write "x-body-limit: ${BODY_LIMIT}", or more, here or at the top`
    const allowed = most === Infinity ? 'any length' : `${most} bytes`
    refuse(place, `the schema allows a body of ${allowed}, and ${BODY_LIMIT} bytes are taken: ${instead}`)
  }
  return BODY_LIMIT
}

/** What the fields of a form are read as. */
function readFields(schema: Place): NonNullable<Media['fields']> {
  const fields = [...membersOf(partsOf(schema))].map(([name, place]) => {
    const items = textTypes(place).join() === 'array' ? keywordOf(place, 'items') : undefined
    const [type = 'any'] = textTypes(items ?? place)
    return [name, { type: isFile(items ?? place) ? 'file' : type, isList: items !== undefined }] as const
  })
  return Object.fromEntries(fields)
}

/** What a member of an error is given, by its name and its type: those of RFC 9457, and what is usual beside. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /^(integer|number|int64)$/, 'status'],
  [/^(code|status|statusCode|status_code)$/, /^string$/, 'digits'],
  [/^type$/, /^string$/, 'blank'],
  [/^title$/, /^string$/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /^string$/, 'message'],
]

/** How to write an error that a schema accepts; undefined if it is not known how. */
function errorForm(schema: Place, id: string, schemas: Context['schemas']['all']): ErrorForm | undefined {
  const members = [...membersOf(partsOf(schema))].flatMap(([name, place]) => {
    const types = typesOf(place) ?? []
    const found = MEMBERS.find(([names, type]) => names.test(name) && types.some((each) => type.test(each)))
    return found === undefined ? [] : [[name, found[2]] as const]
  })
  const form = Object.fromEntries(members)
  const accepts = new Validators(schemas, false).of('body', { $ref: id })
  return accepts({ body: writeError(form, 400, 'reason') }) === undefined ? form : undefined
}
