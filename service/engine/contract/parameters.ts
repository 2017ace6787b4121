import type { FastifyRequest } from 'fastify'
import type { Parameter } from './compiled.ts'
import { decodePair, valueReader } from './parsing.ts'
import type { Validators } from './validation.ts'
import { countHeader } from '../http/request-rules.ts'
import { HttpError } from '../errors.ts'

/** Where Fastify has the parameters of each place. */
const PARTS = { path: 'params', query: 'query', header: 'headers' } as const

/**
 * Makes the function that reads the parameters in the path, the query or the headers, by name. It leaves out unknown ones.
 * @param valuesOf reads the parameters of a path from the URL, where the router can't
 * @returns undefined if the operation has no parameter there
 * @throws {HttpError} if one is missing, invalid or repeated
 */
export function parametersReader(
  all: readonly Parameter[],
  where: Parameter['in'],
  validators: Validators,
  valuesOf?: (url: string) => object,
): ((request: FastifyRequest) => object) | undefined {
  const parameters = all.filter((each) => each.in === where)
  if (parameters.length === 0) return undefined
  const schema = {
    type: 'object',
    properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, { $ref: schema }])),
    required: parameters.filter(({ required }) => required).map(({ name }) => name),
  }
  const validate = validators.compile(where, schema, 2) // a parameter is the whole value of its schema
  const readers = parameters.map((each) => ({
    ...each,
    key: keyOf(each),
    read: valueReader(each, validators),
  }))
  return (request) => {
    const part = valuesOf?.(request.url) ?? request[PARTS[where]] ?? {}
    const values: Record<string, unknown> = {}
    for (const { name, key, list, read } of readers) {
      if (!Object.hasOwn(part, key)) continue
      const value = Reflect.get(part, key) as string | string[]
      const sent = typeof value === 'string' ? [value] : value
      const isCommas = list === 'commas'
      // Node joins repeated headers into one text, as lists are joined, or drops some of them.
      const times = where === 'header' && !isCommas ? countHeader(request.raw, key) : sent.length
      if (times > 1 && (list === null || (isCommas && where === 'query')))
        throw new HttpError(400, `${where}/${name} must not be repeated`)
      if (!isCommas) values[name] = read(sent)
      else
        values[name] = read(
          where === 'query' ? splitList(request.url, name) : splitHeader(String(sent)),
        )
    }
    const { fault } = validate(values)
    if (fault !== undefined) throw new HttpError(400, fault)
    return values
  }
}

/** The name that a parameter has in Fastify's request. */
function keyOf({ in: where, name }: Parameter): string {
  if (where === 'path') return routerName(name)
  return where === 'header' ? name.toLowerCase() : name
}

/** The name of a path parameter in the router, which allows letters, digits and `_`: another one for each name. */
export function routerName(name: string): string {
  return name.replaceAll(/[^a-z\d]/gi, (character) => `_${character.charCodeAt(0)}_`)
}

/** RFC 9110, section 5.6.1.2: empty items of a list are ignored. */
function splitHeader(text: string): string[] {
  const items = text.split(',').map((item) => item.replaceAll(/^[ \t]+|(?<![ \t])[ \t]+$/g, ''))
  return items.filter((item) => item !== '')
}

/** Splits a list that is sent as `a=1,2`. A comma within an item is sent as `%2C`. */
function splitList(url: string, name: string): string[] {
  const pairs = url.slice(url.indexOf('?') + 1).split('&')
  const [, text = ''] =
    pairs.map((pair) => pair.split(/=(.*)/s)).find(([key = '']) => decodePair(key) === name) ?? []
  return text.split(',').map(decodePair)
}
