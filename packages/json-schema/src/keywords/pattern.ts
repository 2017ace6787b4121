// The keyword `pattern`.
import { toRegExp } from '../core/patterns.ts'
import type { Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 validation, section 6.3.3. */
export const pattern: Keyword = (schema) => {
  const { pattern: source } = schema
  if (source === undefined) return undefined
  const expression = toRegExp(source)
  const problem: Problem = { keyword: 'pattern', limit: source, schema }
  return (value, evaluation) =>
    typeof value !== 'string' || expression.test(value) || evaluation.fail(problem)
}
