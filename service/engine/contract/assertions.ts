// The assertions of JSON Schema: keywords that a value by itself satisfies or not (2020-12 validation, section 6).
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Keywords } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { canonicalJson, typeRule } from './numbers.ts'

export type Formats = NonNullable<Extensions['formats']>

/** Where a part is: the object or the list that it is in, with the name of the member or the index of the item. */
export interface Place {
  readonly holder: object
  readonly key: string | number
  /** The place of the holder. The place of a whole value has none. */
  readonly outer?: Place
}

export interface Fault {
  readonly place: Place
  readonly text: string
  /** Whether it is of `enum` or `const`, which often only tell alternatives apart. */
  readonly isTag?: boolean
}

/** What the evaluation of a value comes to. */
export interface Outcome<Change = unknown> {
  /** The parts that schemas change, if they are valid. */
  readonly found: Set<Match<Change>>
  fault?: Fault
  /** Whether evaluation goes on after a fault, so that everything that applies is found. */
  readonly isLenient?: boolean
  /** The attempts by value: without them, alternatives within alternatives would take exponential time. */
  known?: Map<unknown, Map<Evaluate, Attempt>>
}

interface Match<Change> {
  readonly change: Change
  readonly value: unknown
  readonly place: Place
}

/** What the evaluation of a value by a schema came to, at a place. */
export interface Attempt extends Outcome {
  readonly place: Place
  readonly keys: Set<string> | undefined
}

/**
 * Evaluates a value, or a part of one.
 * @param evaluated gets the keys of the parts that have been evaluated, if `unevaluatedProperties` or `unevaluatedItems` asks
 * @returns whether it is valid. If not, the outcome has a fault
 */
export type Evaluate = (value: unknown, place: Place, outcome: Outcome, evaluated?: Set<string>) => boolean

/** Notes a fault. @returns whether to go on after it */
export function fail(outcome: Outcome, fault: Fault): boolean {
  outcome.fault = fault
  return outcome.isLenient === true
}

/** The assertions of a schema. @param required the members that must be there */
export function assertionsOf(schema: Keywords, required: readonly string[], formats: Formats): Evaluate[] {
  const { pattern, format, description } = schema
  const all: Evaluate[] = []
  const add = (isValid: (value: unknown) => boolean, text: string, isTag = false) =>
    all.push((value, place, outcome) => isValid(value) || fail(outcome, { place, text, isTag }))
  const rule = typeRule(schema)
  if (rule) add(...rule)
  for (const values of [schema.enum, 'const' in schema ? [schema.const] : undefined]) {
    const allowed = new Set(values?.map(canonicalJson))
    if (values) add((value) => allowed.has(canonicalJson(value)), 'must be one of the allowed values', true)
  }
  for (const [noun, words, sizeOf] of SIZES) {
    const { [`min${noun}` as const]: least = 0, [`max${noun}` as const]: most = Infinity } = schema
    const units = schema.type === 'file' ? 'bytes' : words
    if (least > 0) add((value) => (sizeOf(value) ?? least) >= least, `must NOT have fewer than ${least} ${units}`)
    if (most < Infinity) add((value) => (sizeOf(value) ?? most) <= most, `must NOT have more than ${most} ${units}`)
  }
  if (pattern !== undefined) {
    const expression = toRegExp(pattern)
    // A description helps a person more than the pattern.
    const text = description === undefined ? `must match pattern "${pattern}"` : `is invalid: ${description}`
    add((value) => typeof value !== 'string' || expression.test(value), text)
  }
  const isInFormat = format === undefined ? undefined : formatCheck(format, formats)
  if (isInFormat) add((value) => typeof value !== 'string' || isInFormat(value), `must match format "${format}"`)
  if (schema.uniqueItems === true) {
    const isUnique = (value: unknown) =>
      !Array.isArray(value) || new Set(value.map(canonicalJson)).size === value.length
    add(isUnique, 'must NOT have duplicate items')
  }
  for (const name of required)
    add((value) => !isObject(value) || has(value, name), `must have required property '${name}'`)
  return all
}

/** Whether an object has a member. One that is undefined is none: JSON leaves it out. */
export const has = (value: object, name: string) => Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined

/** What each of the keywords that bound a size counts. A value without this size is valid. */
const SIZES = [
  ['Length', 'characters', lengthOf],
  ['Items', 'items', (value: unknown) => (Array.isArray(value) ? value.length : undefined)],
  ['Properties', 'properties', (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined)],
] as const

/** The length of a text in characters, not in units of UTF-16; of a file, in bytes. */
function lengthOf(value: unknown): number | undefined {
  if (typeof value !== 'string') return value instanceof Blob ? value.size : undefined
  return /[\ud800-\udbff]/.test(value) ? Array.from(value).length : value.length
}

/** Times have no space, and an offset has its minutes (RFC 3339, section 5.6). The formats of ajv-formats allow more. */
const ZONE = /^[\dt:.-]+(z|[+-]\d\d:\d\d)$/i

/** @returns undefined for a format that says nothing of texts */
function formatCheck(name: string, formats: Formats): ((text: string) => boolean) | undefined {
  if (Object.hasOwn(formats, name)) return formats[name]
  const known: unknown = Object.hasOwn(fullFormats, name) && Reflect.get(fullFormats, name)
  if (known instanceof RegExp) return (text) => known.test(text)
  // A format with a `type` is one of numbers.
  const check: unknown = known instanceof Object && 'validate' in known && !('type' in known) ? known.validate : known
  if (!(check instanceof Function)) return undefined
  return (text) => (!/^(date-)?time$/.test(name) || ZONE.test(text)) && Reflect.apply(check, undefined, [text]) === true
}

/** Compiles a pattern with the flag `u` (JSON Schema 2020-12, section 6.4); without it if only that works. @throws {SyntaxError} */
export function toRegExp(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return new RegExp(pattern)
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is an object or a list. */
export const isHolder = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Evaluates by the schema `true` or `false`. A fault is reported of the object or the list around the value. */
export function always(isValid: boolean): Evaluate {
  return (_value, place, outcome) => {
    if (isValid) return true
    const noun = typeof place.key === 'number' ? 'item' : 'property'
    const text = `must not have the ${noun} ${String(place.key).slice(0, 100)}`
    return fail(outcome, { place: place.outer ?? place, text })
  }
}

/** Chooses the fault to report of alternatives: the deepest one. `enum` and `const` only tell alternatives apart. */
export function deepest(faults: readonly Fault[]): Fault | undefined {
  const rank = ({ place, isTag }: Fault) => (isTag === true ? 0 : 1 + levelOf(place))
  const [first, second] = faults.toSorted((a, b) => rank(b) - rank(a))
  return first !== undefined && (second === undefined || rank(first) > rank(second)) ? first : undefined
}

export const levelOf = ({ outer }: Place): number => (outer === undefined ? 0 : 1 + levelOf(outer))
