// Joins evaluations into one.
import type { Evaluate } from './evaluation.ts'

/** Makes one evaluation of several, in their order. It ends at the first one which does not go on. */
export function everyOf(evaluations: readonly Evaluate[]): Evaluate {
  const [first, ...others] = evaluations
  if (first !== undefined && others.length === 0) return first
  return (value, evaluation, evaluated) => {
    for (const evaluate of evaluations) if (!evaluate(value, evaluation, evaluated)) return false
    return true
  }
}
