// Refuses requests before Fastify gets them: too many requests, malformed bytes, CONNECT.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { HttpError } from '../errors.ts'
import { TOO_BUSY, type WriteError } from './error-answers.ts'
import { type Exchange, type Exchanges, standardHeaders } from './exchange.ts'
import { STATUS_CODES } from './node.ts'
import { BAD_VERSION } from './protocol.ts'
import type { RequestLog } from './request-log.ts'

const NO_TUNNEL = new HttpError(501, 'CONNECT is not implemented')
const MALFORMED = new HttpError(400, 'The request is malformed')
/**
 * By the codes of https://nodejs.org/api/http.html#event-clienterror, or by the reason, where a
 * code has several.
 */
const PARSER_ERRORS = new Map([
  ['Invalid HTTP version', BAD_VERSION],
  ['ERR_HTTP_REQUEST_TIMEOUT', new HttpError(408, 'The request took too long to arrive')],
  ['HPE_HEADER_OVERFLOW', new HttpError(431, 'The header fields are too large')],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', new HttpError(413, 'The chunk extensions are too large')],
])

type ParserError = Error & { readonly code?: string; readonly reason?: string }

/** A refusal of malformed bytes, or of CONNECT. */
interface Refusal {
  readonly error: HttpError
  readonly head: Pick<IncomingMessage, 'headers' | 'method'>
  readonly code?: string | undefined
}

interface Options {
  readonly exchanges: Exchanges
  /** The log of refusals, if they are logged and measured. */
  readonly requestLog: RequestLog | undefined
  readonly writeError: WriteError
}

export class Refusals {
  readonly #options: Options

  constructor(options: Options) {
    this.#options = options
  }

  refuseTooBusy(exchange: Exchange): void {
    this.#options.exchanges.shed(exchange)
    const { headers, body } = this.#render(TOO_BUSY, exchange.id)
    exchange.response.writeHead(TOO_BUSY.statusCode, headers).end(body)
  }

  /** Refuses bytes rejected by the HTTP parser, and closes the connection. */
  refuseBytes({ code, reason = '' }: ParserError, socket: Socket): void {
    const error = PARSER_ERRORS.get(reason) ?? PARSER_ERRORS.get(code ?? '') ?? MALFORMED
    this.#refuse(socket, { error, head: { headers: {} }, code })
  }

  /** Refuses CONNECT, and closes the connection. */
  refuseConnect({ headers, method, socket }: IncomingMessage): void {
    // The response before CONNECT may still need the listeners of the socket. Node has removed Node's listeners.
    socket.on('error', () => undefined).on('timeout', () => socket.destroy())
    const { exchanges } = this.#options
    socket.on('drain', () => exchanges.latest(socket)?.response.emit('drain'))
    this.#refuse(socket, { error: NO_TUNNEL, head: { headers, method } })
  }

  #refuse(socket: Socket, refusal: Refusal): void {
    const latest = this.#options.exchanges.latest(socket)
    const open = latest?.response.closed === false ? latest : undefined
    const isInBody = latest?.raw.complete === false
    if (open && (!isInBody || open.response.headersSent)) {
      // Wait for the earlier response to end: the client must not mistake the refusal for it.
      open.onEnd(() => this.#refuse(socket, refusal))
      return
    }
    if (open) this.#refuseBody(socket, refusal, open)
    else if (!isInBody) this.#refuseHead(socket, refusal)
    socket.destroySoon()
  }

  /** Refuses bytes in the body of a request without an answer yet. */
  #refuseBody(socket: Socket, { error }: Refusal, open: Exchange): void {
    if (!socket.writable) return
    open.response.statusCode = error.statusCode // for the log: the response itself is never sent
    this.#write(socket, error, open.id)
  }

  /** Refuses bytes where a request should begin. */
  #refuseHead(socket: Socket, { error, head, code }: Refusal): void {
    if (!socket.writable) return
    const { exchanges, requestLog } = this.#options
    const reqId = exchanges.idOf(head)
    this.#write(socket, error, reqId)
    requestLog?.refuse({ reqId, status: error.statusCode, method: head.method, code })
  }

  /** Writes a whole HTTP/1.1 response, the last one of its connection. */
  #write(socket: Socket, error: HttpError, id: string): void {
    const { headers, body } = this.#render(error, id)
    const fields = { ...headers, date: new Date().toUTCString(), connection: 'close' }
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`)
    const statusLine = `HTTP/1.1 ${error.statusCode} ${STATUS_CODES[error.statusCode]}`
    socket.write([statusLine, ...lines, '', body].join('\r\n'))
  }

  #render({ statusCode, message, headers }: HttpError, id: string) {
    const { writeError } = this.#options
    const { type, body } = writeError(statusCode, message, { path: '', id, operationId: '' })
    const framing = { 'content-type': type, 'content-length': String(Buffer.byteLength(body)) }
    return { headers: { ...standardHeaders(id), ...headers, ...framing }, body }
  }
}
