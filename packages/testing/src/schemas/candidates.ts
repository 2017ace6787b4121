// Makes candidates: values to replace a part of a valid value, in order to violate a rule of its schema.
import { toInteger } from '../json/json.ts'
import { ownSchemas, RANGES } from '@plant-store/compiler/for-testing'
import { samplesOf } from './samples.ts'
import { fields, isObject, isValid, listOf, type Schema } from './schemas.ts'

/** A rule of a schema: a keyword, or a name of `required` or `dependentRequired`. */
export interface Rule {
  /** Its place. The target of a reference has the place of the first reference. */
  readonly pointer: string
  readonly schema: Schema
  readonly keyword: string
  /** A required property, and the one it is required beside. */
  readonly name?: string
  readonly beside?: string
}

/** The longest string, and the most items or properties, of a violation. */
export const LONGEST = { text: 2 ** 20, list: 20_000 }

const TEXTS = [
  ...['', ' ', 'x', 'X', 'É', '7', '-', '_', '!', 'a b', 'null', '日本', '(', '\0', '\n', '\uD800'],
  ...['\uDFFF', '🌱'],
]
/** A value of each type, and odd ones, for any schema. */
export const ODD = [null, true, false, 0, 1, -1, 1.5, ...TEXTS, [], {}]

/** Values which may violate a rule, or are just valid. */
export function candidatesFor(rule: Rule, value: unknown): unknown[] {
  const { schema, keyword } = rule
  const bound = schema[keyword]
  if (REQUIRED.includes(keyword)) return withoutMember(rule, value)
  const ofText = OF_TEXTS[keyword]
  if (typeof value === 'string' && ofText) return ofText(value, Number(bound))
  const ofList = OF_LISTS[keyword]
  if (Array.isArray(value) && ofList) return ofList(value, schema, Number(bound))
  const ofObject = OF_OBJECTS[keyword]
  if (isObject(value) && ofObject) return ofObject(value, schema, Number(bound))
  return OF_ANY[keyword]?.(bound, value) ?? []
}

const REQUIRED = ['required', 'dependentRequired']

/** An object without a required property, but with the one it is required beside. */
function withoutMember({ schema, name = '', beside = '' }: Rule, value: unknown): unknown[] {
  if (!isObject(value)) return []
  const { [name]: _, ...rest } = value
  const isComplete = beside === '' || beside in rest
  return [isComplete ? rest : { ...rest, [beside]: sampleFor(schema, beside) }]
}

/** A valid value of a property. */
function sampleFor(schema: Schema, name: string): unknown {
  const [sample = null] = ownSchemas(schema, name)
    .filter(isObject)
    .flatMap((member) => samplesOf(member))
  return sample
}

const OF_ANY: Readonly<Record<string, (bound: unknown, value: unknown) => unknown[]>> = {
  types: (types) => [
    ...[null, true, 1, 1.5, 'x', [], {}],
    ...listOf(types).flatMap((type) => (RANGES[String(type)] ?? []).flatMap(around)),
  ],
  minimum: around,
  maximum: around,
  exclusiveMinimum: around,
  exclusiveMaximum: around,
  multipleOf: (unit, value) => [Number(value) + Number(unit) / 2, Number(unit) * 1.5, 1, 0.1],
  enum: (values, value) => [...listOf(values), ...ODD, ...near(value)],
  const: (only, value) => [only, ...ODD, ...near(value)],
  not: (schema, value) =>
    [...ODD, ...samplesOf(fields(schema), 3)].flatMap((candidate) => [
      candidate,
      ...joined(value, candidate),
    ]),
  anyOf: () => ODD,
  oneOf: (schemas, value) => {
    const samples = listOf(schemas)
      .filter(isObject)
      .flatMap((schema) => samplesOf(schema, 2))
    return [...ODD, ...samples.flatMap((candidate) => [candidate, ...joined(value, candidate)])]
  },
}

/** Values near another one. */
const near = (value: unknown): unknown[] =>
  typeof value === 'string' ? [`${value}x`, value.toUpperCase(), value.toLowerCase()] : []

/** An object with the properties of another one added. */
const joined = (value: unknown, second: unknown) =>
  isObject(value) && isObject(second) ? [{ ...value, ...second }] : []

