import { parseJson, STRICT_UTF8 } from './json.ts'
import { HttpError } from '../errors.ts'

/** RFC 9110, section 5.6.6: a charset may stand once; other parameters mean nothing here. Escapes are not read. */
const PARAMETERS =
  /^(?!.*charset.*charset)(?:[ \t]*;[ \t]*(?:charset=("?)utf-8\1|(?!charset)[\w-]+=(?:[\w.+-]+|"[^"\\]*")))*[ \t]*;?[ \t]*$/i

/** Whether a `Content-Type` is of this media type, and of no other charset than UTF-8. */
export function isInUtf8(mediaType: string, contentType: string): boolean {
  const [type, parameters] = [contentType.slice(0, mediaType.length), contentType.slice(mediaType.length)]
  return type.toLowerCase() === mediaType && PARAMETERS.test(parameters)
}

/** Parses JSON; undefined if there is none. @throws {HttpError} */
export function parseJsonBody(bytes: Buffer): unknown {
  const rules = 'no byte order mark, no lone surrogate, no member name twice and no __proto__'
  // One message for every reason: V8's own would quote the body.
  return bytes.length === 0 ? undefined : parseWith(parseJson, bytes, `The body must be JSON in UTF-8, with ${rules}`)
}

/** @throws {HttpError} if the bytes are not UTF-8 */
export function parseText(bytes: Buffer): string {
  return parseWith((each) => STRICT_UTF8.decode(each), bytes, 'The body must be text in UTF-8')
}

function parseWith<Value>(parse: (bytes: Buffer) => Value, bytes: Buffer, message: string): Value {
  try {
    return parse(bytes)
  } catch {
    throw new HttpError(400, message)
  }
}
