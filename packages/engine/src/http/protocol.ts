// Checks the rules of HTTP/1.1 left to the service by Node and Fastify; then path and method.
import type { IncomingMessage } from 'node:http'
import type { FastifyRequest, onRequestHookHandler } from 'fastify'
import { HttpError } from '../errors.ts'
import { admit, type Exchange } from './exchange.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The path of the route for logs and metrics, where the router spells it in another way. */
    route?: string
  }
}

/** The first hook of every request of a server, even without a route. */
export const checkRequest: onRequestHookHandler = (request, reply, done) => {
  const exchange = admit(request, reply)
  if (check(exchange) !== 'answered') done()
}

const MAX_HEADERS = 100
/** RFC 3986, section 3.2, without user information. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

const isChunked = (coding: string) => coding.toLowerCase() === 'chunked'
const isContinue = (expect: string) => expect.toLowerCase() === '100-continue'

/**
 * Whether the connection must close after this request, because the beginning of the next one is in
 * doubt.
 */
export function endsConnection({
  headers,
  httpVersion,
  httpVersionMajor,
}: IncomingMessage): boolean {
  const { expect, upgrade, 'transfer-encoding': coding } = headers
  const isFramed =
    httpVersionMajor === 1 && (coding === undefined || (isChunked(coding) && httpVersion !== '1.0'))
  return !isFramed || upgrade !== undefined || (expect !== undefined && !isContinue(expect))
}

export const BAD_VERSION = new HttpError(505, 'The versions of HTTP are 1.0 and 1.1')
export const BAD_TARGET = new HttpError(
  400,
  'The request target must be a path in UTF-8 with percent-encoding, without a fragment, and without user information',
)

/**
 * The target of a request for the router, which refuses a path with broken percent-encoding. Here each `%` of such a path
 * is encoded: the path leads to its operation, and `checkFraming` refuses it in the form of the errors there.
 */
export function toRoutable({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  if (!url.includes('%')) return url
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    decodeURIComponent(path)
    return url
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length)
  }
}

/**
 * Refuses what HTTP/1.1 forbids (400, 417, 431, 501, 505), and a path or a method without a route (404, 405).
 * @returns 'answered' for OPTIONS
 */
function check(exchange: Exchange): 'answered' | undefined {
  checkFraming(exchange)
  return checkPath(exchange)
}

/**
 * Refuses what HTTP/1.1 forbids (RFC 9112, sections 3.2 and 6.1; RFC 9110, sections 2.5, 4.2.4 and 10.1.1), and
 * notes its repeated headers. The later checks trust a header.
 */
function checkFraming(exchange: Exchange): void {
  const { raw, request } = exchange
  const { originalUrl, url } = request
  const { expect, 'transfer-encoding': coding } = raw.headers
  if (raw.httpVersionMajor !== 1) throw BAD_VERSION
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
    throw new HttpError(431, `The request has more than ${MAX_HEADERS} header fields`)
  }
  exchange.repeatedHeaders = findRepeatedHeaders(raw)
  if (!hasValidHost(exchange)) throw new HttpError(400, 'The request needs one valid Host header')
  const isRoutable = originalUrl === url
  if (!isRoutable || /#|^\w+:\/\/[^/?]*@/.test(url)) throw BAD_TARGET
  if (coding !== undefined && !isChunked(coding))
    throw new HttpError(501, 'The only transfer coding is chunked')
  if (expect !== undefined && !isContinue(expect))
    throw new HttpError(417, 'The only expectation is 100-continue')
}

/**
 * Node's `headers` has one field for each name: it joins repeated fields, or drops all but the
 * first.
 */
function findRepeatedHeaders({
  headers,
  rawHeaders,
}: IncomingMessage): ReadonlySet<string> | undefined {
  if (2 * Object.keys(headers).length === rawHeaders.length) return undefined // as in most requests
  const names = new Set<string>()
  const repeated = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = String(rawHeaders[at]).toLowerCase()
    if (names.has(name)) repeated.add(name)
    names.add(name)
  }
  return repeated
}

/** HTTP/1.0 needs no Host. */
function hasValidHost({ raw, repeatedHeaders }: Exchange): boolean {
  const { host } = raw.headers
  if (host === undefined) return raw.httpVersion === '1.0'
  return HOST.test(host) && repeatedHeaders?.has('host') !== true
}

export const NO_SUCH_PATH = new HttpError(404, 'There is no such path')
/**
 * A segment `.` or `..`: clients and gateways may remove it, and the segment before it (RFC 3986,
 * section 5.2.4).
 */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i

/**
 * Answers for a path without a route (404) or without the method (405, 204 for OPTIONS), before a body is read; also
 * `OPTIONS *`, which asks about the whole server (RFC 9110, sections 9.3.7 and 15.5.6).
 */
function checkPath(exchange: Exchange): 'answered' | undefined {
  const { request } = exchange
  const { method, url } = request
  if (url === '*' && method === 'OPTIONS') return answerOptions(exchange, {})
  if (isNoPath(request)) throw NO_SUCH_PATH
  if (hasRoute(request)) return undefined
  const allow = request.server.knownPaths.allowOf(url)
  if (allow === undefined) throw NO_SUCH_PATH
  if (method === 'OPTIONS') return answerOptions(exchange, { allow })
  throw new HttpError(405, `The path has no method ${method}`, { allow })
}

/** The router treats `*` as `/`, and `/things/` as `/things/{id}` with an empty parameter. */
function isNoPath({ params, url }: FastifyRequest): boolean {
  return url === '*' || DOT_SEGMENT.test(url) || Object.values(params ?? {}).includes('')
}

/** @fastify/cors adds a route `*` for OPTIONS of every path. */
function hasRoute({ is404, routeOptions: { config, url } }: FastifyRequest): boolean {
  return !is404 && url !== '*' && config.isLacking !== true
}

function answerOptions({ reply }: Exchange, headers: Readonly<Record<string, string>>): 'answered' {
  reply.code(204).headers(headers).send()
  return 'answered'
}
