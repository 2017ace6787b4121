import http from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { HttpError } from './errors.ts'
import { refuseConnect } from './exchange.ts'
import { countHeader } from './headers.ts'

/** What RFC 3986, section 3.2 lets stand in a Host header. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

/** Fastify's options for the HTTP server: its limits in bytes and milliseconds. */
export function serverOptions(config: Config) {
  return {
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
    routerOptions: { maxParamLength: http.maxHeaderSize },
    // Requests that arrive while the server closes are answered, too.
    return503OnClosing: false,
  }
}

/** Makes Fastify answer what Node would answer by itself, without an Error. */
export function takeOverFromNode(app: FastifyInstance): void {
  const { server } = app
  // Node drops what is over its count, silently; the size of all is bounded anyway.
  server.maxHeadersCount = 0
  server.on('checkContinue', (request, response) => app.routing(request, response))
  server.on('checkExpectation', (request, response) => app.routing(request, response))
  server.on('connect', (request) => refuseConnect(request, app))
}

/** Refuses a request that HTTP/1.1 forbids (RFC 9112, sections 3.2 and 6.1; RFC 9110, 10.1.1). An `onRequest` hook. */
export function checkProtocol({ raw }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { host, expect, upgrade, 'transfer-encoding': coding } = raw.headers
  const isCodingKnown = coding === undefined || coding.toLowerCase() === 'chunked'
  // What follows an offer to upgrade is of unknown meaning, and so is what follows a doubtful transfer coding.
  if (upgrade !== undefined || !isCodingKnown || (coding && raw.httpVersion === '1.0'))
    reply.raw.shouldKeepAlive = false
  // Whether the body follows is not known unless it is asked for.
  if (expect !== undefined) reply.header('connection', 'close')

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

/** Refuses a query that is not UTF-8 in percent-encoding: the router would take it as it is. An `onRequest` hook. */
export function checkQuery({ url }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  try {
    decodeURIComponent(url)
  } catch {
    throw new HttpError(400, 'The query must be UTF-8 in percent-encoding')
  }
  done()
}
