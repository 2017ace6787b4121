// What a schema says in several places: in what it refers to, and in the schemas that it is composed of.
import { member, type Place } from './document.ts'

/** The schemas that a value fits that fits one: itself, what it refers to, and its `allOf`. */
export function partsOf(place: Place, within: readonly string[] = []): Place[] {
  const at = place.target.join('/')
  if (within.includes(at)) return []
  const inside = [...within, at]
  const referred = place.step()
  const all = ownMember(place, 'allOf')?.own() ?? []
  const others = [...(referred === place ? [] : [referred]), ...all.map(([, each]) => each)]
  return [place, ...others.flatMap((each) => partsOf(each, inside))]
}

/** A keyword of the first part that has it. */
export function keywordOf(place: Place, key: string): Place | undefined {
  return partsOf(place)
    .flatMap((part) => ownMember(part, key) ?? [])
    .at(0)
}

/** The schemas of the members that the parts name, by their names. */
export function membersOf(parts: readonly Place[]): Map<string, Place> {
  return new Map(parts.flatMap((part) => ownMember(part, 'properties')?.own() ?? []))
}

/** A member that is written in a place itself, and not in what that refers to. */
export function ownMember(place: Place, key: string): Place | undefined {
  return member(place.value, key) === undefined ? undefined : place.get(key)
}

/** What a schema says by itself about the type of a value; an int64 is a type of its own. Undefined: any type. */
export function ownTypes({ value }: Place): string[] | undefined {
  const type = member(value, 'type')
  const isInt64 = member(value, 'format') === 'int64'
  return type === undefined
    ? undefined
    : [type].flat().map((each: unknown) => (each === 'integer' && isInt64 ? 'int64' : String(each)))
}

/** The types that a value may have by all that a schema says; undefined if that is any. */
export function typesOf(place: Place): string[] | undefined {
  const rules = partsOf(place).flatMap((part) => {
    const listed = [member(part.value, 'enum') ?? member(part.value, 'const') ?? []].flat()
    const values = listed.map((each: unknown) => (each === null ? 'null' : typeof each))
    const options = ['anyOf', 'oneOf'].flatMap((key) => ownMember(part, key) ?? [])
    const branches = options.map((each) => each.own().map(([, branch]) => typesOf(branch)))
    return [
      ownTypes(part) ?? (values.length > 0 ? values : undefined),
      ...branches.map((types) => (types.includes(undefined) ? undefined : types.flatMap((each) => each ?? []))),
    ].filter((each) => each !== undefined)
  })
  return rules[0] && [...new Set(rules[0])].filter((type) => rules.every((rule) => rule.includes(type)))
}
