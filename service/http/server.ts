import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { answerBare, rawResponse } from './errors.ts'
import { refuseConnect } from './request-log.ts'
import { countHeader, requestId } from './headers.ts'
import { maxHeaderSize } from './node.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Milliseconds in which a client must have taken an answer that is streamed. */
    answerTimeout: number
  }
}

/** So many header lines a request may have. */
const MOST_HEADERS = 100

/** What RFC 3986, section 3.2 lets stand in a Host header. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** Fastify's options for the HTTP server: its limits in bytes and milliseconds. */
export function serverOptions(config: Config) {
  return {
    trustProxy: config.TRUST_PROXY.length > 0 && [...config.TRUST_PROXY],
    bodyLimit: 16_384, // as the contract says where it declares 413
    connectionTimeout: config.STALL_TIMEOUT * 1000,
    keepAliveTimeout: config.KEEP_ALIVE_TIMEOUT * 1000,
    requestTimeout: config.REQUEST_TIMEOUT * 1000,
    http: {
      headersTimeout: Math.min(config.HEADERS_TIMEOUT, config.REQUEST_TIMEOUT) * 1000,
      connectionsCheckingInterval: 250,
      // Node would answer without a body; checkProtocol does it.
      requireHostHeader: false,
    },
    // So that a long id gets the contract's 400: the parser bounds the whole request line.
    routerOptions: { maxParamLength: maxHeaderSize },
    // Requests that arrive while the server closes are answered, too.
    return503OnClosing: false,
  }
}

/** Connections that end with an answer: what follows there is not served (RFC 9112, section 9.6). Node would serve it. */
const ending = new WeakSet<Socket>()

const TOO_BUSY = new HttpError(503, 'The service is too busy, try again later', { 'retry-after': '1' })

/** Makes Fastify answer what Node would answer by itself, without an Error; and all of it only through the gate. */
export function takeOverFromNode(app: FastifyInstance, most: number): void {
  const { server, gate, traffic } = app
  // Node would drop what is over its count, silently; checkProtocol refuses it.
  server.maxHeadersCount = 0
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    if (!socket.destroyed && !ending.has(socket)) app.routing(request, response)
  }
  const refuse = (request: IncomingMessage, response: ServerResponse) => {
    // Whether the body follows is not known unless it is asked for.
    if (request.headers.expect !== undefined) response.setHeader('connection', 'close')
    answerBare(response, TOO_BUSY, requestId(request))
    traffic.end(undefined, request.method ?? '', undefined, TOO_BUSY.statusCode, 0)
  }
  const pass = (request: IncomingMessage, response: ServerResponse) => {
    if (gate.tryBegin()) serve(request, response)
    else {
      gate.wait(
        () => serve(request, response),
        () => refuse(request, response),
      )
    }
  }
  server.removeAllListeners('request')
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, pass)
  server.on('connect', (request) => gate.pass(() => refuseConnect(request, app)))

  // Node would close the connections that are too many without a word.
  const [accept] = server.listeners('connection')
  let open = 0
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    if (open === most) {
      gate.refuse(() => refuseConnection(socket))
      return
    }
    open += 1
    socket.once('close', () => (open -= 1))
    accept?.call(server, socket)
  })
}

function refuseConnection(socket: Socket): void {
  socket.on('error', () => undefined).end(rawResponse(TOO_BUSY, requestId({ headers: {} })).text)
  // Bytes that were not read when it closes would take the answer from the client.
  socket.resume()
  setTimeout(() => socket.destroy(), 1000).unref()
}

/** Refuses a request that HTTP/1.1 forbids (RFC 9112, sections 3.2 and 6.1; RFC 9110, 10.1.1). An `onRequest` hook. */
export function checkProtocol({ raw }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { host, expect, upgrade, 'transfer-encoding': coding } = raw.headers
  const isCodingKnown = coding === undefined || coding.toLowerCase() === 'chunked'
  // What follows an offer to upgrade is of unknown meaning, and so is what follows a doubtful transfer coding.
  const isEnding = upgrade !== undefined || !isCodingKnown || (coding && raw.httpVersion === '1.0')
  if (isEnding) reply.raw.shouldKeepAlive = false
  // Whether the body follows is not known unless it is asked for.
  if (expect !== undefined) reply.header('connection', 'close')
  if (isEnding || expect !== undefined) ending.add(raw.socket)

  if (raw.rawHeaders.length > 2 * MOST_HEADERS) {
    throw new HttpError(431, `The request has more than ${MOST_HEADERS} header fields`)
  }
  const hosts = countHeader(raw, 'host')
  if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0') || !HOST.test(host ?? '')) {
    throw new HttpError(400, 'The request needs one valid Host header')
  }
  if (!isCodingKnown) throw new HttpError(501, 'The only transfer coding is chunked')
  if (expect !== undefined && expect.toLowerCase() !== '100-continue') {
    throw new HttpError(417, 'Only 100-continue can be expected')
  }
  done()
}

/** Asks for the body if the client waits for that (RFC 9110, section 10.1.1). A `preParsing` hook. */
export async function askForBody({ raw }: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (raw.headers.expect === undefined || raw.httpVersion !== '1.1') return
  reply.raw.writeContinue()
  reply.removeHeader('connection')
  if (reply.raw.shouldKeepAlive) ending.delete(raw.socket)
}

/** Refuses a query that is not UTF-8 in percent-encoding: the router would take it as it is. An `onRequest` hook. */
export function checkQuery({ url }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  try {
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    throw new HttpError(400, 'The query must be UTF-8 in percent-encoding')
  }
  done()
}
