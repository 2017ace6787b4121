import { eachMember, NO_RULES, type RulesOf } from '../core/children.ts'
import type { Evaluate } from '../core/evaluation.ts'
import { toRegExp } from '../core/patterns.ts'
import type { Keyword } from './keyword.ts'

/**
 * 2020-12 core, sections 10.3.2.1 to 10.3.2.3. `additionalProperties` is of the members that the other two do not name, so they
 * are one rule.
 */
export const members: Keyword = (
  { properties = {}, patternProperties = {}, additionalProperties },
  { member },
) => {
  const named = new Map<string, readonly Evaluate[]>()
  for (const [name, schema] of Object.entries(properties)) named.set(name, [member(schema, name)])
  const patterns = Object.entries(patternProperties).map(([source, schema]) => ({
    expression: toRegExp(source),
    evaluate: member(schema),
  }))
  const additional = additionalProperties === undefined ? NO_RULES : [member(additionalProperties)]
  if (named.size + patterns.length + additional.length === 0) return undefined
  if (patterns.length === 0) return eachMember((name) => named.get(name) ?? additional)

  const rulesOf: RulesOf<string> = (name) => {
    const rules = [...(named.get(name) ?? NO_RULES)]
    for (const { expression, evaluate } of patterns) if (expression.test(name)) rules.push(evaluate)
    return rules.length > 0 ? rules : additional
  }
  return eachMember(rulesOf)
}
