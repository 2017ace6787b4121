// The schemas from which values are made, and their reader.

/**
 * A JSON Schema. `types` takes the place of `type`, and has the formats of integers. The target of `$ref` is
 * `referred(schema)`.
 */
export type Schema = Readonly<Record<string, unknown>>

/** Reads the schemas of a document, and knows their valid values. */
export interface SchemaReader {
  /** A schema of the document, with `types` in place of `type`. */
  readonly read: (schema: Schema) => Schema
  /** The target of a schema's reference; undefined if it has none. */
  readonly referred: (schema: Schema) => Schema | undefined
  readonly isValid: (schema: Schema, value: unknown) => boolean
}

/** The range of each integer type. All parsers of JSON agree on the integers of the first (RFC 8259, section 6). */
export const RANGES: Readonly<Record<string, readonly [least: bigint, greatest: bigint]>> = {
  integer: [1n - 2n ** 53n, 2n ** 53n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int8: [-128n, 127n],
  int16: [-(2n ** 15n), 2n ** 15n - 1n],
  uint8: [0n, 255n],
  uint16: [0n, 2n ** 16n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  'double-int': [1n - 2n ** 53n, 2n ** 53n - 1n],
}

/** Stands for a value where none is found. */
export const NONE = Symbol('no valid value')

/** The values of a keyword in all schemas of a value. */
export type All = (keyword: string) => unknown[]

/** What a scalar is made for. */
export interface Wanted {
  readonly type: string
  readonly valuesOf: All
  readonly isValid: (value: unknown) => boolean
}

/** The properties of an object or an array; none for other values. */
export function fields(value: unknown): Record<string, unknown> {
  return Object.assign<Record<string, unknown>, unknown>({}, value)
}

/** The items of a list; none for other values. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

export const numbersOf = (valuesOf: All, keyword: string) => valuesOf(keyword).map(Number)

/** A number as an integer times a power of ten. */
export function decimalOf(value: unknown): readonly [digits: bigint, exponent: number] {
  const [number = '', exponent = '0'] = String(value).split('e')
  const [whole = '', fraction = ''] = number.split('.')
  return [BigInt(whole + fraction), Number(exponent) - fraction.length]
}

/** An integer as a `number`, if it fits. */
export const toInteger = (value: bigint) =>
  Number.isSafeInteger(Number(value)) ? Number(value) : value

/** Whether values of a type may be of one of the others. */
export const fits = (type: string, types: readonly string[]) =>
  types.includes(type) ||
  (type in RANGES && types.some((numeric) => numeric in RANGES || numeric === 'number'))

/** Writes a value, the same string for equal values. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, part: unknown) =>
    typeof part === 'bigint' ? JSON.rawJSON(String(part)) : part,
  )
}
