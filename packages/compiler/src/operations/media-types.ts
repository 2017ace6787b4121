// Compiles the media types of request bodies and responses.
import type {
  Body,
  BodyKind,
  Media,
  Response,
  ResponseMedia,
} from '@plant-store/engine/for-compiler'
import type { Finding } from '../sentences/sentences.ts'
import { bodyKind, type MediaKind } from './body-kinds.ts'
import type { Diagnostics } from '../read/diagnostics.ts'
import type * as openapi from '../read/document.ts'
import { isUsualEncoding } from './encodings.ts'
import { addForm, checkFields, isForm } from './forms.ts'
import { deref, derefEntries } from '../read/references.ts'
import type { Compilation } from '../schemas/schemas.ts'
import { allowedTypes, bytesRule, schemaWith } from '../schemas/shapes.ts'

/** The maximum length of a body in bytes, unless the contract sets `x-body-limit`. */
const MAX_BODY_BYTES = 102_400
/** The maximum length of bytes, and of forms that may have files. */
const MAX_FILE_BYTES = 1_048_576
const WITHOUT_BODY = /^(204|205|304)$/

export function readBody(
  compilation: Compilation,
  { required = false, content: described }: openapi.RequestBody,
): Body {
  const { diagnostics } = compilation
  const content: Record<string, Media> = {}
  for (const served of servedContent(compilation, described, 'request')) {
    const { type, media, kind } = served
    if (kind === 'events') continue
    const standard = required ? undefined : schemaWith(media.schema, 'default')
    if (standard) diagnostics.warn(standard, { code: 'body-default' }, 'default')
    const name = type.toLowerCase()
    if (name in content)
      diagnostics.error(deref(described), { code: 'media-type-twice', type }, type)
    const schema = served.isUnchecked ? null : addSchema(compilation, kind, media)
    if (kind === 'multipart' || kind === 'urlencoded') checkFields(compilation, kind, media)
    content[name] = { kind, schema, limit: readLimit(compilation, kind, media) }
  }
  return { required, content }
}

export function readResponse(
  compilation: Compilation,
  status: string,
  response: openapi.Response,
): Response {
  const { diagnostics } = compilation
  const isEmpty = WITHOUT_BODY.test(status)
  if (isEmpty && derefEntries(response.content).length > 0)
    diagnostics.warn(response, { code: 'response-bodiless', status }, 'content')
  for (const [name, header] of derefEntries(response.headers)) {
    if (/^content-type$/i.test(name)) continue // OpenAPI 3.1.0, section 4.8.17.1
    const { schema, content } = header
    const isText = schema === undefined && content === undefined
    if (isText) diagnostics.warn(header, { code: 'header-untyped', name })
    else if (schema === undefined || /object|array/.test(allowedTypes(schema).join()))
      diagnostics.error(header, { code: 'header-unservable', name })
  }
  const served = isEmpty ? [] : servedContent(compilation, response.content, 'response')
  return Object.fromEntries(
    served.map((media) => [media.type, compileMedia(compilation, media)] as const),
  )
}

/** Compiles a media type. For events, the schema is about the data of each event: a string, or any value in JSON. */
function compileMedia(compilation: Compilation, served: ServedMediaType): ResponseMedia {
  const { kind, media, isUnchecked = false } = served
  if (isUnchecked && kind !== 'events') return { kind, schema: null }
  if (kind !== 'events') return { kind, schema: addSchema(compilation, kind, media) }
  const isText = media.schema === undefined || allowedTypes(media.schema).join() === 'string'
  const dataKind = isText ? 'text' : 'json'
  return { kind: dataKind, schema: addSchema(compilation, dataKind, media), events: true }
}

export interface MediaType {
  /** The key in `content`: a type, or a range such as `image/*`. */
  readonly range: string
  readonly type: string
  readonly media: openapi.MediaType
}
interface ServedMediaType extends MediaType {
  readonly kind: MediaKind
  /** Whether its bodies are passed on unchecked, whatever its schema. */
  readonly isUnchecked?: boolean
}

