// A second evaluator of JSON Schema, on Ajv, to compare the service with: it knows integers of 64 bits, and the two sides.
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import ajvFormats from 'ajv-formats'
import { decimalOf, RANGES } from '@plant-store/compiler/for-testing'
import type { Product } from '@plant-store/engine'
import { fields, isObject } from '../json/fields.ts'
import { stringify } from '../json/json.ts'

export { fields, isObject }

/**
 * A JSON Schema for one side, with the keywords for Ajv. `types` takes the place of `type`, and has the formats of
 * integers. The target of `$ref` is `referred(schema)`.
 */
export type Schema = Readonly<Record<string, unknown>>

/** Compiles a pattern with the flag `u`, or else without it. */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateSchema: false,
  verbose: true, // an error has its schema
  ownProperties: true,
  loopRequired: 0, // a property with an empty name is required, too
  inlineRefs: false,
  logger: false, // it would name each unknown format
  code: { regExp: Object.assign(toRegExp, { code: 'toRegExp' }) },
})
ajvFormats.default(ajv)
for (const name of [...Object.keys(RANGES), 'float', 'double']) ajv.addFormat(name, true)
ajv.addFormat('char', /^.$/su)
ajv.addFormat('decimal', /^-?\d+(\.\d+)?$/)

/** Adds the formats of a product, before the first value is validated. */
export function addFormats(formats: Product['formats'] = {}): void {
  for (const [name, validate] of Object.entries(formats))
    ajv.addFormat(name, { type: 'string', validate })
}

/** Whether a format is checked for strings. */
export function validatesTexts(format: string): boolean {
  const definition = ajv.formats[format]
  const isOfNumbers = isObject(definition) && definition['type'] === 'number'
  return definition !== undefined && definition !== true && !isOfNumbers
}

type Numeric = number | bigint

// Ajv does not accept a bigint as a number, but JavaScript compares the two exactly.
const isNumber = (value: unknown): value is Numeric =>
  typeof value === 'number' || typeof value === 'bigint'
const isInteger = (value: unknown): value is Numeric =>
  typeof value === 'bigint' || Number.isInteger(value)

function isMultiple(value: Numeric, unit: Numeric): boolean {
  const [[digits, exponent], [unitDigits, unitExponent]] = [decimalOf(value), decimalOf(unit)]
  const least = Math.min(exponent, unitExponent)
  const scaled = digits * 10n ** BigInt(exponent - least)
  return scaled % (unitDigits * 10n ** BigInt(unitExponent - least)) === 0n
}

const BOUNDS: Readonly<Record<string, (bound: Numeric, value: Numeric) => boolean>> = {
  minimum: (bound, value) => value >= bound,
  maximum: (bound, value) => value <= bound,
  exclusiveMinimum: (bound, value) => value > bound,
  exclusiveMaximum: (bound, value) => value < bound,
  multipleOf: (unit, value) => isMultiple(value, unit),
}
for (const [keyword, isRight] of Object.entries(BOUNDS)) {
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword,
    validate: (bound: Numeric, value: unknown) => !isNumber(value) || isRight(bound, value),
  })
}

// Ajv compares each pair of items, and can't write a bigint.
const OF_VALUES: Readonly<Record<string, (rule: unknown, value: unknown) => boolean>> = {
  uniqueItems: (isSet, value) =>
    isSet !== true || !Array.isArray(value) || new Set(value.map(canonical)).size === value.length,
  const: (only, value) => canonical(only) === canonical(value),
  enum: (values, value) =>
    listOf(values).some((allowed) => canonical(allowed) === canonical(value)),
}
for (const [keyword, validate] of Object.entries(OF_VALUES)) {
  ajv.removeKeyword(keyword)
  ajv.addKeyword({ keyword, validate })
}

/** JSON with sorted properties. */
const canonical = (value: unknown): string => stringify(sorted(value))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const)
  return entries.sort(([a], [b]) => (a < b ? -1 : 1))
}

