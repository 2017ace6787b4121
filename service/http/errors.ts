import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, StoreUnavailable } from '../errors.ts'
import { standardHeaders } from './headers.ts'
import { STATUS_CODES } from './node.ts'

/** The body of every error: the contract's schema `Error`. */
interface Body {
  /** The HTTP status code. */
  readonly error: number
  readonly message: string
}

/** Answers with an error: Fastify's `setErrorHandler` and `frameworkErrors`. */
export function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, message, headers } = toHttpError(error)
  if (statusCode >= 500 && !(error instanceof HttpError))
    request.log.error({ reqId: request.id, err: error }, 'request failed')
  const body: Body = { error: statusCode, message }
  // A serializer of its own keeps Fastify from adding a charset. No `onSend` hook runs for a framework error.
  return reply.code(statusCode).headers(headers).type('application/json').serializer(JSON.stringify).send(body)
}

function toHttpError(error: Error): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof StoreUnavailable) {
    return new HttpError(503, 'The store is not available, try again later', { 'retry-after': '1' })
  }
  const { statusCode = 500 }: Error & { readonly statusCode?: number } = error
  if (statusCode >= 400 && statusCode < 500) return new HttpError(statusCode, error.message)
  return new HttpError(500, 'Internal Server Error')
}

const PARSER_ERRORS = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpError(408, 'The request took too long to arrive')],
  ['HPE_HEADER_OVERFLOW', new HttpError(431, 'The header fields are too large')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpError(413, 'The chunk extensions are too large')],
])
const MALFORMED = new HttpError(400, 'The request is malformed')

/**
 * A whole HTTP/1.1 response, for where there is a socket and no request. The connection ends with it.
 * @param error an `HttpError`, or what the HTTP parser found: https://nodejs.org/api/http.html#event-clienterror
 */
export function rawResponse(error: Error & { readonly code?: string }, id: string) {
  const { statusCode, headers, body } = parts(
    error instanceof HttpError ? error : (PARSER_ERRORS.get(error.code ?? '') ?? MALFORMED),
    id,
  )
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`
  return { status: statusCode, text }
}

/** Answers with an error where a request has not come to Fastify. */
export function answerBare(response: ServerResponse, error: HttpError, id: string): void {
  const { statusCode, headers, body } = parts(error, id)
  response.writeHead(statusCode, headers).end(body)
}

function parts({ statusCode, message, headers }: HttpError, id: string) {
  const body = JSON.stringify({ error: statusCode, message } satisfies Body)
  const type = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  return { statusCode, headers: { ...standardHeaders(id), ...headers, ...type }, body }
}
