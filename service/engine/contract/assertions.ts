// The keywords of JSON Schema that a value satisfies or not, whatever applies to its parts (2020-12 validation, section 6).
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { BytesRule, Keywords } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { describeNumber, digitsOf, isNumber, isOfType, numberCheck } from './numbers.ts'
import { parseJson } from '../http/json.ts'

export type Formats = NonNullable<Extensions['formats']>

/** Where a part is: the object or the list that it is in, with the name of the member or the index of the item. */
export interface Place {
  readonly holder: object
  readonly key: string | number
  /** The place of the holder. The place of a whole value has none. */
  readonly outer?: Place
}

/** A schema that applies to a part of a value. */
export interface Found {
  readonly schema: Keywords
  readonly value: unknown
  readonly place: Place
}

export interface Fault {
  readonly place: Place
  readonly keyword: string
  readonly text: string
}

/** What the evaluation of a value comes to. */
export interface Outcome {
  readonly found: Found[]
  fault?: Fault
  /** Whether faults are passed over, so that everything that applies is found. */
  readonly isLenient?: boolean
  /** What is known not to be valid: without it, alternatives within alternatives would take exponential time. */
  failed?: Map<unknown, Map<Evaluate, Fault>>
}

/**
 * Evaluates a value, or a part of one.
 * @param evaluated gets the keys of the parts that have been evaluated, if `unevaluatedProperties` or `unevaluatedItems` asks
 * @returns whether it is valid. If not, the outcome has a fault
 */
export type Evaluate = (value: unknown, place: Place, outcome: Outcome, evaluated?: Set<string>) => boolean

/** Notes a fault. @returns whether to pass over it */
export function fail(outcome: Outcome, fault: Fault): boolean {
  outcome.fault = fault
  return outcome.isLenient === true
}

/** The assertions of a schema. */
export function assertionsOf(schema: Keywords, formats: Formats): readonly Evaluate[] {
  const { type, number, file, uniqueItems, required = [], pattern, format, dependentRequired = {} } = schema
  const all: Evaluate[] = []
  const add = (keyword: string, isValid: (value: unknown) => boolean, text: string) =>
    all.push((value, place, outcome) => isValid(value) || fail(outcome, { place, keyword, text }))
  if (type !== undefined) {
    const types = [type].flat()
    add('type', (value) => types.some((each) => isOfType(value, each)), `must be ${types.join()}`)
  }
  if (number) add('number', numberCheck(number), `must be ${describeNumber(number)}`)
  for (const keyword of ['enum', 'const'] as const) {
    const values = schema[keyword]?.map((text) => canonicalJson(parseJson(Buffer.from(text))))
    const allowed = new Set(values)
    if (values) add(keyword, (value) => allowed.has(canonicalJson(value)), 'must be one of the allowed values')
  }
  if (file)
    add('file', (value) => value instanceof Blob && isWithin(value.size, file), `must be a file${describe(file)}`)
  for (const [noun, words, sizeOf] of SIZES) {
    const { [`min${noun}` as const]: least = 0, [`max${noun}` as const]: most = Infinity } = schema
    if (least > 0)
      add(`min${noun}`, (value) => (sizeOf(value) ?? least) >= least, `must NOT have fewer than ${least} ${words}`)
    if (most < Infinity)
      add(`max${noun}`, (value) => (sizeOf(value) ?? most) <= most, `must NOT have more than ${most} ${words}`)
  }
  if (pattern !== undefined) {
    const expression = toRegExp(pattern)
    const { description } = schema // it helps a person more than the pattern
    const text = description === undefined ? `must match pattern "${pattern}"` : `is invalid: ${description}`
    add('pattern', (value) => typeof value !== 'string' || expression.test(value), text)
  }
  const isInFormat = format === undefined ? undefined : formatCheck(format, formats)
  if (isInFormat)
    add('format', (value) => typeof value !== 'string' || isInFormat(value), `must match format "${format}"`)
  if (uniqueItems === true)
    add(
      'uniqueItems',
      (value) => !Array.isArray(value) || new Set(value.map(canonicalJson)).size === value.length,
      'must NOT have duplicate items',
    )
  for (const name of required)
    add('required', (value) => !isObject(value) || has(value, name), `must have required property '${name}'`)
  for (const [given, names] of Object.entries(dependentRequired))
    for (const name of names)
      add(
        'dependentRequired',
        (value) => !isObject(value) || !has(value, given) || has(value, name),
        `must have property ${name} when property ${given} is present`,
      )
  return all
}

/** A member that is undefined is none: JSON leaves it out. */
const has = (value: object, name: string) => Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined

/** What each of the keywords that bound a size counts. A value without this size is valid. */
const SIZES = [
  ['Length', 'characters', (value: unknown) => (typeof value === 'string' ? lengthOf(value) : undefined)],
  ['Items', 'items', (value: unknown) => (Array.isArray(value) ? value.length : undefined)],
  ['Properties', 'properties', (value: unknown) => (isObject(value) ? Object.keys(value).length : undefined)],
] as const

/** The length of a text in characters, not in units of UTF-16. */
const lengthOf = (text: string) => (/[\ud800-\udbff]/.test(text) ? Array.from(text).length : text.length)

const isWithin = (size: number, { minLength = 0, maxLength = Infinity }: BytesRule) =>
  size >= minLength && size <= maxLength

function describe({ minLength, maxLength }: BytesRule): string {
  const bounds = [minLength && ` from ${minLength} bytes`, maxLength && ` up to ${maxLength} bytes`]
  return bounds.filter(Boolean).join('')
}

/** What the formats of ajv-formats would take for more: RFC 3339 (section 5.6) has no space, and an offset has its minutes. */
const ZONE = /^[\dt:.-]+(z|[+-]\d\d:\d\d)$/i

/** @returns undefined for a format that says nothing of texts */
function formatCheck(name: string, formats: Formats): ((text: string) => boolean) | undefined {
  if (Object.hasOwn(formats, name)) return formats[name]
  const known: unknown = Object.hasOwn(fullFormats, name) && Reflect.get(fullFormats, name)
  const check: unknown = known instanceof Object && 'validate' in known ? known.validate : known
  if (check instanceof RegExp) return (text) => check.test(text)
  if (!(check instanceof Function)) return undefined
  return (text) => (!/^(date-)?time$/.test(name) || ZONE.test(text)) && Reflect.apply(check, undefined, [text]) === true
}

/** The JSON text of a value, the same for all values that are equal: names are sorted, and numbers have all their digits. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => {
    if (isObject(each)) return Object.fromEntries(Object.entries(each).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    return isNumber(each) ? JSON.rawJSON(digitsOf(each)) : each
  })
}

const PATTERNS = new Map<string, RegExp>()

/** Compiles a pattern with the flag `u` (JSON Schema 2020-12, section 6.4); without it if it works only so. @throws {SyntaxError} */
export function toRegExp(pattern: string): RegExp {
  const known = PATTERNS.get(pattern) ?? tryUnicode(pattern) ?? new RegExp(pattern)
  PATTERNS.set(pattern, known)
  return known
}

function tryUnicode(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, 'u')
  } catch {
    return undefined
  }
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
