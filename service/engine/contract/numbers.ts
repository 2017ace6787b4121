// The keyword `number` of compiled schemas: the types of numbers, exact to 64 bits, and their bounds.

/** A number as `parseJson` has it: a symbol is a fraction that a `number` can't tell from an integer. */
type Numeric = number | bigint | symbol

/** What a schema says of numbers. The bounds are digits, which can hold an int64. */
export interface NumberRule {
  /** All types of the schema, with int64 and int32 as types. */
  readonly types?: readonly string[]
  readonly bounds: Readonly<Record<string, string>>
}

/** The integer types, each with its least and its greatest value. */
const RANGES: Readonly<Record<string, readonly [least: bigint, greatest: bigint]>> = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  // RFC 8259, section 6: all parsers of JSON agree on these integers.
  integer: [1n - 2n ** 53n, 2n ** 53n - 1n],
}

/** The bounds of numbers, in words and as a check. JavaScript compares a `bigint` with a `number` exactly. */
export const BOUNDS: Readonly<
  Record<string, readonly [words: string, isRight: (data: number | bigint, bound: number | bigint) => boolean]>
> = {
  minimum: ['>=', (data, bound) => data >= bound],
  maximum: ['<=', (data, bound) => data <= bound],
  exclusiveMinimum: ['>', (data, bound) => data > bound],
  exclusiveMaximum: ['<', (data, bound) => data < bound],
  multipleOf: ['a multiple of', (data, divisor) => isMultiple(String(data), String(divisor))],
}

/** Makes the check of the keyword `number`. It stands for the keywords of numbers, and for `type` where a number is allowed. */
export function numberCheck({ types, bounds }: NumberRule): (data: unknown) => boolean {
  const checks = Object.entries(bounds).map(([key, digits]) => {
    const bound = /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits)
    return (data: number | bigint) => BOUNDS[key]?.[1](data, bound)
  })
  return (data) => {
    if (types?.some((type) => isOfType(data, type)) === false) return false
    if (!isNumber(data)) return true
    const value = typeof data === 'symbol' ? Number(data.description) : data
    return checks.every((check) => check(value))
  }
}

export function isNumber(data: unknown): data is Numeric {
  return typeof data === 'number' || typeof data === 'bigint' || typeof data === 'symbol'
}

/** Whether a value is of a type of JSON Schema, or of int64 or int32. */
export function isOfType(data: unknown, type: string): boolean {
  const range = RANGES[type]
  if (!isNumber(data)) return type === (data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data)
  if (range === undefined) return type === 'number' && (typeof data !== 'number' || Number.isFinite(data))
  return isInteger(data) && data >= range[0] && data <= range[1]
}

const isInteger = (data: unknown): data is number | bigint => typeof data === 'bigint' || Number.isInteger(data)

/** Whether a schema allows an int64. */
export const isInt64 = (rule: Pick<NumberRule, 'types'> | undefined) => rule?.types?.includes('int64') === true

/** @returns undefined for a value that is no int64 */
export function toInt64(value: unknown): bigint | undefined {
  return isInteger(value) && isOfType(value, 'int64') ? BigInt(value) : undefined
}

/** Rounds each number in an object or a list to a double. */
export function roundNumbers(holder: object): void {
  for (const key of Object.keys(holder)) {
    const part: unknown = Reflect.get(holder, key)
    if (typeof part === 'object' && part !== null) roundNumbers(part)
    else if (typeof part === 'bigint') Reflect.set(holder, key, Number(part))
    else if (typeof part === 'symbol') Reflect.set(holder, key, Number(part.description))
  }
}

/** The JSON text of a number with all its digits: the same text for a `number` and a `bigint` that are equal. */
export function digitsOf(value: Numeric): string {
  if (typeof value === 'symbol') return value.description ?? ''
  return Number.isInteger(value) ? String(BigInt(value)) : String(value)
}

/** Describes in words which numbers a schema allows. */
export function describeNumber({ types = ['number'], bounds }: NumberRule): string {
  const nouns = types.map((type) => (RANGES[type] ? 'an integer' : type === 'number' ? 'a number' : type))
  const [least, greatest] = types.flatMap((type) => RANGES[type] ?? [])
  const { minimum: from = least, maximum: to = greatest, ...others } = bounds
  const isRange = from !== undefined && to !== undefined
  const limits = Object.entries(isRange ? others : bounds).map(([key, digits]) => `, ${BOUNDS[key]?.[0]} ${digits}`)
  return [nouns.join(' or '), ...(isRange ? [` from ${from} to ${to}`] : []), ...limits].join('')
}

/** Whether a number is an exact multiple of another one. Both are decimal digits. */
function isMultiple(value: string, of: string): boolean {
  const [a, b] = [decimal(value), decimal(of)]
  const scale = Math.max(a.scale, b.scale)
  return (a.digits * 10n ** BigInt(scale - a.scale)) % (b.digits * 10n ** BigInt(scale - b.scale)) === 0n
}

function decimal(text: string): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}
