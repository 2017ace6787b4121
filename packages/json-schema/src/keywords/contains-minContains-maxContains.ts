// The keywords `contains`, `minContains` and `maxContains`.
import type { Evaluation } from '../core/evaluation.ts'
import type { Problem } from '../core/validation-error.ts'
import type { Keyword } from './keyword.ts'

/**
 * 2020-12 core, section 10.3.1.3, and validation, sections 6.4.4 and 6.4.5. If more items fit than `maxContains`, only
 * items with all required properties count, as in `oneOf`.
 */
export const contains: Keyword = (schema, { item, condition }) => {
  if (schema.contains === undefined) return undefined
  const { minContains: least = 1, maxContains: most = Infinity } = schema
  const evaluateItem = item(schema.contains)
  const isComplete = condition(schema.contains)
  const problem: Problem = { keyword: 'contains', limit: { least, most } }

  return (value, evaluation, evaluated) => {
    if (!Array.isArray(value)) return true
    const matching: number[] = []
    for (const index of presentItems(value)) {
      evaluation.enter(value, index)
      const error = evaluation.try(evaluateItem, value[index])
      evaluation.leave()
      if (error !== undefined) continue
      evaluation.addKey(index, evaluated)
      matching.push(index)
    }
    const isTooMuch = (indexes: readonly number[]) => indexes.length > most
    const counted = isTooMuch(matching)
      ? matching.filter((index) => isCompleteItem(value, index, evaluation))
      : matching
    const isValid = matching.length >= least && !isTooMuch(counted)
    return isValid || evaluation.fail(problem)
  }

  function isCompleteItem(list: readonly unknown[], index: number, evaluation: Evaluation) {
    evaluation.enter(list, index)
    const isValid = evaluation.fits(isComplete, list[index])
    evaluation.leave()
    return isValid
  }
}

/** The indexes of a list without its gaps. */
const presentItems = (list: readonly unknown[]) => Object.keys(list).map(Number)
