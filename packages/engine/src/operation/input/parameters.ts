// Reads the parameters of an operation.
import type { FastifyRequest } from 'fastify'
import type { Parameter } from '../../contract/compiled.ts'
import { decodePair, orRefuse } from './parsing.ts'
import { REPEATED, Sent, type Validator } from '@plant-store/json-schema'
import { cookieTexts } from '../../http/cookies.ts'
import { parseJson } from '../../http/json.ts'
import { HttpError } from '../../errors.ts'

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
      if (hasMembers(parameter)) {
        const members = readMembers(parameter, received)
        if (members !== undefined) sent[parameter.name] = members
        continue
      }
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
  const empty = parameter.sentAs === 'pairs' ? {} : new Sent([''])
  return check({ [parameter.name]: empty }).error !== undefined
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
  const texts = parameter.in === 'header' ? headerTexts(parameter, request, value) : [value].flat()
  if (!hasCommas(parameter)) return new Sent(texts)
  const parts = partsOf(parameter, request, texts)
  if (parameter.sentAs !== 'list') return readParts(parameter, parts)
  const decode = DECODERS[parameter.in]
  const whole = parameter.in === 'path' ? texts.map(decode) : texts
  return new Sent(whole, parts?.map(decode) ?? null)
}

/** Whether a parameter is one text, with commas between its parts. */
export function hasCommas({ sentAs }: Parameter): boolean {
  return sentAs === 'list' || sentAs === 'pairs' || sentAs === 'assignments'
}

/** Node joins repeated headers into one text, as lists are joined, or drops some of them. */
function headerTexts(
  { name }: Parameter,
  { repeatedHeaders }: FastifyRequest,
  value: string | string[],
): string[] {
  const text = String(value)
  return repeatedHeaders?.has(name.toLowerCase()) === true ? [text, text] : [text]
}

const DECODERS: Readonly<Record<Place, (text: string) => string>> = {
  path: decodeURIComponent,
  query: decodePair,
  header: (text) => text,
  cookie: decodeCookie,
}

/**
 * The parts of a text between its commas, before they are decoded: a comma within a part is sent as `%2C`.
 * @returns undefined if the parameter was sent several times, and is no header
 */
function partsOf(
  { in: place, name }: Parameter,
  request: FastifyRequest,
  [text = '', ...others]: readonly string[],
): string[] | undefined {
  if (place === 'header') return splitHeader(text)
  if (others.length > 0) return undefined
  if (place === 'path') return text.split(',')
  if (place === 'query') return queryText(request.url, name).split(',')
  const [cookie = ''] = cookieTexts(request.raw.headers.cookie ?? '', name)
  return cookie.split(',')
}

/** The text of a parameter in a query, before it is decoded. */
function queryText(url: string, name: string): string {
  const query = url.slice(url.indexOf('?') + 1)
  for (const pair of query.split('&')) {
    const [key = '', text = ''] = pair.split(/=(.*)/s)
    if (decodePair(key) === name) return text
  }
  return ''
}

/** Reads an object whose names and values are the parts of a text. An empty text has none. */
function readParts(parameter: Parameter, parts: readonly string[] | undefined) {
  const { in: place, name, sentAs } = parameter
  if (parts === undefined) throw new HttpError(400, `${place}/${name} ${REPEATED}`)
  if (parts.join('') === '') return {}
  const decode = DECODERS[place]
  const isPairs = sentAs === 'pairs'
  const named = isPairs ? inPairs(parts) : parts.map((part) => part.split(/=(.*)/s, 2))
  const members = new Map<string, string[]>()
  for (const [key = '', text] of named) {
    if (text === undefined)
      throw new HttpError(400, `${place}/${name} must be as ${isPairs ? 'b,1,c,2' : 'b=1,c=2'}`)
    const member = decode(key)
    checkMember(parameter, member)
    const texts = members.get(member)
    if (texts === undefined) members.set(member, [decode(text)])
    else texts.push(decode(text))
  }
  // A member that is repeated is no list.
  const sent = [...members].map(([member, texts]) => [member, new Sent(texts, null)] as const)
  return Object.fromEntries(sent)
}

function inPairs(parts: readonly string[]): (readonly string[])[] {
  const starts = parts.keys().filter((index) => index % 2 === 0)
  return [...starts].map((index) => parts.slice(index, index + 2))
}

/** Whether a parameter is an object whose members are sent, each by its name. */
const hasMembers = ({ sentAs }: Parameter) => sentAs === 'deepObject' || sentAs === 'members'

/** The members of a parameter that is an object; undefined if none was sent. */
function readMembers(parameter: Parameter, query: object) {
  const members: Record<string, Sent> = {}
  for (const [key, value] of Object.entries(query)) {
    const member = memberOf(parameter, key)
    if (member === undefined) continue
    checkMember(parameter, member)
    members[member] = new Sent([value as string | string[]].flat())
  }
  return Object.keys(members).length === 0 ? undefined : members
}

/** The member of an object that a name of the query stands for; undefined if it stands for something else. */
function memberOf(parameter: Parameter, key: string): string | undefined {
  const { name, sentAs, members = [], reserved } = parameter
  if (sentAs === 'members') {
    const isMember = members.includes(key) || reserved?.includes(key) === false
    return isMember ? key : undefined
  }
  const start = `${name}[`
  return key.startsWith(start) && key.endsWith(']') ? key.slice(start.length, -1) : undefined
}

/** @throws {HttpError} 400 for the name of a member that no object may have */
function checkMember({ in: place, name, sentAs }: Parameter, member: string): void {
  const isDeeper = sentAs === 'deepObject' && /[[\]]/.test(member)
  if (member === '__proto__' || isDeeper)
    throw new HttpError(400, `${place}/${name} must not have the member [${member}]`)
}

/** Reads a parameter that is JSON. @throws {HttpError} 400 for one that is not, or that is repeated */
function parseValue({ in: place, name }: Parameter, value: string | string[]): unknown {
  const [text = '', ...others] = [value].flat()
  if (others.length > 0) throw new HttpError(400, `${place}/${name} ${REPEATED}`)
  return orRefuse(() => parseJson(Buffer.from(text)), `${place}/${name} must be JSON`)
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
