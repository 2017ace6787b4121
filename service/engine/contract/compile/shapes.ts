// Finds out which values a schema allows: by its own keywords, its reference and its composition (`allOf`, `anyOf`, ...).
import type { Keywords, Reading } from '../compiled.ts'
import { member, resolveReference } from './references.ts'
import { allParts as partsOf } from '../parts.ts'

type Resolve = (node: unknown) => unknown

/** A schema that is an object, not a boolean. */
export type Part = Readonly<Record<string, unknown>>

/** The values of a keyword that has several, in a list or by name. */
const valuesAt = (part: Part, key: string): unknown[] => Object.values(part[key] ?? {})

/** All schemas that a value of this schema must fit. @param resolve finds the target of a reference */
export function allParts(schema: unknown, resolve: Resolve = resolveReference): Part[] {
  return partsOf<Part>(schema, resolve)
}

/** The first part that has a keyword. */
export function partWith(schema: unknown, key: string, resolve?: Resolve): Part | undefined {
  return allParts(schema, resolve).find((part) => part[key] !== undefined)
}

/** The schemas of the members in all parts, by name. */
export function allMembers(parts: readonly Part[]): Map<string, unknown> {
  return new Map(parts.flatMap((part) => Object.entries(part['properties'] ?? {})))
}

/** The schemas of the members of a form by name: of the schema itself, and of its alternatives. */
export function allFields(schema: unknown): Map<string, Set<unknown>> {
  const fields = new Map<string, Set<unknown>>()
  for (const part of [schema, ...alternatives(schema)].flatMap((each) => allParts(each)))
    for (const [name, one] of Object.entries(part['properties'] ?? {}))
      fields.set(name, (fields.get(name) ?? new Set()).add(one))
  return fields
}

/** The lists of alternatives in a schema. */
function allChoices(part: Part): unknown[][] {
  return ['anyOf', 'oneOf'].filter((key) => part[key] !== undefined).map((key) => valuesAt(part, key))
}

/** The types in a schema's own `type`, with null if it is `nullable` as in OpenAPI 3.0. */
export function declaredTypes({ type, nullable }: Part): string[] {
  const types = [type ?? []].flat().map(String)
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

/** The types that a text may be parsed as. No text is null. */
export const textTypes = (schema: unknown): string[] => allowedTypes(schema).filter((type) => type !== 'null')

const ANNOTATIONS = /^(title|description|examples?|externalDocs|deprecated|\$ref|contentMediaType|format|x-.*)$/
const BYTES = { type: 'string', contentEncoding: 'binary' }

/** What a schema says of bytes: nothing but their length. Undefined if it says more. */
export function bytesRule(schema: unknown): Pick<Keywords, 'minLength' | 'maxLength'> | undefined {
  const rule: Record<string, number> = {}
  for (const [key, value] of allParts(schema).flatMap((part) => Object.entries(part))) {
    if (/^(min|max)Length$/.test(key)) rule[key] = Number(value)
    else if (!ANNOTATIONS.test(key) && member(BYTES, key) !== value) return undefined
  }
  return rule
}

/** Whether a schema of a form describes a file. OpenAPI 3.1 has `contentMediaType` for what was `format: binary`. */
export function isFile(schema: unknown): boolean {
  const parts = allParts(schema)
  const isBinary = parts.some((part) => part['format'] === 'binary' || part['contentMediaType'] !== undefined)
  return isBinary && parts.every(({ contentEncoding = 'binary' }) => contentEncoding === 'binary')
}

/** The schemas within a schema that its values may fit, one by one; without alternatives, the schema itself. */
export function alternatives(schema: unknown): unknown[] {
  const choices = allParts(schema).flatMap(allChoices)
  return choices.length === 0 ? [schema] : choices.flat().flatMap(alternatives)
}

/**
 * How to read the texts of a parameter or of a field.
 * @param explode whether each item of a list has a name of its own
 * @param place a part of a form may be a file or JSON; a pair of a form that is written as a query, JSON
 * @returns also whether the texts tell the values apart
 */
export function readingOf(
  schema: unknown,
  explode: boolean,
  place: keyof typeof TYPES = 'parameter',
): Reading & { isRead: boolean } {
  const typesOf = (one: unknown) => (place === 'parts' && isFile(one) ? ['file'] : textTypes(one))
  const allowed = textTypes(schema)
  const isList = allowed.includes('array')
  const each = alternatives(schema)
  const items = each.flatMap((one) => (partWith(one, 'items') ?? {})['items'] ?? [])
  const own = each.flatMap(typesOf).filter((type) => type !== 'array' && (type === 'file' || allowed.includes(type)))
  const types = [...own, ...(isList && items.length === 0 ? ['any'] : items.flatMap(alternatives).flatMap(typesOf))]
  const list = !isList ? null : own.length > 0 ? 'either' : explode ? 'repeated' : 'commas'
  const known = TYPES[place].filter((type) => types.includes(type))
  const isRead = types.every((type) => known.includes(type)) && (explode || list !== 'either')
  return { types: known, list, isRead }
}

export const UNREADABLE = 'needs a "type" that a text can have: integer, number, boolean, string, or a list of these'

const SCALARS = ['integer', 'number', 'boolean', 'string', 'any']
/** The types that a text may be read as, by where it is sent, in the order in which they are tried. */
const TYPES = { parameter: SCALARS, pairs: ['object', ...SCALARS], parts: ['file', 'object', ...SCALARS] }
