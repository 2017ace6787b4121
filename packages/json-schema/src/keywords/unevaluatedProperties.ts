import { eachMember, NO_RULES } from '../core/children.ts'
import type { Keyword } from './keyword.ts'

/** 2020-12 core, section 11.3. It must come behind all other keywords. */
export const unevaluatedProperties: Keyword = ({ unevaluatedProperties: schema }, { member }) => {
  if (schema === undefined) return undefined
  const rules = [member(schema)]
  return eachMember((name, evaluated) => (evaluated?.has(name) === true ? NO_RULES : rules))
}
