import type { FastifyRequest } from 'fastify'
import type { Parameter, Reading } from './compiled.ts'
import type { Validators } from './validation.ts'
import { countHeader } from '../http/request-rules.ts'
import { HttpError } from '../errors.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

/** By type: a text that is spelled as in JSON becomes a value. Any other text stays one, and the schema refuses it. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : undefined),
  integer: (text) => (INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined),
  number: (text) => (NUMBER.test(text) ? Number(text) : undefined),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : undefined),
}

/** Parses a text as the first of some types that it is a value of. @returns else the text itself */
export function readText(text: string, types: readonly string[]): unknown {
  for (const type of types) {
    const value = READERS[type]?.(text)
    if (value !== undefined) return value
  }
  return text
}

/**
 * What the texts of a parameter or a field may mean, the likeliest first: values of its types, or texts; and where it may
 * be a list, one value before a list of one.
 */
export function meaningsOf<Value>({ list }: Reading, read: readonly Value[], texts: readonly Value[]) {
  const [[value], [text]] = [read, texts]
  const isOne =
    list !== 'repeated' && list !== 'commas' && value !== undefined && text !== undefined && read.length === 1
  return [...(isOne ? [value, text] : []), ...(list === null ? [] : [read, texts])]
}

/** Where Fastify has the parameters of each place. */
const PARTS = { path: 'params', query: 'query', header: 'headers' } as const

/** Reads the parameters of one place, by their names in the contract. */
export type ReadParameters = (request: FastifyRequest) => object

/**
 * Makes the function that reads the parameters in the path, the query or the headers. It leaves out unknown ones.
 * @returns undefined if the operation has no parameter there
 * @throws {HttpError} if one is missing, invalid or repeated
 */
export function parametersReader(
  all: readonly Parameter[],
  where: Parameter['in'],
  validators: Validators,
): ReadParameters | undefined {
  const parameters = all.filter((each) => each.in === where)
  if (parameters.length === 0) return undefined
  const defaults = parameters.flatMap(({ name, default: json }) => (json === undefined ? [] : [[name, json] as const]))
  const schema = {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, { $ref: schema }])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    ...(defaults.length > 0 && { defaults: Object.fromEntries(defaults) }),
  }
  const validate = validators.compile(where, schema, 2) // a parameter is the whole value of its schema
  const sent = parameters.map((each) => {
    const schema = { $ref: each.schema }
    return { ...each, sent: sentName(each), isValid: (value: unknown) => validators.validator(schema)(value) }
  })
  return (request) => {
    const part = request[PARTS[where]] ?? {}
    const values: Record<string, unknown> = {}
    for (const each of sent) {
      if (Object.hasOwn(part, each.sent))
        values[each.name] = read(each, Reflect.get(part, each.sent) as string | string[], request.raw)
    }
    const { fault } = validate(values)
    if (fault !== undefined) throw new HttpError(400, fault)
    return values
  }
}

/** The name that a parameter has in Fastify's request. */
function sentName({ in: where, name }: Parameter): string {
  return where === 'path' ? routerName(name) : where === 'header' ? name.toLowerCase() : name
}

/** The name of a path parameter in the router, which allows letters, digits and `_`: another one for each name. */
export function routerName(name: string): string {
  return name.replaceAll(/[^a-z\d]/gi, (character) => `_${character.charCodeAt(0)}_`)
}

interface Sent extends Parameter {
  readonly sent: string
  readonly isValid: (value: unknown) => boolean
}

/** Parses the value that Fastify has of a parameter: a text, or a list of texts if it is repeated. */
function read(parameter: Sent, value: string | string[], raw: FastifyRequest['raw']): unknown {
  const { in: where, name, sent, types, list, isValid } = parameter
  // Node joins repeated headers into one text, as lists are joined, or drops some of them.
  const isRepeated = where === 'header' ? list === null && countHeader(raw, sent) > 1 : typeof value !== 'string'
  if (isRepeated && (list === null || list === 'commas'))
    throw new HttpError(400, `${where}/${name} must not be repeated`)
  if (list === null && types.length === 1 && typeof value === 'string') return readText(value, types)
  const texts =
    list !== 'commas' ? [value].flat() : where === 'query' ? splitList(raw.url ?? '', name) : splitHeader(value)
  const values = texts.map((text) => readText(text, types))
  if (list !== 'either' && types.length === 1) return values
  const meanings = meaningsOf<unknown>(parameter, values, texts)
  return meanings.find(isValid) ?? meanings[0]
}

/** RFC 9110, section 5.6.1.2: empty items of a list are ignored. */
function splitHeader(value: string | string[]): string[] {
  const items = String(value)
    .split(',')
    .map((item) => item.replaceAll(/^[ \t]+|[ \t]+$/g, ''))
  return items.filter((item) => item !== '')
}

/** Splits a list that is sent as `a=1,2`. A comma within an item is sent as `%2C`. */
function splitList(url: string, name: string): string[] {
  const [text = ''] = pairsOf(url.slice(url.indexOf('?') + 1)).get(name) ?? []
  return text.split(',').map(decodePair)
}

/** The values in a query, or in a form that is written as one, still encoded, by their decoded names. */
export function pairsOf(text: string): Map<string, string[]> {
  const pairs = new Map<string, string[]>()
  for (const each of text.split('&')) {
    if (each === '') continue
    const [name = '', value = ''] = each.split(/=(.*)/s)
    const known = pairs.get(decodePair(name))
    if (known) known.push(value)
    else pairs.set(decodePair(name), [value])
  }
  return pairs
}

/** @throws {URIError} for what is not UTF-8 in percent-encoding */
export const decodePair = (text: string) => decodeURIComponent(text.replaceAll('+', ' '))
