// Shared by the styles with commas: the parts of one string, and an object made of them.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from '../../../contract/compiled.ts'
import { HttpError } from '../../../errors.ts'
import { REPEATED, Sent } from '../strings/sent.ts'
import { DECODERS, encodedReader, stringsReader } from './place.ts'
import { checkProperty } from './property.ts'
import type { ReadParameter } from './style.ts'

/** @returns undefined for a repeated parameter, unless it is a header */
type ReadParts = (strings: readonly string[], request: FastifyRequest) => string[] | undefined

/**
 * Makes the reader of the parts between the commas. They are not decoded yet: a comma in a part is
 * sent as `%2C`.
 */
export function partsReader(parameter: Parameter): ReadParts {
  if (parameter.in === 'header') return ([string = '']) => splitHeader(string)
  const readEncoded = encodedReader(parameter)
  return (strings, request) => {
    const [string = '', ...others] = strings
    if (others.length > 0) return undefined
    return readEncoded(string, request).split(',')
  }
}

/** RFC 9110, section 5.6.1.2: empty items of a list are ignored. */
function splitHeader(string: string): string[] {
  const items = string.split(',').map((item) => item.replaceAll(/^[ \t]+|(?<![ \t])[ \t]+$/g, ''))
  return items.filter((item) => item !== '')
}

/** Splits parts to entries. An entry without a value is malformed. */
type EntriesOf = (parts: readonly string[]) => readonly (readonly string[])[]

/**
 * Makes the reader of an object in one string. An empty string is an object without properties.
 * @param example of the style, for the error
 */
export function commaObjectReader(
  parameter: Parameter,
  entriesOf: EntriesOf,
  example: string,
): ReadParameter {
  const { in: place, name } = parameter
  const read = stringsReader(parameter)
  const readParts = partsReader(parameter)
  const decode = DECODERS[place]
  return (received, request) => {
    const strings = read(received, request)
    if (strings === undefined) return undefined
    const parts = readParts(strings, request)
    if (parts === undefined) throw new HttpError(400, `${place}/${name} ${REPEATED}`)
    if (parts.join('') === '') return {}
    const properties: [name: string, value: string][] = []
    for (const [key = '', value] of entriesOf(parts)) {
      if (value === undefined) throw new HttpError(400, `${place}/${name} must be as ${example}`)
      const property = decode(key)
      checkProperty(parameter, property)
      properties.push([property, decode(value)])
    }
    return objectOf(properties)
  }
}

/** A repeated property is an error, and no list. */
function objectOf(properties: readonly [name: string, value: string][]): object {
  const byName = Map.groupBy(properties, ([name]) => name)
  const sent = [...byName].map(([name, entries]) => {
    const strings = entries.map(([, value]) => value)
    return [name, new Sent(strings, null)] as const
  })
  return Object.fromEntries(sent)
}
