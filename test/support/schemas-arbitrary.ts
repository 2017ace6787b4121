import fc, { type GeneratorValue } from 'fast-check'
import { stringify, toInteger } from './json.ts'
import {
  decimalOf,
  fields,
  isObject,
  isValid,
  listOf,
  partsOf,
  RANGES,
  referred,
  remembered,
  type Schema,
  toRegExp,
} from './schemas.ts'

/** In place of a value where none is found. */
const NONE = Symbol('no valid value')

/** How often a valid value of the whole is tried, and of a part. */
const TRIES = { whole: 60, part: 8 }
/** How many parts of a value are tried in all. */
const MAX_TRIES = 3000
/** Parts, and levels, from which on a value has no member that it need not have; and the most of those. */
const ENOUGH = { parts: 100, levels: 12, members: 30, series: 12 }
/** The longest text, and the most items, that a valid value has because it may. */
const LONG = { text: 10_000, list: 100 }

/** The state while one value is made. */
interface Draft {
  readonly choose: GeneratorValue
  tries: number
  parts: number
  /** How often each schema was used in values of the same series: what was used least comes first. */
  readonly uses?: Map<unknown, number>
}

/** Makes valid values of a schema; undefined, if `samplesOf` has none. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.gen().map((choose) => {
    const value = valueOf(schema, choose)
    return value === NONE ? structuredClone(anySample(schema)) : value
  })
}

const anySample = remembered((schema: Schema) => samplesOf(schema, 20)[0])

/** A few valid values, the same in each run. None if none is found. */
export function samplesOf(schema: Schema, count = 1): unknown[] {
  const uses = new Map<unknown, number>()
  const values = fc.gen().map((choose) => valueOf(schema, choose, uses))
  const samples = fc.sample(values, { numRuns: Math.max(count, 5), seed: 1 })
  return samples.filter((value) => value !== NONE).slice(0, count)
}

/** A valid value of a schema, or NONE. It is a copy, because fast-check adds a method to objects. */
function valueOf(schema: Schema, choose: GeneratorValue, uses?: Draft['uses']): unknown {
  const value = make([schema], { choose, tries: 0, parts: 0, ...(uses && { uses }) }, 0)
  return value === NONE ? NONE : structuredClone(value)
}

/** Makes a value that fits all of these schemas, or NONE. */
function make(schemas: readonly unknown[], draft: Draft, level: number): unknown {
  const objects = schemas.filter(isObject)
  for (let left = level === 0 ? TRIES.whole : TRIES.part; left > 0; left -= 1) {
    if (draft.tries > MAX_TRIES) return NONE
    draft.tries += 1
    const value = attempt(objects, draft, level)
    if (value !== NONE && objects.every((schema) => isValid(schema, value))) return value
  }
  return NONE
}

/** Makes a value that may fit all of these schemas. */
function attempt(schemas: readonly Schema[], draft: Draft, level: number): unknown {
  draft.parts += 1
  const { choose, uses } = draft
  const parts = chosenParts(schemas, draft)
  for (const part of parts) uses?.set(part, (uses.get(part) ?? 0) + 1)
  const valuesOf: All = (keyword) =>
    parts.flatMap((part) => (keyword in part ? [part[keyword]] : []))
  const fixed = [...valuesOf('const'), ...valuesOf('enum').flat()]
  if (fixed.length > 0) return pick(choose, fixed)
  const listed = [...valuesOf('examples').flatMap(listOf), ...valuesOf('default')]
  if (listed.length > 0 && choose(fc.nat, 3) === 0) return structuredClone(pick(choose, listed))
  return typed(parts, valuesOf, draft, level)
}

/** Makes a value of one of the types that it may have. */
function typed(parts: readonly Schema[], valuesOf: All, draft: Draft, level: number): unknown {
  const { choose } = draft
  const types = typesIn(valuesOf)
  if (types.length === 0) return NONE
  const type = pick(choose, types) ?? ''
  if (type === 'object') return object(parts, valuesOf, draft, level)
  if (type === 'array') return array(valuesOf, draft, level)
  return choose(scalar(type, valuesOf))
}

