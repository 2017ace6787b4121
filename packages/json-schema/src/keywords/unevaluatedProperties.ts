// The keyword `unevaluatedProperties`.
import { eachProperty, NO_RULES } from '../core/children.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 11.3. It must come after all other keywords. */
export const unevaluatedProperties: Keyword = ({ unevaluatedProperties: schema }, { property }) => {
  if (schema === undefined) return undefined
  const rules = [property(schema)]
  return eachProperty((name, evaluated) => (evaluated?.has(name) === true ? NO_RULES : rules))
}
