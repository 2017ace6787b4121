// The keywords `properties`, `patternProperties` and `additionalProperties`.
import { eachProperty, NO_RULES, type RulesOf } from '../core/children.ts'
import type { Evaluate } from '../core/evaluation.ts'
import { toRegExp } from '../core/patterns.ts'
import type { Keyword } from './keyword.ts'

/**
 * 2020-12 core, sections 10.3.2.1 to 10.3.2.3. They are one rule: `additionalProperties` is for the properties not named by
 * the other two.
 */
export const properties: Keyword = (
  { properties: described = {}, patternProperties = {}, additionalProperties },
  { property },
) => {
  const named = new Map<string, readonly Evaluate[]>()
  for (const [name, schema] of Object.entries(described)) named.set(name, [property(schema, name)])
  const patterns = Object.entries(patternProperties).map(([source, schema]) => ({
    expression: toRegExp(source),
    evaluate: property(schema),
  }))
  const additional =
    additionalProperties === undefined ? NO_RULES : [property(additionalProperties)]
  if (named.size + patterns.length + additional.length === 0) return undefined
  if (patterns.length === 0) return eachProperty((name) => named.get(name) ?? additional)

  const rulesOf: RulesOf<string> = (name) => {
    const rules = [...(named.get(name) ?? NO_RULES)]
    for (const { expression, evaluate } of patterns) if (expression.test(name)) rules.push(evaluate)
    return rules.length > 0 ? rules : additional
  }
  return eachProperty(rulesOf)
}
