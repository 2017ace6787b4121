import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { components } from './contract.ts'
import { standardHeaders } from './headers.ts'
import { StoreUnavailable } from './store.ts'

type Body = components['schemas']['Error']

/** A request that is refused. Thrown anywhere in Fastify, it becomes the answer. */
export class HttpError extends Error {
  override readonly name = 'HttpError'
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string>>

  /**
   * @param statusCode from 400 to 599
   * @param message what to mend, for the caller to read
   * @param headers those that the status calls for, such as `Allow`
   */
  constructor(statusCode: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message)
    this.statusCode = statusCode
    this.headers = headers
  }
}

/** The result of an operation that refuses: a status that the contract declares for it, and the Error. */
export function refusal<Status extends number>(status: Status, message: string) {
  return { status, body: { error: status, message } } as const
}

/** Answers with an error: Fastify's `setErrorHandler` and `frameworkErrors`. */
export function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, message, headers } = toHttpError(error)
  if (statusCode >= 500) request.log.error({ err: error }, 'request failed')
  return reply
    .code(statusCode)
    .headers({ ...standardHeaders(request.id), ...headers })
    .send({ error: statusCode, message } satisfies Body)
}

function toHttpError(error: Error): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof StoreUnavailable) {
    return new HttpError(503, 'The store is not available, try again later', { 'retry-after': '1' })
  }
  const status = 'statusCode' in error ? Number(error.statusCode) : 500
  return status >= 400 && status < 500
    ? new HttpError(status, error.message)
    : new HttpError(500, 'Internal Server Error')
}

const PARSER_ERRORS = new Map<string | undefined, readonly [status: number, message: string]>([
  ['ERR_HTTP_REQUEST_TIMEOUT', [408, 'The request took too long to arrive']],
  ['HPE_HEADER_OVERFLOW', [431, 'The header fields are too large']],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', [413, 'The chunk extensions are too large']],
])

/** What the HTTP parser's error is answered with. @see https://nodejs.org/api/http.html#event-clienterror */
export function parserError(error: Error & { readonly code?: string }): HttpError {
  if (error instanceof HttpError) return error
  return new HttpError(...(PARSER_ERRORS.get(error.code) ?? [400, 'The request is malformed']))
}

/** A whole HTTP/1.1 response, for where there is a socket and no request. The connection ends with it. */
export function rawResponse({ statusCode, message }: HttpError, id: string): string {
  const body = JSON.stringify({ error: statusCode, message } satisfies Body)
  const headers = {
    ...standardHeaders(id),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}\r\n${body}`
}
