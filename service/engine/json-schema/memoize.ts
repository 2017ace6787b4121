import type { Branch, Evaluate, Evaluation, Key } from './evaluation.ts'
import { isContainer } from './values.ts'

/**
 * Remembers the results of a schema within one evaluation. Without this, a schema that leads back to itself could take
 * exponential time: each of two alternatives would evaluate the same members, and so would theirs.
 *
 * A result belongs to a place, not to a value: one object may stand at several places, and an annotation
 * names its place.
 */
export function memoize(evaluate: Evaluate): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!isContainer(value)) return evaluate(value, evaluation, evaluated)
    const results = resultsOf(evaluate, evaluation)
    const { key } = evaluation
    let result = results.get(key)
    const lacksKeys = evaluated !== undefined && result?.evaluated === undefined
    if (result === undefined || lacksKeys) {
      result = evaluation.evaluateApart(evaluate, value, evaluated)
      results.set(key, result)
    }
    if (result.error !== undefined && !evaluation.adopt(result.error)) return false
    evaluation.add(result, evaluated)
    return true
  }
}

/** The results of a schema for the members or items of the container that the value is in. */
function resultsOf(evaluate: Evaluate, { results, container }: Evaluation): Map<Key, Branch> {
  const byContainer = results.get(evaluate) ?? new Map<object, Map<Key, Branch>>()
  const byKey = byContainer.get(container) ?? new Map<Key, Branch>()
  results.set(evaluate, byContainer)
  byContainer.set(container, byKey)
  return byKey
}
