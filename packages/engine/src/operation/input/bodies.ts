// Reads the bodies of an operation's requests: checks their media type and length, parses them and
// validates them.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Body, BodyKind, Media } from '../../contract/compiled.ts'
import { readForm, parseMultipart, parseUrlencoded } from './forms.ts'
import { findType, typeInUtf8 } from './content-type.ts'
import { orRefuse, parseText } from './strings/parsing.ts'
import type { Validator } from '@plant-store/json-schema'
import {
  releaseBody,
  reserveBody,
  reserveEvaluation,
  reserveValue,
  TOO_LONG,
} from '../../http/budget.ts'
import type { Exchange } from '../../http/exchange.ts'
import { parseJson } from '../../http/json.ts'
import { HttpError } from '../../errors.ts'

const NO_BODY = new HttpError(400, 'The request needs a body')
const BROKEN_OFF = new HttpError(400, 'The body was broken off')
/** One message for every error: the messages of V8 quote the body. */
const NO_JSON =
  'The body must be JSON in UTF-8, with no byte order mark, no lone surrogate, no duplicate property name, no __proto__ and no number beyond a double'

/** Validates bodies, and forms, whose fields are strings. */
interface BodyValidators {
  readonly bodies: Validator
  readonly texts: Validator
}

type ReadBody = (exchange: Exchange) => unknown

export class Bodies {
  readonly #body: Body
  /** By the media types of the contract. */
  readonly #readers = new Map<string, ReadBody>()

  constructor(body: Body, validators: BodyValidators) {
    this.#body = body
    for (const [type, media] of Object.entries(body.content))
      this.#readers.set(type, mediaReader(media, validators))
  }

  /**
   * Refuses a body if the operation does not accept its media type or its length. Else sends 100
   * Continue, if the client waits for it (RFC 9110, section 10.1.1). An empty body counts as
   * absent, whatever its type: HTTP spells both alike.
   * @returns a promise only for a body in chunks
   */
  accept(exchange: Exchange): undefined | Promise<undefined> {
    const { raw } = exchange
    if (raw.headers['transfer-encoding'] !== undefined) return this.#acceptChunks(exchange)
    const length = Number(raw.headers['content-length'] ?? 0)
    if (length === 0) {
      this.#removeBody(exchange)
      return undefined
    }
    const media = this.#findMedia(exchange)
    if (media instanceof HttpError) throw media
    reserveBody(exchange, length, media.kind === 'bytes')
    letContinue(exchange)
    return undefined
  }

  /**
   * Reads and validates an accepted body.
   * @returns undefined without a body
   * @throws {HttpError} if the body does not fit the contract. Too long a stream throws while it is read
   */
  read(exchange: Exchange): unknown {
    const { mediaType, request } = exchange
    if (request.body === undefined) return undefined
    return this.#readerOf(mediaType ?? '')?.(exchange)
  }

  #readerOf(type: string): ReadBody | undefined {
    return this.#readers.get(type) ?? this.#readers.get(findType(this.#body.content, type) ?? '')
  }

  /**
   * Accepts a body in chunks. Only its first chunk tells whether it is empty. @throws {HttpError}
   * if it is refused
   */
  async #acceptChunks(exchange: Exchange): Promise<undefined> {
    const { raw } = exchange
    const media = this.#findMedia(exchange)
    const refusal = media instanceof HttpError ? media : undefined
    // A client waiting for permission has a body to send: refuse it before it is sent.
    if (refusal !== undefined && this.#body.required && isAwaited(raw)) throw refusal
    if (!(media instanceof HttpError)) reserveBody(exchange, media.limit, media.kind === 'bytes')
    letContinue(exchange)
    if (await isEmptyBody(raw)) this.#removeBody(exchange)
    else if (refusal !== undefined) throw refusal
  }

  /** Finds the media type of a body by its headers. @returns an error if it is refused */
  #findMedia(exchange: Exchange): Media | HttpError {
    const { raw, repeatedHeaders } = exchange
    const { content } = this.#body
    const { 'content-type': sent = '', 'content-encoding': encoding = 'identity' } = raw.headers
    const type = mediaTypeOf(sent)
    const media = content[findType(content, type) ?? '']
    if (media === undefined || repeatedHeaders?.has('content-type')) {
      const types = Object.keys(content).join(' or ')
      return new HttpError(415, `The Content-Type of the body must be ${types}, in UTF-8`)
    }
    if (encoding.toLowerCase() !== 'identity')
      return new HttpError(415, 'The body must not have a Content-Encoding')
    exchange.mediaType = type
    const isTooLong = Number(raw.headers['content-length'] ?? 0) > media.limit
    return isTooLong ? TOO_LONG : media
  }

  /**
   * Removes an empty body: without these headers, Fastify sees none. @throws {HttpError} if a body
   * is needed
   */
  #removeBody(exchange: Exchange): void {
    for (const name of HEADERS_OF_BODIES) Reflect.deleteProperty(exchange.raw.headers, name)
    exchange.mediaType = undefined
    if (this.#body.required) throw NO_BODY
  }
}

