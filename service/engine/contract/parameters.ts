// Reads the parameters of an operation.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from './compiled.ts'
import { decodePair } from './parsing.ts'
import { REPEATED, Sent } from '../json-schema/sent.ts'
import type { Validator } from '../json-schema/validator.ts'
import { cookieTexts } from '../http/cookies.ts'
import { parseJson } from '../http/json.ts'
import { HttpError } from '../errors.ts'

type Place = Parameter['in']

/** The member of Fastify's request with the parameters of a place. */
const MEMBERS = { path: 'params', query: 'query', header: 'headers' } as const

/**
 * Makes the function that reads the parameters in the path, the query, the headers or the cookies, by name. It leaves out
 * unknown ones.
 * @param valuesOf reads the parameters of a path from the URL, where the router can't
 * @returns undefined if the operation has no parameter there
 * @throws {HttpError} if one is missing, invalid or repeated
 */
export function parametersReader(
  parameters: readonly Parameter[],
  place: Place,
  validator: Validator,
  valuesOf?: (url: string) => object,
): ((request: FastifyRequest) => object) | undefined {
  const ofPlace = parameters.filter((parameter) => parameter.in === place)
  if (ofPlace.length === 0) return undefined
  // A parameter is the whole value of its schema. So its marks count only from the members of the parameter on.
  const validate = validator.compile(place, schemaOf(ofPlace), 2)
  const keys = ofPlace.map((parameter) => ({
    parameter,
    key: keyOf(parameter),
    isEmptyAbsent: isEmptyAbsent(parameter, validator),
  }))
  return (request) => {
    const received = valuesOf?.(request.url) ?? receivedIn(place, request, ofPlace)
    const sent: Record<string, unknown> = {}
    for (const { parameter, key, isEmptyAbsent } of keys) {
      const members = readMembers(parameter, received)
      if (members !== undefined) sent[parameter.name] = members
      if (hasMembers(parameter)) continue
      if (!Object.hasOwn(received, key)) continue
      const value = Reflect.get(received, key) as string | string[]
      if (isEmptyAbsent && value === '') continue
      sent[parameter.name] = sentFor(parameter, request, value)
    }
    const { error, value } = validate(sent)
    if (error !== undefined) throw new HttpError(400, error)
    return value as object
  }
}

/** The values of a place, by the names that the parameters have there. */
function receivedIn(
  place: Place,
  request: FastifyRequest,
  parameters: readonly Parameter[],
): object {
  if (place !== 'cookie') return request[MEMBERS[place]] ?? {}
  const { cookie: header = '' } = request.raw.headers
  const texts = parameters.map(({ name }) => [name, cookieTexts(header, name)] as const)
  const sent = texts.filter(([, values]) => values.length > 0)
  return Object.fromEntries(sent.map(([name, values]) => [name, values.map(decodeCookie)]))
}

/** Values are percent-encoded, as OpenAPI's style `form` says; a text that is not stays as it is. */
function decodeCookie(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether a parameter may be sent as an empty text, and its schema refuses that text. */
function isEmptyAbsent(parameter: Parameter, validator: Validator): boolean {
  if (parameter.allowEmptyValue !== true) return false
  const check = validator.compile(parameter.in, schemaOf([parameter]), 2)
  return check({ [parameter.name]: new Sent(['']) }).error !== undefined
}

/** The parameters of a place as the members of an object. */
function schemaOf(parameters: readonly Parameter[]) {
  const properties = parameters.map(({ name, schema }) => [name, { $ref: schema }] as const)
  const required = parameters.filter((parameter) => parameter.required)
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => name),
  }
}

/** The texts of a parameter, as they were sent. @param value as Fastify has it */
function sentFor(parameter: Parameter, request: FastifyRequest, value: string | string[]): unknown {
  if (parameter.sentAs === 'json') return parseValue(parameter, value)
  if (parameter.sentAs === 'simple') return new Sent([String(value)], [value].flat())
  if (parameter.in === 'header') return sentInHeader(parameter, request, String(value))
  const texts = typeof value === 'string' ? [value] : value
  if (parameter.explode) return new Sent(texts)
  return new Sent(texts, texts.length === 1 ? splitList(request.url, parameter.name) : null)
}

/** Whether a parameter is an object whose members are sent, each by its name. */
const hasMembers = ({ sentAs }: Parameter) => sentAs === 'deepObject' || sentAs === 'members'

/** The members of a parameter that is an object; undefined if none was sent. */
function readMembers(parameter: Parameter, query: object) {
  if (parameter.sentAs === 'deepObject') return membersOf(query, parameter.name)
  if (parameter.sentAs !== 'members') return undefined
  const { members = [] } = parameter
  const sent = Object.entries(query).filter(([name]) => members.includes(name))
  if (sent.length === 0) return undefined
  return Object.fromEntries(
    sent.map(([name, value]) => [name, new Sent([value as string | string[]].flat())]),
  )
}

/** The members of an object that is sent as `a[b]=1&a[c]=2`; undefined if none was sent. */
function membersOf(query: object, name: string): Readonly<Record<string, Sent>> | undefined {
  const members: Record<string, Sent> = {}
  const start = `${name}[`
  for (const [key, value] of Object.entries(query)) {
    if (!key.startsWith(start) || !key.endsWith(']')) continue
    const member = key.slice(start.length, -1)
    if (member === '__proto__' || /[[\]]/.test(member))
      throw new HttpError(400, `query/${name} must not have the member [${member}]`)
    members[member] = new Sent([value as string | string[]].flat())
  }
  return Object.keys(members).length === 0 ? undefined : members
}

/** Reads a parameter that is JSON. @throws {HttpError} 400 for one that is not, or that is repeated */
function parseValue({ in: place, name }: Parameter, value: string | string[]): unknown {
  const [text = '', ...others] = [value].flat()
  if (others.length > 0) throw new HttpError(400, `${place}/${name} ${REPEATED}`)
  try {
    return parseJson(Buffer.from(text))
  } catch {
    throw new HttpError(400, `${place}/${name} must be JSON`)
  }
}

/** Node joins repeated headers into one text, as lists are joined, or drops some of them. */
function sentInHeader({ name }: Parameter, request: FastifyRequest, text: string): Sent {
  const isRepeated = request.repeatedHeaders?.has(name.toLowerCase()) === true
  return new Sent(isRepeated ? [text, text] : [text], splitHeader(text))
}

/** The name that a parameter has in Fastify's request. */
function keyOf({ in: place, name }: Parameter): string {
  if (place === 'path') return routerName(name)
  return place === 'header' ? name.toLowerCase() : name
}

/** The name of a path parameter in the router, which allows letters, digits and `_`. Different names stay different. */
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
  const query = url.slice(url.indexOf('?') + 1)
  for (const pair of query.split('&')) {
    const [key = '', text = ''] = pair.split(/=(.*)/s)
    if (decodePair(key) === name) return text.split(',').map(decodePair)
  }
  return []
}
