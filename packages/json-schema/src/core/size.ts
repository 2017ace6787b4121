import type { Evaluate } from './evaluation.ts'

/** The bounds of a size. */
interface Bounds {
  readonly least?: number | undefined
  readonly most?: number | undefined
}

/**
 * Makes the rule that a size is within bounds.
 * @param sizeOf the size of a value; undefined if it has none, and so no bounds
 * @param units in a message, such as `items`
 */
export function hasSize(
  { least = 0, most = Infinity }: Bounds,
  units: string,
  sizeOf: (value: unknown) => number | undefined,
): Evaluate | undefined {
  if (least <= 0 && most === Infinity) return undefined
  return (value, evaluation) => {
    const size = sizeOf(value)
    if (size === undefined) return true
    if (size < least && !evaluation.fail(`must NOT have fewer than ${least} ${units}`)) return false
    return size <= most || evaluation.fail(`must NOT have more than ${most} ${units}`)
  }
}
