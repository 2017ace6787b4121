// What values fit a schema: by what it says itself, by what it refers to, and by the schemas that it is composed of.
import { deref, targetOf } from './document.ts'
import { isObject } from '../validation.ts'

/** A schema that is no boolean. */
export type Part = Readonly<Record<string, unknown>>

/** The schemas of a keyword that holds several, in a list or by names. */
export function inner(part: Part, key: string): unknown[] {
  return Object.values(deref(part[key]) ?? {})
}

/** The schemas that every value fits that fits one: itself, what it refers to, and its `allOf`. */
export function partsOf(schema: unknown, seen = new Set<unknown>()): Part[] {
  if (!isObject(schema) || seen.has(schema)) return []
  seen.add(schema)
  return [schema, ...[targetOf(schema), ...inner(schema, 'allOf')].flatMap((each) => partsOf(each, seen))]
}

/** The first part that has a keyword. */
export function partWith(schema: unknown, key: string): Part | undefined {
  return partsOf(schema).find((part) => part[key] !== undefined)
}

/** The schemas of the members that the parts name, by their names. */
export function membersOf(parts: readonly Part[]): Map<string, unknown> {
  return new Map(parts.flatMap((part) => Object.entries(deref(part['properties']) ?? {})))
}

/** What a schema says by itself about the type of a value; an int64 is a type of its own. Undefined: any type. */
export function ownTypes({ type, format }: Part): string[] | undefined {
  if (type === undefined) return undefined
  return [type].flat().map((each: unknown) => (each === 'integer' && format === 'int64' ? format : String(each)))
}

/** The types that a value may have by all that a schema says; undefined if that is any. */
export function typesOf(schema: unknown): string[] | undefined {
  const rules = partsOf(schema).flatMap((part) => {
    const values = [part['enum'] ?? part['const'] ?? []]
      .flat()
      .map((each: unknown) => (each === null ? 'null' : typeof each))
    const choices = ['anyOf', 'oneOf']
      .filter((key) => part[key] !== undefined)
      .map((key) => inner(part, key).map(typesOf))
    return [
      ownTypes(part) ?? (values.length > 0 ? values : undefined),
      ...choices.map((types) => (types.includes(undefined) ? undefined : types.flatMap((each) => each ?? []))),
    ].filter((each) => each !== undefined)
  })
  return rules[0] && [...new Set(rules[0])].filter((type) => rules.every((rule) => rule.includes(type)))
}

/** The types that a text may be read as, joined by "or": no text spells null, and each integer is a number. */
export function textType(schema: unknown): string {
  const types = (typesOf(schema) ?? ['any']).filter((type) => type !== 'null')
  return types.filter((type) => !types.includes('number') || type !== 'integer').join(' or ')
}

/** Whether a schema says that a value is bytes, and nothing more. */
export function isFile(schema: unknown): boolean {
  const said = partsOf(schema).flatMap((part) => Object.entries(part).map(([key, value]) => `${key} ${String(value)}`))
  const isMore = (each: string) =>
    !/^(title|description|examples?|\$ref|contentMediaType) |^(type string|format binary)$/.test(each)
  return said.includes('format binary') && !said.some(isMore)
}

/** The most bytes of a character in JSON: two escapes of UTF-16, as in \ud83c\udf31. */
const CHARACTER_BYTES = 12
/** The most characters of the formats that have a length. */
const FORMAT_LENGTHS: Readonly<Record<string, number>> = { date: 10, uuid: 45, ipv4: 15, ipv6: 45 }

/** The most bytes of a JSON text without white space that a schema allows; Infinity if it sets no bound. */
export function maxJsonBytes(schema: unknown, within: readonly unknown[] = []): number {
  const self = isObject(schema) ? deref(schema) : schema
  if (within.includes(self)) return Infinity
  const bytesOf = (each: unknown) => maxJsonBytes(each, [...within, self])
  const parts = partsOf(schema)
  const choices = parts
    .flatMap((part) => ['anyOf', 'oneOf'].map((key) => inner(part, key)))
    .filter(({ length }) => length > 0)
  const listed = parts.flatMap((part) => [part['enum'], part['const']]).filter((each) => each !== undefined)
  const types = parts.flatMap((part) => [ownTypes(part) ?? []]).find(({ length }) => length > 0) ?? ['any']
  return Math.min(
    Math.max(...types.map((type) => BYTES[type]?.(parts, bytesOf) ?? Infinity)),
    ...choices.map((choice) => Math.max(...choice.map(bytesOf))),
    ...listed.map((value) => CHARACTER_BYTES * JSON.stringify(value, (_, each: unknown) => String(each)).length),
  )
}

/** The most characters of a text that a schema allows; Infinity if it sets no bound. */
export function maxLength(parts: readonly Part[]): number {
  return Math.min(lowest(parts, 'maxLength'), ...parts.map(({ format }) => FORMAT_LENGTHS[String(format)] ?? Infinity))
}

const BYTES: Readonly<Record<string, (parts: readonly Part[], bytesOf: (schema: unknown) => number) => number>> = {
  null: () => 4,
  boolean: () => 5,
  integer: () => 17,
  int64: () => 20,
  number: () => 25,
  string: (parts) => 2 + CHARACTER_BYTES * maxLength(parts),
  array: (parts, bytesOf) => {
    const first = parts.flatMap((part) => inner(part, 'prefixItems'))
    const items = parts.find((part) => part['items'] !== undefined)?.['items']
    const count = items === false ? 0 : Math.max(0, lowest(parts, 'maxItems') - first.length)
    return 2 + sum(first.map((each) => 1 + bytesOf(each))) + (count === 0 ? 0 : count * (1 + bytesOf(items)))
  },
  object: (parts, bytesOf) => {
    const isClosed = parts.some(
      (part) => part['additionalProperties'] === false || part['unevaluatedProperties'] === false,
    )
    const members = [...membersOf(parts)].map(([name, each]) => 4 + CHARACTER_BYTES * name.length + bytesOf(each))
    return isClosed ? 2 + sum(members) : Infinity
  },
}

function lowest(parts: readonly Part[], key: string): number {
  return Math.min(...parts.map((part) => Number(part[key] ?? Infinity)))
}

const sum = (sizes: readonly number[]) => sizes.reduce((a, b) => a + b, 0)
