// Finds contradicting bounds, such as a `minimum` above the `maximum`.
import type { Keywords } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import type { FlattenedSchema } from './impossible-types.ts'

type Size = 'Length' | 'Items' | 'Properties' | 'Contains'

/** Says why no size satisfies the bounds; undefined if one does. */
export function sizeFault(
  flattened: FlattenedSchema,
  minimum: `min${Size}`,
  maximum: `max${Size}`,
): Finding | undefined {
  const least = Math.max(0, ...flattened.map((keywords) => keywords[minimum] ?? 0))
  const most = Math.min(...flattened.map((keywords) => keywords[maximum] ?? Infinity))
  return least > most ? { code: 'impossible-size', minimum, least, maximum, most } : undefined
}

interface Bound {
  readonly value: number | bigint
  readonly isExclusive: boolean
}

/** Says why no number, or no integer, satisfies the bounds; undefined if one does. */
export function boundsFault(
  flattened: FlattenedSchema,
  type: 'number' | 'integer',
): Finding | undefined {
  const lower = strictest(flattened, 'minimum', 'exclusiveMinimum', (left, right) => left > right)
  const upper = strictest(flattened, 'maximum', 'exclusiveMaximum', (left, right) => left < right)
  if (lower === undefined || upper === undefined) return undefined
  const isEmpty = type === 'integer' ? hasNoInteger(lower, upper) : hasNoNumber(lower, upper)
  if (!isEmpty) return undefined
  return {
    code: 'impossible-bounds',
    type,
    lower: String(lower.value),
    upper: String(upper.value),
  }
}

function strictest(
  flattened: FlattenedSchema,
  inclusive: 'minimum' | 'maximum',
  exclusive: 'exclusiveMinimum' | 'exclusiveMaximum',
  isStricter: (left: Bound['value'], right: Bound['value']) => boolean,
): Bound | undefined {
  const bounds = flattened.flatMap((keywords: Keywords) => [
    ...toBounds(keywords[exclusive], true),
    ...toBounds(keywords[inclusive], false),
  ])
  // The exclusive one comes first, because it is stricter than an inclusive one of the same number.
  const inOrder = [...bounds].sort(
    (left, right) => Number(right.isExclusive) - Number(left.isExclusive),
  )
  let best = inOrder[0]
  for (const bound of inOrder) if (best && isStricter(bound.value, best.value)) best = bound
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

/** The least integer within a lower bound. */
function firstInteger({ value, isExclusive }: Bound): number | bigint {
  if (typeof value === 'bigint') return isExclusive ? value + 1n : value
  return isExclusive ? Math.floor(value) + 1 : Math.ceil(value)
}
