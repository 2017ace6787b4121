// Numbers of JSON. They are compared exactly, and an integer has the range of its format.
import type { Keywords } from './schema.ts'

/** A number, exactly: a symbol is a fraction which a `number` would round to an integer. */
export type Numeric = number | bigint | symbol

/** The range of an integer type. */
export interface Range {
  readonly least: number
  /** The first integer behind the range: a double holds it exactly, unlike some greatest integers. */
  readonly end: number
  readonly greatest: bigint
}

/** RFC 8259, section 6: all parsers of JSON agree on these integers. */
const INTEROPERABLE = rangeOf(1 - 2 ** 53, 2 ** 53)

/** The formats of integers, as OpenAPI's registry of formats has them. */
const FORMATS: Readonly<Record<string, Range>> = {
  int8: rangeOf(-(2 ** 7), 2 ** 7),
  int16: rangeOf(-(2 ** 15), 2 ** 15),
  int32: rangeOf(-(2 ** 31), 2 ** 31),
  int64: rangeOf(-(2 ** 63), 2 ** 63),
  uint8: rangeOf(0, 2 ** 8),
  uint16: rangeOf(0, 2 ** 16),
  uint32: rangeOf(0, 2 ** 32),
  uint64: rangeOf(0, 2 ** 64),
  'double-int': INTEROPERABLE,
}
/** The integer types. */
export const RANGES: Readonly<Record<string, Range>> = { integer: INTEROPERABLE, ...FORMATS }

function rangeOf(least: number, end: number): Range {
  return { least, end, greatest: BigInt(end) - 1n }
}

/** Whether a format is one of integers. */
export const isIntegerFormat = (format: string) => Object.hasOwn(FORMATS, format)

/** Whether the values of a type are numbers. */
export const isNumeric = (type: string) => type === 'number' || type in RANGES

/** The types of a schema. A format of integers takes the place of `integer` or `number`. */
export function typesOf(schema: Pick<Keywords, 'type' | 'format'>): readonly string[] {
  const { type = [], format } = schema
  const types = typeof type === 'string' ? [type] : type
  if (format === undefined || !isIntegerFormat(format)) return types
  const formatted = types.includes('integer') ? 'integer' : 'number'
  return types.map((name) => (name === formatted ? format : name))
}

/** Whether a schema allows an integer of 64 bits. */
export function isInt64(schema: Keywords): boolean {
  const { format = '' } = schema
  return /^u?int64$/.test(format) && typesOf(schema).includes(format)
}

export function isNumber(value: unknown): value is Numeric {
  return typeof value === 'number' || typeof value === 'bigint' || typeof value === 'symbol'
}

function isInteger(value: unknown): value is number | bigint {
  return typeof value === 'bigint' || Number.isInteger(value)
}

/** Whether a value is an integer of a range. JavaScript compares a `bigint` with a `number` exactly. */
export function isInRange(value: unknown, { least, end }: Range): value is number | bigint {
  return isInteger(value) && value >= least && value < end
}

/** The integers of 64 bits, with a sign or without. */
const INT64 = rangeOf(-(2 ** 63), 2 ** 64)

/** @returns undefined for any other value than an integer of 64 bits */
export function decodeInt64(value: unknown): bigint | undefined {
  return isInRange(value, INT64) ? BigInt(value) : undefined
}

/** Rounds each number in an object or a list to a double. */
export function roundNumbers(container: object): void {
  for (const key of Array.isArray(container) ? container.keys() : Object.keys(container)) {
    const value: unknown = Reflect.get(container, key)
    if (typeof value === 'object' && value !== null) roundNumbers(value)
    else if (typeof value === 'bigint') Reflect.set(container, key, Number(value))
    else if (typeof value === 'symbol') Reflect.set(container, key, Number(value.description))
  }
}

/** The JSON of a scalar value, the same for equal values. Numbers are exact. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? ''
  return isInteger(value) ? String(BigInt(value)) : JSON.stringify(value ?? null)
}

/** Whether a number is an exact multiple of another. */
export function isMultiple(value: number | bigint, divisor: number | bigint): boolean {
  const dividend = decimalOf(String(value))
  const step = decimalOf(String(divisor))
  const scale = Math.max(dividend.scale, step.scale)
  return scaledTo(scale, dividend) % scaledTo(scale, step) === 0n
}

/** A number as decimal digits: `digits / 10 ** scale`. */
interface Decimal {
  readonly digits: bigint
  readonly scale: number
}

function decimalOf(number: string): Decimal {
  const [mantissa = '', exponent = '0'] = number.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}

function scaledTo(scale: number, decimal: Decimal): bigint {
  return decimal.digits * 10n ** BigInt(scale - decimal.scale)
}
