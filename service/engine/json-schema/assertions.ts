// The assertions of JSON Schema: keywords that a value by itself satisfies or not (2020-12 validation, section 6).
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { canonicalJson, typeRule } from './numbers.ts'
import { type Evaluate, fail, memoryOf, type Outcome } from './outcome.ts'
import type { Formats, Keywords } from './schema.ts'

/** The assertions of a schema. @param required the members that must be there */
export function assertionsOf(
  schema: Keywords,
  required: readonly string[],
  formats: Formats,
): Evaluate[] {
  const { pattern, format, description } = schema
  const all: Evaluate[] = []
  const add = (
    isValid: (value: unknown, outcome: Outcome) => boolean,
    text: string,
    isTag = false,
  ) =>
    all.push(
      (value, place, outcome) => isValid(value, outcome) || fail(outcome, { place, text, isTag }),
    )
  const rule = typeRule(schema)
  if (rule) add(...rule)
  for (const values of [schema.enum, 'const' in schema ? [schema.const] : undefined]) {
    if (values) add(oneOf(values), 'must be one of the allowed values', true)
  }
  for (const [noun, words, sizeOf] of SIZES) {
    const { [`min${noun}` as const]: least = 0, [`max${noun}` as const]: most = Infinity } = schema
    const units = schema.type === 'file' ? 'bytes' : words
    if (least > 0)
      add(
        (value) => (sizeOf(value) ?? least) >= least,
        `must NOT have fewer than ${least} ${units}`,
      )
    if (most < Infinity)
      add((value) => (sizeOf(value) ?? most) <= most, `must NOT have more than ${most} ${units}`)
  }
  if (pattern !== undefined) {
    const expression = toRegExp(pattern)
    // A description helps a person more than the pattern.
    const text =
      description === undefined ? `must match pattern "${pattern}"` : `is invalid: ${description}`
    add((value) => typeof value !== 'string' || expression.test(value), text)
  }
  const isInFormat = format === undefined ? undefined : formatCheck(format, formats)
  if (isInFormat)
    add((value) => typeof value !== 'string' || isInFormat(value), `must match format "${format}"`)
  if (schema.uniqueItems === true) {
    const isUnique = (value: unknown, outcome: Outcome) =>
      !Array.isArray(value) ||
      new Set(value.map((each) => identityOf(each, outcome))).size === value.length
    add(isUnique, 'must NOT have duplicate items')
  }
  for (const name of required)
    add((value) => !isObject(value) || has(value, name), `must have required property '${name}'`)
  return all
}

/** Makes the check whether a value is one of these. */
function oneOf(values: readonly unknown[]): (value: unknown, outcome: Outcome) => boolean {
  const holders = values.filter(isHolder)
  const texts = new Set(values.filter((each) => typeof each === 'string')) // most values are
  const others = new Set(values.filter((each) => !isHolder(each)).map(canonicalJson))
  const identities = new WeakMap<object, ReadonlySet<string>>()
  return (value, outcome) => {
    if (typeof value === 'string') return texts.has(value)
    if (!isHolder(value)) return others.has(canonicalJson(value))
    const memory = memoryOf(outcome)
    const allowed =
      identities.get(memory) ?? new Set(holders.map((each) => identityOf(each, outcome)))
    identities.set(memory, allowed)
    return allowed.has(identityOf(value, outcome))
  }
}

/** A text that equal values share (JSON Schema 2020-12, section 4.2.2). An evaluation looks at each object and list once. */
function identityOf(value: unknown, outcome: Outcome): string {
  if (!isHolder(value) || Reflect.get(value, 'toJSON') instanceof Function)
    return canonicalJson(value)
  const { identities } = memoryOf(outcome)
  const known = identities.get(value)
  if (known !== undefined) return known
  const part = (each: unknown) => identityOf(each, outcome)
  const member = (name: string) => `${JSON.stringify(name)}:${part(Reflect.get(value, name))}`
  const contents = Array.isArray(value)
    ? `[${Array.from(value, part).join()}]`
    : `{${namesOf(value).sort().map(member).join()}}`
  const identity = identities.get(contents) ?? `#${identities.size}`
  identities.set(contents, identity).set(value, identity)
  return identity
}

/** Whether an object has a member. One that is undefined is none: JSON leaves it out. */
export const has = (value: object, name: string) =>
  Object.hasOwn(value, name) && Reflect.get(value, name) !== undefined

/** The names of the members that an object has. */
export const namesOf = (value: object) => Object.keys(value).filter((name) => has(value, name))

/** What each of the keywords that bound a size counts. A value without this size is valid. */
const SIZES = [
  ['Length', 'characters', lengthOf],
  ['Items', 'items', (value: unknown) => (Array.isArray(value) ? value.length : undefined)],
  [
    'Properties',
    'properties',
    (value: unknown) => (isObject(value) ? namesOf(value).length : undefined),
  ],
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
  if (known instanceof RegExp) {
    // `\S+` takes colons, too. Without the rest, the time of `url` does not grow as the square of the length.
    const expression = new RegExp(known.source.replace('\\S+(?::\\S*)?@', '\\S+@'), known.flags)
    return (text) => expression.test(text)
  }
  // A format with a `type` is one of numbers.
  const check: unknown =
    known instanceof Object && 'validate' in known && !('type' in known) ? known.validate : known
  if (!(check instanceof Function)) return undefined
  return (text) =>
    (!/^(date-)?time$/.test(name) || ZONE.test(text)) &&
    Reflect.apply(check, undefined, [text]) === true
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
export const isHolder = (value: unknown): value is object =>
  typeof value === 'object' && value !== null
