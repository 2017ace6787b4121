// Finds out where the values of a schema hold an int64, for items.ts.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Int64s } from '../compiled.ts'
import { isObject } from '../validation.ts'
import { resolveReference } from './references.ts'
import { declaredTypes, entriesAt, valuesAt } from './shapes.ts'

const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'dependentSchemas']
/** The keyword for members by name or place, and those for the members that it does not name. */
const MEMBERS = [
  ['properties', 'additionalProperties', 'unevaluatedProperties'],
  ['prefixItems', 'items', 'unevaluatedItems'],
] as const

/** The places of int64 in each schema of `components/schemas` that has some, by its name. */
export function findInt64s({ components }: Oas3_1Definition): Readonly<Record<string, Int64s>> {
  const schemas = Object.entries(components?.schemas ?? {})
  const names = new Map<unknown, string>(schemas.map(([name, schema]) => [schema, name]))
  let found: Readonly<Record<string, Int64s>> = {}
  // A reference is such a place if its target has one, so each round finds those that refer to what the last one found.
  for (let size = -1; size < Object.keys(found).length;) {
    size = Object.keys(found).length
    found = Object.fromEntries(schemas.flatMap(([name, schema]) => toEntry(name, placesIn(schema, []))))
  }
  return found

  /** @param outer the schemas around it: a schema that refers to one of them by another way than its name is not followed */
  function placesIn(schema: unknown, outer: readonly unknown[]): Int64s | undefined {
    if (!isObject(schema) || outer.includes(schema)) return undefined
    const inner = (one: unknown) => placesIn(one, [...outer, schema])
    const named = MEMBERS.flatMap(([key, ...keysOfOthers]) => {
      const others = keysOfOthers.map((each) => inner(schema[each])).find((each) => each !== undefined)
      const places = entriesAt(schema, key).flatMap(([name, one]) => toEntry(name, inner(one) ?? (others && {})))
      const members = places.length > 0 && { members: Object.fromEntries(places) }
      return members || others ? [{ ...members, ...(others && { others }) }] : []
    })
    const others = [schema['contains'], ...valuesAt(schema, 'patternProperties')]
    const same = [...SAME_VALUE.flatMap((key) => valuesAt(schema, key)), schema['then'], schema['else']]
    const target = resolveReference(schema)
    const name = names.get(target)
    const parts: Int64s[] = [
      ...(declaredTypes(schema).includes('int64') ? [true as const] : []),
      ...named,
      ...others.flatMap((each) => inner(each) ?? []).map((each) => ({ others: each })),
      ...(name === undefined ? [inner(target) ?? []].flat() : name in found ? [{ schema: name }] : []),
      ...same.flatMap((each) => inner(each) ?? []),
    ]
    return parts.length > 1 ? { all: parts } : parts[0]
  }
}

const toEntry = (name: string, places: Int64s | undefined): [string, Int64s][] =>
  places === undefined ? [] : [[name, places]]
