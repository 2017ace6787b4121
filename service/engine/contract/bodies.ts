// Request bodies: checks their media type and length, parses them and validates them.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestHookHandler,
  onResponseHookHandler,
} from 'fastify'
import { reserveBody, reserveValue } from './body-budget.ts'
import type { Body, Media } from './compiled.ts'
import { formReader, parseMultipart, parseUrlencoded } from './forms.ts'
import { isJsonType, typeInUtf8 } from './media-types.ts'
import { orRefuse, parseText, TOO_LONG } from './parsing.ts'
import type { Validators } from './validation.ts'
import { countHeader } from '../http/request-rules.ts'
import { parseJson } from '../http/json.ts'
import { HttpError } from '../errors.ts'

/** How a body is read and written: as JSON, as text in UTF-8, as a form in parts or as a query, or as bytes. */
type BodyKind = 'json' | 'text' | 'form' | 'pairs' | 'bytes'

const UNSUPPORTED: readonly [pattern: RegExp, instead: string][] = [
  [
    /;|[^/*]\*|\*[^/]|^\*\/[^*]/,
    'write each media type by its name, or all of a kind as image/*, without parameters',
  ],
  [/^text\/event-stream$/, 'an answer ends; write application/json'],
  [
    /^(text|application)\/xml$|\+xml$|^application\/(x-)?(yaml|ndjson|jsonl|json-seq)$/,
    'write application/json',
  ],
  [/^multipart\/(?!form-data$)/, 'write multipart/form-data'],
]

/** The kind of a media type. @returns for an unsupported one, what to write in the contract instead */
export function bodyKind(mediaType: string): BodyKind | { readonly instead: string } {
  const type = mediaType.toLowerCase()
  const instead = UNSUPPORTED.find(([pattern]) => pattern.test(type))?.[1]
  if (instead !== undefined) return { instead }
  if (isJsonType(type)) return 'json'
  if (type === 'multipart/form-data') return 'form'
  if (type === 'application/x-www-form-urlencoded') return 'pairs'
  return type.startsWith('text/') ? 'text' : 'bytes'
}

/** The key of a media type in the content of a contract: the type itself, all of its kind, or any type. */
export function findType(content: object, type: string): string | undefined {
  if (type === '') return undefined
  if (Object.hasOwn(content, type)) return type
  return [type.replace(/\/.*/, '/*'), '*/*'].find((each) => Object.hasOwn(content, each))
}

/** Leaves the bodies to the handlers of operations: Fastify reads nothing of them. */
export function addBodyParser(app: FastifyInstance): void {
  app.addContentTypeParser(/^/, (_request, payload, done) => done(null, payload))
}

const NO_BODY = new HttpError(400, 'The request needs a body')
const BROKEN_OFF = new HttpError(400, 'The body was broken off')
/** One message for every fault: those of V8 quote the body. */
const NO_JSON =
  'The body must be JSON in UTF-8, with no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'

/**
 * Refuses a body if the operation does not accept its media type or its length. Else sends 100 Continue, if the client
 * waits for it (RFC 9110, section 10.1.1). An empty body is none, whatever its type: HTTP has one spelling for both.
 * The last `onRequest` hook of an operation.
 */
export function checkBody({ required, content }: Body): onRequestHookHandler {
  return ({ raw }, reply, done) => {
    const { headers, httpVersion } = raw
    const isChunked = headers['transfer-encoding'] !== undefined
    const length = Number(headers['content-length'] ?? 0)
    if (!isChunked && length === 0) {
      done(takeAway(raw))
      return
    }
    const media = findMedia(raw, content)
    const refusal = media instanceof HttpError ? media : undefined
    if (refusal && (required || !isChunked)) throw refusal
    if (!(media instanceof HttpError))
      reserveBody(reply, isChunked ? media.limit : length, media.isStream)
    if (headers.expect !== undefined && httpVersion === '1.1') reply.raw.writeContinue()
    if (!isChunked) {
      done()
      return
    }
    const settle = (isEmpty: boolean) => done(isEmpty ? takeAway(raw) : refusal)
    hasNoBytes(raw).then(settle, done)
  }

  /** Takes an empty body away from a request: without these headers, Fastify sees none. */
  function takeAway({ headers }: IncomingMessage): HttpError | undefined {
    for (const name of OF_BODIES) Reflect.deleteProperty(headers, name)
    return required ? NO_BODY : undefined
  }
}

const OF_BODIES = ['content-type', 'content-length', 'transfer-encoding']

/** How a body is read, by its headers; or why it is refused. */
function findMedia(
  raw: IncomingMessage,
  content: Body['content'],
): { readonly limit: number; readonly isStream: boolean } | HttpError {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = raw.headers
  const key = findType(content, type === 'application/json' ? type : typeInUtf8(type)) ?? '' // most bodies are JSON
  const media = content[key]
  if (!media || countHeader(raw, 'content-type') > 1) {
    const types = Object.keys(content).join(' or ')
    return new HttpError(415, `The Content-Type of the body must be ${types}, in UTF-8`)
  }
  if (encoding.toLowerCase() !== 'identity')
    return new HttpError(415, 'The body must not have a Content-Encoding')
  if (Number(raw.headers['content-length'] ?? 0) > media.limit) return TOO_LONG
  return { limit: media.limit, isStream: bodyKind(key) === 'bytes' }
}

/** Waits for the beginning of a chunked body, which has no length. @throws {HttpError} 400 if the client gives up */
async function hasNoBytes(payload: IncomingMessage): Promise<boolean> {
  try {
    await Promise.race([once(payload, 'readable'), finished(payload, { writable: false })])
  } catch {
    throw BROKEN_OFF
  }
  const isEmpty = payload.readableLength === 0
  if (isEmpty) payload.resume() // for its end: then the next request of the connection can begin
  return isEmpty
}

/**
 * Makes the function that reads and validates the body of an operation.
 * @throws {HttpError} if the body does not fit the contract. A stream that is too long throws while it is read
 */
export function bodyReader({ content }: Body, validators: Validators) {
  const all = Object.entries(content)
  const readers = new Map(
    all.map(([type, media]) => [type, mediaReader(bodyKind(type), media, validators)]),
  )
  const [only] = all.length === 1 ? readers.values() : [] // `checkBody` refuses other types
  return (request: FastifyRequest, reply: FastifyReply): unknown => {
    const read = only ?? readers.get(findType(content, request.mediaType ?? '') ?? '')
    return request.body === undefined ? undefined : read?.(request.raw, reply)
  }
}

function mediaReader(kind: unknown, media: Media, validators: Validators) {
  if (kind === 'bytes') return (payload: IncomingMessage) => limitBytes(payload, media.limit)
  const validate = validators.compile('body', media.schema === null || { $ref: media.schema })
  const readForm = formReader(media, validators)
  const parse = (bytes: Buffer, type = ''): unknown => {
    if (kind === 'json') return orRefuse(() => parseJson(bytes), NO_JSON)
    if (kind === 'form') return readForm(parseMultipart(bytes, type))
    return kind === 'pairs' ? readForm(parseUrlencoded(bytes)) : parseText(bytes)
  }
  return async (payload: IncomingMessage, reply: FastifyReply) => {
    const bytes = await readBytes(payload, media.limit)
    reserveValue(reply, bytes.length, kind === 'json')
    const { fault, value } = validate(parse(bytes, payload.headers['content-type']))
    if (fault !== undefined) throw new HttpError(400, fault)
    return value
  }
}

/** Reads the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up */
async function readBytes(payload: IncomingMessage, limit: number): Promise<Buffer> {
  // Most bodies arrive with their header, and are here in the next tick. The events of a stream would cost more.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const length = payload.readableLength
  const isHere = length <= limit && length === Number(payload.headers['content-length'])
  if (!isHere) return Buffer.concat(await Array.fromAsync(limitBytes(payload, limit)))
  return (payload.read() as Buffer | null) ?? Buffer.alloc(0)
}

/**
 * Reads what is left of a body. Otherwise the next request of the connection would wait: Node does this itself only if
 * nothing of the body was read.
 */
export const readRest: onResponseHookHandler = ({ raw }, _reply, done) => {
  if (!raw.complete) raw.unpipe().removeAllListeners('readable').resume()
  done()
}

/** Streams the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up */
async function* limitBytes(payload: Readable, limit: number): AsyncGenerator<Buffer> {
  let size = 0
  try {
    // To destroy the stream would close the connection before the answer.
    for await (const chunk of payload.iterator({
      destroyOnReturn: false,
    }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw TOO_LONG
      yield chunk
    }
  } catch (error) {
    if (error === payload.errored) throw BROKEN_OFF
    throw error
  }
}
