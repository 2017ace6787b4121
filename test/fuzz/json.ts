// Inputs of the JSON reader, compared with the oracle.
import { strict as assert } from 'node:assert'
import { isDeepStrictEqual } from 'node:util'
import { parseJson } from '../../service/engine/http/json.ts'
import { Choices, mutate, piecesOf } from './choices.ts'
import { EITHER, expectedOf, REFUSED } from './oracle.ts'

const WORDS = piecesOf(
  String.raw`" { } [ ] : , \ 0 - + . e E 1e400 00 0x1 NaN _ \u0000 \ud800 \u00 \x ' // "__proto__":1, "id":1, é 🌱`,
  ...[' ', '\n', '\ufeff', '\u2028', '\0', '\v'],
  ...['ff', 'c080', 'eda080', 'f4908080', 'e28281', 'f09f8c', '80'].map((each) => Buffer.from(each, 'hex')),
)
const BORDERS = [0n, 1n, 10n, 2n ** 31n, 2n ** 53n, 10n ** 15n, 10n ** 16n, 2n ** 63n, 2n ** 64n, 10n ** 30n] as const
const NAMES = [
  '',
  ...String.raw`id name tag \u0069d __proto__ \u005f_proto__ constructor 1 toString a:b \": 🌱 \udf31`.split(' '),
] as const
const TEXTS = [
  '',
  '\u2028',
  ...String.raw`Rose : \" \\ \":\" \ud83c\udf31 \ud800 \udf31\ud83c \\ud800 é 🌱 {"a":1} 9007199254740993 1e5 \u0000`.split(
    ' ',
  ),
] as const

/** A text that is JSON more often than not. */
export function jsonOf(choices: Choices): Buffer {
  const text = Buffer.from(valueOf(choices, 0))
  return choices.below(3) === 2 ? mutate(choices, text, WORDS) : text
}

function valueOf(choices: Choices, level: number): string {
  const space = choices.of(['', '', '', ' ', '\n\t'])
  const make = choices.of([
    () => numeralOf(choices),
    () => `"${choices.of(TEXTS)}"`,
    () => choices.of(['true', 'false', 'null']),
    () => `{${choices.some(3, () => `"${choices.of(NAMES)}"${space}:${valueOf(choices, level + 1)}`).join(',')}}`,
    () => `[${choices.some(3, () => valueOf(choices, level + 1)).join(`,${space}`)}]`,
  ])
  return space + (level > 5 ? numeralOf(choices) : make()) + space
}

/** A number at a border, or of any digits, with its point anywhere. */
function numeralOf(choices: Choices): string {
  const sign = choices.of(['', '', '-'])
  const near = choices.of(BORDERS) + BigInt(choices.below(7)) - 3n
  const digits = choices.of([
    () => String(near < 0n ? -near : near),
    () => '1' + choices.some(24, () => choices.below(10)).join(''),
    () => '1' + '0'.repeat(choices.below(400)),
  ])()
  const shift = choices.of([0, 0, choices.below(30), choices.below(700)])
  const fraction = choices.of([
    '',
    '',
    '.0',
    '.5',
    `.${'0'.repeat(choices.below(40))}`,
    `.${'0'.repeat(choices.below(40))}1`,
  ])
  const e = choices.of(['e', 'E', 'e+', 'E-', 'e-', 'e-0'])
  return choices.of([
    () => sign + digits + fraction,
    () => `${sign}${digits}${'0'.repeat(shift)}e-${shift}`,
    () => `${sign}0.${'0'.repeat(shift)}${digits}e${shift + digits.length}`,
    () => `${sign}${digits.slice(0, 1)}.${digits.slice(1) || '0'}E+${digits.length - 1}`,
    () => sign + digits + fraction + e + choices.of(['0', '1', '19', '308', '400', '99999999999999999999']),
  ])()
}

/** Fails if the reader makes of bytes what the oracle does not. */
export function checkJson(bytes: Uint8Array): void {
  const expected = expectedOf(bytes)
  if (expected === EITHER) return
  let actual: unknown = REFUSED
  try {
    actual = parseJson(bytes)
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  assert.ok(
    isDeepStrictEqual(withNaN(actual), expected),
    `${Buffer.from(bytes).toString()} is ${show(actual)}, and not ${show(expected)}`,
  )
}

/** A fraction that is no `number` is `NaN` to the oracle: it says nothing of its text. */
function withNaN(value: unknown): unknown {
  if (typeof value === 'symbol') return value === REFUSED ? value : NaN
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withNaN)
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withNaN(each)]))
}

function show(value: unknown): string {
  return typeof value === 'symbol'
    ? String(value)
    : JSON.stringify(value, (_name, each: unknown) =>
        typeof each === 'bigint' ? `${each}n` : Object.is(each, -0) || Number.isNaN(each) ? String(each) : each,
      )
}
