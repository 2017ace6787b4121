// The keyword `type`.
import { isInRange, isNumber, RANGES, typesOf } from '../core/numbers.ts'
import type { AddedType } from '../core/schema.ts'
import type { Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** The added types, by name. */
type Added = readonly (readonly [name: string, type: AddedType])[]

/** 2020-12 validation, section 6.1.1. A format of integers narrows the type. */
export const type: Keyword = (schema, context) => {
  const types = typesOf(schema)
  if (types.length === 0) return undefined
  const added: Added = Object.entries(context.types)
  const problem: Problem = { keyword: 'type', limit: types, schema }
  return (value, evaluation) =>
    types.some((name) => isOfType(value, name, added)) || evaluation.fail(problem)
}

/** @param type of JSON Schema, a format of integers, or an added type */
function isOfType(value: unknown, type: string, added: Added): boolean {
  if (typeof value === 'string') return type === 'string'
  const [ofAdded] = added.find(([, { lengthOf }]) => lengthOf(value) !== undefined) ?? []
  if (ofAdded !== undefined) return type === ofAdded
  if (value === null) return type === 'null'
  if (Array.isArray(value)) return type === 'array'
  if (!isNumber(value)) return type === typeof value
  if (type === 'number') return typeof value !== 'number' || Number.isFinite(value)
  const range = RANGES[type]
  return range !== undefined && isInRange(value, range)
}
