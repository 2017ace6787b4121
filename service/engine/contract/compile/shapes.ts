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

/** The types in a schema's own `type`, with int64 as a separate type. */
export function declaredTypes({ type, format }: Part): string[] {
  return [type ?? []].flat().map((each: unknown) => (each === 'integer' && format === 'int64' ? format : String(each)))
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

const ANNOTATIONS = /^(title|description|examples?|\$ref|contentMediaType)$/

/** Whether a schema says only that a value is bytes. */
export function isFile(schema: unknown): boolean {
  const rules = allParts(schema).flatMap((part) => Object.entries(part).filter(([key]) => !ANNOTATIONS.test(key)))
  const texts = rules.map(([key, value]) => `${key}: ${String(value)}`)
  return texts.includes('format: binary') && texts.every((each) => /^(type: string|format: binary)$/.test(each))
}

/** The maximum length of a character in JSON, in bytes: two escapes of UTF-16, as in \ud83c\udf31. */
const CHARACTER_BYTES = 12
/** The maximum length of a text in some formats, in characters. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { date: 10, uuid: 45, ipv4: 15, ipv6: 45 }

/** The length in characters of the longest text that a schema allows; Infinity if it sets no bound. */
export function maxLength(parts: readonly Part[]): number {
  return Math.min(lowest(parts, 'maxLength'), ...parts.map(({ format }) => MAX_LENGTHS[String(format)] ?? Infinity))
}

/** The length in bytes of the longest JSON text without white space that a schema allows; Infinity if it sets no bound. */
export function maxJsonBytes(schema: unknown, within: readonly unknown[] = []): number {
  const self = isObject(schema) ? deref(schema) : schema
  if (within.includes(self)) return Infinity
  const maxBytes = (each: unknown) => maxJsonBytes(each, [...within, self])
  const parts = allParts(schema)
  const types = parts.map(declaredTypes).find(({ length }) => length > 0) ?? ['any']
  const listed = parts.flatMap((part) => [part['enum'], part['const']]).filter((each) => each !== undefined)
  return Math.min(
    Math.max(...types.map((type) => BYTES[type]?.(parts, maxBytes) ?? Infinity)),
    ...parts.flatMap(allChoices).map((choice) => Math.max(0, ...choice.map(maxBytes))),
    ...listed.map((value) => CHARACTER_BYTES * JSON.stringify(value, (_, each: unknown) => String(each)).length),
  )
}

/** By type: the length of the longest JSON text in bytes. */
const BYTES: Readonly<Record<string, (parts: readonly Part[], maxBytes: (schema: unknown) => number) => number>> = {
  null: () => 4,
  boolean: () => 5,
  integer: () => 17,
  int64: () => 20,
  number: () => 25,
  string: (parts) => 2 + CHARACTER_BYTES * maxLength(parts),
  array: (parts, maxBytes) => {
    const first = parts.flatMap((part) => valuesAt(part, 'prefixItems'))
    const items = parts.find((part) => part['items'] !== undefined)?.['items']
    const count = items === false ? 0 : Math.max(0, lowest(parts, 'maxItems') - first.length)
    return 2 + sum(first.map((each) => 1 + maxBytes(each))) + (count === 0 ? 0 : count * (1 + maxBytes(items)))
  },
  object: (parts, maxBytes) => {
    const isOpen = parts.every(
      (part) => part['additionalProperties'] !== false && part['unevaluatedProperties'] !== false,
    )
    const members = [...allMembers(parts)].map(([name, each]) => 4 + CHARACTER_BYTES * name.length + maxBytes(each))
    return isOpen ? Infinity : 2 + sum(members)
  },
}

function lowest(parts: readonly Part[], key: string): number {
  return Math.min(...parts.map((part) => Number(part[key] ?? Infinity)))
}

const sum = (sizes: readonly number[]) => sizes.reduce((a, b) => a + b, 0)
