// The keywords `if`, `then` and `else`.
import type { Keyword } from './keyword.ts'

/** 2020-12 core, sections 10.2.2.1 to 10.2.2.3. `then` and `else` mean nothing without `if`. */
export const ifThenElse: Keyword = (schema, { inPlace, condition }) => {
  if (schema.if === undefined) return undefined
  const test = condition(schema.if)
  const evaluateThen = inPlace(schema.then ?? true)
  const evaluateElse = inPlace(schema.else ?? true)
  return (value, evaluation, evaluated) => {
    const error = evaluation.try(test, value, evaluated)
    const evaluate = error === undefined ? evaluateThen : evaluateElse
    return evaluate(value, evaluation, evaluated)
  }
}
