// The keyword `not`.
import type { Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.1.4. */
export const not: Keyword = (schema, { condition }) => {
  if (schema.not === undefined) return undefined
  const evaluate = condition(schema.not)
  const problem: Problem = { keyword: 'not', limit: undefined, schema }
  return (value, evaluation) => !evaluation.fits(evaluate, value) || evaluation.fail(problem)
}
