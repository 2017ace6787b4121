// Usual strings and numbers, for examples that people read.
import fc from 'fast-check'
import { matching } from './scalars.ts'
import { type All, decimalOf, NONE, numbersOf, RANGES, toInteger, type Wanted } from './schema.ts'

/** The most strings to try for a pattern. */
const MAX_TRIED = 2000

/** A usual value of a scalar type; NONE if none is valid. @param turn counts the values of one schema in a list */
export function plainScalar({ type, valuesOf, isValid }: Wanted, turn: number): unknown {
  const valid = new Set(plainScalars(type, valuesOf)).values().filter(isValid)
  const usual = [...valid.take(turn + 1)]
  if (usual.length > 0) return usual[turn % usual.length]
  return type === 'string' ? (simplestMatch(valuesOf, isValid) ?? NONE) : NONE
}

/** The simplest string of a pattern: fast-check makes a failing value simpler, so each valid string "fails" here. */
function simplestMatch(valuesOf: All, isValid: Wanted['isValid']): string | undefined {
  const [strings] = valuesOf('pattern').flatMap((pattern) => matching(String(pattern)).slice(0, 1))
  if (strings === undefined) return undefined
  let tried = 0
  const isNoMatch = (text: string) => (tried += 1) > MAX_TRIED || !isValid(text)
  const { counterexample } = fc.check(fc.property(strings, isNoMatch), { seed: 1 })
  return counterexample?.[0]
}

function plainScalars(type: string, valuesOf: All): readonly unknown[] {
  if (type === 'string') return plainStrings(valuesOf)
  if (type === 'boolean') return [true, false]
  if (type === 'null') return [null]
  if (type in RANGES) return plainNumbers(valuesOf).map(integerOf)
  if (type === 'number') return plainNumbers(valuesOf)
  return ['string', 1, true, {}, [], null]
}

/** A value of each format. */
const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:30:00Z',
  time: '12:30:00Z',
  duration: 'P1D',
  uuid: '3fa85f64-5717-4562-b3fc-2c963f66afa6',
  email: 'ann@example.com',
  'idn-email': 'ann@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': 'https://example.com/',
  'iri-reference': 'https://example.com/',
  'uri-template': 'https://example.com/{id}',
  'json-pointer': '/a/0',
  'json-pointer-uri-fragment': '#/a/0',
  'relative-json-pointer': '1/a',
  regex: '^a+$',
  byte: 'dGV4dA==',
  char: 'a',
  decimal: '9.95',
}

/** Strings which fit many patterns: of a name, a code, a number, a telephone number, a date, a version, a color, a path. */
const USUAL = [
  ...['string', 'name', 'a', 'A', 'abc', 'ABC', 'Abc', '1', '12', '123', '1234', '12345', 'A1'],
  ...['a1', 'ABC-123', 'abc-123', 'abc_123', '+12025550123', '2026-01-31', '12:30', '12:30:00'],
  ...['1.0.0', '9.95', '#aabbcc', '/a', 'https://example.com/', 'ann@example.com', 'en-US'],
  ...['Aa1!Aa1!Aa1!', '0123456789abcdef', '507f1f77bcf86cd799439011', 'EUR'],
]

function plainStrings(valuesOf: All): readonly string[] {
  const least = Math.max(0, ...numbersOf(valuesOf, 'minLength'))
  const most = Math.min(Infinity, ...numbersOf(valuesOf, 'maxLength'))
  const ofFormats = valuesOf('format').flatMap((name) => FORMATS[String(name)] ?? [])
  return [...ofFormats, ...USUAL.map((text) => resized(text, least, most))]
}

/** A string of ASCII, repeated until it is long enough, or cut. */
export function resized(text: string, least: number, most: number): string {
  const times = Math.max(1, Math.ceil(Math.min(least, MAX_LENGTH) / text.length))
  return text.repeat(times).slice(0, Math.max(least, Math.min(most, text.length)))
}

/** The longest string to repeat: longer ones are no example. */
const MAX_LENGTH = 100_000

const SMALL = [0, 2, 3, 4, 5, 6, 7, 8, 9]

function plainNumbers(valuesOf: All): readonly number[] {
  const least = ['minimum', 'exclusiveMinimum'].flatMap((keyword) => numbersOf(valuesOf, keyword))
  const most = ['maximum', 'exclusiveMaximum'].flatMap((keyword) => numbersOf(valuesOf, keyword))
  const bounds = [...least, ...most]
  const between = least.length > 0 && most.length > 0 ? [middleOf(least, most)] : []
  const units = valuesOf('multipleOf').filter((unit) => Number(unit) > 0)
  const multiples = units.flatMap((unit) => [0, ...bounds].flatMap((near) => around(unit, near)))
  const nearBounds = bounds.flatMap((bound) => [bound, bound + 1, bound - 1])
  return [1, ...multiples, ...nearBounds, ...between, ...SMALL].filter(Number.isFinite)
}

const middleOf = (least: readonly number[], most: readonly number[]) =>
  (Math.max(...least) + Math.min(...most)) / 2

/** The multiples of a unit next to a number. */
function around(unit: unknown, near: number): number[] {
  const [digits, exponent] = decimalOf(unit)
  const step = Math.floor(near / Number(unit))
  if (!Number.isSafeInteger(step)) return []
  return [1, 0, 2, -1].map((more) => Number(`${BigInt(step + more) * digits}e${exponent}`))
}

const integerOf = (value: number) =>
  Number.isInteger(value) ? toInteger(BigInt(value)) : Math.ceil(value)
