// Request bodies: checks their media type and length, parses them and validates them.
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Body, Media, Operation } from './compiled.ts'
import { readText } from './parameters.ts'
import type { Validators } from './validation.ts'
import { type Parsed, parseTwice, STRICT_UTF8 } from '../http/json.ts'
import { countHeader } from '../http/headers.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The bodies that an operation takes, by media type. */
    content?: Body['content']
  }
}

/** How a body is read and written: as JSON, as text in UTF-8, as a form of fields and files, or as bytes. */
export type BodyKind = 'json' | 'text' | 'form' | 'bytes'

const UNSUPPORTED: readonly [pattern: RegExp, instead: string][] = [
  [/[*;]/, 'write each media type by its name, without parameters'],
  [/^text\/event-stream$/, 'an answer ends; write application/json'],
  [/^application\/x-www-form-urlencoded$/, 'write multipart/form-data or application/json'],
  [/^(text|application)\/xml$|\+xml$|^application\/(x-)?(yaml|ndjson|jsonl|json-seq)$/, 'write application/json'],
  [/^multipart\/(?!form-data$)/, 'write multipart/form-data'],
]

/** The kind of a media type. @returns for an unsupported one, what to write in the contract instead */
export function bodyKind(mediaType: string): BodyKind | { readonly instead: string } {
  const type = mediaType.toLowerCase()
  const instead = UNSUPPORTED.find(([pattern]) => pattern.test(type))?.[1]
  if (instead !== undefined) return { instead }
  if (/^application\/json$|\+json$/.test(type)) return 'json'
  if (type === 'multipart/form-data') return 'form'
  return type.startsWith('text/') ? 'text' : 'bytes'
}

const TOO_LONG = new HttpError(413, 'The body is too long')

/** Adds a parser for each media type of the contract. The parser of forms is loaded only if it is needed. */
export async function addBodyParsers(app: FastifyInstance, operations: readonly Operation[]): Promise<void> {
  const types = new Set(operations.flatMap(({ body }) => Object.keys(body?.content ?? {})))
  for (const type of types) {
    const kind = bodyKind(type)
    if (kind === 'form') {
      const { default: multipart } = await import('@fastify/multipart')
      await app.register(multipart)
    } else {
      const parse = kind === 'json' ? parseJsonBody : parseText
      app.addContentTypeParser(type, async (request: FastifyRequest, payload: IncomingMessage) => {
        const media = request.routeOptions.config.content?.[type]
        if (media && kind === 'bytes') return payload
        const bytes = await readBytes(payload, media?.limit ?? 0)
        return bytes.length === 0 && kind !== 'text' ? undefined : parse(bytes)
      })
    }
  }
  const kinds = [...types].map(bodyKind)
  if (kinds.includes('form') || kinds.includes('bytes')) app.addHook('onResponse', readOn)
}

/** Reads the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up */
async function readBytes(payload: IncomingMessage, limit: number): Promise<Buffer> {
  // Most bodies are here in the next tick, because they arrive with their header. The events of a stream would cost more.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const length = payload.readableLength
  const isHere = length <= limit && length === Number(payload.headers['content-length'])
  if (!isHere) return Buffer.concat(await Array.fromAsync(limitBytes(payload, limit)))
  return (payload.read() as Buffer | null) ?? Buffer.alloc(0)
}

/** Node does so by itself only if nothing of a body was read. Else the next request of the connection would wait. */
function readOn({ raw }: FastifyRequest, _reply: unknown, done: () => void): void {
  if (!raw.complete) raw.unpipe().removeAllListeners('readable').resume()
  done()
}

/**
 * Refuses a body if the operation does not accept its media type or its length. Else sends 100 Continue, if the client
 * waits for it (RFC 9110, section 10.1.1). The last `onRequest` hook of an operation.
 */
export function checkBody({ required, content }: Body): onRequestHookHandler {
  const types = Object.entries(content)
  return ({ raw }, reply, done) => {
    const { headers } = raw
    const { 'content-type': type, 'content-encoding': encoding = 'identity', 'content-length': digits = 0 } = headers
    const length = Number(digits)
    const isEmpty = length === 0 && headers['transfer-encoding'] === undefined
    if (isEmpty && type === undefined) {
      if (required) throw new HttpError(400, 'The request needs a body')
      done()
      return
    }
    const media = countHeader(raw, 'content-type') === 1 && types.find(([each]) => isInUtf8(each, type ?? ''))?.[1]
    if (!media)
      throw new HttpError(415, `The Content-Type of the body must be ${Object.keys(content).join(' or ')}, in UTF-8`)
    if (encoding.toLowerCase() !== 'identity') throw new HttpError(415, 'The body must not have a Content-Encoding')
    if (length > media.limit) throw TOO_LONG
    if (headers.expect !== undefined && raw.httpVersion === '1.1' && !isEmpty) reply.raw.writeContinue()
    done()
  }
}

/**
 * Makes the function that reads and validates the body of an operation. It returns a promise of a form.
 * @throws {HttpError} if the body does not fit the contract. A stream that is too long throws while it is read
 */
