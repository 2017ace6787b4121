// Makes valid values of schemas: the choices are the caller's.
import { isObject } from '@plant-store/json-schema'
import fc from 'fast-check'
import type { Choices, Uses } from './choices.ts'
import { isNever, memberSchemas } from './property-schemas.ts'
import { ASCII, matching } from './scalars.ts'
import {
  type All,
  fields,
  fits,
  listOf,
  NONE,
  numbersOf,
  RANGES,
  type Schema,
  type SchemaReader,
  stringify,
} from './schema.ts'

/** The number of tries for a valid whole value, and for a part. */
const TRIES = { whole: 60, part: 8 }
/** The number of tries for all parts of a value together. */
const MAX_TRIES = 3000
/** From so many parts or levels on, a value has no optional property. */
const ENOUGH = { parts: 100, levels: 12 }
/** The most optional items of a valid value. */
const LONGEST_LIST = 100
/** A longer list repeats its first items. */
const DISTINCT_ITEMS = 20
/** The number of tries for each item of a list without duplicates. */
const TRIES_OF_ITEM = 10

/** The place of a value: its level, and the choices there. */
interface Place {
  readonly choices: Choices
  readonly level: number
}

/** Makes one value. */
export class Maker {
  readonly #reader: SchemaReader
  readonly #uses: Uses | undefined
  #tries = 0
  #parts = 0

  /** @param uses of each schema, if this is one value of a series */
  constructor(reader: SchemaReader, uses?: Uses) {
    this.#reader = reader
    this.#uses = uses
  }

  /** Makes a value, or NONE. A copy, because fast-check adds a method to objects. */
  valueOf(schema: Schema, choices: Choices): unknown {
    const value = this.#make([schema], { choices, level: 0 })
    return value === NONE ? NONE : structuredClone(value)
  }

  /** Makes a value which fits all schemas, or NONE. */
  #make(schemas: readonly unknown[], place: Place): unknown {
    const objects = schemas.filter(isObject)
    const isValid = (value: unknown) =>
      objects.every((schema) => this.#reader.isValid(schema, value))
    const tries = place.level === 0 ? TRIES.whole : TRIES.part
    for (let count = 0; count < tries; count += 1) {
      if (this.#tries > MAX_TRIES) return NONE
      this.#tries += 1
      const choices = place.choices.atTry(count)
      const value = this.#attempt(objects, { ...place, choices }, isValid)
      if (value !== NONE && isValid(value)) return value
    }
    return NONE
  }

  /** Makes a candidate: a value which may fit all schemas. */
  #attempt(
    schemas: readonly Schema[],
    place: Place,
    isValid: (value: unknown) => boolean,
  ): unknown {
    this.#parts += 1
    const { choices } = place
    const parts = this.#chosenParts(schemas, choices)
    this.#count(parts)
    const read = parts.map((part) => this.#reader.read(part))
    const valuesOf: All = (keyword) =>
      read.flatMap((part) => (keyword in part ? [part[keyword]] : []))
    const fixed = [...valuesOf('const'), ...valuesOf('enum').flat()]
    if (fixed.length > 0) return choices.pick(fixed)
    const listed = [...valuesOf('examples').flatMap(listOf), ...valuesOf('default')]
    if (listed.length > 0 && choices.isListed()) return structuredClone(choices.pick(listed))
    const types = typesIn(valuesOf)
    if (types.length === 0) return NONE
    const type = choices.pick(types) ?? ''
    if (type !== 'object' && type !== 'array') return choices.scalar({ type, valuesOf, isValid })
    const inner = { choices: choices.within(parts), level: place.level + 1 }
    return type === 'object' ? this.#object(parts, valuesOf, inner) : this.#array(valuesOf, inner)
  }

  /** Counts the uses of schemas in a series. */
  #count(parts: readonly Schema[]): void {
    for (const part of parts) this.#uses?.set(part, (this.#uses.get(part) ?? 0) + 1)
  }

