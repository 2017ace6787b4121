import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, StoreUnavailable } from '../errors.ts'
import { standardHeaders } from './headers.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Gives an error of a route another form than that of all; without a media type it has no body. */
    writeError?: (
      status: number,
      message: string,
    ) => { readonly type?: string; readonly body?: object | string } | undefined
  }
}

/** Answers with an error: Fastify's `setErrorHandler` and `frameworkErrors`. */
export function answerError(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { statusCode, message, headers } = toHttpError(error)
  if (statusCode >= 500 && !(error instanceof HttpError))
    request.log.error({ reqId: request.id, err: error }, 'request failed')
  const { writeError } = request.routeOptions.config
  const { type, body } = writeError?.(statusCode, message) ?? { type: JSON_TYPE, body: bodyOf(statusCode, message) }
  reply.code(statusCode).headers(headers)
  // A serializer of its own keeps Fastify from adding a charset. No `onSend` hook runs for a framework error.
  return type === undefined
    ? reply.send()
    : reply
        .type(type)
        .serializer(typeof body === 'string' ? String : JSON.stringify)
        .send(body)
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

const JSON_TYPE = 'application/json'

/** The body of every error: the contract's schema `Error`. */
function bodyOf(error: number, message: string) {
  return { error, message }
}

/** The headers and the body of an error, for where there is no Fastify. */
export function plainError({ statusCode, message, headers }: HttpError, id: string) {
  const body = JSON.stringify(bodyOf(statusCode, message))
  const own = { 'content-type': JSON_TYPE, 'content-length': String(Buffer.byteLength(body)) }
  return { headers: { ...standardHeaders(id), ...headers, ...own }, body }
}
