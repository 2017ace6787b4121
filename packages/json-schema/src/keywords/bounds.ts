// The keywords that bound numbers: `minimum`, `maximum`, `exclusiveMinimum`, `exclusiveMaximum` and `multipleOf`.
import { isMultiple, isNumber, type Numeric } from '../core/numbers.ts'
import type { Keywords } from '../core/schema.ts'
import type { BoundKeyword, Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** JavaScript compares a `bigint` with a `number` exactly. */
type IsWithin = (value: number | bigint, limit: number | bigint) => boolean

const RULES: readonly (readonly [keyword: BoundKeyword, isWithin: IsWithin])[] = [
  ['minimum', (value, limit) => value >= limit],
  ['maximum', (value, limit) => value <= limit],
  ['exclusiveMinimum', (value, limit) => value > limit],
  ['exclusiveMaximum', (value, limit) => value < limit],
  ['multipleOf', isMultiple],
]

/** 2020-12 validation, section 6.2. */
export const bounds: Keyword = (schema) => {
  const limits = boundsOf(schema)
  if (limits.length === 0) return undefined
  return (value, evaluation) => {
    if (!isNumber(value)) return true
    const number = comparable(value)
    const exceeded = limits.find(({ problem, isWithin }) => !isWithin(number, problem.limit))
    return exceeded === undefined || evaluation.fail(exceeded.problem)
  }
}

interface Bound {
  readonly problem: Problem<BoundKeyword>
  readonly isWithin: IsWithin
}

function boundsOf(schema: Keywords): Bound[] {
  return RULES.flatMap(([keyword, isWithin]) => {
    const limit = schema[keyword]
    return limit === undefined ? [] : { problem: { keyword, limit, schema }, isWithin }
  })
}

/** A symbol is a fraction near an integer. A bound sees this integer. */
function comparable(value: Numeric): number | bigint {
  return typeof value === 'symbol' ? Number(value.description) : value
}
