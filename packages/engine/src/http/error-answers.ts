// Answers a request with an error, and logs a fault.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, NotUnique, StoreBusy, StoreUnavailable } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { STATUS_CODES } from './node.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Writes an error in the form of the route. */
    writeError?: WriteError
    /** Writes the answer to a write that breaks a unique index; without it, the answer is 500. */
    writeConflict?: WriteError | undefined
    operationId?: string
  }
  interface FastifyInstance {
    /** Writes the errors of all other routes, and those outside of routes. */
    readonly writeError: WriteError
  }
}

export const TOO_BUSY = new HttpError(503, 'The service is too busy, try again later', {
  'retry-after': '1',
})
/** Nobody gets this answer: it only stops the work for a client that has left. */
export const CLIENT_LEFT = new HttpError(400, 'The client has left')
/** The reason in the log when a budget refuses a request (http/budget.ts). */
const NO_ROOM = 'the bodies of other requests take all memory that bodies may take'
const STORE_AWAY = new HttpError(503, 'The store is not available, try again later', {
  'retry-after': '1',
})

export interface ErrorOrigin {
  /** The path of the request, without its query; empty if it has none, or no readable one. */
  readonly path: string
  /**
   * The id in `X-Request-Id` of the answer: a UUID, or the caller's value of the header. If the
   * form of errors requires a UUID, always a UUID.
   */
  readonly id: string
  /** Empty if no operation has the path and the method. */
  readonly operationId: string
}

export type WriteError = (
  status: number,
  message: string,
  origin: ErrorOrigin,
) => { readonly type: string; readonly body: string }

/** Writes the usual body of an error: the contract's schema `Error`. */
export const usualError: WriteError = (error, message) => ({
  type: 'application/json',
  body: JSON.stringify({ error, message }),
})

/** Answers with an error: Fastify's `setErrorHandler` and `frameworkErrors`. */
export function answerError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { exchange } = request
  const { config } = request.routeOptions
  const isConflict = error instanceof NotUnique && config.writeConflict !== undefined
  const answered = isConflict ? toConflict(error) : error
  const { statusCode, message, headers } = toHttpError(answered)
  if (error === TOO_BUSY) request.server.exchanges.shed(exchange, NO_ROOM)
  if (statusCode >= 500 && !(answered instanceof HttpError))
    reportFault(error, exchange, 'request failed')
  const { writeError = request.server.writeError, operationId = '' } = config
  const path = request.url.replace(/[?#].*/s, '')
  const write = (isConflict ? config.writeConflict : undefined) ?? writeError
  const { type, body } = write(statusCode, message, { path, id: request.id, operationId })
  reply.code(statusCode).headers(headers)
  reply.raw.statusMessage = '' // Node may have set the phrase of an answer before refusing to send it.
  return reply.type(type).serializer(String).send(body) // Without a serializer, Fastify would add a charset.
}

/**
 * Logs the fault at the end of a request. A request too many is only counted. Why the store can't answer is logged
 * once, not for each request.
 */
export function reportFault(err: Error, exchange: Exchange, message: string): void {
  const { log, server } = exchange.request
  const { exchanges } = server
  if (err instanceof StoreBusy) {
    exchanges.shed(exchange, err.message)
    return
  }
  const isOfStore = err instanceof StoreUnavailable
  const repeated = isOfStore ? exchanges.storeFaults.note(err.message) : 0
  if (repeated === undefined) return
  log.error({ reqId: exchange.id, err, ...(repeated > 0 && { repeated }) }, message)
}

function toConflict({ index }: NotUnique): HttpError {
  return new HttpError(409, `Another item has the same ${index}`)
}

function toHttpError(error: Error & { readonly statusCode?: number }): HttpError {
  if (error instanceof HttpError) return error
  if (error instanceof StoreBusy) return TOO_BUSY
  if (error instanceof StoreUnavailable) return STORE_AWAY
  const { statusCode = 500 } = error
  const status = statusCode >= 400 && statusCode < 500 ? statusCode : 500
  // The message of a library may quote the request.
  return new HttpError(status, STATUS_CODES[status] ?? 'The request is refused')
}
