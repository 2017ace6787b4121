import type { Parameter } from './contract.ts'
import { stringify, toInteger } from './json.ts'
import { partsOf, samplesOf } from './schemas-arbitrary.ts'
import { isValid, type Schema } from './schemas.ts'
import { mutantsOf, unviolated } from './schemas-violations.ts'

/** Spellings of numbers and booleans that some parsers accept, but JSON does not, or not for an integer. */
const SPELLINGS = [
  ...['0x10', '1e1', '1.0', '1.', '.5', '+5', '05', '-0', ' 10', '10 ', '1_000', '1,2', '\u0662', 'NaN', 'Infinity'],
  ...['TRUE', 'yes', 'undefined', '[1]'],
]

/** Valid and invalid texts for a parameter: its values, its values changed at every place, and odd spellings. */
export function textsOf({ schema, examples }: Parameter): string[] {
  const mutants = mutantsOf(schema, [...examples, ...samplesOf(schema, 10)])
  const texts = mutants.map(({ value }) => (value instanceof Object ? stringify(value) : String(value)))
  return [...new Set([...texts, ...SPELLINGS])]
}

/** The rules of a parameter's schema that none of the texts violates, as JSON pointers. */
export function unviolatedBy({ schema }: Parameter, texts: readonly string[]): string[] {
  const rules = unviolated(
    schema,
    texts.map((text) => spelled(schema, text)),
  )
  return typesOf(schema).includes('string') ? rules.filter((rule) => !rule.endsWith('/type')) : rules // each text is a string
}

/** The most bytes of an encoded text: a request has room for 16 KB of path and headers. */
const MAX_BYTES = 12_000

/**
 * Whether a text can be sent as a parameter. A path segment can't be empty, nor `.` or `..`, which clients remove (RFC 3986,
 * section 5.2.4). A header is a Latin-1 line.
 */
export function isSendable(parameter: Parameter, text: string): boolean {
  const isShort = text.length < 3000 && encodeURIComponent(text.toWellFormed()).length <= MAX_BYTES
  if (parameter.in === 'path') return isShort && !/^\.{0,2}$/.test(text)
  if (parameter.in !== 'header') return isShort
  return isShort && /^([!-~\x80-\xFF]([\t -~\x80-\xFF]*[!-~\x80-\xFF])?)?$/.test(text)
}

/** Whether a parameter is a cursor: its schema can't say which texts a list has given. */
export function isCursor({ in: place, name }: Parameter): boolean {
  return place === 'query' && name === 'cursor'
}

/** Whether a text is valid for a parameter. */
export function takes({ schema }: Parameter, text: string): boolean {
  return text.isWellFormed() && isValid(schema, spelled(schema, text))
}

/**
 * An invalid text that the guard is asked about before the parameter is; any text if there is none. A path that is not UTF-8
 * has no operation, so it never gets to a guard.
 */
export function faultFor(parameter: Parameter): string {
  const isFault = (text: string) => isSendable(parameter, text) && !takes(parameter, text)
  return textsOf(parameter).find((text) => isFault(text) && (parameter.in !== 'path' || text.isWellFormed())) ?? 'any'
}

/** Parses a text as JSON (an integer has decimal digits only). If it has no such type, the value is the text itself. */
function spelled(schema: Schema, text: string): unknown {
  const types = typesOf(schema)
  if (types.includes('integer') && /^(0|-?[1-9]\d*)$/.test(text)) return toInteger(BigInt(text))
  if (types.includes('number') && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text)
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function typesOf(schema: Schema): unknown[] {
  return partsOf(schema).flatMap(({ type }) => type)
}
