import type { Parameter } from './contract.ts'
import { stringify, toInteger } from './json.ts'
import { partsOf, samplesOf } from './schemas-arbitrary.ts'
import { isValid, type Schema } from './schemas.ts'
import { mutantsOf, unviolated } from './schemas-violations.ts'

/** Spellings of numbers and booleans that some parsers accept, but JSON does not, or not for an integer. */
const SPELLINGS = [
  ...[
    '0x10',
    '1e1',
    '1.0',
    '1.',
    '.5',
    '+5',
    '05',
    '-0',
    ' 10',
    '10 ',
    '1_000',
    '1,2',
    '\u0662',
    'NaN',
    'Infinity',
  ],
  ...['TRUE', 'yes', 'undefined', '[1]'],
]

/** What is sent for a parameter: one text, or one for each item of a list. */
export type Texts = readonly string[]

export const isList = ({ schema }: Parameter) => typesOf(schema).includes('array')

/** The texts that send a value. */
export function textsFor(parameter: Parameter, value: unknown): Texts {
  const toText = (each: unknown) => (each instanceof Object ? stringify(each) : String(each))
  return isList(parameter) && Array.isArray(value) ? value.map(toText) : [toText(value)]
}

/** Valid and invalid texts for a parameter: its values, its values changed at every place, and odd spellings. */
export function textsOf(parameter: Parameter): Texts[] {
  const mutants = mutantsOf(parameter.schema, [
    ...parameter.examples,
    ...samplesOf(parameter.schema, 10),
  ])
  const sent = [
    ...mutants.map(([, value]) => textsFor(parameter, value)),
    ...SPELLINGS.map((each) => [each]),
  ]
  return [
    ...new Map(
      sent.filter(({ length }) => length > 0).map((each) => [each.join('\0'), each]),
    ).values(),
  ]
}

/** The rules of a parameter's schema that none of the texts violates, as JSON pointers. Texts can't violate all of a list. */
export function unviolatedBy(parameter: Parameter, sent: readonly Texts[]): string[] {
  const { schema } = parameter
  if (isList(parameter)) return []
  const values = sent.map(([text = '']) => spelled(schema, text))
  const rules = unviolated(schema, values)
  return typesOf(schema).includes('string')
    ? rules.filter((rule) => !rule.endsWith('/type'))
    : rules // each text is a string
}

/** The most bytes of an encoded text: a request has room for 16 KB of path and headers. */
const MAX_BYTES = 12_000

/**
 * Whether a text can be sent as a parameter. A path segment can't be empty, nor `.` or `..`, which clients remove (RFC 3986,
 * section 5.2.4). A header is a Latin-1 line.
 */
export function isSendable(parameter: Parameter, text: string): boolean {
  const isShort = text.length < 3000 && encodeURIComponent(text.toWellFormed()).length <= MAX_BYTES
  if (parameter.in === 'path') return isShort && !/^\.{0,2}$/.test(text)
  if (parameter.in !== 'header') return isShort
  if (isList(parameter) && /^$|,/.test(text)) return false
  return isShort && /^([!-~\x80-\xFF]([\t -~\x80-\xFF]*[!-~\x80-\xFF])?)?$/.test(text)
}

/** Whether a parameter is a cursor: its schema can't say which texts a list has given. */
export const isCursor = ({ in: place, name }: Parameter) => place === 'query' && name === 'cursor'

/** Whether texts are valid for a parameter. */
export function takes(parameter: Parameter, ...texts: Texts): boolean {
  const { schema } = parameter
  const [text = ''] = texts
  if (!texts.every((each) => each.isWellFormed())) return false
  if (texts.length === 1 && isValid(schema, spelled(schema, text))) return true
  const items = partsOf(schema).find((part) => part['items'] !== undefined)?.['items'] ?? {}
  const values = texts.map((each) => spelled(items as Schema, each))
  return isList(parameter) && isValid(schema, values)
}

/**
 * An invalid text that the guard is asked about before the parameter is; any text if there is none. A path that is not UTF-8
 * has no operation, so it never gets to a guard.
 */
export function faultFor(parameter: Parameter): Texts {
  const isFault = (sent: Texts) =>
    sent.every((text) => isSendable(parameter, text)) && !takes(parameter, ...sent)
  const isRouted = (sent: Texts) => parameter.in !== 'path' || sent.join().isWellFormed()
  return textsOf(parameter).find((sent) => isFault(sent) && isRouted(sent)) ?? ['any']
}

/** Parses a text as JSON (an integer has decimal digits only). If it has no such type, the value is the text itself. */
function spelled(schema: Schema, text: string): unknown {
  const types = typesOf(schema)
  if (types.includes('integer') && /^(0|-?[1-9]\d*)$/.test(text)) return toInteger(BigInt(text))
  if (types.includes('number') && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    return Number(text)
  if (types.includes('boolean') && /^(true|false)$/.test(text)) return text === 'true'
  return text
}

const typesOf = (schema: Schema): unknown[] => partsOf(schema).flatMap(({ type }) => type)
