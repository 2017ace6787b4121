import type { Parameter } from './contract.ts'
import { stringify, toInteger } from './json.ts'
import { partsOf, samplesOf } from './schemas-arbitrary.ts'
import { isValid, type Schema } from './schemas.ts'
import { mutantsOf, unviolated } from './schemas-violations.ts'

/** What some readers of numbers and booleans take, and JSON does not, or not for an integer. */
const SPELLINGS = [
  ...['0x10', '1e1', '1.0', '1.', '.5', '+5', '05', '-0', ' 10', '10 ', '1_000', '1,2', '\u0662', 'NaN', 'Infinity'],
  ...['TRUE', 'yes', 'undefined', '[1]'],
]

/** Texts for a parameter, valid and invalid ones: its values, changed at every place, and odd spellings. */
export function textsOf({ schema, examples }: Parameter): string[] {
  const mutants = mutantsOf(schema, [...examples, ...samplesOf(schema, 10)])
  const texts = mutants.map(({ value }) => (value instanceof Object ? stringify(value) : String(value)))
  return [...new Set([...texts, ...SPELLINGS])]
}

/** The rules of a parameter's schema that none of the texts violates, as JSON pointers. */
export function unviolatedBy({ schema }: Parameter, texts: readonly string[]): string[] {
  const rules = unviolated(
    schema,
    texts.map((text) => spelled(schema, text)),
  )
  return typesOf(schema).includes('string') ? rules.filter((rule) => !rule.endsWith('/type')) : rules // all texts are
}

/** Whether a text can be sent as a parameter: an empty segment makes another path, a header is a line of Latin-1. */
export function isSendable(parameter: Parameter, text: string): boolean {
  const isShort = text.length < 3000
  if (parameter.in !== 'header') return isShort && (text !== '' || parameter.in !== 'path')
  return isShort && /^([!-~\x80-\xFF]([\t -~\x80-\xFF]*[!-~\x80-\xFF])?)?$/.test(text)
}

/** Whether a parameter takes a text: what the text spells is valid. */
export function takes({ schema }: Parameter, text: string): boolean {
  return text.isWellFormed() && isValid(schema, spelled(schema, text))
}

/** What a text spells in JSON, in plain decimal digits if it is an integer; the text itself if it is of no such type. */
function spelled(schema: Schema, text: string): unknown {
  const types = typesOf(schema)
  if (types.includes('integer') && /^(0|-?[1-9]\d*)$/.test(text)) return toInteger(BigInt(text))
  if (types.includes('number') && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text)) return Number(text)
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

function typesOf(schema: Schema): unknown[] {
  return partsOf(schema).flatMap(({ type }) => type)
}
