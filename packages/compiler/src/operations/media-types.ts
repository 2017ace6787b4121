// Compiles the media types of request bodies and responses.
import type {
  Body,
  BodyKind,
  Media,
  Response,
  ResponseMedia,
} from '@plant-store/engine/for-compiler'
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
    if (standard)
      diagnostics.warn(standard, 'the default of a whole body is not filled in', 'default')
    const name = type.toLowerCase()
    if (name in content)
      diagnostics.error(
        deref(described),
        `the media type ${type} is there twice: leave one out`,
        type,
      )
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
    diagnostics.warn(response, `in HTTP, ${status} has no body: leave it out`, 'content')
  for (const [name, header] of derefEntries(response.headers)) {
    if (/^content-type$/i.test(name)) continue // OpenAPI 3.1.0, section 4.8.17.1
    const { schema, content } = header
    const isText = schema === undefined && content === undefined
    if (isText) diagnostics.warn(header, `the header ${name} has no "schema": it is a string`)
    else if (schema === undefined || /object|array/.test(allowedTypes(schema).join()))
      diagnostics.error(
        header,
        `the header ${name} is not served: write a "schema" of one string, number or boolean`,
      )
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
    diagnostics.warn(media, `a body of ${type} is ${kind}, which nobody parses or checks`)
  const usable = [...served, ...unchecked]
  for (const { range, type, media } of mediaTypes) {
    const refusal = refusalOfMedia(type, media, use)
    if (refusal === undefined || unchecked.some((passedOn) => passedOn.media === media)) continue
    const { text, path } = refusal
    if (usable.length === 0) diagnostics.error(media, text, ...path)
    else diagnostics.warn(media, `${range} is left out: ${text}`, ...path)
  }
  return usable
}

/** Types in text and in lines without a parser in the service. */
const UNPARSED_TEXT = /[/+]xml$|^application\/(x-)?yaml$/i
const LINES = /^application\/(x-)?(ndjson|jsonl|json-seq)$/i

/**
 * Passes an unsupported media type on, for the method to write or parse. In a request its schema must be a string or absent:
 * any other schema would be a promise to check the body.
 */
function passOn(mediaType: MediaType, use: Use): readonly ServedMediaType[] {
  const { type, media } = mediaType
  const kind = passedOnAs(type)
  if (kind === undefined || media.encoding !== undefined) return []
  const isText = /^(string|any)$/.test(allowedTypes(media.schema).join())
  const isOther = UNPARSED_TEXT.test(type)
  if (use === 'request' && !(isOther && isText)) return []
  return [{ ...mediaType, kind, isUnchecked: true }]
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
    if (isListed) diagnostics.warn(media, `${range} is left out: ${type} is there, too`)
    else if (type !== range && range === '*/*') {
      if (use === 'request') diagnostics.warn(media, ANY_IS_JSON)
    } else if (type !== range)
      diagnostics.warn(media, `${range} is served as ${type}: a body may have any parameters`)
  }
  return mediaTypes
}

const ANY_IS_JSON = 'a body of */* with a schema is taken as application/json'

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
  readonly text: string
  readonly path: readonly string[]
}

/** Says why a media type is refused; undefined for a served one. */
export function refusalOfMedia(
  type: string,
  { schema, encoding }: openapi.MediaType,
  use: Use,
): MediaFault | undefined {
  const kind = bodyKind(type)
  if (typeof kind !== 'string')
    return { text: `the media type ${type} is not served: ${kind.instead}`, path: [] }
  const isOfForm = kind === 'multipart' || kind === 'urlencoded'
  if (use === 'response' && isOfForm)
    return { text: `${type} is no response: write application/json`, path: [] }
  if (use === 'request' && kind === 'events')
    return { text: `${type} is no request: write application/json`, path: [] }
  const advice = schemaAdvice(kind, schema)
  if (advice !== undefined)
    return { text: `the schema of ${type} is not served: write ${advice}`, path: ['schema'] }
  if (encoding === undefined || isUsualEncoding(schema, encoding)) return undefined
  return { text: '"encoding" is not served: leave it out', path: ['encoding'] }
}

/** Advises on the schema of a body; undefined for a possible schema. */
function schemaAdvice(kind: MediaKind, schema: unknown): string | undefined {
  return canHave[kind](schema) ? undefined : ADVICE[kind]
}

const ADVICE: Readonly<Record<MediaKind, string>> = {
  json: 'any schema',
  events: 'any schema',
  multipart: '"type: object", with a property for each field and file',
  urlencoded: '"type: object", with a property for each field',
  text: '"type: string"',
  bytes: '"type: string, format: binary", at most with a maxLength',
}

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
    diagnostics.error(node, `${LIMIT} must be a number of bytes, from 1`, LIMIT)
  return limit
}

function usualLimit(kind: BodyKind): number {
  const mayHaveFiles = kind === 'bytes' || kind === 'multipart'
  return mayHaveFiles ? MAX_FILE_BYTES : MAX_BODY_BYTES
}
