import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { countHeader } from './headers.ts'
import { parseJson } from './json.ts'
import { HttpError } from '../errors.ts'

// RFC 9110, sections 5.6.2 to 5.6.6 and 8.3.1: a charset may stand once; other parameters say nothing to us.
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const QUOTED = '"(?:[\\t !#-\\[\\]-~\\x80-\\xFF]|\\\\[\\t -~\\x80-\\xFF])*"'
const OTHERS = `(?:;[ \\t]*(?:(?!charset=)${TOKEN}=(?:${TOKEN}|${QUOTED})[ \\t]*)?)*`
const UTF8 = `;[ \\t]*charset=(?:utf-8|"${'utf-8'.replaceAll(/./g, '\\\\?$&')}")[ \\t]*`
const JSON_IN_UTF8 = new RegExp(`^application/json[ \\t]*${OTHERS}(?:${UTF8}${OTHERS})?$`, 'i')

const STRICTNESS = 'no byte order mark, no lone surrogate, no member name twice and no __proto__'

/** Makes JSON the one media type that bodies are read in. */
export function readJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (_: FastifyRequest, bytes: Buffer) => {
    try {
      return parseJson(bytes)
    } catch {
      // One text for every reason: V8's own would quote the body.
      throw new HttpError(400, `The body must be JSON in UTF-8, with ${STRICTNESS}`)
    }
  })
  // Many clients send a body, or only its type, with DELETE; there it means nothing (RFC 9110, section 9.3.5).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
}

/** Refuses a request without a body, or with one that is not JSON in UTF-8 as it is. An `onRequest` hook. */
export function requireJson({ raw }: FastifyRequest, _reply: FastifyReply, done: () => void): void {
  const { 'content-type': type, 'content-encoding': encoding = 'identity', ...framing } = raw.headers
  const isEmpty = framing['transfer-encoding'] === undefined && Number(framing['content-length'] ?? 0) === 0
  if (isEmpty && type === undefined) throw new HttpError(400, 'The request needs a body')
  if (countHeader(raw, 'content-type') !== 1 || !JSON_IN_UTF8.test(type ?? '')) {
    throw new HttpError(415, 'The Content-Type of the body must be application/json, in UTF-8')
  }
  if (encoding.toLowerCase() !== 'identity') throw new HttpError(415, 'The body must not have a Content-Encoding')
  done()
}
