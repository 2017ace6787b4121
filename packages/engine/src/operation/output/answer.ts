// Sends the answers of an operation's method, checked by the contract.
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { FastifyReply } from 'fastify'
import type { Operation } from '../../contract/compiled.ts'
import { countAnswer } from './answer-budget.ts'
import { EventStream, returnEvents } from './events.ts'
import { type BodyWriter, misfit, ResponseWriters } from './response-writer.ts'
import { reserveStream } from './stream-budget.ts'
import type { Validator } from '@plant-store/json-schema'
import { releaseValue } from '../../http/budget.ts'
import { reportFault } from '../../http/error-answers.ts'
import type { Exchange } from '../../http/exchange.ts'
import { validateHeaderName, validateHeaderValue } from '../../http/node.ts'

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean | undefined>>
  /** The media type of the body, if the contract has several. */
  readonly type?: string
  /**
   * An async iterable is streamed: its JSON arrays are joined into one, its bytes are sent piece by
   * piece, and its events (`{ id, event, data }`) one by one.
   */
  readonly body?: unknown
}

export class Answers {
  readonly #id: string
  readonly #writers: ResponseWriters

  /** @param validator of outgoing values */
  constructor(operation: Operation, validator: Validator) {
    this.#id = operation.id
    this.#writers = new ResponseWriters(operation, validator)
  }

  /** Sends the answer of a method. @throws {Error} if the contract does not allow it */
  write(exchange: Exchange, answer: Answer): FastifyReply | Promise<FastifyReply> {
    const { status, type, body } = answer
    const { reply } = exchange
    assertHeaders(answer)
    const content = this.#writers.find(status, type)
    // While pieces are streamed, the method may still use the body of the request. Events may go on
    // for ever: they hold no room.
    if (!isStream(body) || content?.writer.isEvents) releaseValue(exchange)
    if (content === null) {
      if (body === undefined) return send(reply, answer)
      throw misfit(this.#id, status, 'a body that the contract does not declare')
    }
    reply.type(content.type)
    if (content.writer.isEvents) {
      if (!isStream(body)) throw misfit(this.#id, status, 'a body that is no stream of events')
      return send(reply, answer, startEvents(exchange, body, content.writer, status))
    }
    if (isStream(body)) {
      const pieces = startStream(exchange, body, (source) => join(source, content.writer, status))
      return pieces.then((payload) => send(reply, answer, payload))
    }
    send(reply, answer, content.writer.write(status, body))
    if (!isTaken(exchange.response)) countAnswer(exchange)
    return reply
  }
}

/** Checked before the reply is touched: a bad header can still become a 500. */
function assertHeaders({ headers }: Answer): void {
  for (const name in headers) {
    validateHeaderName(name)
    validateHeaderValue(name, String(headers[name]))
  }
}

function send(reply: FastifyReply, { status, headers }: Answer, payload?: unknown): FastifyReply {
  for (const name in headers) {
    const value = headers[name]
    if (value !== undefined) reply.header(name, String(value))
  }
  return reply.code(status).serializer(String).send(payload) // Without a serializer, Fastify would add a charset.
}

/** Whether the system has taken an answer, as it takes most. */
function isTaken({ closed, writableLength }: ServerResponse): boolean {
  return closed || writableLength === 0
}

type Pieces = AsyncIterable<unknown>

function isStream(body: unknown): body is Pieces {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

/**
 * Streams events. The head is sent at once: the first event may be far.
 * @throws {HttpError} 503 if the caller has too many streams
 */
function startEvents(
  exchange: Exchange,
  body: Pieces,
  writer: BodyWriter,
  status: number,
): Readable {
  const { reply, request } = exchange
  const events = body[Symbol.asyncIterator]()
  try {
    reserveStream(exchange)
  } catch (error) {
    returnEvents(events, exchange)
    throw error
  }
  reply.header('x-accel-buffering', 'no') // nginx would collect the events
  const write = (data: unknown) => writer.writeText(status, data)
  const stream = new EventStream({ events, write, exchange })
  stream.once('error', (err) => reportFault(err, exchange, 'response broken off'))
  if (request.method === 'HEAD') stream.finish()
  return stream
}

/** Streams a body. Waits for the first piece: an error before it can still be answered. */
async function startStream(
  exchange: Exchange,
  body: Pieces,
  write: (pieces: Pieces) => Pieces,
): Promise<Readable> {
  const isHead = exchange.request.method === 'HEAD'
  const source = body instanceof Readable ? body : Readable.from(body)
  source.on('error', () => undefined) // reported below; without a listener, the process would end
  if (isHead) source.destroy()
  else await firstPiece(source)
  const stream = Readable.from(isHead ? [] : write(source))
  // The source must end, too, even if nothing was read from it.
  stream.once('close', () => source.destroy())
  // Fastify then closes the connection: no client takes a partial body for a whole one.
  stream.once('error', (err) => reportFault(err, exchange, 'response broken off'))
  return stream
}

/** Waits until a stream has a piece, or has ended. @throws the error of the stream */
async function firstPiece(source: Readable): Promise<void> {
  if (source.errored) throw source.errored
  await Promise.race([once(source, 'readable'), finished(source, { writable: false })])
}

/** Joins the pieces of a body: JSON arrays become one array, other pieces are sent unchanged. */
function join(pieces: Pieces, writer: BodyWriter, status: number): Pieces {
  if (writer.kind !== 'json') return pieces
  return joinArrays(pieces, (piece) => writer.writeText(status, piece))
}

async function* joinArrays(arrays: Pieces, textOf: (array: unknown) => string) {
  let separator = '['
  for await (const array of arrays) {
    const items = textOf(array).slice(1, -1)
    if (items === '') continue
    yield separator + items
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}
