// Parses texts that stand for values.
import type { Reading } from './compiled.ts'
import type { Schema } from '../json-schema/schema.ts'
import { parseJson, STRICT_UTF8, toExact, TooDeep } from '../http/json.ts'
import type { Validators } from './validation.ts'
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
    if (error instanceof HttpError) throw error
    throw new HttpError(400, error instanceof TooDeep ? error.message : message)
  }
}

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
])

/** By type: reads a text that is spelled as in JSON. Any other text stays a text, and the schema refuses it. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  integer: (text) => (INTEGER.test(text) ? readInteger(text) : undefined),
  number: (text) => (NUMBER.test(text) ? readNumber(text) : undefined),
  boolean: (text) => BOOLEANS.get(text),
  object: readObject,
}

/** The digits of an integer that is exact as a double, whatever it is. */
const MAX_EXACT_DIGITS = 15

/** Reads an integer in plain digits: most are short. */
function readInteger(text: string): unknown {
  return text.length <= MAX_EXACT_DIGITS ? Number(text) : readNumber(text)
}

/** Reads a number as exactly as in a body: so a bound says the same of it in both. */
function readNumber(text: string): unknown {
  const value = Number(text)
  return Number.isFinite(value) ? toExact(value, text) : undefined
}

/** An object is sent as JSON (OpenAPI 3.1.0, section 4.8.15.1.1, `contentType`). */
function readObject(text: string): unknown {
  if (!/^\s*{[^]*}\s*$/.test(text)) return undefined // errors take longer
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (error instanceof TooDeep) throw new HttpError(400, error.message)
    return undefined
  }
}

/** What is sent for a parameter or a field: a text to read, or a value. */
export type Sent = string | { readonly value: unknown }

/**
 * Makes the function that reads what was sent for a parameter or a field. A text, or an item of a list, is a value of the
 * first of its types that its schema takes, or the text itself. One text may be a list, and all items of a list texts.
 */
export function valueReader({ types, list, schema, items }: Reading, validators: Validators) {
  const whole: Schema = schema === undefined || { $ref: schema }
  const item: Schema = items === undefined || { $ref: items }
  const isValid = (value: unknown) => validators.isValid(whole, value)
  const isItem = (value: unknown) => validators.isValid(item, value)
  const read = (sent: Sent | undefined, isValid: (value: unknown) => boolean): unknown => {
    if (typeof sent !== 'string') return sent?.value
    const value =
      types.map((type) => READERS[type]?.(sent)).find((each) => each !== undefined) ?? sent
    return types.length < 2 || value === sent || isValid(value) || !isValid(sent) ? value : sent
  }
  return (sent: readonly Sent[]): unknown => {
    const one =
      list === null || (list === 'either' && sent.length === 1) ? read(sent[0], isValid) : undefined
    if (list === null || (one !== undefined && isValid(one))) return one
    const all = sent.map((each) => read(each, isItem))
    if (types.length < 2 && list !== 'either') return all
    const texts = sent.map((each) => (typeof each === 'string' ? each : each.value))
    return [all, texts].find(isValid) ?? one ?? all
  }
}

/** @throws {URIError} for what is not UTF-8 in percent-encoding */
export const decodePair = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
