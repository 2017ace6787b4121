import { once } from 'node:events'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from './compiled.ts'
import { countAnswer } from './answer-budget.ts'
import { bodyKind, findType } from './bodies.ts'
import { findStatus } from './error-forms.ts'
import type { Check, Validators } from './validation.ts'
import { reportFault } from '../http/error-answers.ts'
import { exactJson, JsonText, MAX_LEVELS } from '../http/json.ts'
import { validateHeaderName, validateHeaderValue } from '../http/node.ts'

/** The answer of an operation. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean | undefined>>
  /** The media type of the body, if the contract has several. */
  readonly type?: string
  /** An async iterable is streamed: its JSON arrays are joined into one, its bytes are sent piece by piece. */
  readonly body?: unknown
}

/** Sends the answer of a method. @throws {Error} if the contract does not allow it */
type Send = (
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
) => FastifyReply | Promise<FastifyReply>

/** Makes the function that sends the answers of an operation. @param validators of responses */
export function answerSender({ id, responses }: Operation, validators: Validators): Send {
  // By the keys of the contract: callers may choose a media type, and each would stay here.
  const writers = new Map<string, Writer>()
  const fail = (status: number, fault: string) =>
    new Error(`the method ${id} answered ${status} with ${fault}`)

  // By status: what the contract declares for it.
  const usual = new Map<number, ReturnType<typeof contentOf>>()

  return (request, reply, { status, headers, type, body }) => {
    for (const name in headers) {
      validateHeaderName(name)
      validateHeaderValue(name, String(headers[name]))
    }
    const content = type === undefined ? usualContentOf(status) : contentOf(status, type)
    const send = (payload?: unknown) => {
      for (const name in headers)
        if (headers[name] !== undefined) reply.header(name, String(headers[name]))
      return reply.code(status).serializer(String).send(payload) // Without a serializer, Fastify would add a charset.
    }
    if (content === null && body === undefined) return send()
    if (content === null) throw fail(status, 'a body that the contract does not declare')

    const { mediaType, writer } = content
    const { kind } = writer
    reply.type(kind === 'text' ? `${mediaType}; charset=utf-8` : mediaType)
    const toText = (piece: unknown) => textOf(piece, writer, status)
    const join = (pieces: Pieces) => (kind === 'json' ? jsonArray(pieces, toText) : pieces)
    if (Symbol.asyncIterator in Object(body))
      return startStream(request, body as Pieces, join).then(send)
    if (!(body instanceof Uint8Array) && kind === 'bytes')
      throw fail(status, 'a body that is not bytes')
    const payload =
      body instanceof Uint8Array
        ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
        : toText(body)
    send(payload)
    countAnswer(reply)
    return reply
  }

  /** The content of an answer whose method names no media type. */
  function usualContentOf(status: number) {
    const earlier = usual.get(status)
    if (earlier !== undefined) return earlier
    const content = contentOf(status, undefined)
    usual.set(status, content)
    return content
  }

  /** The media type of an answer, and how its body is written; null if the contract declares no body. */
  function contentOf(status: number, type: string | undefined) {
    const statusKey = findStatus(responses, status) ?? ''
    const response = responses[statusKey]
    if (response === undefined) throw fail(status, 'a status that the contract does not declare')
    const mediaType = type ?? Object.keys(response)[0] ?? ''
    const typeKey = findType(response, mediaType)
    if (typeKey === undefined) return null
    if (mediaType.endsWith('*')) throw fail(status, `no media type of ${mediaType}`)
    if (type !== undefined) validateHeaderValue('content-type', type)
    const key = `${statusKey} ${typeKey}`
    const writer = writers.get(key) ?? makeWriter(typeKey, response[typeKey], validators)
    writers.set(key, writer)
    return { mediaType, writer }
  }

  /** @param levels the most objects and lists within each other */
  function textOf(body: unknown, writer: Writer, status: number, levels = MAX_LEVELS): string {
    const { kind, check, hides } = writer
    if (body instanceof JsonText) {
      if (!hides) return body.text
      // Each item may have as many levels as JSON may have, and the list is around them.
      return textOf(JSON.parse(body.text, exactly), writer, status, MAX_LEVELS + 1)
    }
    const { fault, value } = body === undefined ? { fault: 'it is missing' } : check(body)
    const misfit =
      fault ?? (kind === 'text' && typeof value !== 'string' ? 'it is not a text' : undefined)
    if (misfit !== undefined) throw fail(status, `a body that does not fit the contract: ${misfit}`)
    return kind === 'text' ? String(value) : exactJson(value, levels)
  }
}

/** How the bodies of a status and a media type are checked and written. */
interface Writer {
  readonly kind: ReturnType<typeof bodyKind>
  readonly check: Check
  /** Whether they may have members that are not in a response. */
  readonly hides: boolean
}

function makeWriter(type: string, id: string | null | undefined, validators: Validators): Writer {
  const schema = id == null || { $ref: id }
  return {
    kind: bodyKind(type),
    check: validators.compile('body', schema),
    hides: validators.hides(schema),
  }
}

type Pieces = AsyncIterable<unknown>
/** For `JSON.parse`: an integer that a `number` may not hold is a `bigint`. */
const exactly = (_: string, it: unknown, { source = '' } = {}) =>
  /^-?\d{16,}$/.test(source) ? BigInt(source) : it

/** Streams a body. Waits for the first piece: an error before it can still be answered. */
async function startStream(
  request: FastifyRequest,
  body: Pieces,
  write: (pieces: Pieces) => Pieces,
) {
  const source = body instanceof Readable ? body : Readable.from(body)
  source.on('error', () => undefined) // reported below; without a listener, the process would end
  if (request.method === 'HEAD') source.destroy()
  else if (source.errored) throw source.errored
  else await Promise.race([once(source, 'readable'), finished(source, { writable: false })]) // it may have ended before
  const stream = Readable.from(request.method === 'HEAD' ? [] : write(source))
  // The source must end, too, even if nothing was read from it.
  stream.once('close', () => source.destroy())
  // Fastify then closes the connection, so that no client takes a partial body for a whole one.
  stream.once('error', (err) => reportFault(err, request, 'response broken off'))
  return stream
}

/** Joins JSON arrays into the text of one. */
async function* jsonArray(batches: Pieces, textOf: (batch: unknown) => string) {
  let separator = '['
  for await (const batch of batches) {
    const items = textOf(batch).slice(1, -1)
    if (items === '') continue
    yield separator + items
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}
