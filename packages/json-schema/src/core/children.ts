// Evaluates the properties of objects and the items of lists.
import type { Evaluate, Evaluation } from './evaluation.ts'
import type { Key } from './validation-error.ts'
import { isObject } from './values.ts'

/** The evaluations of a property or an item. @param evaluated the keys evaluated by other keywords */
export type RulesOf<Name extends Key> = (
  key: Name,
  evaluated?: ReadonlySet<string>,
) => readonly Evaluate[]

export const NO_RULES: readonly Evaluate[] = []

/** Makes the evaluation of each property of an object. An undefined one is absent, as in JSON. */
export function eachProperty(rulesOf: RulesOf<string>): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!isObject(value)) return true
    for (const name of Object.keys(value)) {
      const property = value[name]
      if (property === undefined) continue
      const rules = rulesOf(name, evaluated)
      if (rules.length === 0) continue
      evaluation.addKey(name, evaluated)
      evaluation.enter(value, name)
      const goesOn = evaluateChild(rules, property, evaluation)
      evaluation.leave()
      if (!goesOn) return false
    }
    return true
  }
}

/** Makes the evaluation of each item of a list. An undefined item is null in JSON. */
export function eachItem(rulesOf: RulesOf<number>): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!Array.isArray(value)) return true
    for (const [index, item] of value.entries()) {
      const rules = rulesOf(index, evaluated)
      if (rules.length === 0) continue
      evaluation.addKey(index, evaluated)
      evaluation.enter(value, index)
      const goesOn = evaluateChild(rules, item, evaluation)
      evaluation.leave()
      if (!goesOn) return false
    }
    return true
  }
}

/** A child passes on no evaluated keys: they are keys in the child, not in its container. */
function evaluateChild(rules: readonly Evaluate[], value: unknown, evaluation: Evaluation) {
  for (const evaluate of rules) if (!evaluate(value, evaluation)) return false
  return true
}
