// The keyword `unevaluatedItems`.
import { eachItem, NO_RULES } from '../core/children.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 11.2. It must come after all other keywords. */
export const unevaluatedItems: Keyword = ({ unevaluatedItems: schema }, { item }) => {
  if (schema === undefined) return undefined
  const rules = [item(schema)]
  return eachItem((index, evaluated) => {
    const isEvaluated = evaluated?.has(String(index)) === true
    return isEvaluated ? NO_RULES : rules
  })
}