/** The schemas that a value must fit if it takes one alternative of each `oneOf`, `anyOf` and `if`. */
function chosenParts(schemas: readonly Schema[], { choose, uses }: Draft): Schema[] {
  const parts = schemas.flatMap(partsOf)
  const add = (schema: unknown) => {
    if (isObject(schema)) parts.push(...partsOf(schema))
  }
  for (const part of parts) {
    for (const keyword of ['oneOf', 'anyOf']) {
      const options = listOf(part[keyword])
      if (options.length > 0) add(inTurn(pick(choose, options), options, uses))
    }
    if ('if' in part) pick(choose, conditions(part))?.forEach(add)
    for (const [name, schema] of Object.entries(fields(part['dependentSchemas'])))
      if (choose(fc.boolean)) for (const part of [schema, { required: [name] }]) add(part)
  }
  return parts
}

const usesOf = (schema: unknown, uses: Map<unknown, number>) =>
  uses.get(isObject(schema) ? (referred(schema) ?? schema) : schema) ?? 0

/** In a series, the alternative that was used least, or else the one that was chosen. */
function inTurn(chosen: unknown, options: readonly unknown[], uses?: Draft['uses']): unknown {
  if (uses === undefined) return chosen
  const least = Math.min(...options.map((option) => usesOf(option, uses)))
  return usesOf(chosen, uses) === least
    ? chosen
    : options.find((option) => usesOf(option, uses) === least)
}

const conditions = (part: Schema) => [[part['if'], part['then']], [part['else']]]

/** The values of a keyword in all schemas that a value must fit. */
type All = (keyword: string) => unknown[]

const numbersOf = (valuesOf: All, keyword: string) => valuesOf(keyword).map(Number)

/** The types that a value may have: those of each schema that has some. */
function typesIn(valuesOf: All): string[] {
  const lists = valuesOf('types').map((types) => listOf(types).map(String))
  const [first, ...others] = lists
  if (first === undefined) return inferredTypes(valuesOf)
  const whole = lists.flat().filter((type) => type in RANGES)
  const types = first.flatMap((type) => (type === 'number' ? ['number', ...whole] : [type]))
  return [...new Set(types)].filter((type) => others.every((list) => fits(type, list)))
}

/** Whether values of a type may have one of these types. */
export const fits = (type: string, types: readonly string[]) =>
  types.includes(type) ||
  (type in RANGES && types.some((numeric) => numeric in RANGES || numeric === 'number'))

function inferredTypes(valuesOf: All): string[] {
  const has = (...keywords: string[]) => keywords.some((keyword) => valuesOf(keyword).length > 0)
  const members = ['properties', 'patternProperties', 'additionalProperties', 'propertyNames']
  if (has(...members, 'required', 'minProperties', 'maxProperties', 'dependentRequired'))
    return ['object']
  if (has('items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems'))
    return ['array']
  if (has('pattern', 'minLength', 'maxLength', 'format')) return ['string']
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'))
    return ['number']
  return ['any']
}

/** One item of a list. */
const pick = <Item>(choose: GeneratorValue, list: readonly Item[]) =>
  list[choose(fc.nat, list.length - 1)]

const OF_SCALARS = [
  ...['types', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'format'],
]
/** What makes scalars, by the rules that they must fit: it takes a while to make. */
const makers = new Map<string, () => fc.Arbitrary<unknown>>()

function scalar(type: string, valuesOf: All): () => fc.Arbitrary<unknown> {
  const key = stringify([type, ...OF_SCALARS.map(valuesOf)])
  const earlier = makers.get(key)
  if (earlier !== undefined) return earlier
  const values = scalarOf(type, valuesOf)
  const maker = () => values
  makers.set(key, maker)
  return maker
}

