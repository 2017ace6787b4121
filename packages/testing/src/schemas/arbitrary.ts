// Makes valid values of a schema.
import fc, { type GeneratorValue } from 'fast-check'
import { stringify } from '../json/json.ts'
import { isNever, memberSchemas } from './property-schemas.ts'
import { type All, ASCII, matching, NONE, numbersOf, scalar } from './scalars.ts'
import {
  fields,
  isObject,
  isValid,
  listOf,
  partsOf,
  RANGES,
  referred,
  remembered,
  type Schema,
} from './schemas.ts'

/** The number of tries for a valid whole value, and for a part. */
const TRIES = { whole: 60, part: 8 }
/** The number of tries for all parts of a value together. */
const MAX_TRIES = 3000
/** From so many parts or levels on, a value has no optional property; and the most optional properties. */
const ENOUGH = { parts: 100, levels: 12, members: 30, series: 12 }
/** The most optional items of a valid value. */
const LONGEST_LIST = 100

/** The state of making one value. */
interface Draft {
  readonly choose: GeneratorValue
  tries: number
  parts: number
  /** The uses of each schema in one series of values: the least used one comes first. */
  readonly uses?: Map<unknown, number>
}

/** Makes valid values of a schema; undefined if `samplesOf` has none. */
export function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.gen().map((choose) => {
    const value = valueOf(schema, choose)
    return value === NONE ? structuredClone(anySample(schema)) : value
  })
}

const anySample = remembered((schema: Schema) => samplesOf(schema, 20)[0])

/** A few valid values, the same in each run; none if none is found. */
export function samplesOf(schema: Schema, count = 1): unknown[] {
  const uses = new Map<unknown, number>()
  const values = fc.gen().map((choose) => valueOf(schema, choose, uses))
  const samples = fc.sample(values, { numRuns: Math.max(count, 5), seed: 1 })
  return samples.filter((value) => value !== NONE).slice(0, count)
}

/** A valid value of a schema, or NONE. A copy, because fast-check adds a method to objects. */
function valueOf(schema: Schema, choose: GeneratorValue, uses?: Draft['uses']): unknown {
  const value = make([schema], { choose, tries: 0, parts: 0, ...(uses && { uses }) }, 0)
  return value === NONE ? NONE : structuredClone(value)
}

/** Makes a value which fits all schemas, or NONE. */
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

/** Makes a candidate: a value which may fit all schemas. */
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

/** Makes a value of an allowed type. */
function typed(parts: readonly Schema[], valuesOf: All, draft: Draft, level: number): unknown {
  const { choose } = draft
  const types = typesIn(valuesOf)
  if (types.length === 0) return NONE
  const type = pick(choose, types) ?? ''
  if (type === 'object') return object(parts, valuesOf, draft, level)
  if (type === 'array') return array(valuesOf, draft, level)
  return choose(scalar(type, valuesOf))
}

/** The schemas for one alternative of each `oneOf`, `anyOf` and `if`. */
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

/** In a series the least used alternative, otherwise the chosen one. */
function inTurn(chosen: unknown, options: readonly unknown[], uses?: Draft['uses']): unknown {
  if (uses === undefined) return chosen
  const least = Math.min(...options.map((option) => usesOf(option, uses)))
  return usesOf(chosen, uses) === least
    ? chosen
    : options.find((option) => usesOf(option, uses) === least)
}

const conditions = (part: Schema) => [[part['if'], part['then']], [part['else']]]

/** The types allowed by all schemas. */
function typesIn(valuesOf: All): string[] {
  const lists = valuesOf('types').map((types) => listOf(types).map(String))
  const [first, ...others] = lists
  if (first === undefined) return inferredTypes(valuesOf)
  const whole = lists.flat().filter((type) => type in RANGES)
  const types = first.flatMap((type) => (type === 'number' ? ['number', ...whole] : [type]))
  return [...new Set(types)].filter((type) => others.every((list) => fits(type, list)))
}

/** Whether values of a type may be of one of the others. */
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

/** Whether a value gets only required properties and items. */
const isEnough = ({ parts }: Draft, level: number) => parts > ENOUGH.parts || level > ENOUGH.levels

function array(valuesOf: All, draft: Draft, level: number): unknown {
  const least = Math.max(0, ...numbersOf(valuesOf, 'minItems'))
  const length = lengthOfList(valuesOf, draft, level)
  if (length === undefined) return NONE
  const isSet = valuesOf('uniqueItems').includes(true)
  const items: unknown[] = []
  for (let index = 0; index < length; index += 1) {
    const schemas = itemSchemas(valuesOf, index, draft)
    // A long list repeats its items.
    const isNew = items.length < 20 || isSet
    const item = isNew ? make(schemas, draft, level + 1) : items[index % 20]
    if (item === NONE) return index < least ? NONE : items
    items.push(item)
  }
  if (!isSet) return items
  const distinct = [...new Map(items.map((item) => [stringify(item), item])).values()]
  return distinct.length < least ? NONE : distinct
}

/** A number of items; undefined if none is allowed. */
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
  if (isFull) return most <= LONGEST_LIST ? most : greatest
  return choose(fc.nat, Math.max(0, greatest - least)) + least
}

/** The schemas of an item: those of all items, and in turn one of `contains`. */
function itemSchemas(valuesOf: All, index: number, { choose }: Draft): unknown[] {
  const lists = valuesOf('prefixItems').map(listOf)
  const ofPrefix = lists.flatMap((list) => (index < list.length ? [list[index]] : []))
  const own = ofPrefix.length > 0 ? ofPrefix : itemsAfterPrefix(valuesOf)
  const wanted = valuesOf('contains')
  const isWanted = wanted.length > 0 && choose(fc.boolean)
  return isWanted ? [...own, ...wanted] : own
}

const itemsAfterPrefix = (valuesOf: All) => [...valuesOf('items'), ...valuesOf('unevaluatedItems')]

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
    // For Ajv, a property inherited by all objects is evaluated.
    if (typeof name === 'string' && !(name in {}) && !members.has(name)) add(name)
  }
  return Object.fromEntries(members)
}

/** Some optional properties: none, a few, or more. In a series the least used ones. */
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

/** Names of properties, with those they depend on. */
function withDependents(names: readonly string[], valuesOf: All): string[] {
  const wanted = new Set(names)
  for (const name of wanted)
    for (const rule of valuesOf('dependentRequired'))
      for (const dependent of listOf(fields(rule)[name])) wanted.add(String(dependent))
  return [...wanted]
}

const TEXT: Schema = { types: ['string'] }

/** The name of a property not described by the schema, or NONE. */
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
