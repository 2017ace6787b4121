import { str } from 'ajv'
import type { Ajv2020 } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'

type Numeric = number | bigint
/** A compiled schema that says something of numbers. */
type Bounded = { readonly types?: readonly string[] } & Readonly<Record<string, unknown>> & {
    readonly minimum?: string
    readonly maximum?: string
  }

/** The types that hold integers only, with the least and the greatest of each. */
const RANGES: Readonly<Record<string, readonly [least: bigint, greatest: bigint]>> = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  // RFC 8259, section 6: the integers on which all readers of JSON agree.
  integer: [1n - 2n ** 53n, 2n ** 53n - 1n],
}

/** By keyword, what a number must be. JavaScript compares a `bigint` with a `number` exactly. */
const BOUNDS: Readonly<Record<string, readonly [words: string, isRight: (data: Numeric, bound: Numeric) => boolean]>> =
  {
    minimum: ['>=', (data, bound) => data >= bound],
    maximum: ['<=', (data, bound) => data <= bound],
    exclusiveMinimum: ['>', (data, bound) => data > bound],
    exclusiveMaximum: ['<', (data, bound) => data < bound],
    multipleOf: ['a multiple of', (data, divisor) => isMultiple(String(data), String(divisor))],
  }

/**
 * Adds `types`, which is `type` with int64 and int32, and replaces the keywords of numbers, whose values are then digits.
 * Ajv's own know no `bigint`, and take 19.99 for no multiple of 0.01.
 * @param isRequest whether an int64 becomes a `bigint`
 */
export function addNumberKeywords(ajv: Ajv2020, isRequest: boolean): void {
  const error = {
    message: ({ parentSchema }: { parentSchema?: Bounded }) => str`must be ${wordsOf(parentSchema ?? {})}`,
  }
  const compile =
    (types: readonly string[]): DataValidateFunction =>
    (data: unknown, context) => {
      if (!types.some((type) => isOfType(data, type))) return false
      if (isRequest && context && types.includes('int64') && typeof data === 'number' && Number.isInteger(data))
        Reflect.set(context.parentData, context.parentDataProperty, BigInt(data))
      return true
    }
  ajv.addKeyword({ keyword: 'types', compile, error, modifying: isRequest })
  for (const [keyword, [, isRight]] of Object.entries(BOUNDS)) {
    const compile = (digits: string): DataValidateFunction => {
      const bound = /^-?\d+$/.test(digits) ? BigInt(digits) : Number(digits)
      return (data: unknown) => !isNumber(data) || isRight(data, bound)
    }
    ajv.removeKeyword(keyword).addKeyword({ keyword, compile, error })
  }
}

function isNumber(data: unknown): data is Numeric {
  return typeof data === 'number' || typeof data === 'bigint'
}

function isOfType(data: unknown, type: string): boolean {
  const range = RANGES[type]
  if (!isNumber(data)) return type === (data === null ? 'null' : Array.isArray(data) ? 'array' : typeof data)
  if (range === undefined) return type === 'number' && typeof data === 'number' && Number.isFinite(data)
  return (typeof data === 'bigint' || Number.isInteger(data)) && data >= range[0] && data <= range[1]
}

/** All that a schema says of numbers. */
function wordsOf(schema: Bounded): string {
  const { types = ['number'], minimum, maximum } = schema
  const nouns = types.map((type) => (RANGES[type] ? 'an integer' : type === 'number' ? 'a number' : type))
  const [least, greatest] = types.flatMap((type) => RANGES[type] ?? [])
  const [from, to] = [minimum ?? least, maximum ?? greatest]
  const isRange = from !== undefined && to !== undefined
  const others = Object.entries(BOUNDS).filter(([key]) => key in schema && !(isRange && /^m..imum$/.test(key)))
  const limits = others.map(([key, [words]]) => `, ${words} ${schema[key] as string}`)
  return [nouns.join(' or '), ...(isRange ? [` from ${from} to ${to}`] : []), ...limits].join('')
}

/** Whether a number in decimal digits is a multiple of another one, exactly. */
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
