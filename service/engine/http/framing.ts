// The rules of HTTP/1.1 messages that Node and Fastify leave to the service.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { HttpError } from '../errors.ts'
import { countHeader } from './headers.ts'

const MAX_HEADERS = 100
/** RFC 3986, section 3.2, without user information. */
const HOST = /^[\w.~!$&'()*+,;=%:[\]-]*$/

const isChunked = (coding: string) => coding.toLowerCase() === 'chunked'
const isContinue = (expect: string) => expect.toLowerCase() === '100-continue'

/** Whether the connection must close after this request, because it is not clear where the next request begins. */
export function endsConnection({ headers, httpVersion, httpVersionMajor }: IncomingMessage): boolean {
  const { expect, upgrade, 'transfer-encoding': coding } = headers
  const isFramed = httpVersionMajor === 1 && (coding === undefined || (isChunked(coding) && httpVersion !== '1.0'))
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
export function checkFraming({ raw, url }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
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
  if (coding !== undefined && !isChunked(coding)) throw new HttpError(501, 'The only transfer coding is chunked')
  if (expect !== undefined && !isContinue(expect)) throw new HttpError(417, 'The only expectation is 100-continue')
  done()
}
