// The keyword `anyOf`.
import { bestMatch, type Problem, type ValidationError } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 10.2.1.2. All alternatives are tried: each one that fits adds its annotations. */
export const anyOf: Keyword = ({ anyOf: schemas }, { inPlace }) => {
  if (schemas === undefined) return undefined
  const alternatives = schemas.map(inPlace)
  return (value, evaluation, evaluated) => {
    const errors: ValidationError[] = []
    for (const evaluate of alternatives) {
      const error = evaluation.try(evaluate, value, evaluated)
      if (error !== undefined) errors.push(error)
    }
    if (errors.length < alternatives.length) return true
    if (evaluation.isCollectAll)
      for (const evaluate of alternatives) evaluate(value, evaluation, evaluated)
    const error = bestMatch(errors)
    return error === undefined ? evaluation.fail(PROBLEM) : evaluation.adopt(error)
  }
}

const PROBLEM: Problem = { keyword: 'anyOf', limit: undefined }
