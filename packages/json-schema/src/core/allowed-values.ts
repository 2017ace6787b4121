import type { Evaluate, Evaluation } from './evaluation.ts'
import { identityOf } from './identity.ts'
import { canonicalJson } from './numbers.ts'
import { isContainer } from './values.ts'

/** Makes the rule that a value is equal to an allowed value. The keywords `enum` and `const` share it. */
export function isOneOf(values: readonly unknown[]): Evaluate {
  const texts = new Set(values.filter((value) => typeof value === 'string')) // most values are texts
  const scalars = new Set(values.filter((value) => !isContainer(value)).map(canonicalJson))
  const isAllowedContainer = containerCheck(values.filter(isContainer))
  const isAllowed = (value: unknown, evaluation: Evaluation): boolean => {
    if (typeof value === 'string') return texts.has(value)
    if (!isContainer(value)) return scalars.has(canonicalJson(value))
    return isAllowedContainer(value, evaluation)
  }
  return (value, evaluation) =>
    isAllowed(value, evaluation) || evaluation.fail('must be one of the allowed values', true)
}

/** Makes the check of objects and lists. Each evaluation has identities of its own. */
function containerCheck(containers: readonly object[]) {
  const allowedBy = new WeakMap<Evaluation['identities'], ReadonlySet<string>>()
  return (value: object, evaluation: Evaluation): boolean => {
    const { identities } = evaluation
    let allowed = allowedBy.get(identities)
    if (allowed === undefined) {
      allowed = new Set(containers.map((container) => identityOf(container, evaluation)))
      allowedBy.set(identities, allowed)
    }
    return allowed.has(identityOf(value, evaluation))
  }
}
