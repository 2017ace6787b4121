import { isInRange, isMultiple, isNumber, type Numeric, RANGES, typesOf } from '../core/numbers.ts'
import type { Keywords } from '../core/schema.ts'
import type { BoundKeyword, Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/**
 * `type`, `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`: 2020-12 validation, sections 6.1.1
 * and 6.2. They are one rule, because one message says all that a number must be.
 */
export const typeAndBounds: Keyword = (schema) => {
  const types = typesOf(schema)
  const bounds = boundsOf(schema)
  if (types.length === 0 && bounds.length === 0) return undefined
  const ofType: Problem = { keyword: 'type', limit: types, schema }
  return (value, evaluation) => {
    if (!isOfTypes(value, types)) return evaluation.fail(ofType)
    const exceeded = findExceeded(value, bounds)
    return exceeded === undefined || evaluation.fail(exceeded.problem)
  }
}

/** A bound of numbers. JavaScript compares a `bigint` with a `number` exactly. */
interface Bound {
  readonly problem: Problem<BoundKeyword>
  readonly isWithin: IsWithin
}
type IsWithin = (value: number | bigint, limit: number | bigint) => boolean

const BOUNDS: readonly (readonly [keyword: BoundKeyword, isWithin: IsWithin])[] = [
  ['minimum', (value, limit) => value >= limit],
  ['maximum', (value, limit) => value <= limit],
  ['exclusiveMinimum', (value, limit) => value > limit],
  ['exclusiveMaximum', (value, limit) => value < limit],
  ['multipleOf', isMultiple],
]

function boundsOf(schema: Keywords): Bound[] {
  return BOUNDS.flatMap(([keyword, isWithin]) => {
    const limit = schema[keyword]
    return limit === undefined ? [] : { problem: { keyword, limit, schema }, isWithin }
  })
}

/** The bound that a number exceeds. Any other value is within all bounds. */
function findExceeded(value: unknown, bounds: readonly Bound[]): Bound | undefined {
  if (bounds.length === 0 || !isNumber(value)) return undefined
  const number = comparable(value)
  return bounds.find(({ problem: { limit }, isWithin }) => !isWithin(number, limit))
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
