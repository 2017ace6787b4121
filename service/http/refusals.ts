// Refuses what never reaches Fastify: too many requests, malformed bytes, CONNECT.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HttpError } from '../errors.ts'
import { plainError } from './errors.ts'
import { STATUS_CODES } from './node.ts'
import type { OpenRequests, Refused } from './open-requests.ts'

/** The parts of a server that a refusal needs. */
export interface ServerParts {
  readonly openRequests: OpenRequests
  /** Gives a request its id, by its headers. */
  readonly requestId: (request: Pick<IncomingMessage, 'headers'>) => string
}

const TOO_BUSY = new HttpError(503, 'The service is too busy, try again later', { 'retry-after': '1' })
const NO_TUNNEL = new HttpError(501, 'CONNECT is not implemented')
const MALFORMED = new HttpError(400, 'The request is malformed')
/** By the codes of https://nodejs.org/api/http.html#event-clienterror */
const PARSER_ERRORS = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpError(408, 'The request took too long to arrive')],
  ['HPE_HEADER_OVERFLOW', new HttpError(431, 'The header fields are too large')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpError(413, 'The chunk extensions are too large')],
])

/** Refuses a request that has waited too long. */
export function refuseTooBusy(request: IncomingMessage, response: ServerResponse, server: ServerParts): void {
  const { headers, body } = plainError(TOO_BUSY, server.requestId(request))
  response.writeHead(TOO_BUSY.statusCode, headers).end(body)
}

/** Refuses bytes that the HTTP parser rejects, and closes the connection. */
export function refuseBytes(error: Error & { readonly code?: string }, socket: Socket, server: ServerParts): void {
  const latest = server.openRequests.latest(socket)
  const isOpen = latest?.response.closed === false
  const isInBody = latest?.request.complete === false
  if (isOpen && (!isInBody || latest.response.headersSent)) {
    // Wait for the earlier response to end: the client must not mistake the refusal for that response.
    latest.response.once('close', () => refuseBytes(error, socket, server))
    return
  }
  const { code } = error
  const refusal = PARSER_ERRORS.get(code ?? '') ?? MALFORMED
  if (isOpen && socket.writable) {
    latest.status = refusal.statusCode
    write(socket, refusal, latest.fastify?.request.id ?? server.requestId(latest.request))
  } else if (!isInBody && socket.writable) refuse(socket, refusal, server, { headers: {} }, { code })
  socket.destroy()
}

/** Refuses CONNECT, and closes the connection. */
export function refuseConnect(request: IncomingMessage, server: ServerParts): void {
  const { method, socket } = request
  socket.on('error', () => undefined) // Node has removed its own listener.
  const isOpen = server.openRequests.latest(socket)?.response.closed === false
  if (!isOpen) refuse(socket, NO_TUNNEL, server, request, { method })
  socket.destroy()
}

function refuse(
  socket: Socket,
  error: HttpError,
  server: ServerParts,
  request: Pick<IncomingMessage, 'headers'>,
  about: Pick<Refused, 'code' | 'method'>,
): void {
  const id = server.requestId(request)
  write(socket, error, id)
  server.openRequests.countRefused({ id, status: error.statusCode, ...about })
}

/** Writes a whole HTTP/1.1 response, the last one of its connection. */
function write(socket: Socket, error: HttpError, id: string): void {
  const { headers, body } = plainError(error, id)
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n${lines.join('')}\r\n${body}`)
}
