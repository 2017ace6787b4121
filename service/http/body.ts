import type { FastifyInstance } from 'fastify'
import { parseJson } from './json.ts'
import { HttpError } from '../errors.ts'

// RFC 9110, sections 5.6.2 to 5.6.6 and 8.3.1: a charset may stand once; other parameters say nothing to us.
const TOKEN = "[\\w!#$%&'*+.^`|~-]+"
const QUOTED = '"(?:[\\t !#-\\[\\]-~\\x80-\\xFF]|\\\\[\\t -~\\x80-\\xFF])*"'
const OTHERS = `(?:;[ \\t]*(?:(?!charset=)${TOKEN}=(?:${TOKEN}|${QUOTED})[ \\t]*)?)*`
const UTF8 = `;[ \\t]*charset=(?:utf-8|"${'utf-8'.replaceAll(/./g, '\\\\?$&')}")[ \\t]*`
const PARAMETERS = new RegExp(`^[ \\t]*${OTHERS}(?:${UTF8}${OTHERS})?$`, 'i')

/** Whether a `Content-Type` is of this media type, and of no other charset than UTF-8. */
export function isInUtf8(mediaType: string, contentType: string): boolean {
  const [before, after] = [contentType.slice(0, mediaType.length), contentType.slice(mediaType.length)]
  return before.toLowerCase() === mediaType && PARAMETERS.test(after)
}

const STRICTNESS = 'no byte order mark, no lone surrogate, no member name twice and no __proto__'

/** Removes the readers of bodies that Fastify has: what a contract names is read, and nothing else. */
export function removeBodyReaders(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  // Many clients send a body, or only its type, with DELETE; there it means nothing (RFC 9110, section 9.3.5).
  app.addHttpMethod('DELETE', { hasBody: false, overrideExisting: true })
}

/** Parses JSON; undefined if there is none. @throws {HttpError} */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    return bytes.length === 0 ? undefined : parseJson(bytes)
  } catch {
    // One text for every reason: V8's own would quote the body.
    throw new HttpError(400, `The body must be JSON in UTF-8, with ${STRICTNESS}`)
  }
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** @throws {HttpError} if the bytes are no UTF-8 */
export function parseText(bytes: Buffer): string {
  try {
    return STRICT_UTF8.decode(bytes)
  } catch {
    throw new HttpError(400, 'The body must be text in UTF-8')
  }
}
