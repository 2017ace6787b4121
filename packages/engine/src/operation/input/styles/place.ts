// Finds the strings of parameters in a request, decoded or as sent.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from '../../../contract/compiled.ts'
import { cookieTexts } from '../../../http/cookies.ts'
import { decodePair, splitAssignment } from '../strings/parsing.ts'

export type Place = Parameter['in']

/** The properties of Fastify's request. */
const PROPERTIES = { path: 'params', query: 'query', header: 'headers' } as const

/** All strings in a place, by the names of the parameters there. */
export function receivedIn(
  place: Place,
  request: FastifyRequest,
  parameters: readonly Parameter[],
): object {
  if (place !== 'cookie') return request[PROPERTIES[place]] ?? {}
  const { cookie: header = '' } = request.raw.headers
  const cookies = parameters.map(({ name }) => [name, cookieTexts(header, name)] as const)
  const sent = cookies.filter(([, values]) => values.length > 0)
  return Object.fromEntries(sent.map(([name, values]) => [name, values.map(decodeCookie)]))
}

/** Cookies are percent-encoded, by OpenAPI's style `form`. A badly encoded one stays as it is. */
function decodeCookie(string: string): string {
  try {
    return decodeURIComponent(string)
  } catch {
    return string
  }
}

export const DECODERS: Readonly<Record<Place, (string: string) => string>> = {
  path: decodeURIComponent,
  query: decodePair,
  header: (string) => string,
  cookie: decodeCookie,
}

/** The name of a parameter in its place of Fastify's request. */
export function keyOf({ in: place, name }: Parameter): string {
  if (place === 'path') return routerName(name)
  return place === 'header' ? name.toLowerCase() : name
}

/**
 * The name of a path parameter in the router, which allows letters, digits and `_`. Different names
 * stay different.
 */
export function routerName(name: string): string {
  return name.replaceAll(/[^a-z\d]/gi, (character) => `_${character.charCodeAt(0)}_`)
}

/** Reads the strings of a parameter: several if it was repeated, undefined if it was not sent. */
type ReadStrings = (received: object, request: FastifyRequest) => readonly string[] | undefined

/** Makes the reader of a parameter's strings. They are decoded, but for a path with commas. */
export function stringsReader(parameter: Parameter): ReadStrings {
  const key = keyOf(parameter)
  const isHeader = parameter.in === 'header'
  return (received, request) => {
    if (!Object.hasOwn(received, key)) return undefined
    const strings = [Reflect.get(received, key) as string | string[]].flat()
    const isRepeated = isHeader && request.exchange.repeatedHeaders?.has(key) === true
    return isRepeated ? repeatHeader(strings) : strings
  }
}

/** Node joins repeated headers to one string, as lists are joined, or drops some of them. */
function repeatHeader(strings: readonly string[]): readonly string[] {
  const string = String(strings)
  return [string, string]
}

/** Makes the reader of a parameter as sent. @param parameter no header */
export function encodedReader({
  in: place,
  name,
}: Parameter): (string: string, request: FastifyRequest) => string {
  if (place === 'query') return (_string, { url }) => inQuery(url, name)
  if (place === 'path') return (string) => string // not decoded yet: see `templates.ts`
  return (_string, { raw }) => {
    const [cookie = ''] = cookieTexts(raw.headers.cookie ?? '', name)
    return cookie
  }
}

/** The first value of a name in a query, not decoded; empty if it has none. */
function inQuery(url: string, name: string): string {
  const query = url.slice(url.indexOf('?') + 1)
  for (const pair of query.split('&')) {
    const [key = '', value] = splitAssignment(pair)
    if (decodePair(key) === name) return value ?? ''
  }
  return ''
}