/** Makes a text, a number, a boolean, null, or any of them. */
function scalarOf(type: string, valuesOf: All): fc.Arbitrary<unknown> {
  if (type in RANGES) return integers(valuesOf)
  if (type === 'number') return numbers(valuesOf)
  if (type === 'string') return strings(valuesOf)
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  return fc.constantFrom<unknown>(null, true, 7, 1.5, 'text', [], {})
}

function integers(valuesOf: All): fc.Arbitrary<unknown> {
  const ranges = valuesOf('types').flatMap((types) =>
    listOf(types).flatMap((type) => RANGES[String(type)] ?? []),
  )
  const [lows, highs] = [
    ranges.filter((_, at) => at % 2 === 0),
    ranges.filter((_, at) => at % 2 === 1),
  ]
  const least = [
    ...valuesOf('minimum').map(ceiling),
    ...valuesOf('exclusiveMinimum').map((bound) => floor(bound) + 1n),
  ]
  const most = [
    ...valuesOf('maximum').map(floor),
    ...valuesOf('exclusiveMaximum').map((bound) => ceiling(bound) - 1n),
  ]
  const min = [...lows, ...least].reduce((a, b) => (a > b ? a : b))
  const max = [...highs, ...most].reduce((a, b) => (a < b ? a : b))
  const [unit = 1n] = valuesOf('multipleOf').map(ceiling)
  const [first, last] = [
    min / unit + (min % unit > 0n ? 1n : 0n),
    max / unit - (max % unit < 0n ? 1n : 0n),
  ]
  if (first > last) return fc.constant(NONE)
  const any = { arbitrary: fc.bigInt({ min: first, max: last }), weight: 3 }
  const steps = fc.oneof(any, { arbitrary: fc.constantFrom(first, last), weight: 1 })
  return steps.map((step) => toInteger(step * unit))
}

function numbers(valuesOf: All): fc.Arbitrary<unknown> {
  const min = Math.max(
    -Number.MAX_VALUE,
    ...numbersOf(valuesOf, 'minimum'),
    ...numbersOf(valuesOf, 'exclusiveMinimum'),
  )
  const max = Math.min(
    Number.MAX_VALUE,
    ...numbersOf(valuesOf, 'maximum'),
    ...numbersOf(valuesOf, 'exclusiveMaximum'),
  )
  if (min > max) return fc.constant(NONE)
  const near = Math.abs(min) < 1e6 ? min : 0
  const multiples = valuesOf('multipleOf').map((unit) => {
    const [digits, exponent] = decimalOf(unit)
    const first = BigInt(Math.ceil(near / Number(unit)))
    return fc.nat(1000).map((step) => Number(`${(first + BigInt(step)) * digits}e${exponent}`))
  })
  if (multiples.length > 0) return fc.oneof(...multiples)
  const span = fc.nat(1000).map((step) => Math.min(max, near + step))
  return fc.oneof(fc.double({ min, max, noNaN: true }), fc.constantFrom(min, max), span)
}

/** Makes values of formats that random texts never match. */
const FORMATS: Readonly<Record<string, () => fc.Arbitrary<string>>> = {
  date: () => dates().map((text) => text.slice(0, 10)),
  'date-time': dates,
  time: () => dates().map((text) => text.slice(11)),
  duration: () => fc.nat(99).map((days) => `P${days}D`),
  uuid: () => fc.uuid(),
  email: () => fc.emailAddress(),
  hostname: () => fc.domain(),
  ipv4: () => fc.ipV4(),
  ipv6: () => fc.ipV6(),
  uri: urls,
  url: urls,
  'uri-reference': urls,
  'uri-template': () => fc.constantFrom('/a/{b}', 'https://example.com/{id}'),
  'json-pointer': () => fc.constantFrom('', '/a/0'),
  'relative-json-pointer': () => fc.constantFrom('0', '1/a'),
  regex: () => fc.constantFrom('', '^a+$'),
  byte: () => fc.base64String(),
}

