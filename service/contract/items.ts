// Reads stored items: JSON in which each int64 of the item's schema becomes a `bigint`.
import type { Compiled, Int64s } from './compiled.ts'
import { isObject } from './validation.ts'
import { parseJson } from '../http/json.ts'

/**
 * Makes the reader of items.
 * @param schema the name of their schema in `components/schemas`
 */
export function itemReader({ int64s }: Pick<Compiled, 'int64s'>, schema: string): (text: string) => unknown {
  const found = int64s[schema] ?? {}
  return (text) => convert(parseJson(Buffer.from(text)), [found])

  /** @param all what the schemas of the value say */
  function convert(value: unknown, all: readonly Int64s[]): unknown {
    const places = all.flatMap(follow)
    if (places.length === 0) return value
    if (Number.isInteger(value)) return places.includes(true) ? BigInt(Number(value)) : value
    const inner = (name: string) =>
      places.flatMap((place) => {
        if (place === true) return []
        const { members = {}, others = [] } = place
        return (Object.hasOwn(members, name) ? members[name] : others) ?? []
      })
    if (Array.isArray(value)) return value.map((each: unknown, at) => convert(each, inner(String(at))))
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, convert(each, inner(name))]))
  }

  function follow(place: Int64s): Int64s[] {
    if (place === true) return [true]
    const target = int64s[place.schema ?? ''] ?? []
    return [place, ...[...(place.all ?? []), target].flat().flatMap(follow)]
  }
}
