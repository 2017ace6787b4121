// Refuses what never reaches Fastify: too many requests, malformed bytes, CONNECT.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { HttpError } from '../errors.ts'
import { plainError, TOO_BUSY, type WriteError } from './errors.ts'
import { STATUS_CODES } from './node.ts'
import type { OpenRequests, Refused } from './open-requests.ts'
import { BAD_VERSION } from './protocol.ts'

/** The parts of a server that a refusal needs. */
export interface ServerParts {
  readonly openRequests: OpenRequests
  /** Gives a request its id, by its headers. */
  readonly requestId: (request: Pick<IncomingMessage, 'headers'>) => string
  readonly writeError: WriteError
}

const NO_TUNNEL = new HttpError(501, 'CONNECT is not implemented')
const MALFORMED = new HttpError(400, 'The request is malformed')
/** By the codes of https://nodejs.org/api/http.html#event-clienterror, or by the reason, where a code has several. */
const PARSER_ERRORS = new Map([
  ['Invalid HTTP version', BAD_VERSION],
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpError(408, 'The request took too long to arrive')],
  ['HPE_HEADER_OVERFLOW', new HttpError(431, 'The header fields are too large')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpError(413, 'The chunk extensions are too large')],
])

/** Refuses a request that has waited too long. */
export function refuseTooBusy(request: IncomingMessage, response: ServerResponse, server: ServerParts): void {
  const open = server.openRequests.latest(request.socket)
  if (open !== undefined) open.isShed = true
  const { headers, body } = plainError(TOO_BUSY, server.requestId(request), server.writeError)
  response.writeHead(TOO_BUSY.statusCode, headers).end(body)
}

type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** What is known of the bytes that are refused. */
type Known = Pick<IncomingMessage, 'headers'> & Pick<Refused, 'code' | 'method'>

/** Refuses bytes that the HTTP parser rejects, and closes the connection. */
export function refuseBytes(error: ParserError, socket: Socket, server: ServerParts): void {
  const { code = '', reason = '' } = error
  const refusal = PARSER_ERRORS.get(reason) ?? PARSER_ERRORS.get(code) ?? MALFORMED
  refuse(socket, refusal, { headers: {}, code: error.code }, server)
}

/** Refuses CONNECT, and closes the connection. */
export function refuseConnect({ headers, method, socket }: IncomingMessage, server: ServerParts): void {
  // Node has removed its own listeners, which the response before this one may still need.
  socket.on('error', () => undefined).on('timeout', () => socket.destroy())
  socket.on('drain', () => server.openRequests.latest(socket)?.response.emit('drain'))
  refuse(socket, NO_TUNNEL, { headers, method }, server)
}

function refuse(socket: Socket, error: HttpError, known: Known, server: ServerParts): void {
  const latest = server.openRequests.latest(socket)
  const isOpen = latest?.response.closed === false
  const isInBody = latest?.request.complete === false
  if (isOpen && (!isInBody || latest.response.headersSent)) {
    // Wait for the earlier response to end: the client must not mistake the refusal for that response.
    latest.response.once('close', () => refuse(socket, error, known, server))
    return
  }
  const { headers, ...about } = known
  if (isOpen && socket.writable) {
    latest.status = error.statusCode
    write(socket, error, latest.fastify?.request.id ?? server.requestId(latest.request), server)
  } else if (!isInBody && socket.writable) {
    const id = server.requestId({ headers })
    write(socket, error, id, server)
    server.openRequests.countRefused({ id, status: error.statusCode, ...about })
  }
  socket.destroySoon()
}

/** Writes a whole HTTP/1.1 response, the last one of its connection. */
function write(socket: Socket, error: HttpError, id: string, { writeError }: ServerParts): void {
  const { headers, body } = plainError(error, id, writeError)
  const all = { ...headers, date: new Date().toUTCString(), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n${lines.join('')}\r\n${body}`)
}
