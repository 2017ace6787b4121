// The rule of the keywords which bound a size: of strings, lists and objects.
import type { Evaluate } from './evaluation.ts'
import type { Keywords } from './schema.ts'
import type { Problem } from './validation-error.ts'

/**
 * Makes the rule of `min…` and `max…`.
 * @param size the rest of their names
 * @param sizeOf the size of a value; undefined if it has none
 * @param unit of a length, if it is not characters
 */
export function hasSize(
  schema: Keywords,
  size: 'Length' | 'Items' | 'Properties',
  sizeOf: (value: unknown) => number | undefined,
  unit?: string,
): Evaluate | undefined {
  const least = schema[`min${size}`] ?? 0
  const most = schema[`max${size}`] ?? Infinity
  if (least <= 0 && most === Infinity) return undefined
  const tooSmall: Problem = { keyword: `min${size}`, limit: least, schema, unit }
  const tooLarge: Problem = { keyword: `max${size}`, limit: most, schema, unit }
  return (value, evaluation) => {
    const actual = sizeOf(value)
    if (actual === undefined) return true
    if (actual < least && !evaluation.fail(tooSmall)) return false
    return actual <= most || evaluation.fail(tooLarge)
  }
}
