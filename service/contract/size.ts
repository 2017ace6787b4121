import { member, type Place } from './document.ts'
import { membersOf, ownMember, ownTypes, partsOf } from './schema-parts.ts'

/** The most bytes of a character in JSON: two escapes of UTF-16, as in \ud83c\udf31. */
const CHARACTER_BYTES = 12
/** The most characters of the formats that have a length. */
const FORMAT_LENGTHS: Readonly<Record<string, number>> = { date: 10, uuid: 45, ipv4: 15, ipv6: 45 }

/** The most bytes of a JSON text without white space that a schema allows; Infinity if it sets no bound. */
export function maxJsonBytes(place: Place, within: readonly string[] = []): number {
  const at = place.target.join('/')
  if (within.includes(at)) return Infinity
  const inside = [...within, at]
  const parts = partsOf(place)
  const options = parts.flatMap((part) => ['anyOf', 'oneOf'].flatMap((key) => ownMember(part, key) ?? []))
  const listed = parts.flatMap((part) => ['enum', 'const'].flatMap((key) => ownMember(part, key) ?? []))
  const types = parts.flatMap((part) => [ownTypes(part) ?? []]).filter((each) => each.length > 0)
  const sizes = (types[0] ?? ['any']).map((type) => BYTES[type]?.(parts, inside) ?? Infinity)
  return Math.min(
    Math.max(...sizes),
    ...options.map((option) => Math.max(...option.own().map(([, branch]) => maxJsonBytes(branch, inside)))),
    ...listed.map(({ value }) => CHARACTER_BYTES * JSON.stringify(value, (_, each: unknown) => String(each)).length),
  )
}

/** The most characters of a text that a schema allows; Infinity if it sets no bound. */
export function maxLength(parts: readonly Place[]): number {
  const formats = parts.map((part) => FORMAT_LENGTHS[String(member(part.value, 'format'))] ?? Infinity)
  return Math.min(lowest(parts, 'maxLength'), ...formats)
}

const BYTES: Readonly<Record<string, (parts: readonly Place[], within: readonly string[]) => number>> = {
  null: () => 4,
  boolean: () => 5,
  integer: () => 17,
  int64: () => 20,
  number: () => 25,
  string: (parts) => 2 + CHARACTER_BYTES * maxLength(parts),
  array: (parts, within) => {
    const first = parts.flatMap((part) => ownMember(part, 'prefixItems')?.own() ?? [])
    const [items] = parts.flatMap((part) => ownMember(part, 'items') ?? [])
    const count = items?.value === false ? 0 : Math.max(0, lowest(parts, 'maxItems') - first.length)
    const rest = count === 0 ? 0 : count * (1 + (items === undefined ? Infinity : maxJsonBytes(items, within)))
    return 2 + sum(first.map(([, each]) => 1 + maxJsonBytes(each, within))) + rest
  },
  object: (parts, within) => {
    const isClosed = ['additionalProperties', 'unevaluatedProperties'].some((key) =>
      parts.some((part) => member(part.value, key) === false),
    )
    const members = [...membersOf(parts)].map(
      ([name, each]) => 4 + CHARACTER_BYTES * name.length + maxJsonBytes(each, within),
    )
    return isClosed ? 2 + sum(members) : Infinity
  },
}

function lowest(parts: readonly Place[], key: string): number {
  return Math.min(...parts.map((part) => Number(member(part.value, key) ?? Infinity)))
}

const sum = (sizes: readonly number[]) => sizes.reduce((a, b) => a + b, 0)
