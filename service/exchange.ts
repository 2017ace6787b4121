import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { type HttpError, parserError, rawResponse } from './errors.ts'
import { requestId, standardHeaders } from './headers.ts'

/** A request and its response, on a connection. */
interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The status that was answered on the bare socket, if it was. */
  status?: number
}

const latest = new WeakMap<Socket, Exchange>()

/** Begins to answer a request: gives the response the headers that all have, and logs one line when it is over. */
export async function begin(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const exchange: Exchange = { request, reply }
  latest.set(request.raw.socket, exchange)
  reply.headers(standardHeaders(request.id))
  reply.raw.once('close', () => {
    const line = {
      ...(request.caller !== '' && { caller: request.caller }),
      method: request.method,
      // Never the URL: it may hold what is nobody's business, such as a token.
      route: request.routeOptions.url,
      status: exchange.status ?? reply.statusCode,
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(!reply.raw.writableFinished && { aborted: true }),
    }
    request.log.info(line, 'request')
  })
}

/**
 * Answers bytes that the HTTP parser refuses, on the bare socket, and closes it.
 * What is written must not be taken for the answer to another request of the connection.
 * @see https://nodejs.org/api/http.html#event-clienterror
 */
export function refuse(
  error: Error & { readonly code?: string },
  socket: Socket,
  log: FastifyBaseLogger,
): void {
  const exchange = latest.get(socket)
  const response = exchange?.reply.raw
  const refused = parserError(error)
  if (exchange !== undefined && !exchange.request.raw.complete) {
    if (!response?.headersSent) {
      exchange.status = refused.statusCode
      write(socket, refused, exchange.request.id)
    }
    socket.destroy()
  } else if (response !== undefined && !response.writableFinished) {
    response.once('close', () => refuse(error, socket, log))
  } else {
    const id = requestId({ headers: {} })
    if (write(socket, refused, id))
      log.info({ reqId: id, status: refused.statusCode, code: error.code }, 'request')
    socket.destroy()
  }
}

function write(socket: Socket, error: HttpError, id: string): boolean {
  if (socket.writable) socket.write(rawResponse(error, id))
  return socket.writable
}