const HEADERS_OF_BODIES = ['content-type', 'content-length', 'transfer-encoding']

function letContinue({ raw, response }: Exchange): void {
  if (isAwaited(raw)) response.writeContinue()
}

/** Whether the client waits for permission to send the body. */
function isAwaited({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === '1.1'
}

/** The media type in a Content-Type; empty if its charset is not UTF-8. Most bodies are JSON. */
function mediaTypeOf(contentType: string): string {
  return contentType === 'application/json' ? contentType : typeInUtf8(contentType)
}

/**
 * Waits for the beginning of a chunked body, which has no length. @throws {HttpError} 400 if the
 * client gives up
 */
async function isEmptyBody(payload: IncomingMessage): Promise<boolean> {
  try {
    await Promise.race([once(payload, 'readable'), finished(payload, { writable: false })])
  } catch {
    throw BROKEN_OFF
  }
  const isEmpty = payload.readableLength === 0
  if (isEmpty) payload.resume() // reads the end of the body: then the next request of the connection can begin
  return isEmpty
}

/**
 * A method reads bytes by itself, piece by piece. Any other body is read whole, parsed and
 * validated.
 */
function mediaReader(media: Media, { bodies, texts }: BodyValidators): ReadBody {
  const { kind, limit, schema } = media
  if (kind === 'bytes') return (exchange) => streamBytes(exchange, limit)
  const isForm = kind === 'multipart' || kind === 'urlencoded'
  const validator = isForm ? texts : bodies
  const validate = validator.compile('body', schema === null || { $ref: schema })
  return async (exchange) => {
    const { raw } = exchange
    const bytes = await readBytes(raw, limit)
    reserveValue(exchange, bytes.length, kind === 'json')
    const parsed = parseBody(kind, bytes, raw.headers['content-type'])
    const { error, value } = validate(parsed, (held) => reserveEvaluation(exchange, held))
    if (error !== undefined) throw new HttpError(400, error)
    return value
  }
}

/** @throws {HttpError} 400 for bytes of another kind */
function parseBody(kind: Exclude<BodyKind, 'bytes'>, bytes: Buffer, type = ''): unknown {
  switch (kind) {
    case 'json':
      return orRefuse(() => parseJson(bytes), NO_JSON)
    case 'multipart':
      return readForm(parseMultipart(bytes, type))
    case 'urlencoded':
      return readForm(parseUrlencoded(bytes))
    case 'text':
      return parseText(bytes)
  }
}

/**
 * Reads the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up
 */
async function readBytes(payload: IncomingMessage, limit: number): Promise<Buffer> {
  // Most bodies arrive with their header, and are here in the next tick. The events of a stream
  // would cost more.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const length = payload.readableLength
  const isHere = length <= limit && length === Number(payload.headers['content-length'])
  if (!isHere) return Buffer.concat(await Array.fromAsync(limitBytes(payload, limit)))
  return (payload.read() as Buffer | null) ?? Buffer.alloc(0)
}

/** Streams the bytes of a body to a method. Their room is given back when all are read. */
async function* streamBytes(exchange: Exchange, limit: number) {
  yield* limitBytes(exchange.raw, limit)
  releaseBody(exchange)
}

/**
 * Streams the bytes of a body. @throws {HttpError} 413 beyond the limit, 400 if the client gives up
 */
async function* limitBytes(payload: Readable, limit: number): AsyncGenerator<Buffer> {
  let size = 0
  try {
    // Destroying the stream would close the connection before the answer.
    const chunks: AsyncIterable<Buffer> = payload.iterator({ destroyOnReturn: false })
    for await (const chunk of chunks) {
      size += chunk.length
      if (size > limit) throw TOO_LONG
      yield chunk
    }
  } catch (error) {
    if (error === payload.errored) throw BROKEN_OFF
    throw error
  }
}
