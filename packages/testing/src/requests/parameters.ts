// Valid and invalid strings for parameters.
import type { Parameter } from '../contract/contract.ts'
import { expectedOf, REFUSED } from '../json/oracle.ts'
import { parse, stringify } from '../json/json.ts'
import { canHaveNames, isOfMembers, readObject, textsOfMembers } from './objects.ts'
import { itemsOf, listsOf, readingsOf, typesOf } from '../schemas/readings.ts'
import { samplesOf } from '../schemas/samples.ts'
import { faultsOf, isObject } from '../schemas/schemas.ts'
import { NEVER_VIOLATED, type Skipped, violationsOf } from '../schemas/violations.ts'

/** Spellings of numbers and booleans which some parsers accept, and JSON refuses, or refuses for an integer. */
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

/** The strings of a parameter: one, one for each item of a list, or a name and a string for each property of an object. */
export type Texts = readonly string[]

export const isList = ({ schema, sentAs }: Parameter) =>
  sentAs === undefined && typesOf(schema).has('array')

/** The strings of a value; none if it can't be sent. */
export function textsFor(parameter: Parameter, value: unknown): Texts {
  if (parameter.sentAs === 'json') return [stringify(value)]
  if (isOfMembers(parameter)) return isObject(value) ? textsOfMembers(value) : []
  const toText = (item: unknown) => (item instanceof Object ? stringify(item) : String(item))
  return isList(parameter) && Array.isArray(value) ? value.map(toText) : [toText(value)]
}

/**
 * Valid and invalid strings for a parameter: its values, its values changed at every place, and odd spellings. Cursors are
 * not among the valid ones: only a list can give one.
 * @returns also the rules without a violation, and the reasons
 */
export function textsOf(parameter: Parameter) {
  const values = [...parameter.examples, ...samplesOf(parameter.schema, 10)]
  const { mutants, skipped } = violationsOf(parameter.schema, values, (value) => {
    const texts = textsFor(parameter, value)
    return canBeSent(parameter, texts) ? faultsIn(parameter, texts) : []
  })
  const candidates = [
    ...mutants.map(([, value]) => textsFor(parameter, value)),
    ...SPELLINGS.map((spelling) => [spelling]),
  ].filter((texts) => canBeSent(parameter, texts))
  const distinct = [...new Map(candidates.map((texts) => [texts.join('\0'), texts])).values()]
  const sent = distinct.map((texts) => ({ texts, isRight: takes(parameter, ...texts) }))
  const isText = [parameter.schema, ...itemsOf(parameter.schema)].some((schema) =>
    typesOf(schema).has('string'),
  )
  // Any string is a string, and a list of one. A parameter sent by property is an object.
  const isAlwaysKept = ({ rule, reason }: Skipped) =>
    rule.endsWith('/type') && (isText || (isOfMembers(parameter) && reason === NEVER_VIOLATED))
  return {
    sent: sent.filter(({ isRight }) => !isRight || !isCursor(parameter)),
    skipped: skipped.filter((rule) => !isAlwaysKept(rule)),
  }
}

/** Whether strings can be sent: an empty list and an empty object can't. */
export function canBeSent(parameter: Parameter, texts: Texts): boolean {
  const isShort = encodeURIComponent(texts.join().toWellFormed()).length <= MAX_BYTES
  if (texts.length === 0 || !isShort || !canHaveNames(parameter, texts)) return false
  return texts.every((text) => isSendable(parameter, text))
}

/** The most bytes of an encoded string: a request has room for 16 KB of path and headers. */
const MAX_BYTES = 12_000

/**
 * Whether a string can be sent as a parameter. A path segment can't be empty, `.` or `..`, which clients remove (RFC 3986,
 * section 5.2.4). A header is a line of Latin-1.
 */
export function isSendable(parameter: Parameter, text: string): boolean {
  const isShort = text.length < 3000 && encodeURIComponent(text.toWellFormed()).length <= MAX_BYTES
  if (parameter.in === 'path') return isShort && !/^\.{0,2}$/.test(text)
  if (parameter.in !== 'header') return isShort
  if ((isList(parameter) || isOfMembers(parameter)) && /^$|[,=]/.test(text)) return false
  return isShort && /^([!-~\x80-\xFF]([\t -~\x80-\xFF]*[!-~\x80-\xFF])?)?$/.test(text)
}

/** Whether a parameter is a cursor. Its schema allows more strings than a list gives. */
export const isCursor = ({ in: place, name }: Parameter) => place === 'query' && name === 'cursor'

/** Whether strings are valid for a parameter. */
export function takes(parameter: Parameter, ...texts: Texts): boolean {
  const [text, ...rest] = texts
  if (parameter.allowsEmpty && text === '' && rest.length === 0) return true
  return texts.every((text) => text.isWellFormed()) && faultsIn(parameter, texts).length === 0
}

/** The errors of strings in every reading; none if one reading is valid. */
function faultsIn(parameter: Parameter, texts: Texts): ReturnType<typeof faultsOf> {
  const { schema } = parameter
  if (parameter.sentAs !== undefined) return faultsOf(schema, valueOf(parameter, texts))
  const [text = ''] = texts
  const values = texts.length === 1 ? readingsOf(schema, text) : []
  if (isList(parameter)) values.push(...listsOf(schema, texts))
  const faults = values.map((value) => faultsOf(schema, value))
  return faults.some((faultsOfValue) => faultsOfValue.length === 0) ? [] : faults.flat()
}

/** The value of an object or JSON parameter; for malformed strings a symbol, which no schema allows. */
function valueOf(parameter: Parameter, texts: Texts): unknown {
  if (parameter.sentAs !== 'json') return readObject(parameter, texts) ?? REFUSED
  const [text = '', ...others] = texts
  const isJson = others.length === 0 && expectedOf(Buffer.from(text)) !== REFUSED
  return isJson ? parse(text) : REFUSED
}

/**
 * An invalid string, to see whether the guard comes before the parameter; any string if none is invalid. A path other than
 * UTF-8 has no operation, and never reaches a guard.
 */
export function faultFor(parameter: Parameter): Texts {
  const isRouted = (sent: Texts) => parameter.in !== 'path' || sent.join().isWellFormed()
  const faults = textsOf(parameter).sent.filter(({ texts, isRight }) => !isRight && isRouted(texts))
  return faults[0]?.texts ?? ['any']
}
