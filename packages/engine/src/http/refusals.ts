// The refusals that never reach Fastify: of too many requests, of malformed bytes, of CONNECT.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import { HttpError } from '../errors.ts'
import { TOO_BUSY, type WriteError } from './error-answers.ts'
import { STATUS_CODES } from './node.ts'
import type { OpenRequest, OpenRequests } from './open-requests.ts'
import { logRefusal } from './request-log.ts'
import { BAD_VERSION, type RequestId, standardHeaders } from './request-steps.ts'

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
  requestId: RequestId,
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
    // The response before CONNECT may still need the listeners of the socket. Node has removed its own.
    socket.on('error', () => undefined).on('timeout', () => socket.destroy())
    socket.on('drain', () => openRequests.latest(socket)?.response.emit('drain'))
    refuse(socket, NO_TUNNEL, { headers, method })
  }

  function refuse(socket: Socket, error: HttpError, head: Head, code?: string): void {
    const latest = openRequests.latest(socket)
    const open = latest?.response.closed === false ? latest : undefined
    const isInBody = latest?.request.complete === false
    if (open && (!isInBody || open.response.headersSent)) {
      // Wait for the earlier response to end: the client must not mistake the refusal for that response.
      open.response.once('close', () => refuse(socket, error, head, code))
      return
    }
    if (open) refuseBody(socket, error, open)
    else if (!isInBody) refuseHead(socket, error, head, code)
    socket.destroySoon()
  }

  /** Refuses bytes in the body of a request that is not answered yet. */
  function refuseBody(socket: Socket, error: HttpError, open: OpenRequest): void {
    if (!socket.writable) return
    open.response.statusCode = error.statusCode // for the log: the response itself is never sent
    write(socket, error, open.fastify?.request.id ?? requestId(open.request))
  }

  /** Refuses bytes where a request should begin. */
  function refuseHead(socket: Socket, error: HttpError, head: Head, code?: string): void {
    if (!socket.writable) return
    const reqId = requestId(head)
    write(socket, error, reqId)
    if (log) logRefusal(log, { reqId, status: error.statusCode, method: head.method, code })
  }

  /** Writes a whole HTTP/1.1 response, the last one of its connection. */
  function write(socket: Socket, error: HttpError, id: string): void {
    const { headers, body } = render(error, id)
    const fields = { ...headers, date: new Date().toUTCString(), connection: 'close' }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
    const statusLine = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}`
    socket.write([statusLine, ...lines, '', body].join('\r\n'))
  }

  /** The headers and the body of an error. */
  function render({ statusCode, message, headers }: HttpError, id: string) {
    const { type, body } = writeError(statusCode, message, { path: '', id, operationId: '' })
    const framing = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
    return { headers: { ...standardHeaders(id), ...headers, ...framing }, body }
  }
}
