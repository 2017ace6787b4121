// Inputs of the JSON reader, compared with the oracle.
import { strict as assert } from 'node:assert'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { parseJson } from '@plant-store/engine/for-store'
import { border, joined, mutated, piecesOf } from './mutated.ts'
import { EITHER, expectedOf, REFUSED } from '../../packages/testing/src/json/oracle.ts'

const WORDS = piecesOf(
  String.raw`" { } [ ] : , \ 0 - + . e E 1e400 00 0x1 NaN _ \u0000 \ud800 \u00 \x ' // "__proto__":1, "id":1, é 🌱`,
  ...[' ', '\n', '\ufeff', '\u2028', '\0', '\v'],
  ...['ff', 'c080', 'eda080', 'f4908080', 'e28281', 'f09f8c', '80'].map((digits) =>
    Buffer.from(digits, 'hex'),
  ),
)
const NAMES = String.raw`id name tag \u0069d __proto__ \u005f_proto__ constructor 1 toString a:b \": 🌱 \udf31`
const TEXTS = String.raw`Rose : \" \\ \":\" \ud83c\udf31 \ud800 \udf31\ud83c \\ud800 é 🌱 {"a":1} 9007199254740993 1e5 \u0000`

const zeros = (most: number) => fc.nat(most).map((count) => '0'.repeat(count))
const digits = fc.oneof(
  border.map((number) => String(number).replace('-', '')),
  fc.stringMatching(/^1\d{0,24}$/, { size: 'max' }),
  joined(fc.constant('1'), zeros(400)),
)
const tiny = joined(fc.constant('.'), zeros(40), fc.constantFrom('0', '1'))
const fraction = fc.oneof(fc.constantFrom('', '', '.0', '.5'), tiny)
const power = fc.constantFrom('0', '1', '19', '308', '400', '9'.repeat(20))
const exponent = joined(fc.constantFrom('e', 'E', 'e+', 'E-', 'e-', 'e-0'), power)
const shift = fc.oneof(fc.constant(''), zeros(30), zeros(700))
/** A number at a border, or of any digits, with its point anywhere. */
const numeral = joined(
  fc.constantFrom('', '', '-'),
  fc.oneof(
    joined(digits, fraction),
    fc.tuple(digits, shift).map(([digits, zeros]) => `${digits}${zeros}e-${zeros.length}`),
    fc
      .tuple(digits, shift)
      .map(([digits, zeros]) => `0.${zeros}${digits}e${zeros.length + digits.length}`),
    digits.map((digits) => `${digits.slice(0, 1)}.${digits.slice(1) || '0'}E+${digits.length - 1}`),
    joined(digits, fraction, exponent),
  ),
)

const space = fc.constantFrom('', '', '', ' ', '\n\t')
const name = fc.constantFrom('', ...NAMES.split(' ')).map((name) => `"${name}"`)
const { value } = fc.letrec<{ value: string }>((tie) => {
  const list = (item: fc.Arbitrary<string>) =>
    fc.array(item, { maxLength: 3 }).map((items) => items.join(','))
  const any = fc.oneof(
    { maxDepth: 6 },
    numeral,
    fc.constantFrom('', '\u2028', ...TEXTS.split(' ')).map((text) => `"${text}"`),
    fc.constantFrom('true', 'false', 'null'),
    list(joined(name, space, fc.constant(':'), tie('value'))).map((members) => `{${members}}`),
    list(tie('value')).map((items) => `[${items}]`),
  )
  return { value: joined(space, any, space) }
})
const valid = value.map((text) => Buffer.from(text))

/** Strings, most of them JSON. */
export const json = fc.oneof({ weight: 2, arbitrary: valid }, mutated(valid, WORDS))

/** Fails if the reader and the oracle disagree on bytes. */
export function checkJson(bytes: Uint8Array): void {
  const expected = expectedOf(bytes)
  if (expected === EITHER) return
  let actual: unknown = REFUSED
  try {
    actual = parseJson(bytes)
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  const what = `${Buffer.from(bytes).toString()}: ${inspect({ actual, expected })}`
  assert.deepStrictEqual(withNaN(actual), expected, what)
}

/** The oracle has `NaN` for a fraction that no `number` holds: its digits are unknown. */
function withNaN(value: unknown): unknown {
  if (typeof value === 'symbol') return value === REFUSED ? value : NaN
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withNaN)
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withNaN(member)]))
}
