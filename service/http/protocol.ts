// What HTTP/1.1 forbids, and Node would let pass or answer without an Error.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../errors.ts'
import { countHeader } from './headers.ts'

const MAX_HEADERS = 100

/** RFC 3986, section 3.2, without user information. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

const isChunked = (coding: string) => coding.toLowerCase() === 'chunked'
const isContinue = (expect: string) => expect.toLowerCase() === '100-continue'

/** Whether nothing may be served on the connection after this request, because the bytes behind it may mean anything. */
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
  if (expect !== undefined && !isContinue(expect)) throw new HttpError(417, 'The only expectation is 100-continue')
  done()
}

/** Refuses a query that is not UTF-8 in percent-encoding; the router does that for the path only. An `onRequest` hook. */
export function checkQuery({ url }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  try {
    if (url.includes('%')) decodeURIComponent(url)
  } catch {
    throw new HttpError(400, 'The query must be UTF-8 in percent-encoding')
  }
  done()
}

/** Asks a client for the body that it holds back (RFC 9110, section 10.1.1). The last `onRequest` hook of an operation. */
export function askForBody({ raw }: FastifyRequest, reply: FastifyReply, done: () => void): void {
  if (raw.headers.expect !== undefined && raw.httpVersion === '1.1') reply.raw.writeContinue()
  done()
}
