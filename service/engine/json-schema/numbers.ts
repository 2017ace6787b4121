// Types and numbers of JSON Schema. Numbers are compared exactly, and integers have the range of their format.
import type { Keywords } from './schema.ts'

/** A number as `parseJson` has it: a symbol is a fraction that a `number` can't tell from an integer. */
type Numeric = number | bigint | symbol

/** The integer types, each with its least value, and the end of its range. A double holds these exactly. */
const RANGES: Readonly<Record<string, readonly [least: number, end: number]>> = {
  int64: [-(2 ** 63), 2 ** 63],
  int32: [-(2 ** 31), 2 ** 31],
  // RFC 8259, section 6: all parsers of JSON agree on these integers.
  integer: [1 - 2 ** 53, 2 ** 53],
}

type Bound = readonly [
  words: string,
  isRight: (data: number | bigint, bound: number | bigint) => boolean,
]
/** The bounds of numbers, in words and as a check. JavaScript compares a `bigint` with a `number` exactly. */
const BOUNDS = {
  minimum: ['>=', (data, bound) => data >= bound],
  maximum: ['<=', (data, bound) => data <= bound],
  exclusiveMinimum: ['>', (data, bound) => data > bound],
  exclusiveMaximum: ['<', (data, bound) => data < bound],
  multipleOf: ['a multiple of', (data, divisor) => isMultiple(String(data), String(divisor))],
} as const satisfies Record<string, Bound>

/** The types of a schema. An integer or a number with the format int64 or int32 has this format as its type. */
function typesOf({ type, format = '' }: Pick<Keywords, 'type' | 'format'>): string[] {
  const types = [type ?? []].flat()
  const integer = types.includes('integer') ? 'integer' : 'number'
  return types.map((each) => (each === integer && /^int(32|64)$/.test(format) ? format : each))
}

export const isNumeric = (type: string) => type === 'number' || type in RANGES

/** Whether a schema allows an int64. */
export const isInt64 = (schema: Keywords) =>
  schema.format === 'int64' && typesOf(schema).includes('int64')

/** What a schema says of types, and of the bounds of numbers, as one rule. @returns undefined if it says nothing */
export function typeRule(
  schema: Keywords,
): readonly [isValid: (data: unknown) => boolean, text: string] | undefined {
  const types = typesOf(schema)
  const bounds = Object.entries(BOUNDS).flatMap(([key, [words, isRight]]) => {
    const bound = schema[key as keyof typeof BOUNDS]
    return bound === undefined ? [] : [{ key, words, bound, isRight }]
  })
  if (types.length === 0 && bounds.length === 0) return undefined
  const isValid = (data: unknown) => {
    if (types.length > 0 && !types.some((type) => isOfType(data, type))) return false
    if (bounds.length === 0 || !isNumber(data)) return true
    const value = typeof data === 'symbol' ? Number(data.description) : data
    return bounds.every(({ isRight, bound }) => isRight(value, bound))
  }
  const [least, greatest] = types.flatMap(
    (type) => RANGES[type]?.map((bound, at) => BigInt(bound) - BigInt(at)) ?? [],
  )
  const { minimum: from = least, maximum: to = greatest } = schema
  const isRange = from !== undefined && to !== undefined
  const others = bounds.filter(({ key }) => !isRange || !/^m..imum$/.test(key))
  const nouns = types.map(nounOf)
  const range = isRange ? ` from ${from} to ${to}` : ''
  const limits = others.map(({ words, bound }) => `, ${words} ${bound}`).join('')
  return [isValid, `must be ${nouns.join(' or ') || 'a number'}${range}${limits}`]
}

/** A type in a message. */
function nounOf(type: string): string {
  if (type in RANGES) return 'an integer'
  return /^(number|file)$/.test(type) ? `a ${type}` : type
}

function isNumber(data: unknown): data is Numeric {
  return typeof data === 'number' || typeof data === 'bigint' || typeof data === 'symbol'
}

/** Whether a value is of a type of JSON Schema, or of int64 or int32, or a file of a form. */
function isOfType(data: unknown, type: string): boolean {
  if (data instanceof Blob) return type === 'file'
  if (data === null) return type === 'null'
  if (Array.isArray(data)) return type === 'array'
  if (!isNumber(data)) return type === typeof data
  const range = RANGES[type]
  if (range === undefined)
    return type === 'number' && (typeof data !== 'number' || Number.isFinite(data))
  return isInteger(data) && data >= range[0] && data < range[1]
}

const isInteger = (data: unknown): data is number | bigint =>
  typeof data === 'bigint' || Number.isInteger(data)

/** @returns undefined for a value that is no int64 */
export function toInt64(value: unknown): bigint | undefined {
  return isInteger(value) && isOfType(value, 'int64') ? BigInt(value) : undefined
}

/** Rounds each number in an object or a list to a double. */
export function roundNumbers(holder: object): void {
  for (const key of Array.isArray(holder) ? holder.keys() : Object.keys(holder)) {
    const part: unknown = Reflect.get(holder, key)
    if (typeof part === 'object' && part !== null) roundNumbers(part)
    else if (typeof part === 'bigint') Reflect.set(holder, key, Number(part))
    else if (typeof part === 'symbol') Reflect.set(holder, key, Number(part.description))
  }
}

/** The JSON text of a value that is no object or list, the same for all that are equal: numbers are exact. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'symbol') return value.description ?? ''
  return isInteger(value) ? String(BigInt(value)) : JSON.stringify(value ?? null)
}

/** Whether a number is an exact multiple of another one. Both are decimal digits. */
function isMultiple(value: string, of: string): boolean {
  const [a, b] = [decimal(value), decimal(of)]
  const scale = Math.max(a.scale, b.scale)
  return (
    (a.digits * 10n ** BigInt(scale - a.scale)) % (b.digits * 10n ** BigInt(scale - b.scale)) === 0n
  )
}

function decimal(text: string): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = text.split('e')
  const [whole = '', fraction = ''] = mantissa.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length - Number(exponent) }
}
