import type { FastifyRequest } from 'fastify'
import type { Parameter } from './compiled.ts'
import type { Validators } from './validation.ts'
import { countHeader } from '../http/protocol.ts'
import { HttpError } from '../errors.ts'

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

/** By type. Texts are read as JSON spells values; another spelling stays a text, for the schema to refuse. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : text),
  integer: (text) => (INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

/** What a text spells, as a value of a type. */
export function readText(text: unknown, type: string): unknown {
  return typeof text === 'string' ? (READERS[type]?.(text) ?? text) : text
}

/** The parameters of one part of a request, by the names that the contract has for them. */
export type ReadParameters = (request: FastifyRequest) => object

/**
 * Makes the reader of the parameters in a path, a query or in headers. All others are left out.
 * @throws {HttpError} where one is missing, invalid or repeated
 */
export function parametersReader(
  all: readonly Parameter[],
  where: Parameter['in'],
  validators: Validators,
): ReadParameters {
  const parameters = all.filter((each) => each.in === where)
  if (parameters.length === 0) return () => ({})
  const defaults = parameters.flatMap(({ name, default: json }) => (json === undefined ? [] : [[name, json]]))
  const validate = validators.of(where, {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, { $ref: schema }])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
    filled: Object.fromEntries(defaults),
  })
  return (request) => {
    const holder = { [where]: Object.fromEntries(parameters.flatMap((each) => read(each, request))) }
    const fault = validate(holder)
    if (fault !== undefined) throw new HttpError(400, fault)
    return holder[where] ?? {}
  }
}

/** The name of a path parameter in the router, which knows letters, digits and `_`. */
export function routerName(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

/** A parameter as it is sent: no entry if it is absent. */
function read(
  { in: where, name, type, list }: Parameter,
  { params, query, headers, raw }: FastifyRequest,
): [string, unknown][] {
  const sent = where === 'path' ? routerName(name) : where === 'header' ? name.toLowerCase() : name
  const part: unknown = where === 'path' ? params : where === 'query' ? query : headers
  const value: unknown = Object.hasOwn(part ?? {}, sent) ? Reflect.get(part ?? {}, sent) : undefined
  if (value === undefined) return []
  // Of several headers Node makes one text, or drops some.
  const isRepeated = where === 'header' ? countHeader(raw, sent) > 1 : Array.isArray(value) && list !== 'repeated'
  if (isRepeated) throw new HttpError(400, `${where}/${name} must not be repeated`)
  if (list === null) return [[name, readText(value, type)]]
  const texts = list === 'repeated' ? [value].flat() : separated(raw.url ?? '', name)
  return [[name, texts.map((text) => readText(text, type))]]
}

/** The texts of a list that is sent as `a=1,2`; a comma of their own is sent as `%2C`. */
function separated(url: string, name: string): string[] {
  const pairs = url
    .slice(url.indexOf('?') + 1)
    .split('&')
    .map((pair) => pair.split(/=(.*)/s))
  const decode = (text = '') => decodeURIComponent(text.replaceAll('+', ' '))
  const [, texts = ''] = pairs.find(([each]) => decode(each) === name) ?? []
  return texts.split(',').map(decode)
}
