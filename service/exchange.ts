import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import { HttpError, rawResponse } from './errors.ts'
import { requestId, standardHeaders } from './headers.ts'

/** A request and its response, on a connection. */
interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The status that was answered on the bare socket, if it was. */
  status?: number
}

/** The latest exchange of each connection, after those before it that are not over. */
const exchanges = new WeakMap<Socket, readonly Exchange[]>()

/** Begins to answer a request: gives the response the headers that all have, and logs one line when it is over. */
export function begin(request: FastifyRequest, reply: FastifyReply): void {
  const exchange: Exchange = { request, reply }
  const { socket } = request.raw
  const open = exchanges.get(socket)?.filter((each) => !each.reply.raw.closed) ?? []
  exchanges.set(socket, [...open, exchange])
  reply.headers(standardHeaders(request.id))
  reply.raw.once('close', () => {
    request.log.info({
      msg: 'request',
      reqId: request.id,
      ...(request.caller !== '' && { caller: request.caller }),
      method: request.method,
      // Never the URL: it may hold what is nobody's business, such as a token.
      route: request.routeOptions.url,
      status: exchange.status ?? reply.statusCode,
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(!reply.raw.writableFinished && { aborted: true }),
    })
  })
}

/**
 * Answers bytes that are no request for Fastify, on the bare socket, and closes it.
 * What is written must not be taken for the answer to another request of the connection.
 * @param error as `rawResponse` takes it
 */
export function refuse(
  error: Error & { readonly code?: string },
  socket: Socket,
  log: FastifyBaseLogger,
  id = requestId({ headers: {} }),
): void {
  const again = () => refuse(error, socket, log, id)
  const latest = exchanges.get(socket)?.at(-1)
  const isPart = latest?.request.raw.complete === false
  const open = latest?.reply.raw.writableFinished === false ? latest : undefined
  const response = open?.reply.raw
  if (response && (!isPart || response.headersSent)) return void response.once('close', again)
  // The answers to earlier requests go first.
  if (response?.socket === null) return void response.once('socket', again)
  if (socket.writable && (open || !isPart)) {
    const { status, text } = rawResponse(error, open?.request.id ?? id)
    socket.write(text)
    if (open) open.status = status
    else log.info({ msg: 'request', reqId: id, status, code: error.code })
  }
  socket.destroy()
}

/** Refuses CONNECT: the service is no proxy. Node has let go of the socket, so that its end is to be cared for here. */
export function refuseConnect(request: IncomingMessage, log: FastifyBaseLogger): void {
  const { socket } = request
  const open = exchanges.get(socket)?.filter(({ reply }) => !reply.raw.closed) ?? []
  // The responses to earlier requests would wait forever for the socket to drain or to close.
  if (open.length > 0) socket.destroy()
  for (const { reply } of open) reply.raw.destroy()
  refuse(new HttpError(501, 'CONNECT is not implemented'), socket, log, requestId(request))
}
