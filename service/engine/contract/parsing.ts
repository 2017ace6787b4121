// Parses texts that stand for values.
import { isObject } from './assertions.ts'
import type { Reading } from './compiled.ts'
import { parseJson, STRICT_UTF8 } from '../http/json.ts'
import { HttpError } from '../errors.ts'

export const TOO_LONG = new HttpError(413, 'The body is too long')

/** @throws {HttpError} if the bytes are not UTF-8 */
export function parseText(bytes: Buffer): string {
  return orRefuse(() => STRICT_UTF8.decode(bytes), 'The body must be text in UTF-8')
}

/** @throws {HttpError} 400 in place of any other error */
export function orRefuse<Value>(parse: () => Value, message: string): Value {
  try {
    return parse()
  } catch (error) {
    throw error instanceof HttpError ? error : new HttpError(400, message)
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

/** By type: reads a text that is spelled as in JSON. Any other text stays a text, and the schema refuses it. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) && Number.isFinite(Number(text)) ? toInteger(text) : undefined),
  number: (text) => (NUMBER.test(text) ? Number(text) : undefined),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
  object: readObject,
}

const toInteger = (text: string) => (Number.isSafeInteger(Number(text)) ? Number(text) : BigInt(text))

/** An object is sent as JSON (OpenAPI 3.1.0, section 4.8.15.1.1, `contentType`). */
function readObject(text: string): object | undefined {
  try {
    const value = parseJson(Buffer.from(text))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What is sent for a parameter or a field: a text to read, or a value. */
export type Sent = string | { readonly value: unknown }

/**
 * Makes the function that reads what was sent for a parameter or a field, once or more often. A text may stand for a value
 * of its types, or for itself. A single text may be a value, or a list of one. The first meaning that is valid counts.
 */
export function valueReader({ types, list }: Reading, isValid: (value: unknown) => boolean) {
  const read = (text: string) => {
    for (const type of types) {
      const value = READERS[type]?.(text)
      if (value !== undefined) return value
    }
    return text
  }
  return (sent: readonly Sent[]): unknown => {
    const values = sent.map((each) => (typeof each === 'string' ? read(each) : each.value))
    if (types.length < 2 && list !== 'either') return list === null ? values[0] : values
    const texts = sent.map((each) => (typeof each === 'string' ? each : each.value))
    const ones = list === null || (list === 'either' && sent.length === 1) ? [values[0], texts[0]] : []
    const meanings = list === null ? ones : [...ones, values, texts]
    return meanings.find(isValid) ?? meanings[0]
  }
}

/** @throws {URIError} for what is not UTF-8 in percent-encoding */
export const decodePair = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
