// Parses the bytes of a body, or of a part of a form.
import { type Parsed, parseTwice, STRICT_UTF8 } from '../http/json.ts'
import { HttpError } from '../errors.ts'

export const TOO_LONG = new HttpError(413, 'The body is too long')

/** A value that has no numbers to round. */
export const asIs = (value: unknown): Parsed => ({ exact: value, plain: value })

/** Parses JSON. @throws {HttpError} */
export function parseJsonBody(bytes: Buffer): Parsed {
  const rules =
    'no byte order mark, no lone surrogate, no duplicate member name, no __proto__ and no number beyond a double'
  // One message for every fault: the messages of V8 quote the body.
  return parseWith(parseTwice, bytes, `The body must be JSON in UTF-8, with ${rules}`)
}

/** @throws {HttpError} if the bytes are not UTF-8 */
export function parseText(bytes: Buffer): Parsed {
  return asIs(parseWith((each) => STRICT_UTF8.decode(each), bytes, 'The body must be text in UTF-8'))
}

function parseWith<Value>(parse: (bytes: Buffer) => Value, bytes: Buffer, message: string): Value {
  try {
    return parse(bytes)
  } catch {
    throw new HttpError(400, message)
  }
}
