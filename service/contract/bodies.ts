// Request bodies: their media type and length, what reads them, and what the contract says of what was read.
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Body, Media, Operation } from './compiled.ts'
import { kindOf } from './media-types.ts'
import { readText } from './parameters.ts'
import type { Validators } from './validation.ts'
import { isInUtf8, parseJsonBody, parseText } from '../http/body.ts'
import { countHeader } from '../http/protocol.ts'
import { HttpError } from '../errors.ts'

const MAX_PARTS = 1000
const TOO_LONG = new HttpError(413, 'The body is too long')

/** Makes the media types of the contract those that bodies are read in. What reads forms is loaded for those only. */
export async function readBodies(app: FastifyInstance, operations: readonly Operation[]): Promise<void> {
  const types = new Set(operations.flatMap(({ body }) => Object.keys(body?.content ?? {})))
  for (const type of types) {
    const kind = kindOf(type)
    if (kind === 'form') {
      const { default: multipart } = await import('@fastify/multipart')
      await app.register(multipart)
    } else if (kind === 'bytes') app.addContentTypeParser(type, (_request, payload, done) => done(null, payload))
    else {
      const parse = kind === 'json' ? parseJsonBody : parseText
      app.addContentTypeParser(type, { parseAs: 'buffer' }, async (_: FastifyRequest, bytes: Buffer) => parse(bytes))
    }
  }
}

/** Refuses a body of a media type or a length that the operation does not take. An `onRequest` hook. */
export function checkBody({ required, content }: Body): onRequestHookHandler {
  const types = Object.entries(content)
  return ({ raw }, _reply, done) => {
    const { 'content-type': type, 'content-encoding': encoding = 'identity', ...framing } = raw.headers
    const length = Number(framing['content-length'] ?? 0)
    const isEmpty = framing['transfer-encoding'] === undefined && length === 0
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
    done()
  }
}

/**
 * Makes the reader of the body of an operation.
 * @throws {HttpError} if it is not as the contract says; of bytes that are too many, when they are read
 */
export function bodyReader(
  { required, content }: Body,
  validators: Validators,
): (request: FastifyRequest) => Promise<unknown> {
  const readers = new Map(
    Object.entries(content).map(([type, media]) => [type, mediaReader(kindOf(type), media, validators)]),
  )
  return async (request) => {
    const read = readers.get(request.mediaType ?? '')
    if (read !== undefined && (request.body !== undefined || request.mediaType === 'multipart/form-data'))
      return read(request)
    if (required) throw new HttpError(400, 'The request needs a body')
    return undefined
  }
}

function mediaReader(kind: unknown, media: Media, validators: Validators): (request: FastifyRequest) => unknown {
  if (kind === 'bytes') return ({ body }) => bounded(body as Readable, media.limit)
  const validate = media.schema === null ? undefined : validators.of('body', { $ref: media.schema })
  return async (request) => {
    const holder = { body: kind === 'form' ? await readForm(request, media) : request.body }
    const fault = validate?.(holder)
    if (fault !== undefined) throw new HttpError(400, fault)
    return holder.body
  }
}

/** The bytes of a body, as they arrive. */
async function* bounded(payload: Readable, limit: number): AsyncGenerator<Buffer> {
  let size = 0
  // To end the stream would end the connection, and with it the answer.
  for await (const chunk of payload.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > limit) throw TOO_LONG
    yield chunk
  }
}

/** The fields of a form: texts as their types spell them, JSON, and files, which are kept in memory. */
async function readForm(request: FastifyRequest, { fields = {}, limit }: Media): Promise<object> {
  const form: Record<string, unknown> = {}
  let size = 0
  const add = (name: string, value: unknown, length: number) => {
    if ((size += length + name.length) > limit) throw TOO_LONG
    const field = fields[name]
    if (field?.isList === true) form[name] = [...((form[name] as unknown[] | undefined) ?? []), value]
    else if (Object.hasOwn(form, name)) throw new HttpError(400, `body/${name} must not be repeated`)
    else form[name] = value
  }
  const isPartAFile = (_?: string, type?: string, file?: string) => file !== undefined || type === 'application/json'
  const limits = { fileSize: limit, fieldSize: limit, parts: MAX_PARTS }
  try {
    for await (const part of request.parts({ limits, isPartAFile })) {
      const type = fields[part.fieldname]?.type ?? 'string'
      if (part.type === 'field') add(part.fieldname, readText(part.value, type), String(part.value).length)
      else {
        const bytes = await part.toBuffer()
        const isJson = type !== 'file' && part.mimetype === 'application/json'
        add(
          part.fieldname,
          isJson ? parseJsonBody(bytes) : new File([new Uint8Array(bytes)], part.filename, { type: part.mimetype }),
          bytes.length,
        )
      }
    }
  } catch (error) {
    if (error instanceof HttpError) throw error
    const isTooLong = error instanceof Error && 'statusCode' in error && error.statusCode === 413
    throw isTooLong ? TOO_LONG : new HttpError(400, 'The form is malformed')
  }
  return form
}
