// Request bodies: checks their media type and length, parses them and validates them.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type {
  FastifyInstance,
  FastifyRequest,
  onRequestHookHandler,
  onResponseHookHandler,
} from 'fastify'
import type { Body, Media } from './compiled.ts'
import { formReader, parsePairs, parseParts } from './forms.ts'
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
  if (/^(application|text)\/json$|\+json$/.test(type)) return 'json'
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
/** One message for every fault: those of V8 quote the body. */
const NO_JSON =
  'The body must be JSON in UTF-8, with no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'

/**
 * Refuses a body if the operation does not accept its media type or its length. Else sends 100 Continue, if the client
 * waits for it (RFC 9110, section 10.1.1). The last `onRequest` hook of an operation.
 */
export function checkBody({ required, content }: Body): onRequestHookHandler {
  const types = Object.keys(content).join(' or ')
  return ({ raw }, reply, done) => {
    const { headers } = raw
    const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers
    const length = Number(headers['content-length'] ?? 0)
    const isEmpty = length === 0 && headers['transfer-encoding'] === undefined
    if (isEmpty && type === '') {
      if (required) throw NO_BODY
      done()
      return
    }
    const found = findType(content, type === 'application/json' ? type : typeInUtf8(type)) // most bodies are JSON
    const media = content[found ?? '']
    if (!media || countHeader(raw, 'content-type') > 1)
      throw new HttpError(415, `The Content-Type of the body must be ${types}, in UTF-8`)
    if (encoding.toLowerCase() !== 'identity')
      throw new HttpError(415, 'The body must not have a Content-Encoding')
    if (length > media.limit) throw TOO_LONG
    if (headers.expect !== undefined && raw.httpVersion === '1.1' && !isEmpty)
      reply.raw.writeContinue()
    done()
  }
}

/**
 * Makes the function that reads and validates the body of an operation.
 * @throws {HttpError} if the body does not fit the contract. A stream that is too long throws while it is read
 */
export function bodyReader({ required, content }: Body, validators: Validators) {
  const all = Object.entries(content)
  const readers = new Map(
    all.map(([type, media]) => [type, mediaReader(bodyKind(type), media, required, validators)]),
  )
  const [only] = all.length === 1 ? readers.values() : [] // `checkBody` refuses other types
  return (request: FastifyRequest): unknown => {
    if (request.body === undefined && required) throw NO_BODY
    const read = only ?? readers.get(findType(content, request.mediaType ?? '') ?? '')
    return request.body === undefined ? undefined : read?.(request.raw)
  }
}

function mediaReader(kind: unknown, media: Media, required: boolean, validators: Validators) {
  if (kind === 'bytes') return (payload: IncomingMessage) => limitBytes(payload, media.limit)
  const validate = validators.compile('body', media.schema === null || { $ref: media.schema })
  const readForm = formReader(media, validators)
  const parse = (bytes: Buffer, type: string | undefined): unknown => {
    if (kind === 'json') return orRefuse(() => parseJson(bytes), NO_JSON)
    if (kind === 'form') return parseParts(bytes, type).then(readForm)
    return kind === 'pairs' ? readForm(parsePairs(bytes)) : parseText(bytes)
  }
  return async (payload: IncomingMessage) => {
    const bytes = await readBytes(payload, media.limit)
    if (kind === 'json' && bytes.length === 0) return required ? Promise.reject(NO_BODY) : undefined
    try {
      const parsed = parse(bytes, payload.headers['content-type'])
      const { fault, value } = validate(parsed instanceof Promise ? await parsed : parsed)
      if (fault === undefined) return value
      throw new HttpError(400, fault)
    } catch (error) {
      throw error instanceof RangeError
        ? new HttpError(400, 'The body is nested too deeply')
        : error
    }
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
    if (error === payload.errored) throw new HttpError(400, 'The body was broken off')
    throw error
  }
}

/** RFC 9110, section 5.6.6, without escapes. The charset must be UTF-8, at most once; other parameters are ignored. */
const PARAMETERS =
  /^(?!.*charset.*charset)(?:[ \t]*;[ \t]*(?:charset=("?)utf-8\1|(?!charset)[\w-]+=(?:[\w.+-]+|"[^"\\]*")))*(?:[ \t]*;)?[ \t]*$/i

const TYPE = /^[\w!#$%&'+.^`|~-]+\/[\w!#$%&'+.^`|~-]+/

/** The media type of a `Content-Type`, in lower case; empty if it is malformed, or has another charset than UTF-8. */
function typeInUtf8(contentType: string): string {
  const [type = ''] = TYPE.exec(contentType) ?? []
  return PARAMETERS.test(contentType.slice(type.length)) ? type.toLowerCase() : ''
}
