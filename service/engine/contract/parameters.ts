import type { FastifyRequest } from 'fastify'
import type { Parameter } from './compiled.ts'
import type { Validators } from './validation.ts'
import { countHeader } from '../http/headers.ts'
import { HttpError } from '../errors.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

/** By type. A value must be spelled as in JSON. Any other text stays a text, and the schema refuses it. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : text),
  integer: (text) => (INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

/** Parses a text as a type. @returns the text itself if it is no value of the type */
export function readText(text: unknown, type: string): unknown {
  return typeof text === 'string' ? (READERS[type]?.(text) ?? text) : text
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
  const sent = parameters.map((each) => ({ ...each, sent: sentName(each) }))
  return (request) => {
    const part = request[PARTS[where]] ?? {}
    const values: Record<string, unknown> = {}
    for (const each of sent) {
      if (Object.hasOwn(part, each.sent)) values[each.name] = read(each, Reflect.get(part, each.sent), request.raw)
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

/** Parses the value that Fastify has of a parameter: a text, or a list of texts if it is repeated. */
function read(
  { in: where, name, sent, type, list }: Parameter & { readonly sent: string },
  value: unknown,
  raw: FastifyRequest['raw'],
): unknown {
  // Node joins repeated headers into one text, or drops some of them.
  const isRepeated = where === 'header' ? countHeader(raw, sent) > 1 : Array.isArray(value) && list !== 'repeated'
  if (isRepeated) throw new HttpError(400, `${where}/${name} must not be repeated`)
  if (list === null) return readText(value, type)
  const texts = list === 'repeated' ? [value].flat() : splitList(raw.url ?? '', name)
  return texts.map((text) => readText(text, type))
}

/** Splits a list that is sent as `a=1,2`. A comma within an item is sent as `%2C`. */
function splitList(url: string, name: string): string[] {
  const pairs = url
    .slice(url.indexOf('?') + 1)
    .split('&')
    .map((pair) => pair.split(/=(.*)/s))
  const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '))
  const [, texts = ''] = pairs.find(([each]) => decode(each) === name) ?? []
  return texts.split(',').map(decode)
}