/** Texts that fit many patterns: of a password, a name, a date, a version. */
const USUAL = [
  'Aa1!Aa1!Aa1!',
  'a',
  'A',
  '0',
  '12',
  'Ab',
  'a-b',
  'a_b',
  'a b',
  '2026-01-01',
  '1.0.0',
  'É',
]

function strings(valuesOf: All): fc.Arbitrary<unknown> {
  const minLength = Math.max(0, ...numbersOf(valuesOf, 'minLength'))
  const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxLength'))
  if (minLength > most) return fc.constant(NONE)
  const maxLength = Math.max(minLength, Math.min(most, LONG.text))
  const near = Math.min(maxLength, minLength + 20)
  const long = most <= LONG.text ? [{ minLength: maxLength, maxLength }] : []
  const sizes = [{ minLength, maxLength: near }, { minLength, maxLength: minLength }, ...long]
  const toFit = (text: string) => resized(text, minLength, maxLength)
  const ruled = [
    ...valuesOf('pattern').flatMap((pattern) =>
      matching(String(pattern)).map((texts) => texts.map(toFit)),
    ),
    ...valuesOf('format').flatMap((name) => FORMATS[String(name)]?.() ?? []),
  ]
  if (ruled.length > 0) return fc.oneof(...ruled)
  const texts = [CHARACTERS, ASCII].flatMap((characters) =>
    sizes.map((size) => fc.array(characters, size).map((letters) => letters.join(''))),
  )
  return fc.oneof(...texts)
}

/** All characters but halves of those beyond 16 bits. */
const CHARACTERS = fc
  .nat(0x10_ffff - 0x800)
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800))
const ASCII = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code))

/** A text, repeated until it is long enough, or cut. */
function resized(text: string, least: number, most: number): string {
  const characters = Array.from(text)
  const isShort = characters.length < least && characters.length > 0
  const long = isShort ? text.repeat(Math.ceil(least / characters.length)) : text
  return Array.from(long).slice(0, most).join('')
}

/** Texts by the patterns that they match. */
const matched = new Map<string, fc.Arbitrary<string>[]>()

function matching(pattern: string): fc.Arbitrary<string>[] {
  const texts = matched.get(pattern) ?? textsLike(pattern)
  matched.set(pattern, texts)
  return texts
}

/** Makes texts that match a pattern, or may: fast-check does not read what looks ahead or behind, nor `\p`. */
function textsLike(pattern: string): fc.Arbitrary<string>[] {
  const readable = [pattern, readableOf(pattern)].flatMap((source) => {
    try {
      return [fc.stringMatching(toRegExp(source))]
    } catch {
      return []
    }
  })
  return [...readable.slice(0, 1), fc.constantFrom(...USUAL)]
}