/** The places of int64 in the current value. An integer without a format at such a place has its range. */
let places = new Set<string>()
ajv.addKeyword({
  keyword: 'types',
  validate: (types: string[], value: unknown, _schema: unknown, at?: { instancePath: string }) =>
    types.some((type) => isOfType(type, value, at?.instancePath ?? '')),
})

function isOfType(type: string, value: unknown, at: string): boolean {
  if (type in RANGES) return isInteger(value) && isInRange(type, value, at)
  if (isNumber(value)) return type === 'number'
  if (value === null) return type === 'null'
  return type === (Array.isArray(value) ? 'array' : typeof value)
}

function isInRange(type: string, value: Numeric, at: string): boolean {
  const [least = 0n, greatest = 0n] = RANGES[type] ?? []
  if (type === 'int64') places.add(at)
  const isWithin = value >= least && value <= greatest
  return isWithin || (type === 'integer' && places.has(at))
}

/** The errors of a value by Ajv; none if it is valid. Integers may be bigints. */
export function faultsOf(schema: Schema, value: unknown): readonly ErrorObject[] {
  const validate = ajv.compile(schema) // Ajv caches compiled schemas
  places = new Set()
  const isFine = validate(value)
  // The places of int64 are complete after the first time only.
  return isFine || (places.size > 0 && validate(value)) ? [] : (validate.errors ?? [])
}

/** Whether a value is valid. */
export const isValid = (schema: Schema, value: unknown) => faultsOf(schema, value).length === 0

/** Schemas with a `oneOf` which requires a hidden property. */
const undecided = new WeakSet<object>()
export const markUndecided = (schema: object) => undecided.add(schema)
export const isMarkedUndecided = (schema: object) => undecided.has(schema)
/** An error below these does not make the whole value invalid. */
const ALTERNATIVE = /\/(anyOf|oneOf|not|if|then|else)(\/|$)/

/**
 * Whether Ajv can't decide on a value: an alternative without its hidden property counts only where no other one matches.
 * Any further error decides.
 */
export function isUndecided(schema: Schema, value: unknown): boolean {
  const faults = faultsOf(schema, value)
  const isOpen = faults.some(({ keyword, parentSchema, params }) => {
    const isShared = keyword === 'oneOf' && params['passingSchemas'] !== null
    return isShared && undecided.has(parentSchema ?? {})
  })
  const isDecided = ({ schemaPath }: ErrorObject) =>
    schemaPath.startsWith('#') && !ALTERNATIVE.test(schemaPath)
  return isOpen && !faults.some(isDecided)
}

/** Makes a function which is called once for each object, and then gives the same result again. */
export function remembered<From extends object, Made>(
  make: (from: From) => Made,
): (from: From) => Made {
  const results = new WeakMap<From, Made>()
  return (from) => {
    const result = results.get(from) ?? make(from)
    results.set(from, result)
    return result
  }
}

const targets = new Map<unknown, Schema>()

/** Names the target of a reference, for `$ref`. It is read later: it may refer to itself. */
export function nameTarget(schema: Schema): string {
  const id = `schema-${targets.size}`
  targets.set(id, schema)
  return id
}

/** Adds a target to Ajv. */
export const addTarget = (schema: Schema, id: string) => ajv.addSchema(schema, id)

/** The target of a schema's reference; undefined if it has none. */
export const referred = ({ $ref }: Schema): Schema | undefined => targets.get($ref)

/** A schema, the target of its reference, and their `allOf`: a value must fit all. */
export function partsOf(schema: Schema): Schema[] {
  const others = [referred(schema), ...listOf(schema['allOf'])].filter(isObject)
  return [schema, ...others.flatMap(partsOf)]
}

/** A schema with those of all its alternatives. */
export function optionsOf(schema: Schema): Schema[] {
  const parts = partsOf(schema)
  const options = parts.flatMap(({ anyOf, oneOf }) => [...listOf(anyOf), ...listOf(oneOf)])
  return [...parts, ...options.filter(isObject).flatMap(optionsOf)]
}

/** The items of a list; none for other values. */
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
