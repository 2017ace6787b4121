// Finds out which values a schema allows: by its own keywords, its reference and its composition (`allOf`, `anyOf`, ...).
import { deref, resolveReference } from './references.ts'
import { isObject } from '../validation.ts'

type Resolve = (node: unknown) => unknown

/** A schema that is an object, not a boolean. */
export type Part = Readonly<Record<string, unknown>>

/** The values of a keyword that has several, in a list or by name. */
export function valuesAt(part: Part, key: string): unknown[] {
  return Object.values(deref(part[key]) ?? {})
}

/** The values of a keyword by name. */
export function entriesAt(part: Part, key: string): [name: string, value: unknown][] {
  return Object.entries(deref(part[key]) ?? {})
}

/**
 * All schemas that a value of this schema must fit: itself, the target of its reference, and its `allOf`.
 * @param resolve finds the target of a reference
 */
export function allParts(schema: unknown, resolve: Resolve = resolveReference, seen = new Set<unknown>()): Part[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  const others = [resolve(schema), ...valuesAt(schema, 'allOf')]
  return [schema, ...others.flatMap((each) => allParts(each, resolve, seen))]
}

/** The first part that has a keyword. */
export function partWith(schema: unknown, key: string, resolve?: Resolve): Part | undefined {
  return allParts(schema, resolve).find((part) => part[key] !== undefined)
}

/** The schemas of the members in all parts, by name. */
export function allMembers(parts: readonly Part[]): Map<string, unknown> {
  return new Map(parts.flatMap((part) => entriesAt(part, 'properties')))
}

/** The lists of alternatives in a schema. */
function allChoices(part: Part): unknown[][] {
  return ['anyOf', 'oneOf'].filter((key) => part[key] !== undefined).map((key) => valuesAt(part, key))
}

/** The types in a schema's own `type`, with int64 as a separate type, and null if it is `nullable` as in OpenAPI 3.0. */
export function declaredTypes({ type, format, nullable }: Part): string[] {
  const declared: unknown[] = [type ?? []].flat()
  const integer = declared.includes('integer') ? 'integer' : 'number' // a number with this format is an integer
  const types = declared.map((each) => (each === integer && format === 'int64' ? format : String(each)))
  return nullable === true && types.length > 0 ? [...new Set([...types, 'null'])] : types
}

/** The types that a schema allows with all its parts, or `any`. */
export function allowedTypes(schema: unknown): string[] {
  const listed = (part: Part) =>
    [part['enum'] ?? part['const'] ?? []].flat().map((each: unknown) => (each === null ? 'null' : typeof each))
  const rules = allParts(schema)
    .flatMap((part) => [
      [declaredTypes(part), listed(part)].find(({ length }) => length > 0) ?? ['any'],
      ...allChoices(part).map((choice) => choice.flatMap(allowedTypes)),
    ])
    .filter((rule) => !rule.includes('any'))
  return [...new Set(rules[0] ?? ['any'])].filter((type) => rules.every((rule) => rule.includes(type)))
}

/** The types that a text may be parsed as, joined by "or". No text is null, and `number` includes `integer`. */
export function textType(schema: unknown): string {
  const types = allowedTypes(schema).filter((type) => type !== 'null')
  return types.filter((type) => !types.includes('number') || type !== 'integer').join(' or ')
}

const ANNOTATIONS = /^(title|description|examples?|\$ref|\$comment|deprecated|externalDocs|x-.*|m(in|ax)Length)$/
const FILE = /^(type: string|format: binary|contentMediaType: (?!text\/|application\/json))/

/** Whether a schema says only that a value is bytes, with their number (OpenAPI 3.1.0, section 4.8.14.3). */
export function isFile(schema: unknown): boolean {
  const rules = allParts(schema).flatMap((part) => Object.entries(part).filter(([key]) => !ANNOTATIONS.test(key)))
  const texts = rules.map(([key, value]) => `${key}: ${String(value)}`)
  return texts.some((each) => !each.startsWith('type')) && texts.every((each) => FILE.test(each))
}