  /** A schema, the target of its reference, and their `allOf`: a value must fit all. */
  #partsOf(schema: Schema): Schema[] {
    const joint = [this.#reader.referred(schema), ...listOf(schema['allOf'])].filter(isObject)
    return [schema, ...joint.flatMap((part) => this.#partsOf(part))]
  }

  /** The schemas for one alternative of each `oneOf`, `anyOf` and `if`. */
  #chosenParts(schemas: readonly Schema[], choices: Choices): Schema[] {
    const parts = schemas.flatMap((schema) => this.#partsOf(schema))
    const add = (schema: unknown) => {
      if (isObject(schema)) parts.push(...this.#partsOf(schema))
    }
    for (const part of parts) {
      for (const keyword of ['oneOf', 'anyOf']) {
        const options = listOf(part[keyword])
        if (options.length > 0) add(choices.alternative(options))
      }
      if ('if' in part) choices.pick(conditionsOf(part))?.forEach(add)
      for (const [name, schema] of Object.entries(fields(part['dependentSchemas'])))
        if (choices.applies()) for (const rule of [schema, { required: [name] }]) add(rule)
    }
    return parts
  }

  /** Whether a value gets only required properties and items. */
  #isEnough({ level }: Place): boolean {
    return this.#parts > ENOUGH.parts || level > ENOUGH.levels + 1
  }

  #array(valuesOf: All, place: Place): unknown {
    const least = Math.max(0, ...numbersOf(valuesOf, 'minItems'))
    const length = this.#lengthOfList(valuesOf, place)
    if (length === undefined) return NONE
    if (valuesOf('uniqueItems').includes(true)) return this.#set(valuesOf, place, { least, length })
    const items: unknown[] = []
    for (let index = 0; index < length; index += 1) {
      const schemas = itemSchemas(valuesOf, index, place.choices)
      const isNew = items.length < DISTINCT_ITEMS
      const item = isNew ? this.#make(schemas, place) : items[index % DISTINCT_ITEMS]
      if (item === NONE) return index < least ? NONE : items
      items.push(item)
    }
    return items
  }

  /** A list without duplicates. */
  #set(
    valuesOf: All,
    place: Place,
    { least, length }: { readonly least: number; readonly length: number },
  ): unknown {
    const items = new Map<string, unknown>()
    for (let count = 0; count < length * TRIES_OF_ITEM && items.size < length; count += 1) {
      const schemas = itemSchemas(valuesOf, items.size, place.choices)
      const choices = place.choices.atItem(count)
      const item = this.#make(schemas, { ...place, choices })
      if (item === NONE) break
      items.set(stringify(item), item)
    }
    return items.size < least ? NONE : [...items.values()]
  }

  /** A number of items; undefined if none is allowed. */
  #lengthOfList(valuesOf: All, place: Place): number | undefined {
    const { choices } = place
    const least = Math.max(0, ...numbersOf(valuesOf, 'minItems'))
    const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxItems'))
    if (least > most) return undefined
    const described = Math.max(0, ...valuesOf('prefixItems').map((list) => listOf(list).length))
    const items = itemsAfterPrefix(valuesOf)
    const isClosed = items.some(isNever)
    const usual = Math.max(least, isClosed ? described : described + 3)
    const greatest = this.#isEnough(place) ? least : Math.min(most, usual)
    const isFull = greatest > least && !isClosed && choices.isFull()
    if (isFull) return most <= LONGEST_LIST ? most : greatest
    return choices.length(least, greatest, items)
  }

  #object(parts: readonly Schema[], valuesOf: All, place: Place): unknown {
    const described = valuesOf('properties').flatMap((properties) =>
      Object.entries(fields(properties)).flatMap(([name, schema]) =>
        isNever(schema) ? [] : [name],
      ),
    )
    const required = new Set(valuesOf('required').flatMap(listOf).map(String))
    const optional = [...new Set(described)].filter((name) => !required.has(name))
    const hasEnough = this.#isEnough(place)
    const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxProperties'))
    const chosen = hasEnough ? [] : place.choices.optional(optional, parts)
    const added = chosen.slice(0, Math.max(0, most - required.size))
    const names = withDependents([...required, ...added], valuesOf)
    const values = new Map<string, unknown>()
    const add = (name: string) => {
      const value = this.#make(memberSchemas(parts, name), place)
      if (value !== NONE) values.set(name, value)
      return value !== NONE || !required.has(name)
    }
    if (!names.every(add)) return NONE
    const least = Math.max(0, ...numbersOf(valuesOf, 'minProperties'))
    const more = hasEnough ? 0 : place.choices.more()
    for (let left = Math.max(least - values.size, Math.min(more, most - values.size)); left > 0;) {
      left -= 1
      const name = this.#otherName(valuesOf, place)
      // For Ajv, a property inherited by all objects is evaluated.
      if (typeof name === 'string' && !(name in {}) && !values.has(name)) add(name)
    }
    return inOrder(values, described)
  }

  /** The name of a property not described by the schema, or NONE. */
  #otherName(valuesOf: All, place: Place): unknown {
    const names = valuesOf('propertyNames').filter(isObject)
    const patterns = valuesOf('patternProperties').flatMap((rules) => Object.keys(fields(rules)))
    const rest = [...valuesOf('additionalProperties'), ...valuesOf('unevaluatedProperties')]
    const isOpen = !rest.some(isNever)
    if (isOpen && names.length > 0) return this.#make([...names, STRING], place)
    const sources = [...patterns.flatMap(matching), ...(isOpen ? NAMES : [])]
    const source = sources.length === 0 ? undefined : place.choices.pick(sources)
    return source === undefined ? NONE : place.choices.string(source)
  }
}

