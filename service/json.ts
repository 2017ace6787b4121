const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

// A literal of 15 digits or fewer and no exponent is the double that it reads as: no other can hide a digit.
const MAY_BE_INEXACT = /[\d.]{16}|\d[eE]/

// In a valid JSON text a string before a colon is a member name, and nothing else is.
const STRING = /"(?:[^"\\]|\\.)*"(\s*:)?/g

/**
 * Parses a JSON text (RFC 8259) exactly, and refuses what readers of JSON disagree about.
 *
 * A number is a `number` if that holds its exact value, or rounds it to another fraction as JavaScript does. An
 * integer that a `number` can't hold is a `bigint`. A fraction that would be rounded to an integer is `NaN`, which
 * no schema accepts. Beyond ±2^64 numbers are rounded.
 * @param bytes the text in UTF-8
 * @throws {SyntaxError} for invalid UTF-8, a byte order mark, invalid JSON, a member name that stands twice in an
 *   object, or the name `__proto__`
 */
export function parseJson(bytes: Uint8Array): unknown {
  let text: string
  let value: unknown
  try {
    text = STRICT_UTF8.decode(bytes)
    value = MAY_BE_INEXACT.test(text) ? JSON.parse(text, exactly) : JSON.parse(text)
  } catch {
    throw new SyntaxError('not valid JSON in UTF-8')
  }
  let names = 0
  for (const [, colon] of text.matchAll(STRING)) if (colon !== undefined) names += 1
  if (names !== countMembers(value)) throw new SyntaxError('an object has the same member name twice')
  return value
}

/** @throws {SyntaxError} for a member `__proto__`, which some readers take for the prototype */
function countMembers(root: unknown): number {
  let count = 0
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    if (!Array.isArray(value)) {
      if (Object.hasOwn(value, '__proto__')) throw new SyntaxError('an object has the member name __proto__')
      count += Object.keys(value).length
    }
    open.push(...(Object.values(value) as unknown[]))
  }
  return count
}

/** A reviver for `JSON.parse`; `source` is the literal (TC39 proposal "JSON.parse source text access"). */
function exactly(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || Math.abs(value) > 2 ** 64) return value
  const exact = integerOf(context.source)
  if (exact === undefined) return Number.isInteger(value) ? Number.NaN : value
  return BigInt(value) === exact ? value : exact
}

/** The value of a JSON number below 2^65, however it is spelled; undefined if it is no integer. */
function integerOf(literal: string): bigint | undefined {
  const [mantissa = '', exponent = '0'] = literal.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  const digits = whole + fraction
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  if (digits.slice(0, end).replace('-', '') === '') return 0n
  const zeros = Number(exponent) - fraction.length + (digits.length - end)
  return zeros < 0 ? undefined : BigInt(digits.slice(0, end)) * 10n ** BigInt(zeros)
}
