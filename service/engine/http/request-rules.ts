// The rules for every request: those of HTTP/1.1 that Node and Fastify leave to the service, then path, method and query.
import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { HttpError } from '../errors.ts'
import { METHODS } from './node.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The methods of the path, on the route that answers all other methods. */
    allow?: string
    /** The path of the route for logs and metrics, where the router's own spelling is another. */
    route?: string
  }
}

const MAX_HEADERS = 100
/** RFC 3986, section 3.2, without user information. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

const isChunked = (coding: string) => coding.toLowerCase() === 'chunked'
const isContinue = (expect: string) => expect.toLowerCase() === '100-continue'

/** Whether the connection must close after this request, because it is not clear where the next request begins. */
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
 * Refuses a request that HTTP/1.1 forbids (RFC 9112, sections 3.2 and 6.1; RFC 9110, sections 2.5, 4.2.4 and 10.1.1). An
 * `onRequest` hook.
 */
export function checkFraming(
  { raw, url }: FastifyRequest,
  _reply: FastifyReply,
  done: () => void,
): void {
  const { host, expect, 'transfer-encoding': coding } = raw.headers
  if (raw.httpVersionMajor !== 1) throw BAD_VERSION
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
    throw new HttpError(431, `The request has more than ${MAX_HEADERS} header fields`)
  }
  const hosts = countHeader(raw, 'host')
  if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0') || !HOST.test(host ?? '')) {
    throw new HttpError(400, 'The request needs one valid Host header')
  }
  if (/#|^\w+:\/\/[^/?]*@/.test(url)) throw BAD_TARGET
  if (coding !== undefined && !isChunked(coding))
    throw new HttpError(501, 'The only transfer coding is chunked')
  if (expect !== undefined && !isContinue(expect))
    throw new HttpError(417, 'The only expectation is 100-continue')
  done()
}

/** Counts the header lines with a name, in lower case. Node's `headers` hides some repeated ones. */
export function countHeader({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at]
    if (each?.length === name.length && each.toLowerCase() === name) count += 1
  }
  return count
}

export const NO_SUCH_PATH = new HttpError(404, 'There is no such path')
/** A segment `.` or `..`: clients and gateways may remove it, and the segment before it (RFC 3986, section 5.2.4). */
const DOT_SEGMENT = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i

/**
 * Answers for a path that no route has (404), or that lacks the method (405, 204 for OPTIONS), before a body is read; also
 * `OPTIONS *`, which asks about the whole server (RFC 9110, sections 9.3.7 and 15.5.6). An `onRequest` hook.
 */
export function checkPath(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
  const { is404, method, params, routeOptions, url } = request
  const { allow } = routeOptions.config
  // @fastify/cors adds a route for OPTIONS of every path. The router treats `*` as `/`, and `/things/` as `/things/{id}`
  // with an empty parameter.
  const isUnknown =
    is404 || routeOptions.url === '*' || url === '*' || Object.values(params ?? {}).includes('')
  if (url === '*' && method === 'OPTIONS') reply.code(204).send()
  else if (isUnknown || DOT_SEGMENT.test(url)) throw NO_SUCH_PATH
  else if (allow === undefined) done()
  else if (method === 'OPTIONS') reply.code(204).headers({ allow }).send()
  else throw new HttpError(405, `The path has no method ${method}`, { allow })
}

/** Refuses a query that is not UTF-8 in percent-encoding. The router checks only the path. An `onRequest` hook. */
export function checkQuery({ url }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  try {
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    throw new HttpError(400, 'The query must be UTF-8 in percent-encoding')
  }
  done()
}

/**
 * Adds routes for the methods that a path does not have, which `checkPath` answers. Call it before other routes are added.
 * @returns a function that adds these routes. Call it after all other routes are added
 */
export function answerOtherMethods(app: FastifyInstance): () => void {
  const paths = new Map<string, Pick<RouteOptions, 'constraints'> & { known: string[] }>()
  app.addHook('onRoute', ({ url, method, constraints = {} }) => {
    const known = paths.get(url)?.known ?? []
    paths.set(url, { known: [...known, ...[method].flat()], constraints })
  })
  return () => {
    for (const each of METHODS) if (!app.supportedMethods.includes(each)) app.addHttpMethod(each)
    for (const [url, { known, constraints = {} }] of [...paths]) {
      const allow = [...new Set([...known, 'OPTIONS'])].sort().join(', ')
      const method = METHODS.filter((each) => !known.includes(each))
      app.route({ method, url, constraints, config: { allow }, handler: () => undefined })
    }
  }
}
