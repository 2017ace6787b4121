// Refuses what never reaches Fastify: too many requests, malformed bytes, CONNECT.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { HttpError } from '../errors.ts'
import { TOO_BUSY, type WriteError } from './error-answers.ts'
import { STATUS_CODES } from './node.ts'
import { type OpenRequests, requestId, standardHeaders } from './open-requests.ts'
import { logRefusal } from './request-log.ts'
import { BAD_VERSION } from './request-rules.ts'

const NO_TUNNEL = new HttpError(501, 'CONNECT is not implemented')
const MALFORMED = new HttpError(400, 'The request is malformed')
/** By the codes of https://nodejs.org/api/http.html#event-clienterror, or by the reason, where a code has several. */
const PARSER_ERRORS = new Map([
  ['Invalid HTTP version', BAD_VERSION],
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpError(408, 'The request took too long to arrive')],
  ['HPE_HEADER_OVERFLOW', new HttpError(431, 'The header fields are too large')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpError(413, 'The chunk extensions are too large')],
])

type ParserError = Error & { readonly code?: string; readonly reason?: string }
type Head = Pick<IncomingMessage, 'headers' | 'method'>

/** Makes the functions that refuse. */
export function makeRefusals(
  openRequests: OpenRequests,
  log: FastifyBaseLogger | undefined,
  writeError: WriteError,
) {
  return { refuseTooBusy, refuseBytes, refuseConnect }

  /** Refuses a request that has waited too long. */
  function refuseTooBusy(request: IncomingMessage, response: ServerResponse): void {
    openRequests.shed(request.socket)
    const { headers, body } = render(TOO_BUSY, requestId(request))
    response.writeHead(TOO_BUSY.statusCode, headers).end(body)
  }

  /** Refuses bytes that the HTTP parser rejects, and closes the connection. */
  function refuseBytes({ code, reason = '' }: ParserError, socket: Socket): void {
    refuse(
      socket,
      PARSER_ERRORS.get(reason) ?? PARSER_ERRORS.get(code ?? '') ?? MALFORMED,
      { headers: {} },
      code,
    )
  }

  /** Refuses CONNECT, and closes the connection. */
  function refuseConnect({ headers, method, socket }: IncomingMessage): void {
    // Node has removed its own listeners, which the response before this one may still need.
    socket.on('error', () => undefined).on('timeout', () => socket.destroy())
    socket.on('drain', () => openRequests.latest(socket)?.response.emit('drain'))
    refuse(socket, NO_TUNNEL, { headers, method })
  }

  function refuse(socket: Socket, error: HttpError, head: Head, code?: string): void {
    const latest = openRequests.latest(socket)
    const isOpen = latest?.response.closed === false
    const isInBody = latest?.request.complete === false
    if (isOpen && (!isInBody || latest.response.headersSent)) {
      // Wait for the earlier response to end: the client must not mistake the refusal for that response.
      latest.response.once('close', () => refuse(socket, error, head, code))
      return
    }
    if (isOpen && socket.writable) {
      latest.response.statusCode = error.statusCode // for the log: the response itself is never sent
      write(socket, error, latest.fastify?.request.id ?? requestId(latest.request))
    } else if (!isInBody && socket.writable) {
      const id = requestId(head)
      write(socket, error, id)
      if (log) logRefusal(log, id, error.statusCode, head.method, code)
    }
    socket.destroySoon()
  }

  /** Writes a whole HTTP/1.1 response, the last one of its connection. */
  function write(socket: Socket, error: HttpError, id: string): void {
    const { headers, body } = render(error, id)
    const all = { ...headers, date: new Date().toUTCString(), connection: 'close' }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(
      `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}\r\n${lines.join('')}\r\n${body}`,
    )
  }

  /** The headers and the body of an error. */
  function render({ statusCode, message, headers }: HttpError, id: string) {
    const { type = '', body = '' } = writeError(statusCode, message)
    const framing = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
    return { headers: { ...standardHeaders(id), ...headers, ...framing }, body }
  }
}