export function bodyReader({ required, content }: Body, validators: Validators): (request: FastifyRequest) => unknown {
  const readers = new Map(
    Object.entries(content).map(([type, media]) => [type, mediaReader(bodyKind(type), media, validators)]),
  )
  return (request) => {
    const read = readers.get(request.mediaType ?? '')
    if (read !== undefined && (request.body !== undefined || request.mediaType === 'multipart/form-data'))
      return read(request)
    if (required) throw new HttpError(400, 'The request needs a body')
    return undefined
  }
}

function mediaReader(kind: unknown, media: Media, validators: Validators): (request: FastifyRequest) => unknown {
  if (kind === 'bytes') return ({ body }) => limitBytes(body as Readable, media.limit)
  const validate = validators.compile('body', media.schema === null ? true : { $ref: media.schema })
  const check = ({ exact, plain }: Parsed): unknown => {
    const { fault, value } = validate(exact, plain)
    if (fault !== undefined) throw new HttpError(400, fault)
    return value
  }
  if (kind === 'form') return async (request) => check(await readForm(request, media))
  return ({ body }) => check(body as Parsed)
}

/** Streams the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up */
async function* limitBytes(payload: Readable, limit: number): AsyncGenerator<Buffer> {
  let size = 0
  try {
    // To destroy the stream would close the connection before the answer.
    for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > limit) throw TOO_LONG
      yield chunk
    }
  } catch (error) {
    if (error === payload.errored) throw new HttpError(400, 'The body was broken off')
    throw error
  }
}

/** Reads the fields of a form: texts by their types, JSON, and files. Files are held in memory. */
async function readForm(request: FastifyRequest, { fields = {}, limit }: Media): Promise<Parsed> {
  const form = new Map<string, Parsed[]>()
  let size = 0
  const add = (name: string, value: Parsed, length: number) => {
    if ((size += length + name.length) > limit) throw TOO_LONG
    const values = form.get(name) ?? []
    if (values.length > 0 && fields[name]?.isList !== true)
      throw new HttpError(400, `body/${name} must not be repeated`)
    form.set(name, [...values, value])
  }
  const collect = (key: keyof Parsed) => {
    const entries = [...form].map(([name, values]) => [name, values.map((each) => each[key])] as const)
    return Object.fromEntries(entries.map(([name, all]) => [name, fields[name]?.isList === true ? all : all[0]]))
  }
  const limits = { fileSize: limit }
  try {
    // As a file, each part comes in bytes. The texts of fields would have another character where bytes are not UTF-8.
    for await (const part of request.parts({ limits, isPartAFile: () => true })) {
      if (part.type === 'field') continue
      const type = fields[part.fieldname]?.type ?? 'string'
      const bytes = await part.toBuffer()
      const { filename, mimetype } = part as { filename?: string; mimetype: string }
      const isJson = type !== 'file' && mimetype === 'application/json'
      if (isJson) add(part.fieldname, parseJsonBody(bytes), bytes.length)
      else if (filename === undefined) add(part.fieldname, asIs(readText(parseText(bytes).plain, type)), bytes.length)
      else add(part.fieldname, asIs(new File([new Uint8Array(bytes)], filename, { type: mimetype })), bytes.length)
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    const isTooLong = error instanceof Error && 'statusCode' in error && error.statusCode === 413
    throw isTooLong ? TOO_LONG : new HttpError(400, 'The form is malformed')
  }
  return { exact: collect('exact'), plain: collect('plain') }
}

const asIs = (value: unknown): Parsed => ({ exact: value, plain: value })

/** RFC 9110, section 5.6.6, without escapes. The charset must be UTF-8, at most once; other parameters are ignored. */
const PARAMETERS =
  /^(?!.*charset.*charset)(?:[ \t]*;[ \t]*(?:charset=("?)utf-8\1|(?!charset)[\w-]+=(?:[\w.+-]+|"[^"\\]*")))*(?:[ \t]*;)?[ \t]*$/i

/** Whether a `Content-Type` has this media type, and no charset but UTF-8. */
function isInUtf8(mediaType: string, contentType: string): boolean {
  const [type, parameters] = [contentType.slice(0, mediaType.length), contentType.slice(mediaType.length)]
  return type.toLowerCase() === mediaType && PARAMETERS.test(parameters)
}

/** Parses JSON. @throws {HttpError} */
function parseJsonBody(bytes: Buffer): Parsed {
  const rules =
    'no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'
  // One message for every fault: the messages of V8 quote the body.
  return parseWith(parseTwice, bytes, `The body must be JSON in UTF-8, with ${rules}`)
}

/** @throws {HttpError} if the bytes are not UTF-8 */
function parseText(bytes: Buffer): Parsed {
  return asIs(parseWith((each) => STRICT_UTF8.decode(each), bytes, 'The body must be text in UTF-8'))
}

function parseWith<Value>(parse: (bytes: Buffer) => Value, bytes: Buffer, message: string): Value {
  try {
    return parse(bytes)
  } catch {
    throw new HttpError(400, message)
  }
}