/** The numbers at a bound. */
function around(bound: unknown): unknown[] {
  if (typeof bound === 'number' && !Number.isSafeInteger(bound))
    return [bound - 1, bound, bound + 1, bound * 2, bound / 2]
  if (typeof bound !== 'number' && typeof bound !== 'bigint') return []
  return [-1n, 0n, 1n].map((step) => toInteger(BigInt(bound) + step))
}

type TextChange = (text: string, bound: number) => string[]

export const textsNear: TextChange = (text) => [
  ...TEXTS,
  ...['\n', 'x', '\0', '\uD83C', ' ', '!'].flatMap((more) => [text + more, more + text]),
  ...[text.slice(1), text.slice(0, -1), text.toUpperCase(), text.toLowerCase()],
]

const OF_TEXTS: Readonly<Record<string, TextChange>> = {
  pattern: textsNear,
  format: textsNear,
  minLength: (text, bound) => textsOf(text, [bound - 1, bound]),
  maxLength: (text, bound) => textsOf(text, [bound, bound + 1]),
}

/** Strings of some lengths, made of the valid one, and of characters beyond 16 bits. */
function textsOf(text: string, lengths: readonly number[]): string[] {
  const right = lengths.filter((length) => length >= 0 && length <= LONGEST.text)
  return right.flatMap((length) => {
    const own = text === '' ? 'x' : text
    const repeated = own.repeat(Math.ceil(length / Array.from(own).length))
    const characters = Array.from(repeated.slice(0, 2 * length)).slice(0, length)
    return [
      characters.join(''),
      'x'.repeat(length),
      ...(length < 5000 ? ['🌱'.repeat(length)] : []),
    ]
  })
}

type ListChange = (items: unknown[], schema: Schema, bound: number) => unknown[]

const OF_LISTS: Readonly<Record<string, ListChange>> = {
  minItems: (items, _, bound) => [items.slice(0, bound - 1), items.slice(0, bound)],
  maxItems: (items, schema, bound) => {
    const lengths = [bound, bound + 1].filter((length) => length <= LONGEST.list)
    return lengths.map((length) => repeated(items, schema, length))
  },
  uniqueItems: (items, schema) => [repeated(items, schema, Math.max(2, items.length + 1))],
  unevaluatedItems: (items) => [1, 2, 9].map((more) => [...items, ...Array<null>(more).fill(null)]),
  contains: (items, { contains }) => [
    ...[[], [null], items.slice(0, 1)],
    items.filter((item) => !isValid(fields(contains), item)),
  ],
  maxContains: (items, { contains }, bound) => {
    const wanted = items.filter((item) => isValid(fields(contains), item))
    return [[...items, ...Array<unknown>(bound + 1).fill(wanted[0])]]
  },
}

/** A list with so many items: its items repeated, or a valid one. */
function repeated(items: readonly unknown[], schema: Schema, length: number): unknown[] {
  const own = fields(schema['items'])
  const samples = items.length > 0 ? items : [...samplesOf(own), null].slice(0, 1)
  return Array.from({ length }, (_, index) => samples[index % samples.length])
}

type ObjectChange = (object: Record<string, unknown>, schema: Schema, bound: number) => unknown[]

const OF_OBJECTS: Readonly<Record<string, ObjectChange>> = {
  additionalProperties: (object) => [...withOthers(object), { ...object, toString: 1 }],
  unevaluatedProperties: withOthers,
  propertyNames: (object, schema) => {
    const long = Number(fields(schema['propertyNames'])['maxLength'] ?? 0) + 1
    const names = [...TEXTS, ...textsOf('x', [long]), ...Object.keys(object).flatMap(near)]
    return names.map((name) => ({ ...object, [String(name)]: sampleFor(schema, String(name)) }))
  },
  minProperties: (object, _, bound) =>
    [bound - 1, bound].map((count) => Object.fromEntries(Object.entries(object).slice(0, count))),
  maxProperties: (object, schema, bound) => {
    const [member = sampleFor(schema, 'more')] = Object.values(object)
    const missing = Math.max(0, bound + 1 - Object.keys(object).length)
    if (missing > LONGEST.list) return []
    const others = Array.from({ length: missing }, (_, index) => [`more${index}`, member] as const)
    return [{ ...object, ...Object.fromEntries(others) }]
  },
}

/** An object with a further property. */
export function withOthers(object: Record<string, unknown>): unknown[] {
  const names = ['another', '', ...Object.keys(object).map((name) => name.toUpperCase())]
  return names.map((name) => ({ ...object, [name]: Object.values(object)[0] ?? 1 }))
}
