import { bestMatch, fits } from '../evaluation.ts'
import type { Keyword } from './keyword.ts'

/**
 * 2020-12 core, section 10.2.1.3. A value may lack a required member that only the other side sends, and so may fit several
 * alternatives. Then an alternative counts only if the value has all its required members.
 */
export const oneOf: Keyword = ({ oneOf: schemas }, { inPlace, condition }) => {
  if (schemas === undefined) return undefined
  const alternatives = schemas.map((schema) => ({
    evaluate: inPlace(schema),
    isComplete: condition(schema),
  }))
  return (value, evaluation, evaluated) => {
    const branches = alternatives.map(({ evaluate, isComplete }) => ({
      ...evaluation.try(evaluate, value, evaluated),
      isComplete,
    }))
    const valid = branches.filter(({ error }) => error === undefined)
    const counted =
      valid.length < 2
        ? valid
        : valid.filter((branch) => fits(branch.isComplete, value, evaluation))
    for (const branch of counted) evaluation.add(branch, evaluated)
    if (counted.length === 1) return true
    if (valid.length > 0) return evaluation.fail(TEXT)
    if (evaluation.isCollectAll)
      for (const { evaluate } of alternatives) evaluate(value, evaluation, evaluated)
    const error = bestMatch(branches)
    return error === undefined ? evaluation.fail(TEXT) : evaluation.adopt(error)
  }
}

const TEXT = 'must match exactly one schema in oneOf'
