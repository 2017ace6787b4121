import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Compiled, Operation } from './compiled.ts'
import { kindOf } from './bodies.ts'
import type { Validators } from './validation.ts'
import { exactJson, JsonText } from '../http/json.ts'

/** What an operation answers. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean | undefined>>
  /** The media type of the body, if the contract has several. */
  readonly type?: string
  /** A JSON array may come in batches, each of them a JSON array; bytes in pieces. */
  readonly body?: unknown
}

/** The result of an operation that refuses: a status that the contract declares for it, and the Error. */
export function refusal<Status extends number>(status: Status, message: string) {
  return { status, body: { error: status, message } } as const
}

/** Sends what a method gave. @throws {Error} if that is not as the contract says */
type Send = (request: FastifyRequest, reply: FastifyReply, answer: Answer) => Promise<FastifyReply>
type Written = { readonly text?: string; readonly fault?: string | undefined }
type Write = (body: unknown) => Written

/** @param validators those of responses, which are made when the first is sent */
export function answerSender({ id, responses }: Operation, { schemas }: Compiled, validators: () => Validators): Send {
  const writers = new Map<string, Write>()
  const isChanged = Object.values(schemas).some((each) => JSON.stringify(each).includes('"removed":'))
  return async (request, reply, { status, headers = {}, type, body }) => {
    const keys = [String(status), `${Math.floor(status / 100)}XX`, 'default']
    const key = keys.find((each) => Object.hasOwn(responses, each)) ?? ''
    const fail = (fault: string) => new Error(`the method ${id} gave, with ${status}, ${fault}`)
    const response = responses[key]
    if (response === undefined) throw fail('a status that the contract does not declare')
    const mediaType = type ?? Object.keys(response)[0]
    const schema = response[mediaType ?? '']
    const send = (payload?: unknown) => {
      for (const [name, value] of Object.entries(headers)) if (value !== undefined) reply.header(name, String(value))
      return reply.code(status).serializer(String).send(payload) // With a serializer of the reply, Fastify adds no charset.
    }
    if (mediaType === undefined && body === undefined) return send()
    if (mediaType === undefined || schema === undefined) throw fail('a body that the contract does not declare')

    const kind = kindOf(mediaType)
    reply.type(kind === 'text' ? `${mediaType}; charset=utf-8` : mediaType)
    if (isIterable(body)) return send(await streamOf(request, kind === 'json' ? jsonArray(body) : body, body))
    if (body instanceof Uint8Array) return send(Buffer.from(body.buffer, body.byteOffset, body.byteLength))
    if (kind === 'bytes') throw fail('a body that is not bytes')
    const write = writers.get(`${key} ${mediaType}`) ?? writer(schema, kind === 'text', isChanged, validators())
    writers.set(`${key} ${mediaType}`, write)
    const { text = '', fault }: Written = body instanceof JsonText ? { text: body.text } : write(body)
    if (fault !== undefined) throw fail(`a body that is not as the contract says: ${fault}`)
    return send(text)
  }
}

/** Makes what checks a body and writes it. @param isChanged whether members are taken out, and so out of a copy */
function writer(id: string | null, isText: boolean, isChanged: boolean, validators: Validators): Write {
  const validate = id === null ? () => undefined : validators.of('body', { $ref: id })
  return (body) => {
    if (body === undefined) return { fault: 'there is none' }
    const holder = { body: isChanged ? structuredClone(body) : body }
    const fault = validate(holder)
    if (!isText) return { fault, text: exactJson(holder.body) }
    return typeof holder.body === 'string' ? { fault, text: holder.body } : { fault: fault ?? 'it is no text' }
  }
}

/** Streams a body. Until its first piece is there a failure is thrown, and answered as all are. */
async function streamOf(request: FastifyRequest, pieces: AsyncIterable<unknown>, given: AsyncIterable<unknown>) {
  const iterator = given[Symbol.asyncIterator]()
  const stream = Readable.from(request.method === 'HEAD' ? [] : await begun(pieces))
  // Whoever gives the pieces must hear that no more are wanted, even if none was.
  stream.once('close', () => void iterator.return?.())
  // Fastify then breaks the connection: no client takes a part for the whole.
  stream.once('error', (err) => request.log.error({ reqId: request.id, err }, 'response broken off'))
  return stream
}

/** The same pieces, of which the first is there. */
async function begun(pieces: AsyncIterable<unknown>) {
  const iterator = pieces[Symbol.asyncIterator]()
  const first = await iterator.next()
  return (async function* () {
    for (let each = first; each.done !== true; each = await iterator.next()) yield each.value
  })()
}

/** The text of one JSON array that holds the items of all batches. */
async function* jsonArray(batches: AsyncIterable<unknown>) {
  let separator = '['
  for await (const batch of batches as AsyncIterable<JsonText<unknown[]>>) {
    const items = batch.text.slice(1, -1)
    if (items === '') continue
    yield separator + items
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

function isIterable(body: unknown): body is AsyncIterable<unknown> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
