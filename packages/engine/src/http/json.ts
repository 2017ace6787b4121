// Parses and writes JSON with exact integers.

declare global {
  interface JSON {
    /** Makes an object which `JSON.stringify` writes as this string: https://github.com/tc39/proposal-json-parse-with-source */
    rawJSON(text: string): object
  }
}

/**
 * How many levels deep JSON may be nested, where it is read or written: an object or a list in
 * another is one level more.
 */
export const MAX_LEVELS = 100

/** JSON has more levels than {@link MAX_LEVELS}. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep'

  constructor() {
    super(`JSON must not be nested more than ${MAX_LEVELS} levels deep`)
  }
}

/**
 * Writes JSON. Each `bigint` becomes a number with all its digits.
 * @param levels how many levels deep it may be nested
 * @throws {TooDeep} for a value with more levels
 */
export function exactJson(value: unknown, levels = MAX_LEVELS): string {
  if (countBigints(value, levels) === 0) return JSON.stringify(value) // a function for each property would take twice the time
  return JSON.stringify(value, (_name, property: unknown) =>
    typeof property === 'bigint' ? JSON.rawJSON(String(property)) : property,
  )
}

/** Counts the bigints in a value. @throws {TooDeep} */
function countBigints(value: unknown, levels: number): number {
  const written = writtenFor(value)
  if (typeof written !== 'object' || written === null) return typeof written === 'bigint' ? 1 : 0
  if (levels === 0) throw new TooDeep()
  let count = 0
  for (const part of Object.values(written)) count += countBigints(part, levels - 1)
  return count
}

/** The value written by `JSON.stringify` in place of a value. */
function writtenFor(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('toJSON' in value)) return value
  return value.toJSON instanceof Function ? Reflect.apply(value.toJSON, value, []) : value
}

/**
 * The JSON of a value. It is sent without a check, unless its schema has `writeOnly` properties to leave out.
 * @example
 * ```ts
 * import type { components } from './contract.gen.ts'
 * import type { JsonText } from '@plant-store/engine'
 *
 * type Note = components['schemas']['Note']
 * export const lengthOf = (notes: JsonText<Note[]>) => Buffer.byteLength(notes.text)
 * ```
 */
export class JsonText<Value> {
  readonly text: string
  declare protected readonly value: Value // in the type only

  constructor(text: string) {
    this.text = text
  }
}

export const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Matches every string with a number beyond JavaScript's exact ones. Numbers of up to 15 digits are exact. */
const INEXACT = /[\d.]{16}|\d[eE]/

/**
 * Parses JSON (RFC 8259) exactly. It refuses whatever JSON parsers read in different ways.
 *
 * An integer beyond a `number` is a `bigint`. A fraction which JavaScript would round to an integer is a symbol with its
 * digits. Any other number is a `number`; beyond ±2^64 numbers are rounded.
 * @param bytes JSON in UTF-8
 * @throws {TooDeep} for more than {@link MAX_LEVELS} levels
 * @throws {Error} for invalid UTF-8, a byte order mark, invalid JSON, a lone surrogate in a string or a name
 *   (RFC 7493, section 2.1), a duplicate name, the name `__proto__`, or a number beyond the range of a double
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = STRICT_UTF8.decode(bytes)
  const value: unknown = JSON.parse(text)
  const properties = countProperties(value, MAX_LEVELS)
  // Each property has a colon. Most JSON has no further ones, in strings, and no long numbers.
  if (countColons(text) === properties && !INEXACT.test(text)) return value
  const withoutStrings = text.replaceAll(/\\./g, '').replaceAll(/"[^"]*"/g, '')
  if (countColons(withoutStrings) !== properties) throw new SyntaxError('a duplicate property name')
  return INEXACT.test(withoutStrings) ? JSON.parse(text, revive) : value
}

function countColons(text: string): number {
  let count = 0
  for (let at = text.indexOf(':'); at !== -1; at = text.indexOf(':', at + 1)) count += 1
  return count
}

/**
 * Counts the properties of all objects in a value.
 * @throws {TooDeep} for more than this many levels
 * @throws {SyntaxError} for a lone surrogate, and for the name `__proto__`: some parsers set the
 * prototype by it
 */
function countProperties(value: unknown, levels: number): number {
  if (typeof value === 'string' && !value.isWellFormed()) throw new SyntaxError('a lone surrogate')
  if (typeof value !== 'object' || value === null) return 0
  if (levels === 0) throw new TooDeep()
  let count = 0
  if (!Array.isArray(value)) {
    const names = Object.keys(value)
    names.forEach(checkName)
    count = names.length
  }
  for (const property of Object.values(value)) count += countProperties(property, levels - 1)
  return count
}

function checkName(name: string): void {
  if (name === '__proto__') throw new SyntaxError('the name __proto__')
  if (!name.isWellFormed()) throw new SyntaxError('a lone surrogate in a name')
}

/** For `JSON.parse`, which tells it the digits of each number. */
const revive = (_name: string, value: unknown, { source = '' } = {}) =>
  typeof value === 'number' ? toExact(value, source) : value

/**
 * The value of a number for {@link parseJson}. Works on the digits, because a BigInt of many digits is slow.
 * @param literal the number as JSON has it
 * @throws {SyntaxError} beyond the range of a double
 */
export function toExact(value: number, literal: string): number | bigint | symbol {
  if (!Number.isFinite(value)) throw new SyntaxError('a number beyond the range of a double')
  if (Math.abs(value) > 2 ** 64) return value
  const { digits, point } = splitNumber(literal)
  if (isZero(digits)) return value
  const isFraction = !isZero(digits.slice(point))
  if (isFraction) return Number.isInteger(value) ? Symbol(literal) : value
  const magnitude = BigInt(digits.slice(0, point).padEnd(point, '0'))
  const exact = value < 0 ? -magnitude : magnitude
  return BigInt(value) === exact ? value : exact
}

/**
 * The digits of a number in JSON, and how many of them stand before the point; more than there are
 * for `1e9`.
 */
function splitNumber(literal: string) {
  const [mantissa = '', exponent = '0'] = literal.split(/e/i)
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  return { digits: whole + fraction, point: Math.max(whole.length + Number(exponent), 0) }
}

const isZero = (digits: string) => !/[1-9]/.test(digits)
