// Compiles the request bodies and responses of a contract for bodies.ts and answer.ts.
import type { Body, Media, Reading, Response } from '../engine/contract/compiled.ts'
import { bodyKind } from '../engine/contract/bodies.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries } from './references.ts'
import type { Context } from './schemas.ts'
import {
  allFields,
  allowedTypes,
  bytesRule,
  schemaWith,
  readingOf,
  textTypes,
  UNREADABLE,
} from './shapes.ts'
import { isObject } from '../engine/json-schema/assertions.ts'

/** The maximum length of a body in bytes, unless the contract sets `x-body-limit`; of bytes and of forms in parts. */
const [MAX_BODY_BYTES, MAX_FILE_BYTES] = [102_400, 1_048_576]
const WITHOUT_BODY = /^(204|205|304)$/

/** A request body, by media type. */
export function readBody(
  context: Context,
  { required = false, content: described }: openapi.RequestBody,
): Body {
  const { refuse } = context.findings
  const content: Record<string, Media> = {}
  for (const { type, media, kind } of servedContent(context, described, 'request')) {
    const standard = required ? undefined : schemaWith(media.schema, 'default')
    if (standard)
      refuse(standard, 'the default of a whole body is not served: leave it out', 'default')
    const name = type.toLowerCase()
    if (name in content)
      refuse(deref(described), `the media type ${type} is there twice: leave one out`, type)
    const schema = addSchema(context, kind, media)
    const fields = kind === 'form' || kind === 'pairs' ? readFields(context, kind, media) : {}
    content[name] = { schema, limit: readLimit(context, kind, media), ...fields }
  }
  return { required, content }
}

/** A response, by media type. */
export function readResponse(
  context: Context,
  status: string,
  response: openapi.Response,
): Response {
  const { refuse, note } = context.findings
  const isEmpty = WITHOUT_BODY.test(status)
  if (isEmpty && derefEntries(response.content).length > 0)
    note(response, `in HTTP, ${status} has no body: leave it out`, 'content')
  for (const [name, header] of derefEntries(response.headers)) {
    if (/^content-type$/i.test(name)) continue // OpenAPI 3.1.0, section 4.8.17.1
    if (header.schema === undefined || /object|array/.test(textTypes(header.schema).join()))
      refuse(
        header,
        `the header ${name} is not served: write a "schema" of one text, number or boolean`,
      )
  }
  const served = isEmpty ? [] : servedContent(context, response.content, 'response')
  return Object.fromEntries(
    served.map(({ type, media, kind }) => [type, addSchema(context, kind, media)]),
  )
}

/** The media types that are served. The others are left out if there are any. */
function servedContent({ findings }: Context, content: openapi.Response['content'], use: Use) {
  const all = derefEntries(content).map(([range, media]) => {
    const isJson = use === 'response' && range === '*/*' && bytesRule(media.schema) === undefined
    const type = isJson ? 'application/json' : range
    return { range, type, media, kind: bodyKind(type), fault: mediaFault(type, media, use) }
  })
  const served = all.filter(({ fault }) => fault === undefined)
  for (const { range, media, fault } of all) {
    if (fault === undefined) continue
    const [text, ...path] = fault
    if (served.length === 0) findings.refuse(media, text, ...path)
    else findings.note(media, `${range} is left out: ${text}`, ...path)
  }
  return served
}

/** Why a media type is not served, and the member that says so. */
export function mediaFault(
  type: string,
  { schema, ...media }: openapi.MediaType,
  use: Use,
): [text: string, ...path: string[]] | undefined {
  const kind = bodyKind(type)
  if (typeof kind !== 'string') return [`the media type ${type} is not served: ${kind.instead}`]
  if (use === 'response' && /^(form|pairs)$/.test(kind))
    return [`${type} is no response: write application/json`]
  const types = allowedTypes(schema).join()
  const { minLength } = bytesRule(schema) ?? { minLength: 'not only bytes' }
  const wanted = {
    json: undefined,
    form:
      types === 'object' ? undefined : '"type: object", with a property for each field and file',
    pairs: types === 'object' ? undefined : '"type: object", with a property for each field',
    text: /^(string|any)$/.test(types) ? undefined : '"type: string"',
    bytes:
      minLength === undefined
        ? undefined
        : '"type: string, format: binary", at most with a maxLength',
  }[kind]
  if (wanted !== undefined)
    return [`the schema of ${type} is not served: write ${wanted}`, 'schema']
  return media.encoding === undefined
    ? undefined
    : ['"encoding" is not served: leave it out', 'encoding']
}

type Kind = ReturnType<typeof bodyKind>
type Use = 'request' | 'response'

/** Adds the schema of a media type. @returns its id; null if there is none, or if the body is bytes */
function addSchema({ schemas }: Context, kind: Kind, { schema }: openapi.MediaType): string | null {
  return schema === undefined || kind === 'bytes'
    ? null
    : schemas.add(schema, kind === 'form' ? 'form' : 'json')
}

/** The maximum length of a body in bytes. */
function readLimit({ root, findings }: Context, kind: Kind, media: openapi.MediaType): number {
  const key = 'x-body-limit'
  const holder = [media, root].find((each) => key in each)
  const usual = kind === 'bytes' || kind === 'form' ? MAX_FILE_BYTES : MAX_BODY_BYTES
  const limit = holder === undefined ? usual : Number(Reflect.get(holder, key))
  if (!Number.isSafeInteger(limit) || limit < 1)
    findings.refuse(holder ?? media, `${key} must be a number of bytes, from 1`, key)
  if (holder === undefined)
    findings.note(media, `a body without "${key}" is taken up to ${usual} bytes`)
  return kind === 'bytes' ? Math.min(limit, bytesRule(media.schema)?.maxLength ?? limit) : limit
}

/** How the fields of a form are read. */
function readFields(context: Context, kind: Kind, { schema }: openapi.MediaType): Partial<Media> {
  const isMultipart = kind === 'form'
  const add = (schema: unknown) => context.schemas.add(schema, isMultipart ? 'form' : 'json')
  const read = (name: string, all: readonly unknown[]): Reading => {
    const one = all.length === 1 ? all[0] : { anyOf: all }
    const { reading, itemSchema, isRead } = readingOf(one, true, isMultipart ? 'parts' : 'pairs')
    if (!isRead)
      context.findings.refuse(all.find(isObject) ?? {}, `the field ${name} ${UNREADABLE}`)
    if (reading.types.length < 2 && reading.list !== 'either') return reading
    return {
      ...reading,
      schema: add(one),
      ...(itemSchema !== undefined && { items: add(itemSchema) }),
    }
  }
  const fields = [...allFields(schema)].map(([name, all]) => [name, read(name, [...all])] as const)
  const others = schemaWith(schema, 'additionalProperties')?.['additionalProperties']
  return {
    fields: Object.fromEntries(fields),
    ...(isObject(others) && { others: read('', [others]) }),
  }
}
