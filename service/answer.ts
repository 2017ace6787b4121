import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** What an operation answers; a body that is an array may come in batches. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** Fastify's name for whatever has a schema to be serialized by. */
type Payload = Parameters<NonNullable<ReturnType<FastifyReply['getSerializationFunction']>>>[0]

/** Sends an answer, serialized by the contract's schema for its status. */
export async function answer(request: FastifyRequest, reply: FastifyReply, result: Answer): Promise<FastifyReply> {
  const { status, headers = {}, body } = result
  if (!isIterable(body)) return reply.code(status).headers(headers).send(body)

  const batches = body[Symbol.asyncIterator]()
  const serialize = reply.getSerializationFunction(String(status), 'application/json')
  if (serialize === undefined) throw new TypeError(`the contract has no schema for the status ${status}`)
  const stream = Readable.from(request.method === 'HEAD' ? [] : await begun(jsonArray(body, serialize)))
  // Whoever gives the batches must hear that no more are wanted, even if none was.
  stream.once('close', () => batches.return?.())
  // Fastify then breaks the connection: no client takes a part for the whole.
  stream.once('error', (err) => request.log.error({ err }, 'response broken off'))
  return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(stream)
}

/** The same texts, of which the first is there: a failure until then is thrown, and answered as any other. */
async function begun(texts: AsyncGenerator<string>) {
  const first = await texts.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* texts
  })()
}

/** The text of one JSON array that holds the items of all batches. */
async function* jsonArray(batches: AsyncIterable<Payload>, serialize: (batch: Payload) => string) {
  let separator = '['
  for await (const batch of batches) {
    const items = serialize(batch).slice(1, -1)
    if (items === '') continue
    yield separator + items
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

function isIterable(body: unknown): body is AsyncIterable<Payload> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
