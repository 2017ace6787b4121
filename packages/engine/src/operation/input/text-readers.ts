// Reads the text of a parameter, or of a field of a form, as a value of a type. The spelling is that of JSON.
import type { Part, Readers } from '@plant-store/json-schema'
import { parseJson, toExact, TooDeep } from '../../http/json.ts'
import { HttpError } from '../../errors.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/
const OBJECT = /^\s*{[^]*}\s*$/

/** The digits of an integer that is exact as a double, whatever it is. */
const MAX_EXACT_DIGITS = 15

/** Reads an integer in plain digits: most are short. */
function readInteger(text: string): unknown {
  if (!INTEGER.test(text)) return undefined
  return text.length <= MAX_EXACT_DIGITS ? Number(text) : exactNumber(text)
}

function readNumber(text: string): unknown {
  return NUMBER.test(text) ? exactNumber(text) : undefined
}

/** Reads a number as exactly as in a body, so that a bound has the same meaning in both. */
function exactNumber(text: string): unknown {
  const value = Number(text)
  return Number.isFinite(value) ? toExact(value, text) : undefined
}

function readBoolean(text: string): unknown {
  if (text === 'true') return true
  return text === 'false' ? false : undefined
}

/**
 * An object is sent as JSON (OpenAPI 3.1.0, section 4.8.15.1.1, `contentType`).
 * @throws {HttpError} 400 if it has too many levels
 */
function readObject(text: string): unknown {
  if (!OBJECT.test(text)) return undefined // errors take longer
  try {
    return parseJson(Buffer.from(text))
  } catch (error) {
    if (error instanceof TooDeep) throw new HttpError(400, error.message)
    return undefined
  }
}

function readFile(part: Part): unknown {
  return typeof part === 'string' ? undefined : part.file
}

/** Reads a value only if it is a text. */
function ofText(read: (text: string) => unknown): (part: Part) => unknown {
  return (part) => {
    const text = typeof part === 'string' ? part : part.text
    return text === undefined ? undefined : read(text)
  }
}

/** By type, in the order in which they are tried. No text is null. */
export const TEXT_READERS: Readers = new Map([
  ['file', readFile],
  ['object', ofText(readObject)],
  ['integer', ofText(readInteger)],
  ['number', ofText(readNumber)],
  ['boolean', ofText(readBoolean)],
])