/** The served media types. If there are any, unsupported ones are left out with a warning. */
function servedContent(
  { diagnostics }: Compilation,
  content: openapi.Response['content'],
  use: Use,
): readonly ServedMediaType[] {
  const mediaTypes = listMediaTypes(diagnostics, derefEntries(content), use)
  const served = mediaTypes.flatMap((mediaType) => {
    const kind = bodyKind(mediaType.type)
    const isServed = refusalOfMedia(mediaType.type, mediaType.media, use) === undefined
    return isServed && typeof kind === 'string' ? [{ ...mediaType, kind }] : []
  })
  const unchecked = served.length > 0 ? [] : mediaTypes.flatMap((unserved) => passOn(unserved, use))
  for (const { type, kind, media } of unchecked)
    diagnostics.warn(media, { code: 'media-type-passed-on', type, kind })
  const usable = [...served, ...unchecked]
  for (const { range, type, media } of mediaTypes) {
    const refusal = refusalOfMedia(type, media, use)
    if (refusal === undefined || unchecked.some((passedOn) => passedOn.media === media)) continue
    const { reason, path } = refusal
    if (usable.length === 0) diagnostics.error(media, reason, ...path)
    else diagnostics.warn(media, { code: 'media-type-left-out', range, reason }, ...path)
  }
  return usable
}

/** Types in text and in lines without a parser in the service. */
const UNPARSED_TEXT = /[/+]xml$|^application\/(x-)?yaml$/i
const LINES = /^application\/(x-)?(ndjson|jsonl|json-seq)$/i

/**
 * Passes an unsupported media type on, for the method to write or parse. In a request its schema must be a string or absent:
 * any other schema would be a promise to check the body. The schema of bytes may be one that no bytes fit.
 */
function passOn(mediaType: MediaType, use: Use): readonly ServedMediaType[] {
  const { type, media } = mediaType
  const kind = passedOnAs(type)
  if (kind === undefined || media.encoding !== undefined) return []
  if (use === 'request' && !isPassedToMethod(type, kind, media.schema)) return []
  return [{ ...mediaType, kind, isUnchecked: true }]
}

/** Whether a method gets a body unchecked: text with a schema of a string, or bytes with a schema of no string. */
function isPassedToMethod(type: string, kind: 'text' | 'bytes', schema: unknown): boolean {
  const types = allowedTypes(schema)
  if (kind === 'bytes')
    return !LINES.test(type) && !types.some((name) => /^(string|any)$/.test(name))
  return UNPARSED_TEXT.test(type) && /^(string|any)$/.test(types.join())
}

function passedOnAs(type: string): 'text' | 'bytes' | undefined {
  if (LINES.test(type)) return 'bytes'
  if (UNPARSED_TEXT.test(type)) return 'text'
  const kind = bodyKind(type)
  return kind === 'text' || kind === 'bytes' ? kind : undefined
}

function listMediaTypes(
  diagnostics: Diagnostics,
  content: readonly (readonly [range: string, media: openapi.MediaType])[],
  use: Use,
): readonly MediaType[] {
  const plain = content.map(([range]) => range).filter((range) => !range.includes(';'))
  const types = new Set(plain)
  const mediaTypes: MediaType[] = []
  for (const [range, media] of content) {
    const mediaType = toMediaType(range, media)
    const { type } = mediaType
    const isListed = type !== range && types.has(type)
    types.add(type)
    if (!isListed) mediaTypes.push(mediaType)
    if (isListed) diagnostics.warn(media, { code: 'media-type-listed', range, type })
    else if (type !== range && range === '*/*') {
      if (use === 'request') diagnostics.warn(media, { code: 'media-type-any' })
    } else if (type !== range)
      diagnostics.warn(media, { code: 'media-type-parameters', range, type })
  }
  return mediaTypes
}