const conditionsOf = (part: Schema) => [[part['if'], part['then']], [part['else']]]

/** The types allowed by all schemas. */
function typesIn(valuesOf: All): string[] {
  const lists = valuesOf('types').map((types) => listOf(types).map(String))
  const [first, ...others] = lists
  if (first === undefined) return inferredTypes(valuesOf)
  const whole = lists.flat().filter((type) => type in RANGES)
  const types = first.flatMap((type) => (type === 'number' ? ['number', ...whole] : [type]))
  return [...new Set(types)].filter((type) => others.every((list) => fits(type, list)))
}

function inferredTypes(valuesOf: All): string[] {
  const has = (...keywords: string[]) => keywords.some((keyword) => valuesOf(keyword).length > 0)
  const ofObjects = ['properties', 'patternProperties', 'additionalProperties', 'propertyNames']
  if (has(...ofObjects, 'required', 'minProperties', 'maxProperties', 'dependentRequired'))
    return ['object']
  if (has('items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems'))
    return ['array']
  if (has('pattern', 'minLength', 'maxLength', 'format')) return ['string']
  if (has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'))
    return ['number']
  return ['any']
}

/** The schemas of an item: those of all items, and in turn one of `contains`. */
function itemSchemas(valuesOf: All, index: number, choices: Choices): unknown[] {
  const lists = valuesOf('prefixItems').map(listOf)
  const ofPrefix = lists.flatMap((list) => (index < list.length ? [list[index]] : []))
  const own = ofPrefix.length > 0 ? ofPrefix : itemsAfterPrefix(valuesOf)
  const wanted = valuesOf('contains')
  const isWanted = wanted.length > 0 && choices.applies()
  return isWanted ? [...own, ...wanted] : own
}

const itemsAfterPrefix = (valuesOf: All) => [...valuesOf('items'), ...valuesOf('unevaluatedItems')]

/** Names of properties, with those they depend on. */
function withDependents(names: readonly string[], valuesOf: All): string[] {
  const wanted = new Set(names)
  for (const name of wanted)
    for (const rule of valuesOf('dependentRequired'))
      for (const dependent of listOf(fields(rule)[name])) wanted.add(String(dependent))
  return [...wanted]
}

/** An object with its described properties first, in the order of the schema. */
function inOrder(
  values: ReadonlyMap<string, unknown>,
  described: readonly string[],
): Record<string, unknown> {
  const names = new Set([...described.filter((name) => values.has(name)), ...values.keys()])
  return Object.fromEntries([...names].map((name) => [name, values.get(name)]))
}

const STRING: Schema = { types: ['string'] }

const NAMES = [
  fc.constantFrom('other', 'another', 'more', 'a b', 'É'),
  fc.array(ASCII, { maxLength: 9 }).map((letters) => letters.join('')),
]
