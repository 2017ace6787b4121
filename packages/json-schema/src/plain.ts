// Accepts values of plain schemas without an evaluation. What it does not accept, the evaluation decides.
import { decodeInt64, isInRange, isInt64, RANGES, typesOf } from './core/numbers.ts'
import { toRegExp } from './core/patterns.ts'
import type { Keywords, Schema } from './core/schema.ts'
import { hasProperty, isObject } from './core/values.ts'

/** A schema of objects, lists, strings, integers and booleans, without alternatives and annotations other than int64. */
export interface PlainSchema {
  /** Whether a value surely fits. False says nothing. */
  readonly fits: (value: unknown) => boolean
  /** Makes a `bigint` of each int64 in a value that fits, and returns it; undefined if there are none. */
  readonly decode: ((value: unknown) => unknown) | undefined
}

/** Finds the target of a reference. */
type Resolve = (id: string) => Schema | undefined

/** Reads the schema of a part. */
type Child = (schema: Schema) => PlainSchema | undefined

interface PlainType {
  readonly keywords: readonly (keyof Keywords)[]
  /** @returns undefined for a schema that is not plain */
  readonly read: (schema: Keywords, child: Child) => PlainSchema | undefined
}

const TYPES = new Map<unknown, PlainType>([
  ['object', { keywords: ['properties', 'required', 'additionalProperties'], read: plainObject }],
  ['array', { keywords: ['items', 'minItems', 'maxItems'], read: plainList }],
  ['string', { keywords: ['minLength', 'maxLength', 'pattern', 'enum'], read: plainString }],
  ['integer', { keywords: ['format', 'minimum', 'maximum'], read: plainInteger }],
  ['boolean', { keywords: [], read: () => ({ fits: isBoolean, decode: undefined }) }],
])

/** Reads plain schemas, each once: many schemas may share a target. */
export class PlainSchemas {
  readonly #resolve: Resolve
  readonly #read = new Map<Schema, PlainSchema | undefined>()

  constructor(resolve: Resolve) {
    this.#resolve = resolve
  }

  /** @returns undefined for a schema that is not plain, or leads back to itself */
  of(schema: Schema): PlainSchema | undefined {
    if (this.#read.has(schema)) return this.#read.get(schema)
    this.#read.set(schema, undefined) // until it is read: if it leads back here, it is not plain
    const plain = typeof schema === 'boolean' ? undefined : this.#readSchema(schema)
    this.#read.set(schema, plain)
    return plain
  }

  #readSchema(schema: Keywords): PlainSchema | undefined {
    const { type, $ref } = schema
    if ($ref !== undefined && hasOnly(schema, ['$ref']))
      return this.of(this.#resolve($ref) ?? false)
    const plainType = TYPES.get(type)
    const isPlain = plainType !== undefined && hasOnly(schema, ['type', ...plainType.keywords])
    return isPlain ? plainType.read(schema, (part) => this.of(part)) : undefined
  }
}

function hasOnly(schema: Keywords, keywords: readonly string[]): boolean {
  return Object.keys(schema).every((name) => name === 'description' || keywords.includes(name))
}

const isBoolean = (value: unknown) => typeof value === 'boolean'

function plainObject(schema: Keywords, child: Child): PlainSchema | undefined {
  const { properties = {}, required = [], additionalProperties } = schema
  if (additionalProperties !== false) return undefined
  const described = new Map<string, PlainSchema>()
  for (const [name, part] of Object.entries(properties)) {
    const plain = child(part)
    if (plain === undefined) return undefined
    described.set(name, plain)
  }
  const needed = new Set(required)
  const fits = (value: unknown) => isObject(value) && fitsObject(value, described, needed)
  const decoded = [...described].flatMap(([name, { decode }]) => (decode ? { name, decode } : []))
  if (decoded.length === 0) return { fits, decode: undefined }
  const decode = (value: unknown) => {
    if (!isObject(value)) return value
    for (const { name, decode } of decoded)
      if (hasProperty(value, name)) value[name] = decode(value[name])
    return value
  }
  return { fits, decode }
}

/** An undefined property is absent, as in JSON. */
function fitsObject(
  value: Readonly<Record<string, unknown>>,
  described: ReadonlyMap<string, PlainSchema>,
  needed: ReadonlySet<string>,
): boolean {
  let missing = needed.size
  for (const name of Object.keys(value)) {
    const property = value[name]
    if (property === undefined) continue
    if (described.get(name)?.fits(property) !== true) return false
    if (needed.has(name)) missing -= 1
  }
  return missing === 0
}

function plainList(schema: Keywords, child: Child): PlainSchema | undefined {
  const { items, minItems = 0, maxItems = Infinity } = schema
  const item = items === undefined ? undefined : child(items)
  if (item === undefined) return undefined
  const fits = (value: unknown) => {
    if (!Array.isArray(value) || value.length < minItems || value.length > maxItems) return false
    for (const part of value) if (!item.fits(part)) return false // `every` would skip holes
    return true
  }
  const { decode } = item
  if (decode === undefined) return { fits, decode }
  const decodeItems = (value: unknown) => {
    if (Array.isArray(value))
      for (const [index, item] of value.entries()) value[index] = decode(item)
    return value
  }
  return { fits, decode: decodeItems }
}

function plainInteger(schema: Keywords): PlainSchema | undefined {
  const { minimum = -Infinity, maximum = Infinity } = schema
  const [name = ''] = typesOf(schema)
  const range = RANGES[name]
  const isOtherFormat = schema.format !== undefined && name === 'integer'
  if (range === undefined || isOtherFormat) return undefined
  const isLong = isInt64(schema)
  // Another integer than an int64 becomes a number, if it is a bigint: see `roundNumbers`.
  const fits = (value: unknown) =>
    (isLong || typeof value === 'number') &&
    isInRange(value, range) &&
    value >= minimum &&
    value <= maximum
  return { fits, decode: isLong ? decodeInt64 : undefined }
}

const SURROGATE = /[\ud800-\udfff]/

/** Lengths are in code points: a string with surrogates is shorter than its `length`. */
function plainString(schema: Keywords): PlainSchema | undefined {
  const { minLength = 0, maxLength = Infinity, pattern, enum: allowed } = schema
  const expression = pattern === undefined ? undefined : toRegExp(pattern)
  const values = allowed && new Set(allowed)
  const fits = (value: unknown) => {
    if (typeof value !== 'string') return false
    if (value.length < minLength || value.length > maxLength) return false
    if (minLength > 1 && SURROGATE.test(value)) return false
    return expression?.test(value) !== false && values?.has(value) !== false
  }
  return { fits, decode: undefined }
}
