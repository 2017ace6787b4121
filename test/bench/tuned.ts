// The yardstick: a server for the three operations, written by hand on Fastify, with the promises of README.md.
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { Readable } from 'node:stream'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import * as store from './tuned-store.ts'

declare module 'fastify' {
  interface FastifyRequest {
    caller: string
  }
}

class Refusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.status = status
    this.headers = headers
  }
}
const NO_KEY = `must be an integer from ${store.LEAST_KEY} to ${store.GREATEST_KEY}`
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const INEXACT = /[\d.]{16}|\d[eE]/

/** Parses JSON. An integer beyond a number is a bigint. */
function parseJson(bytes: Buffer): unknown {
  try {
    const text = UTF8.decode(bytes)
    return INEXACT.test(text) ? JSON.parse(text, revive) : JSON.parse(text)
  } catch {
    throw new Refusal(400, 'The body must be JSON in UTF-8')
  }
}

function revive(_name: string, value: unknown, { source = '' } = {}): unknown {
  return /^-?\d{16,}$/.test(source) ? BigInt(source) : value
}

function toKey(id: unknown, place: string): bigint {
  const isInteger = typeof id === 'bigint' || Number.isSafeInteger(id)
  const key = isInteger ? BigInt(id as number | bigint) : store.GREATEST_KEY + 1n
  if (key < store.LEAST_KEY || key > store.GREATEST_KEY)
    throw new Refusal(400, `${place} ${NO_KEY}`)
  return key
}

/** @returns the first fault of a plant, in a body or in an answer */
function faultOf(value: unknown, required: readonly string[]): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return ' must be object'
  const missing = required.find((field) => !(field in value))
  if (missing !== undefined) return ` must have required property '${missing}'`
  const more = Object.keys(value).find((field) => field !== 'tag' && !required.includes(field))
  if (more !== undefined) return ` must not have the property ${more}`
  const { name, tag = '' } = value as Readonly<Record<string, unknown>>
  return faultOfText('name', name, 1) ?? faultOfText('tag', tag, 0)
}

function faultOfText(name: string, text: unknown, least: number): string | undefined {
  if (typeof text !== 'string') return `/${name} must be string`
  if (text.length < least) return `/${name} must NOT have fewer than ${least} characters`
  const isLong = text.length > 255 && Array.from(text).length > 255
  if (isLong) return `/${name} must NOT have more than 255 characters`
  const isFit = !text.includes('\0') && text.isWellFormed() && (least === 0 || /\S/.test(text))
  return isFit ? undefined : `/${name} must match a pattern`
}

const BUCKETS = [1, 2.5, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000] // milliseconds
const counts = new Map<string, number[]>()
const line = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())},"msg":"request","reqId":"`
let lines = ''
let timer: NodeJS.Timeout | undefined

/** Counts a request in a histogram, and writes its line. */
function endRequest({ id, ip, caller, method, routeOptions }: FastifyRequest, reply: FastifyReply) {
  const { statusCode: status, elapsedTime: ms } = reply
  const { url: route = '_OTHER' } = routeOptions
  const series = `${method} ${route} ${status}`
  const buckets = counts.get(series) ?? Array<number>(BUCKETS.length + 1).fill(0)
  counts.set(series, buckets)
  const bucket = BUCKETS.findIndex((bound) => ms <= bound)
  buckets[bucket] = (buckets[bucket] ?? 0) + 1
  const sent = reply.raw.writableFinished ? '' : ',"aborted":true'
  const named = caller === '' ? '' : `,"caller":${JSON.stringify(caller)}`
  const ended = `"method":"${method}","route":"${route}","status":${status},"ms":${Math.round(ms * 1000) / 1000}${sent}`
  lines += `{"level":30,"time":${Date.now()},${line}${id}","client":"${ip}"${named},${ended}}\n`
  if (lines.length > 4096) flush()
  else timer ??= setTimeout(flush, 100).unref()
}

function flush(): void {
  clearTimeout(timer)
  timer = undefined
  process.stdout.write(lines)
  lines = ''
}

const app = Fastify({ bodyLimit: 16_384, genReqId: idOf, routerOptions: { maxParamLength: 8192 } })
const id = /^(?!.*_[\da-f]{48})[\w.-]{1,64}$/
const headers = {
  'cache-control': 'no-store',
  'content-security-policy': "sandbox; default-src 'none'",
  'x-content-type-options': 'nosniff',
}
const challenge = 'Bearer realm="plants"'
const noToken = { 'www-authenticate': challenge }
const badToken = { 'www-authenticate': `${challenge}, error="invalid_token"` }

