import { partsOf } from './schemas-arbitrary.ts'
import { fields, isObject, type Schema } from './schemas.ts'

/** The keywords with schemas for the same value, and for its parts. */
const SAME = /^(allOf|anyOf|oneOf|not|if|then|else)$/
const PARTS = /^(items|prefixItems|additionalProperties)$/

/**
 * The schema of what one side sends: without the members that only the other side sends.
 * @param mark of those members: `readOnly` for a request, `writeOnly` for an answer
 */
export const sentSchema = (schema: unknown, mark: 'readOnly' | 'writeOnly'): Schema => fields(sent(schema, mark, []))

/** @param hidden names of members of the same value that have the mark */
function sent(node: unknown, mark: string, hidden: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((each) => sent(each, mark, hidden))
  if (!isObject(node)) return node
  const members = partsOf(node).flatMap(({ properties }) => Object.entries(fields(properties)))
  const isMarked = (member: unknown) => partsOf(fields(member)).some((each) => each[mark] === true)
  const names = [...hidden, ...members.flatMap(([name, member]) => (isMarked(member) ? name : []))]
  const changed = Object.entries(node).map(([key, value]) => {
    const entries = Object.entries(fields(value))
    if (key === 'required')
      return [key, entries.map(([, name]) => name).filter((name) => !names.includes(String(name)))]
    if (/^(patternP|p)roperties$/.test(key))
      return [
        key,
        Object.fromEntries(entries.map(([name, each]) => [name, !names.includes(name) && sent(each, mark, [])])),
      ]
    return [key, SAME.test(key) ? sent(value, mark, names) : PARTS.test(key) ? sent(value, mark, []) : value]
  })
  return Object.fromEntries(changed)
}
