// What HTTP/1.1 forbids, and what Node would let pass or answer without an Error. Hooks of Fastify.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../errors.ts'
import { countHeader } from './headers.ts'

/** So many header lines a request may have. */
const MAX_HEADERS = 100

/** What RFC 3986, section 3.2 lets stand in a Host header. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

const isChunked = (coding: string) => coding.toLowerCase() === 'chunked'
const isContinue = (expect: string) => expect.toLowerCase() === '100-continue'

/** Whether nothing may be served on the connection after this request, because nobody knows what the bytes behind it mean. */
export function endsConnection({ headers, httpVersion }: IncomingMessage): boolean {
  const { expect, upgrade, 'transfer-encoding': coding } = headers
  const isFramed = coding === undefined || (isChunked(coding) && httpVersion !== '1.0')
  return !isFramed || upgrade !== undefined || (expect !== undefined && !isContinue(expect))
}

/** Refuses a request that HTTP/1.1 forbids (RFC 9112, sections 3.2 and 6.1; RFC 9110, 10.1.1). An `onRequest` hook. */
export function checkProtocol({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { host, expect, 'transfer-encoding': coding } = raw.headers
  if (raw.rawHeaders.length > 2 * MAX_HEADERS) {
    throw new HttpError(431, `The request has more than ${MAX_HEADERS} header fields`)
  }
  const hosts = countHeader(raw, 'host')
  if (hosts > 1 || (hosts === 0 && raw.httpVersion !== '1.0') || !HOST.test(host ?? '')) {
    throw new HttpError(400, 'The request needs one valid Host header')
  }
  if (raw.url?.includes('#')) throw new HttpError(400, 'The request target must not have a fragment')
  if (coding !== undefined && !isChunked(coding)) throw new HttpError(501, 'The only transfer coding is chunked')
  if (expect !== undefined && !isContinue(expect)) throw new HttpError(417, 'Only 100-continue can be expected')
  done()
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

/** Asks for the body if the client waits for that, and it is not too long (RFC 9110, section 10.1.1). A `preParsing` hook. */
export async function askForBody({ raw, routeOptions }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { expect, 'content-length': length = '0' } = raw.headers
  if (expect === undefined || raw.httpVersion !== '1.1') return
  if (Number(length) <= routeOptions.bodyLimit) reply.raw.writeContinue()
}