/** Parameters to ignore, because bodies may have any. A charset other than UTF-8 is kept, to be refused. */
const PARAMETERS = /;(?!.*charset\s*=\s*"?(?!utf-?8)).*$/is

function withoutParameters(range: string): string {
  return range.replace(PARAMETERS, '').trim()
}

/** Reads a key of `content`: without parameters. The range of all types is JSON, unless its schema is about bytes. */
export function toMediaType(range: string, media: openapi.MediaType): MediaType {
  const type = withoutParameters(range)
  const isJson = type === '*/*' && bytesRule(media.schema) === undefined
  return { range, type: isJson ? 'application/json' : type, media }
}

interface MediaFault {
  readonly reason: Finding
  readonly path: readonly string[]
}

/** Says why a media type is refused; undefined for a served one. */
export function refusalOfMedia(
  type: string,
  { schema, encoding }: openapi.MediaType,
  use: Use,
): MediaFault | undefined {
  const kind = bodyKind(type)
  if (typeof kind !== 'string') return { reason: { code: kind.code, type }, path: [] }
  const misuse = misuseOf(kind, use)
  if (misuse !== undefined) return { reason: { code: misuse, type }, path: [] }
  const misfit = canHave[kind](schema) ? undefined : MISFITS[kind]
  if (misfit !== undefined) return { reason: { code: misfit, type }, path: ['schema'] }
  if (encoding === undefined || isUsualEncoding(schema, encoding)) return undefined
  return { reason: { code: 'encoding' }, path: ['encoding'] }
}

/** The code of the error if no request, or no response, can have a kind of body. */
function misuseOf(kind: MediaKind, use: Use) {
  const isOfForm = kind === 'multipart' || kind === 'urlencoded'
  if (use === 'response' && isOfForm) return 'media-type-no-response'
  return use === 'request' && kind === 'events' ? 'media-type-no-request' : undefined
}

/** The codes of errors about the schema of a body. JSON and events can have any schema. */
const MISFITS = {
  json: undefined,
  events: undefined,
  multipart: 'schema-not-multipart',
  urlencoded: 'schema-not-urlencoded',
  text: 'schema-not-text',
  bytes: 'schema-not-bytes',
} as const

const canHave: Readonly<Record<MediaKind, (schema: unknown) => boolean>> = {
  json: () => true,
  events: () => true,
  multipart: (schema) => isForm(schema) || /^(any|string|array)$/.test(allowedTypes(schema).join()),
  urlencoded: (schema) => isForm(schema) || allowedTypes(schema).join() === 'any',
  text: (schema) => /^(string|any)$/.test(allowedTypes(schema).join()),
  bytes: (schema) => {
    const rule = bytesRule(schema)
    return rule !== undefined && rule.minLength === undefined
  },
}

type Use = 'request' | 'response'

/** Adds the schema of a media type. @returns its id; null without a schema, and for bytes */
function addSchema(
  compilation: Compilation,
  kind: BodyKind,
  media: openapi.MediaType,
): string | null {
  const { schemas } = compilation
  const { schema } = media
  if (kind === 'multipart' || kind === 'urlencoded') return addForm(compilation, kind, media)
  if (schema === undefined || kind === 'bytes') return null
  const id = schemas.add(schema)
  if (kind === 'json') schemas.addExamples(media, id)
  return id
}

const LIMIT = 'x-body-limit'

function readLimit(compilation: Compilation, kind: BodyKind, media: openapi.MediaType): number {
  const limit = readWrittenLimit(compilation, media) ?? usualLimit(kind)
  if (kind !== 'bytes') return limit
  const { maxLength = limit } = bytesRule(media.schema) ?? {}
  return Math.min(limit, maxLength)
}

function readWrittenLimit({ root, diagnostics }: Compilation, media: openapi.MediaType) {
  const node = [media, root].find((candidate) => LIMIT in candidate)
  if (node === undefined) return undefined
  const limit = Number(Reflect.get(node, LIMIT))
  if (!Number.isSafeInteger(limit) || limit < 1)
    diagnostics.error(node, { code: 'body-limit', field: LIMIT }, LIMIT)
  return limit
}

function usualLimit(kind: BodyKind): number {
  const mayHaveFiles = kind === 'bytes' || kind === 'multipart'
  return mayHaveFiles ? MAX_FILE_BYTES : MAX_BODY_BYTES
}
