// Remembers the results of a recursive schema within one evaluation.
import type { Evaluate } from './core/evaluation.ts'
import { isContainer } from './core/values.ts'

/**
 * Remembers the results of a schema. Without this, a recursive schema could take exponential time: each of two
 * alternatives would evaluate the same properties, and so would those in them.
 *
 * A result belongs to a place, not to a value: one object may stand at several places, and an annotation names its place.
 */
export function memoize(evaluate: Evaluate): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!isContainer(value)) return evaluate(value, evaluation, evaluated)
    const { memory } = evaluation
    const results = memory.resultsOf(evaluate, evaluation.isCollectAll)
    let result = results.find(value, evaluation)
    const lacksKeys = evaluated !== undefined && result?.evaluated === undefined
    if (result === undefined || lacksKeys) {
      const { length } = memory
      result = evaluation.evaluateApart(evaluate, value, evaluated)
      const forgotten = memory.forgetSince(length)
      results.add(value, evaluation, result)
      memory.note(value)
      const parts = [result, result.error, result.evaluated].filter((part) => part !== undefined)
      evaluation.hold(parts.length - forgotten)
    }
    if (result.error !== undefined && !evaluation.adopt(result.error)) return false
    evaluation.add(result, evaluated)
    return true
  }
}
