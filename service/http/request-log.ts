import type { IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { rawResponse } from './errors.ts'
import { requestId, standardHeaders, traceId } from './headers.ts'
import { OTHER, type Traffic } from './traffic.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** What this server counts. */
    readonly traffic: Traffic
  }
}

/** A request and its response, on a connection. */
interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The status that was answered on the bare socket, if it was. */
  status?: number
}

/** The exchanges of each connection that are not over, and the latest one. */
const exchanges = new WeakMap<Socket, Exchange[]>()

/**
 * Begins to answer a request: gives the response the headers that all have, and logs one line, and counts it, when it
 * is over.
 */
export function begin(request: FastifyRequest, reply: FastifyReply): void {
  const { socket } = request.raw
  const { traffic } = request.server
  const exchange: Exchange = { request, reply }
  const open = exchanges.get(socket) ?? []
  if (open.length === 0) exchanges.set(socket, open)
  while (open[0]?.reply.raw.closed === true) open.shift() // they end in their order
  open.push(exchange)
  reply.headers(standardHeaders(request.id))
  traffic.begin(reply.raw)
  const client = request.ip // as long as there is a connection
  reply.raw.once('close', () => {
    const { method } = request
    const route = request.routeOptions.url
    const status = exchange.status ?? reply.statusCode
    const time = reply.elapsedTime
    const trace = traceId(request.raw)
    const isAborted = !reply.raw.writableFinished
    const isAnswered = reply.raw.headersSent || exchange.status !== undefined
    traffic.end(reply.raw, method, route, isAnswered ? status : undefined, time / 1000)
    request.log.info({
      msg: 'request',
      reqId: request.id,
      // A gateway passes on what it was sent: that may be any text.
      ...(isIP(client) !== 0 && { client }),
      ...(request.caller !== '' && { caller: request.caller }),
      method,
      // Never the URL: it may hold what is nobody's business, such as a token.
      route,
      status,
      ms: Math.round(time * 1000) / 1000,
      ...(isAborted && { aborted: true }),
      ...(trace !== undefined && { trace_id: trace }),
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
  { log, traffic }: Pick<FastifyInstance, 'log' | 'traffic'>,
  id = requestId({ headers: {} }),
  method = OTHER,
): void {
  const again = () => refuse(error, socket, { log, traffic }, id, method)
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
    else {
      traffic.end(undefined, method, undefined, status, 0)
      log.info({ msg: 'request', reqId: id, status, code: error.code })
    }
  }
  socket.destroy()
}

/** Refuses CONNECT: the service is no proxy. Node has let go of the socket, so that its end is to be cared for here. */
export function refuseConnect(request: IncomingMessage, app: FastifyInstance): void {
  const { socket } = request
  const open = exchanges.get(socket)?.filter(({ reply }) => !reply.raw.closed) ?? []
  // The responses to earlier requests would wait forever for the socket to drain or to close.
  if (open.length > 0) socket.destroy()
  for (const { reply } of open) reply.raw.destroy()
  refuse(new HttpError(501, 'CONNECT is not implemented'), socket, app, requestId(request), 'CONNECT')
}
