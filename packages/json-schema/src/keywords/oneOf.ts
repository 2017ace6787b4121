// The keyword `oneOf`.
import type { Evaluate, Result } from '../core/evaluation.ts'
import { bestMatch, type Problem, type ValidationError } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** An alternative which the value fits. */
interface Valid {
  readonly result: Result
  /** Requires all properties, marked ones too. */
  readonly isComplete: Evaluate
}

/**
 * 2020-12 core, section 10.2.1.3. A value may lack a required property which only the other side sends, and so fit several
 * alternatives. Then only those count whose required properties are all there.
 */
export const oneOf: Keyword = ({ oneOf: schemas }, { inPlace, condition }) => {
  if (schemas === undefined) return undefined
  const alternatives = schemas.map((schema) => ({
    evaluate: inPlace(schema),
    isComplete: condition(schema),
  }))
  return (value, evaluation, evaluated) => {
    const valid: Valid[] = []
    const errors: ValidationError[] = []
    for (const { evaluate, isComplete } of alternatives) {
      const result = evaluation.tryApart(evaluate, value, evaluated)
      if (result.error === undefined) valid.push({ result, isComplete })
      else errors.push(result.error)
    }
    const counted =
      valid.length < 2
        ? valid
        : valid.filter(({ isComplete }) => evaluation.fits(isComplete, value))
    for (const { result } of counted) evaluation.add(result, evaluated)
    if (counted.length === 1) return true
    if (valid.length > 0) return evaluation.fail(PROBLEM)
    if (evaluation.isCollectAll)
      for (const { evaluate } of alternatives) evaluate(value, evaluation, evaluated)
    const error = bestMatch(errors)
    return error === undefined ? evaluation.fail(PROBLEM) : evaluation.adopt(error)
  }
}

const PROBLEM: Problem = { keyword: 'oneOf', limit: undefined }