/** A pattern without what looks around, and with ASCII in the place of classes of Unicode. */
function readableOf(pattern: string): string {
  const plain = pattern.replaceAll(/\\p\{(\w)\w*(=\w+)?\}/g, (_, kind: string) =>
    kind === 'N' ? '\\d' : '\\w',
  )
  let [depth, text] = [0, '']
  for (const [token] of plain.matchAll(/\\.|\(\?<?[=!]|[^]/gu)) {
    if (depth === 0 && !/^\(\?<?[=!]/.test(token)) text += token
    else if (token.startsWith('(')) depth += 1
    else if (token === ')') depth -= 1
  }
  return text
}

/** Whether a value has no more members and items than it needs. */
const isEnough = ({ parts }: Draft, level: number) => parts > ENOUGH.parts || level > ENOUGH.levels

function array(valuesOf: All, draft: Draft, level: number): unknown {
  const least = Math.max(0, ...numbersOf(valuesOf, 'minItems'))
  const length = lengthOfList(valuesOf, draft, level)
  if (length === undefined) return NONE
  const isSet = valuesOf('uniqueItems').includes(true)
  const items: unknown[] = []
  for (let index = 0; index < length; index += 1) {
    const schemas = itemSchemas(valuesOf, index, draft)
    // A long list repeats what it has.
    const isNew = items.length < 20 || isSet
    const item = isNew ? make(schemas, draft, level + 1) : items[index % 20]
    if (item === NONE) return index < least ? NONE : items
    items.push(item)
  }
  if (!isSet) return items
  const distinct = [...new Map(items.map((item) => [stringify(item), item])).values()]
  return distinct.length < least ? NONE : distinct
}

/** A number of items; undefined if no number is right. */
function lengthOfList(valuesOf: All, draft: Draft, level: number): number | undefined {
  const { choose } = draft
  const least = Math.max(0, ...numbersOf(valuesOf, 'minItems'))
  const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxItems'))
  if (least > most) return undefined
  const described = Math.max(0, ...valuesOf('prefixItems').map((list) => listOf(list).length))
  const isClosed = itemsAfterPrefix(valuesOf).some(isNever)
  const usual = Math.max(least, isClosed ? described : described + 3)
  const greatest = isEnough(draft, level) ? least : Math.min(most, usual)
  const isFull = greatest > least && !isClosed && choose(fc.nat, 9) === 0
  if (isFull) return most <= LONG.list ? most : greatest
  return choose(fc.nat, Math.max(0, greatest - least)) + least
}

/** The schemas that an item must fit, and in turn those that some item must. */
function itemSchemas(valuesOf: All, index: number, { choose }: Draft): unknown[] {
  const lists = valuesOf('prefixItems').map(listOf)
  const ofPrefix = lists.flatMap((list) => (index < list.length ? [list[index]] : []))
  const own = ofPrefix.length > 0 ? ofPrefix : itemsAfterPrefix(valuesOf)
  const wanted = valuesOf('contains')
  const isWanted = wanted.length > 0 && choose(fc.boolean)
  return isWanted ? [...own, ...wanted] : own
}

const itemsAfterPrefix = (valuesOf: All) => [...valuesOf('items'), ...valuesOf('unevaluatedItems')]

/** Whether a schema has no valid value. */
export const isNever = (schema: unknown) =>
  schema === false ||
  (isObject(schema) && isObject(schema['not']) && Object.keys(schema['not']).length === 0)

function object(parts: readonly Schema[], valuesOf: All, draft: Draft, level: number): unknown {
  const { choose } = draft
  const described = valuesOf('properties').flatMap((properties) =>
    Object.entries(fields(properties)).flatMap(([name, schema]) => (isNever(schema) ? [] : [name])),
  )
  const required = new Set(valuesOf('required').flatMap(listOf).map(String))
  const optional = [...new Set(described)].filter((name) => !required.has(name))
  const hasEnough = isEnough(draft, level)
  const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxProperties'))
  const chosen = hasEnough ? [] : someOf(optional, parts, draft)
  const added = chosen.slice(0, Math.max(0, most - required.size))
  const names = withDependents([...required, ...added], valuesOf)
  const members = new Map<string, unknown>()
  const add = (name: string) => {
    const value = make(memberSchemas(parts, name), draft, level + 1)
    if (value !== NONE) members.set(name, value)
    return value !== NONE || !required.has(name)
  }
  if (!names.every(add)) return NONE
  const least = Math.max(0, ...numbersOf(valuesOf, 'minProperties'))
  const more = hasEnough ? 0 : choose(fc.nat, 2)
  const count = Math.max(least - members.size, Math.min(more, most - members.size))
  for (let left = count; left > 0; left -= 1) {
    const name = otherName(valuesOf, draft, level)
    // Ajv takes a member that all objects inherit for one that was evaluated.
    if (typeof name === 'string' && !(name in {}) && !members.has(name)) add(name)
  }
  return Object.fromEntries(members)
}

/** Some optional members: none, a few, or more. In a series, those that were used least. */
function someOf(names: readonly string[], parts: readonly Schema[], draft: Draft): string[] {
  const { choose, uses } = draft
  if (names.length === 0) return []
  if (uses !== undefined) {
    const used = new Map(names.map((name) => [name, usesOf(memberSchemas(parts, name)[0], uses)]))
    const inOrder = names.toSorted((a, b) => (used.get(a) ?? 0) - (used.get(b) ?? 0))
    return inOrder.slice(0, choose(fc.nat, Math.min(names.length, ENOUGH.series)))
  }
  const [share, first] = [choose(fc.nat, 4), choose(fc.nat, names.length - 1)]
  const turned = [...names.slice(first), ...names.slice(0, first)]
  return turned.filter(() => choose(fc.nat, 3) < share).slice(0, ENOUGH.members)
}

/** Names of members, and those that they need. */
function withDependents(names: readonly string[], valuesOf: All): string[] {
  const wanted = new Set(names)
  for (const name of wanted)
    for (const rule of valuesOf('dependentRequired'))
      for (const dependent of listOf(fields(rule)[name])) wanted.add(String(dependent))
  return [...wanted]
}

const TEXT: Schema = { types: ['string'] }

/** The name of a member that the properties of a schema do not have, or NONE. */
function otherName(valuesOf: All, draft: Draft, level: number): unknown {
  const names = valuesOf('propertyNames').filter(isObject)
  const patterns = valuesOf('patternProperties').flatMap((members) => Object.keys(fields(members)))
  const isOpen = ![...valuesOf('additionalProperties'), ...valuesOf('unevaluatedProperties')].some(
    isNever,
  )
  if (isOpen && names.length > 0) return make([...names, TEXT], draft, level + 1)
  const sources = [...patterns.flatMap(matching), ...(isOpen ? NAMES : [])]
  const source = sources.length === 0 ? undefined : pick(draft.choose, sources)
  return source === undefined ? NONE : draft.choose(() => source)
}

const NAMES = [
  fc.constantFrom('other', 'another', 'more', 'a b', 'É'),
  fc.array(ASCII, { maxLength: 9 }).map((letters) => letters.join('')),
]

/** The schemas of an object's member: those for its name, or else for all others. */
export function memberSchemas(parts: readonly Schema[], name: string): unknown[] {
  const own = parts.flatMap((part) => ownSchemas(part, name))
  if (own.length > 0) return own
  return parts.flatMap((part) =>
    'unevaluatedProperties' in part ? [part['unevaluatedProperties']] : [],
  )
}

/** The schemas that one schema itself has for a member. */
export function ownSchemas(part: Schema, name: string): unknown[] {
  const properties = fields(part['properties'])
  const named = Object.hasOwn(properties, name) ? [properties[name]] : []
  const matched = Object.entries(fields(part['patternProperties'])).flatMap(([pattern, schema]) =>
    toRegExp(pattern).test(name) ? [schema] : [],
  )
  const schemas = [...named, ...matched]
  return schemas.length === 0 && 'additionalProperties' in part
    ? [part['additionalProperties']]
    : schemas
}

function urls(): fc.Arbitrary<string> {
  const parts = fc.tuple(fc.domain(), fc.array(ASCII, { maxLength: 9 }))
  return parts.map(([host, path]) => `https://${host}/${encodeURIComponent(path.join(''))}`)
}

function dates(): fc.Arbitrary<string> {
  const [min, max] = [new Date('0001-01-01T00:00:00Z'), new Date('9999-12-31T00:00:00Z')]
  return fc.date({ min, max, noInvalidDate: true }).map((date) => date.toISOString())
}

const floor = (value: unknown) =>
  typeof value === 'bigint' ? value : BigInt(Math.floor(Number(value)))
const ceiling = (value: unknown) =>
  typeof value === 'bigint' ? value : BigInt(Math.ceil(Number(value)))