function idOf(request: { readonly headers: Readonly<Record<string, unknown>> }): string {
  const sent = request.headers['x-request-id']
  return typeof sent === 'string' && id.test(sent) ? sent : randomUUID()
}

app.decorateRequest('caller', '')
app.addHook('onRequest', (request, reply, done) => {
  reply.headers(headers).header('x-request-id', request.id)
  if (request.is404) throw new Refusal(404, 'There is no such path')
  const { authorization } = request.headers
  if (authorization === undefined) throw new Refusal(401, 'An access token is needed', noToken)
  const caller = store.callerOf(/^Bearer +(.+)$/i.exec(authorization)?.[1] ?? '')
  if (caller === undefined) throw new Refusal(401, 'The access token is not valid', badToken)
  request.caller = caller
  done()
})
app.addHook('onResponse', (request, reply, done) => {
  endRequest(request, reply)
  done()
})
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (request, bytes, done) => {
  const type = request.headers['content-type'] ?? 'application/json'
  if (/^application\/json *(?:;|$)/i.test(type)) done(null, bytes)
  else done(new Refusal(415, 'The Content-Type of the body must be application/json, in UTF-8'))
})
app.setErrorHandler((error, _request, reply) => {
  const isTooLong =
    error instanceof Error && 'code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE'
  const refusal = isTooLong ? new Refusal(413, 'The body is too long') : error
  const { status, message, headers } =
    refusal instanceof Refusal ? refusal : new Refusal(500, 'Internal Server Error')
  if (!(refusal instanceof Refusal)) console.error(error)
  return sendJson(reply.code(status).headers(headers), JSON.stringify({ error: status, message }))
})

/** Fastify would add a charset. */
function sendJson(reply: FastifyReply, body: string | Readable): FastifyReply {
  return reply.type('application/json').serializer(String).send(body)
}

const LIMIT = 'query/limit must be an integer from 1 to 2147483647'

function toLimit(limit: unknown): number {
  const isInteger = typeof limit === 'string' && /^[1-9]\d{0,9}$/.test(limit)
  if (!isInteger || Number(limit) >= 2 ** 31) throw new Refusal(400, LIMIT)
  return Number(limit)
}

function fromCursor(cursor: unknown): bigint {
  const bytes = Buffer.from(String(cursor), 'base64url')
  const isCursor = bytes.length === 8 && bytes.toString('base64url') === cursor
  if (!isCursor) throw new Refusal(400, 'query/cursor must match a pattern')
  return bytes.readBigInt64BE()
}

function toCursor(key: bigint): string {
  const bytes = Buffer.allocUnsafe(8)
  bytes.writeBigInt64BE(key)
  return bytes.toString('base64url')
}

app.post('/plants', async ({ caller, body }, reply) => {
  if (!(body instanceof Buffer)) throw new Refusal(400, 'The request needs a body')
  const input = parseJson(body)
  const fault = faultOf(input, ['id', 'name'])
  if (fault !== undefined) throw new Refusal(400, `body${fault}`)
  const { id, ...plant } = input as { id: unknown; name: string; tag?: string } // checked above
  const key = toKey(id, 'body/id')
  const stored = await store.createPlant(caller, key, JSON.stringify(plant))
  const answer = JSON.parse(stored) as { name: string; tag?: string } // checked in the next line
  const wrong = faultOf(answer, ['name'])
  if (wrong !== undefined) throw new Error(`the answer${wrong}`)
  if (answer.name === plant.name && answer.tag === plant.tag) return sendJson(reply, stored)
  throw new Refusal(409, `Another plant has the id ${key}`)
})

app.get('/plants', async ({ caller, query }, reply) => {
  const { limit, cursor } = query as Readonly<Record<'limit' | 'cursor', unknown>>
  const from = cursor === undefined ? store.LEAST_KEY : fromCursor(cursor) + 1n
  const most = limit === undefined ? store.FIRST_CHUNK : toLimit(limit)
  const page = store.readPage(caller, most, from)
  if (page.last === undefined) return sendJson(reply, `[${page.text}]`)
  if (limit === undefined) return sendJson(reply, Readable.from(store.readAll(caller, page)))
  reply.header('link', `<?limit=${most}&cursor=${toCursor(page.last)}>; rel="next"`)
  return sendJson(reply, `[${page.text}]`)
})

app.delete('/plants/:id', async ({ caller, params }, reply) => {
  const { id } = params as { readonly id: string } // of the path
  const key = toKey(/^(?:0|-?[1-9]\d*)$/.test(id) ? BigInt(id) : undefined, 'path/id')
  if (await store.deletePlant(caller, key)) return reply.code(204).send()
  throw new Refusal(404, 'No such plant')
})

await app.listen({ port: Number(process.env['PORT']) })
