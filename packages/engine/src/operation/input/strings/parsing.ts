// Parses bytes and strings of requests.
import { STRICT_UTF8, TooDeep } from '../../../http/json.ts'
import { HttpError } from '../../../errors.ts'

/** @throws {HttpError} if the bytes are not UTF-8 */
export function parseText(bytes: Buffer): string {
  return orRefuse(() => STRICT_UTF8.decode(bytes), 'The body must be text in UTF-8')
}

/** @throws {HttpError} 400 in place of any other error */
export function orRefuse<Value>(parse: () => Value, message: string): Value {
  try {
    return parse()
  } catch (error) {
    if (error instanceof HttpError) throw error
    throw new HttpError(400, error instanceof TooDeep ? error.message : message)
  }
}

/** @throws {URIError} for bad percent-encoding of UTF-8 */
export const decodePair = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))

/** Splits `a=1` at its first `=`. Without one, the result has one part. */
export const splitAssignment = (string: string) => string.split(/=(.*)/s, 2)
