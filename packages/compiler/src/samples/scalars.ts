// Makes strings, numbers and booleans at random, by the rules of schemas.
import fc from 'fast-check'
import { toRegExp } from '@plant-store/json-schema'
import {
  type All,
  decimalOf,
  listOf,
  NONE,
  numbersOf,
  RANGES,
  stringify,
  toInteger,
} from './schema.ts'

const OF_SCALARS = [
  ...['types', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
  ...['minLength', 'maxLength', 'pattern', 'format'],
]
/** Makers of scalars, by their rules. Each takes a while to make. */
const makers = new Map<string, () => fc.Arbitrary<unknown>>()

export function scalar(type: string, valuesOf: All): () => fc.Arbitrary<unknown> {
  const key = stringify([type, ...OF_SCALARS.map(valuesOf)])
  const earlier = makers.get(key)
  if (earlier !== undefined) return earlier
  const values = scalarOf(type, valuesOf)
  const maker = () => values
  makers.set(key, maker)
  return maker
}

/** Makes a string, a number, a boolean, null, or any of them. */
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

/** Makes values of formats which random strings never match. */
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
  char: () => fc.constantFrom('a', 'Z', '7', '🌱'),
  decimal: () => fc.integer({ min: -99_999, max: 99_999 }).map((cents) => (cents / 100).toFixed(2)),
}

/** Strings which fit many patterns: of a password, a name, a date, a version. */
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

/** The longest string without need. */
const LONGEST_TEXT = 10_000

function strings(valuesOf: All): fc.Arbitrary<unknown> {
  const minLength = Math.max(0, ...numbersOf(valuesOf, 'minLength'))
  const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxLength'))
  if (minLength > most) return fc.constant(NONE)
  const maxLength = Math.max(minLength, Math.min(most, LONGEST_TEXT))
  const near = Math.min(maxLength, minLength + 20)
  const long = most <= LONGEST_TEXT ? [{ minLength: maxLength, maxLength }] : []
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

/** All characters without surrogates. */
const CHARACTERS = fc
  .nat(0x10_ffff - 0x800)
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800))
export const ASCII = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code))

/** A string, repeated until it is long enough, or cut. */
function resized(text: string, least: number, most: number): string {
  const characters = Array.from(text)
  const isShort = characters.length < least && characters.length > 0
  const long = isShort ? text.repeat(Math.ceil(least / characters.length)) : text
  return Array.from(long).slice(0, most).join('')
}

/** Strings by matching pattern. */
const matched = new Map<string, fc.Arbitrary<string>[]>()

export function matching(pattern: string): fc.Arbitrary<string>[] {
  const texts = matched.get(pattern) ?? textsLike(pattern)
  matched.set(pattern, texts)
  return texts
}

/** Makes strings which may match a pattern: fast-check reads no lookaround, and no `\p`. */
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

/** A pattern without lookaround, and with ASCII in place of classes of Unicode. */
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
