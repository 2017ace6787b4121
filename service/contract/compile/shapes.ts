// Finds out which values a schema allows: by its own keywords, its reference and its composition (`allOf`, `anyOf`, ...).
import { deref, resolveReference } from './document.ts'
import { isObject } from '../validation.ts'

/** A schema that is an object, not a boolean. */
export type Part = Readonly<Record<string, unknown>>

/** The values of a keyword that has several, in a list or by name. */
export function valuesAt(part: Part, key: string): unknown[] {
  return Object.values(deref(part[key]) ?? {})
}

/** All schemas that a value of this schema must fit: itself, the target of its reference, and its `allOf`. */
export function allParts(schema: unknown, seen = new Set<unknown>()): Part[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  return [schema, ...[resolveReference(schema), ...valuesAt(schema, 'allOf')].flatMap((each) => allParts(each, seen))]
}

/** The first part that has a keyword. */
export function partWith(schema: unknown, key: string): Part | undefined {
  return allParts(schema).find((part) => part[key] !== undefined)
}

/** The schemas of the members in all parts, by name. */
export function allMembers(parts: readonly Part[]): Map<string, unknown> {
  return new Map(parts.flatMap((part) => Object.entries(deref(part['properties']) ?? {})))
}

/** The types in a schema's own `type`, with int64 as a separate type. Undefined: any type. */
export function declaredTypes({ type, format }: Part): string[] | undefined {
  if (type === undefined) return undefined
  return [type].flat().map((each: unknown) => (each === 'integer' && format === 'int64' ? format : String(each)))
}

/** The types that a schema allows with all its parts. Undefined: any type. */
export function allowedTypes(schema: unknown): string[] | undefined {
  const rules = allParts(schema).flatMap((part) => {
    const values = [part['enum'] ?? part['const'] ?? []]
      .flat()
      .map((each: unknown) => (each === null ? 'null' : typeof each))
    const choices = ['anyOf', 'oneOf']
      .filter((key) => part[key] !== undefined)
      .map((key) => valuesAt(part, key).map(allowedTypes))
    return [
      declaredTypes(part) ?? (values.length > 0 ? values : undefined),
      ...choices.map((types) => (types.includes(undefined) ? undefined : types.flatMap((each) => each ?? []))),
    ].filter((each) => each !== undefined)
  })
  return rules[0] && [...new Set(rules[0])].filter((type) => rules.every((rule) => rule.includes(type)))
}

/** The types that a text may be parsed as, joined by "or". No text is null, and `number` includes `integer`. */
export function textType(schema: unknown): string {
  const types = (allowedTypes(schema) ?? ['any']).filter((type) => type !== 'null')
  return types.filter((type) => !types.includes('number') || type !== 'integer').join(' or ')
}

/** Whether a schema says only that a value is bytes. */
export function isFile(schema: unknown): boolean {
  const said = allParts(schema).flatMap((part) => Object.entries(part).map(([key, value]) => `${key} ${String(value)}`))
  const isMore = (each: string) =>
    !/^(title|description|examples?|\$ref|contentMediaType) |^(type string|format binary)$/.test(each)
  return said.includes('format binary') && !said.some(isMore)
}

/** The maximum length of a character in JSON, in bytes: two escapes of UTF-16, as in \ud83c\udf31. */
const CHARACTER_BYTES = 12
/** The maximum length of a text in some formats, in characters. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { date: 10, uuid: 45, ipv4: 15, ipv6: 45 }

/** The length in bytes of the longest JSON text without white space that a schema allows; Infinity if it sets no bound. */
export function maxJsonBytes(schema: unknown, within: readonly unknown[] = []): number {
  const self = isObject(schema) ? deref(schema) : schema
  if (within.includes(self)) return Infinity
  const maxBytes = (each: unknown) => maxJsonBytes(each, [...within, self])
  const parts = allParts(schema)
  const choices = parts
    .flatMap((part) => ['anyOf', 'oneOf'].map((key) => valuesAt(part, key)))
    .filter(({ length }) => length > 0)
  const listed = parts.flatMap((part) => [part['enum'], part['const']]).filter((each) => each !== undefined)
  const types = parts.flatMap((part) => [declaredTypes(part) ?? []]).find(({ length }) => length > 0) ?? ['any']
  return Math.min(
    Math.max(...types.map((type) => BYTES[type]?.(parts, maxBytes) ?? Infinity)),
    ...choices.map((choice) => Math.max(...choice.map(maxBytes))),
    ...listed.map((value) => CHARACTER_BYTES * JSON.stringify(value, (_, each: unknown) => String(each)).length),
  )
}

/** The length in characters of the longest text that a schema allows; Infinity if it sets no bound. */
export function maxLength(parts: readonly Part[]): number {
  return Math.min(lowest(parts, 'maxLength'), ...parts.map(({ format }) => MAX_LENGTHS[String(format)] ?? Infinity))
}

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
    const isClosed = parts.some(
      (part) => part['additionalProperties'] === false || part['unevaluatedProperties'] === false,
    )
    const members = [...allMembers(parts)].map(([name, each]) => 4 + CHARACTER_BYTES * name.length + maxBytes(each))
    return isClosed ? 2 + sum(members) : Infinity
  },
}

function lowest(parts: readonly Part[], key: string): number {
  return Math.min(...parts.map((part) => Number(part[key] ?? Infinity)))
}

const sum = (sizes: readonly number[]) => sizes.reduce((a, b) => a + b, 0)
