import { isInRange, isMultiple, isNumber, type Numeric, RANGES, typesOf } from '../core/numbers.ts'
import type { Keywords } from '../core/schema.ts'
import type { Keyword } from './keyword.ts'

/**
 * `type`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`: 2020-12 validation, sections 6.1.1
 * and 6.2. They are one rule, because one message says all that a number must be.
 */
export const typeAndBounds: Keyword = (schema) => {
  const types = typesOf(schema)
  const bounds = boundsOf(schema)
  if (types.length === 0 && bounds.length === 0) return undefined
  const text = describe(types, bounds, schema)
  return (value, evaluation) => {
    const isValid = isOfTypes(value, types) && isWithin(value, bounds)
    return isValid || evaluation.fail(text)
  }
}

/** A bound of numbers, in words and as a check. JavaScript compares a `bigint` with a `number` exactly. */
interface Bound {
  readonly keyword: string
  readonly text: string
  readonly isValid: (value: number | bigint) => boolean
}

function boundsOf(schema: Keywords): Bound[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  const bounds: Bound[] = []
  if (minimum !== undefined)
    bounds.push({
      keyword: 'minimum',
      text: `>= ${minimum}`,
      isValid: (value) => value >= minimum,
    })
  if (maximum !== undefined)
    bounds.push({
      keyword: 'maximum',
      text: `<= ${maximum}`,
      isValid: (value) => value <= maximum,
    })
  if (exclusiveMinimum !== undefined)
    bounds.push({
      keyword: 'exclusiveMinimum',
      text: `> ${exclusiveMinimum}`,
      isValid: (value) => value > exclusiveMinimum,
    })
  if (exclusiveMaximum !== undefined)
    bounds.push({
      keyword: 'exclusiveMaximum',
      text: `< ${exclusiveMaximum}`,
      isValid: (value) => value < exclusiveMaximum,
    })
  if (multipleOf !== undefined)
    bounds.push({
      keyword: 'multipleOf',
      text: `a multiple of ${multipleOf}`,
      isValid: (value) => isMultiple(value, multipleOf),
    })
  return bounds
}

/** Bounds are of numbers: any other value is within them. */
function isWithin(value: unknown, bounds: readonly Bound[]): boolean {
  if (bounds.length === 0 || !isNumber(value)) return true
  const number = comparable(value)
  return bounds.every(({ isValid }) => isValid(number))
}

/** A symbol is a fraction near an integer: as a bound sees it, it is that integer. */
function comparable(value: Numeric): number | bigint {
  return typeof value === 'symbol' ? Number(value.description) : value
}

function isOfTypes(value: unknown, types: readonly string[]): boolean {
  return types.length === 0 || types.some((type) => isOfType(value, type))
}

/** Whether a value is of a type of JSON Schema, or a format of integers, or a file of a form. */
function isOfType(value: unknown, type: string): boolean {
  if (typeof value === 'string') return type === 'string'
  if (value instanceof Blob) return type === 'file'
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (!isNumber(value)) return type === typeof value
  if (type === 'number') return typeof value !== 'number' || Number.isFinite(value)
  const range = RANGES[type]
  return range !== undefined && isInRange(value, range)
}

/** What a valid value is, in words: `must be an integer from 1 to 100, a multiple of 5`. */
function describe(types: readonly string[], bounds: readonly Bound[], schema: Keywords): string {
  const noun = types.map(nounOf).join(' or ') || 'a number'
  const range = types.map((type) => RANGES[type]).find((integers) => integers !== undefined)
  const minimum = greater(schema.minimum, range && BigInt(range.least))
  const maximum = smaller(schema.maximum, range?.greatest)
  if (minimum === undefined || maximum === undefined) return `must be ${noun}${listOf(bounds)}`
  const others = bounds.filter(({ keyword }) => keyword !== 'minimum' && keyword !== 'maximum')
  return `must be ${noun} from ${minimum} to ${maximum}${listOf(others)}`
}

type Limit = number | bigint | undefined

/** The bound that counts. */
function greater(written: Limit, ofType: Limit): Limit {
  if (written === undefined || ofType === undefined) return written ?? ofType
  return written > ofType ? written : ofType
}

/** The bound that counts. */
function smaller(written: Limit, ofType: Limit): Limit {
  if (written === undefined || ofType === undefined) return written ?? ofType
  return written < ofType ? written : ofType
}

const listOf = (bounds: readonly Bound[]) => bounds.map(({ text }) => `, ${text}`).join('')

function nounOf(type: string): string {
  if (type in RANGES) return 'an integer'
  return type === 'number' || type === 'file' ? `a ${type}` : type
}
