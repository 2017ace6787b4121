// Lower bounds above upper ones.
import type { Keywords } from '@plant-store/json-schema'
import type { Parts } from './impossible-types.ts'

type Size = 'Length' | 'Items' | 'Properties' | 'Contains'

/** Why no size is between the bounds of schemas. */
export function sizeFault(
  parts: Parts,
  minimum: `min${Size}`,
  maximum: `max${Size}`,
): string | undefined {
  const least = Math.max(0, ...parts.map((part) => part[minimum] ?? 0))
  const most = Math.min(...parts.map((part) => part[maximum] ?? Infinity))
  return least > most ? `${minimum} ${least} is above ${maximum} ${most}` : undefined
}

/** A bound of numbers. */
interface Bound {
  readonly value: number | bigint
  readonly isExclusive: boolean
}

/** Why no number, or no integer, is between the bounds of schemas. */
export function boundsFault(parts: Parts, type: 'number' | 'integer'): string | undefined {
  const lower = tightest(parts, 'minimum', 'exclusiveMinimum', (left, right) => left > right)
  const upper = tightest(parts, 'maximum', 'exclusiveMaximum', (left, right) => left < right)
  if (lower === undefined || upper === undefined) return undefined
  const isEmpty = type === 'integer' ? hasNoInteger(lower, upper) : hasNoNumber(lower, upper)
  if (!isEmpty) return undefined
  return `no ${type} is between its lower bound ${lower.value} and its upper bound ${upper.value}`
}

/** The bound that allows the fewest numbers. */
function tightest(
  parts: Parts,
  inclusive: 'minimum' | 'maximum',
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
  isTighter: (left: Bound['value'], right: Bound['value']) => boolean,
): Bound | undefined {
  const bounds = parts.flatMap((part: Keywords) => [
    ...toBounds(part[exclusive], true),
    ...toBounds(part[inclusive], false),
  ])
  // Of two bounds with one number, the exclusive one is tighter.
  const inOrder = [...bounds].sort(
    (left, right) => Number(right.isExclusive) - Number(left.isExclusive),
  )
  let best = inOrder[0]
  for (const bound of inOrder) if (best && isTighter(bound.value, best.value)) best = bound
  return best
}

function toBounds(value: unknown, isExclusive: boolean): Bound[] {
  const isNumber = typeof value === 'number' || typeof value === 'bigint'
  return isNumber ? [{ value, isExclusive }] : []
}

function hasNoNumber(lower: Bound, upper: Bound): boolean {
  const isOpen = lower.isExclusive || upper.isExclusive
  return lower.value > upper.value || (isOpen && lower.value >= upper.value)
}

function hasNoInteger(lower: Bound, upper: Bound): boolean {
  return firstInteger(lower) > -firstInteger({ ...upper, value: -upper.value })
}

/** The least integer above a bound. */
function firstInteger({ value, isExclusive }: Bound): number | bigint {
  if (typeof value === 'bigint') return isExclusive ? value + 1n : value
  return isExclusive ? Math.floor(value) + 1 : Math.ceil(value)
}
