// Equality of values: JSON Schema 2020-12, section 4.2.2.
import type { Evaluation } from './evaluation.ts'
import { canonicalJson } from './numbers.ts'
import { isContainer, namesOf } from './values.ts'

/** A string shared by equal values. An evaluation reads each object and list once. */
export function identityOf(value: unknown, evaluation: Evaluation): string {
  if (!isContainer(value) || Reflect.get(value, 'toJSON') instanceof Function)
    return canonicalJson(value)
  const { identities } = evaluation
  const remembered = identities.get(value)
  if (remembered !== undefined) return remembered
  const contents = Array.isArray(value)
    ? contentsOfList(value, evaluation)
    : contentsOfObject(value, evaluation)
  const identity = identities.get(contents) ?? `#${identities.size}`
  identities.set(contents, identity)
  identities.set(value, identity)
  evaluation.hold(1)
  return identity
}

function contentsOfList(list: readonly unknown[], evaluation: Evaluation): string {
  const items = Array.from(list, (item) => identityOf(item, evaluation))
  return `[${items.join()}]`
}

function contentsOfObject(container: object, evaluation: Evaluation): string {
  const properties = namesOf(container)
    .sort()
    .map((name) => {
      const identity = identityOf(Reflect.get(container, name), evaluation)
      return `${JSON.stringify(name)}:${identity}`
    })
  return `{${properties.join()}}`
}
