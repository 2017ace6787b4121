// Evaluates the members of objects and the items of lists.
import type { Evaluate, Evaluation } from './evaluation.ts'
import type { Key } from './validation-error.ts'
import { isObject } from './values.ts'

/** The evaluations of a member or an item. @param evaluated the keys that other keywords have evaluated */
export type RulesOf<Name extends Key> = (
  key: Name,
  evaluated?: ReadonlySet<string>,
) => readonly Evaluate[]

export const NO_RULES: readonly Evaluate[] = []

/** Makes the evaluation of each member of an object. A member that is undefined is none: JSON leaves it out. */
export function eachMember(rulesOf: RulesOf<string>): Evaluate {
  return (value, evaluation, evaluated) => {
    if (!isObject(value)) return true
    for (const name of Object.keys(value)) {
      const member = value[name]
      if (member === undefined) continue
      const rules = rulesOf(name, evaluated)
      if (rules.length === 0) continue
      evaluation.addKey(name, evaluated)
      evaluation.enter(value, name)
      const goesOn = evaluateChild(rules, member, evaluation)
      evaluation.leave()
      if (!goesOn) return false
    }
    return true
  }
}

/** Makes the evaluation of each item of a list. An item that is undefined is null in JSON. */
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

/** A child keeps its evaluated keys for itself: they are keys of its own members, not of its container. */
function evaluateChild(rules: readonly Evaluate[], value: unknown, evaluation: Evaluation) {
  for (const evaluate of rules) if (!evaluate(value, evaluation)) return false
  return true
}
