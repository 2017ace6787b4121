import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { JsonText } from '../http/json.ts'

/** What an operation answers; a body that is an array may come in batches, each of them a JSON array. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The result of an operation that refuses: a status that the contract declares for it, and the Error. */
export function refusal<Status extends number>(status: Status, message: string) {
  return { status, body: { error: status, message } } as const
}

const JSON_TYPE = 'application/json'

/** Sends an answer: a JSON text as it is, a value serialized by the contract's schema for its status. */
export async function answer(request: FastifyRequest, reply: FastifyReply, result: Answer): Promise<FastifyReply> {
  const { status, headers = {}, body } = result
  if (body instanceof JsonText) return reply.code(status).headers(headers).type(JSON_TYPE).send(body.text)
  if (!isIterable(body)) return reply.code(status).headers(headers).send(body)

  const batches = body[Symbol.asyncIterator]()
  const stream = Readable.from(request.method === 'HEAD' ? [] : await begun(jsonArray(body)))
  // Whoever gives the batches must hear that no more are wanted, even if none was.
  stream.once('close', () => batches.return?.())
  // Fastify then breaks the connection: no client takes a part for the whole.
  stream.once('error', (err) => request.log.error({ reqId: request.id, err }, 'response broken off'))
  return reply.code(status).headers(headers).type(JSON_TYPE).send(stream)
}

/** The same texts, of which the first is there: a failure until then is thrown, and answered as all are. */
async function begun(texts: AsyncGenerator<string>) {
  const first = await texts.next()
  return (async function* () {
    if (first.done !== true) yield first.value
    yield* texts
  })()
}

/** The text of one JSON array that holds the items of all batches. */
async function* jsonArray(batches: AsyncIterable<JsonText<unknown[]>>) {
  let separator = '['
  for await (const { text } of batches) {
    const items = text.slice(1, -1)
    if (items === '') continue
    yield separator + items
    separator = ','
  }
  yield separator === '[' ? '[]' : ']'
}

function isIterable(body: unknown): body is AsyncIterable<JsonText<unknown[]>> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}
