import type { Parameter } from './contract.ts'
import { stringify, toInteger } from './json.ts'
import { fits, samplesOf } from './schemas-arbitrary.ts'
import {
  faultsOf,
  isObject,
  isValid,
  listOf,
  optionsOf,
  partsOf,
  RANGES,
  type Schema,
} from './schemas.ts'
import { violationsOf } from './schemas-violations.ts'

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

export const isList = ({ schema }: Parameter) => typesOf(schema).has('array')

/** The texts that send a value. */
export function textsFor(parameter: Parameter, value: unknown): Texts {
  const toText = (item: unknown) => (item instanceof Object ? stringify(item) : String(item))
  return isList(parameter) && Array.isArray(value) ? value.map(toText) : [toText(value)]
}

/**
 * Valid and invalid texts for a parameter: its values, its values changed at every place, and odd spellings. A cursor that
 * no list has given is not among the valid ones.
 * @returns also the rules that none of them violates, and why
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
  return {
    sent: sent.filter(({ isRight }) => !isRight || !isCursor(parameter)),
    skipped: skipped.filter(({ rule }) => !isText || !rule.endsWith('/type')),
  }
}

/** Whether texts can be sent. An empty list can't. */
export const canBeSent = (parameter: Parameter, texts: Texts) =>
  texts.length > 0 && texts.every((text) => isSendable(parameter, text))

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
  const [text, ...rest] = texts
  if (parameter.allowsEmpty && text === '' && rest.length === 0) return true
  return texts.every((text) => text.isWellFormed()) && faultsIn(parameter, texts).length === 0
}

/** What is wrong with texts in whatever way they are read; nothing, if they are valid in one. */
function faultsIn(parameter: Parameter, texts: Texts): ReturnType<typeof faultsOf> {
  const { schema } = parameter
  const [text = ''] = texts
  const values = texts.length === 1 ? readingsOf(schema, text) : []
  if (isList(parameter)) values.push(...listsOf(schema, texts))
  const faults = values.map((value) => faultsOf(schema, value))
  return faults.some((faultsOfValue) => faultsOfValue.length === 0) ? [] : faults.flat()
}

/**
 * An invalid text that the guard is asked about before the parameter is; any text if there is none. A path that is not UTF-8
 * has no operation, so it never gets to a guard.
 */
export function faultFor(parameter: Parameter): Texts {
  const isRouted = (sent: Texts) => parameter.in !== 'path' || sent.join().isWellFormed()
  const faults = textsOf(parameter).sent.filter(({ texts, isRight }) => !isRight && isRouted(texts))
  return faults[0]?.texts ?? ['any']
}

/** Lists of texts: each text is the first that it may be, or all are of one type. */
function listsOf(schema: Schema, texts: Texts): unknown[] {
  const items = itemsOf(schema)
  const first = texts.map((text, index) => firstReading(itemsOf(schema, index), text))
  return [
    first,
    ...items.map((item) => texts.map((text) => readingsOf(item, text)[0] ?? text)),
    texts,
  ]
}

/** The first reading of a text that one of the schemas allows. */
function firstReading(schemas: readonly Schema[], text: string): unknown {
  const readings = schemas.flatMap((schema) => readingsOf(schema, text))
  const valid = readings.find((value) => schemas.some((schema) => isValid(schema, value)))
  return valid ?? readings[0] ?? text
}

/** The schemas of the items of a list, in one alternative or another. @param index of the item; absent for any item */
function itemsOf(schema: Schema, index = Infinity): Schema[] {
  const items = optionsOf(schema).flatMap((part) => {
    const item = listOf(part['prefixItems'])[index] ?? part['items'] ?? part['unevaluatedItems']
    return isObject(item) ? [item] : []
  })
  return items.length > 0 ? items : [{}]
}

/** What a text is by a schema. */
export const readingOf = (schema: Schema, text: string) => {
  const readings = readingsOf(schema, text)
  return readings.find((value) => isValid(schema, value)) ?? readings[0]
}

/** What a text may be by a schema: an integer, which has decimal digits only, a number, a boolean, or the text itself. */
function readingsOf(schema: Schema, text: string): unknown[] {
  const types = typesOf(schema)
  const isNumber = ['number', ...Object.keys(RANGES)].some((type) => types.has(type))
  const values: unknown[] = []
  if (isNumber && /^(0|-?[1-9]\d*)$/.test(text)) values.push(toInteger(BigInt(text)))
  else if (types.has('number') && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text))
    values.push(Number(text))
  if (types.has('boolean') && /^(true|false)$/.test(text)) values.push(text === 'true')
  const isText = types.has('string') || types.size === 0
  return isText || values.length === 0 ? [...values, text] : values
}

/** The types that the values of a schema may have, in one alternative or another. */
function typesOf(schema: Schema): Set<string> {
  const possible = optionsOf(schema).flatMap(({ types, enum: values, const: only }) => {
    const listed = only === undefined ? listOf(values) : [only]
    return types === undefined ? listed.map(typeOf) : listOf(types).map(String)
  })
  const needed = partsOf(schema).flatMap(({ types }) =>
    types === undefined ? [] : [listOf(types).map(String)],
  )
  return new Set(possible.filter((type) => needed.every((types) => fits(type, types))))
}

const typeOf = (value: unknown) => (typeof value === 'bigint' ? 'int64' : typeof value)
