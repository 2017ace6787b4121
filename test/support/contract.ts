// Contracts, read without the code of the service.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Product } from '../../service/engine/index.ts'
import { isBytes, isJson, isServed } from './bodies.ts'
import { readSecurity, type Security } from './credentials.ts'
import { toInteger } from './json.ts'
import { partsOf } from './schemas-arbitrary.ts'
import { addFormats, fields, isObject, remembered, type Schema } from './schemas.ts'

export type Parameter = ReturnType<typeof toParameter>
export type Response = ReturnType<typeof toResponse>
export type Operation = ReturnType<typeof toOperation> & Security
export type Contract = ReturnType<typeof readContract>

/** Parses a contract as the service does: with merge keys (https://yaml.org/type/merge.html), and exact integers. */
export const parseContract = (text: string): unknown =>
  parse(text, (_key, value: unknown) => value, { intAsBigInt: true, merge: true })

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']
/** The most bytes of a body for which the contract names none. */
const limitOf = (type: string) =>
  isBytes(type) || /^multipart\//i.test(type) ? 2 ** 20 : 100 * 2 ** 10
/** The answer where a contract has no response `Error`. */
const ERROR = {
  content: { 'application/json': { schema: { type: 'object', required: ['error', 'message'] } } },
}

/** Reads the contract of a product. */
export const contractOf: (product: Product) => Contract = remembered(readContract)

function readContract({ contract, errorBody, formats, guards }: Product) {
  addFormats(formats)
  const file = fileURLToPath(contract.file)
  const root = parseContract(readFileSync(file, 'utf8'))
  const { security, paths, components, servers, ...document } = fields(resolve(root, root))
  const { securitySchemes, responses } = fields(components)
  const operations = Object.entries(fields(paths)).flatMap(([template, item]) => {
    const path = prefixOf(servers) + template
    const { parameters = [], ...others } = fields(item)
    const methods = Object.entries(others).filter(([name]) => METHODS.includes(name))
    const shared = Object.values(fields(parameters))
    return methods.map(([method, value]): Operation => {
      const own = { security, limit: document['x-body-limit'], ...fields(value) }
      const secured = readSecurity(own.security, securitySchemes, guards)
      return { ...toOperation(method.toUpperCase(), path, own, shared), ...secured }
    })
  })
  return {
    file,
    operations,
    /** The paths of the operations, with names in braces. */
    paths: [...new Set(operations.map(({ path }) => path))],
    /** All scopes of its operations. */
    scopes: [...new Set(operations.flatMap(({ scopes }) => scopes))],
    /** The headers that it declares once for every response; undefined if it does not say which those are. */
    everyResponse:
      'x-every-response' in document ? toResponse(document['x-every-response']).headers : undefined,
    /** The answer to a request without an operation, and to an error that the operation does not name. */
    anyError: toResponse(fields(responses)['Error'] ?? ERROR),
    /** Writes errors in the form of the product. */
    errorBody,
  }
}

/** The path of the first server, without that of a gateway. */
function prefixOf(servers: unknown): string {
  const [{ url = '', variables = {} } = {}] = Object.values(fields(servers)).map(fields)
  const path = String(url)
    .replace(/^{[^}]+}/, '')
    .replaceAll(/{([^}]+)}/g, (_, name: string) =>
      String(fields(fields(variables)[name])['default']),
    )
  return new URL(path, 'http://host').pathname.replace(/\/$/, '')
}

/** The methods of a path, as `Allow` names them: those of the contract, OPTIONS, and HEAD where GET is. */
export function allowOf({ operations }: Contract, path: string): string {
  const own = operations.filter((each) => each.path === path).map(({ method }) => method)
  return [...new Set([...own, 'OPTIONS', ...(own.includes('GET') ? ['HEAD'] : [])])]
    .sort()
    .join(', ')
}

/** Whether a URL matches a path. */
export function matches(path: string, url: string): boolean {
  const pattern = path
    .split(/{[^}]+}/)
    .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${pattern.join('[^/?]+')}([?]|$)`).test(url)
}

/** The operation that answers a request; undefined if there is none. */
export function operationOf(
  { operations, paths }: Contract,
  method: string,
  url: string,
): Operation | undefined {
  const own = method === 'HEAD' ? ['HEAD', 'GET'] : [method]
  // A path without parameters wins over a template that matches it.
  const path =
    paths.find((each) => each === url.split('?')[0]) ?? paths.find((each) => matches(each, url))
  return operations.find((each) => each.path === path && own.includes(each.method))
}

/** @param method in capital letters @param path with names in braces @param shared parameters of the path */
function toOperation(
  method: string,
  path: string,
  value: Record<string, unknown>,
  shared: unknown[],
) {
  const { operationId, security, parameters, requestBody, responses, limit } = value
  const scopes = Object.values(fields(security)).map((each) =>
    Object.values(fields(each)).flat().map(String),
  )
  const all = [...shared, ...Object.values(fields(parameters))].map((each) =>
    toParameter(fields(each)),
  )
  const byName = new Map(all.map((each) => [`${each.in} ${each.name}`, each])) // the operation's parameters override the path's
  const entries = Object.entries(fields(responses)).map(
    ([status, each]) => [status, toResponse(each)] as const,
  )
  return {
    id: String(operationId),
    method,
    path,
    /** Whether a token needs a scope for it. */
    isScoped: scopes.length > 0 && scopes.every((each) => each.length > 0),
    scopes: scopes.flat(),
    parameters: [...byName.values()],
    body: requestBody === undefined ? undefined : toBody(fields(requestBody), limit),
    /** By status, or `default`. */
    responses: new Map(entries),
  }
}

/** A body as JSON if that is among its media types, or else as the first of them. @param limit of bodies that name none */
function toBody({ required, content }: Record<string, unknown>, limit: unknown) {
  const types = Object.keys(fields(content))
  const type = types.find(isJson) ?? types.find(isServed) ?? ''
  const media = fields(fields(content)[type])
  const schema = sentSchema(media['schema'], 'readOnly')
  const most = [
    media['x-body-limit'] ?? limit ?? limitOf(type),
    isBytes(type) ? schema['maxLength'] : undefined,
  ]
  return {
    required: required === true,
    type,
    /** All media types that it may have. */
    types,
    /** The most bytes of it. */
    limit: Math.min(...most.map((each) => Number(each ?? Infinity))),
    schema,
    ...examplesOf(media),
  }
}

function toParameter(value: Record<string, unknown>) {
  return {
    in: String(value['in']),
    name: String(value['name']),
    required: value['required'] === true,
    schema: fields(value['schema']),
    /** Whether a list is sent as one text, with commas between its items. */
    hasCommas: value['in'] !== 'query' || value['explode'] === false,
    ...examplesOf(value),
  }
}

function toResponse(value: unknown) {
  const { headers, content } = fields(value)
  const entries = Object.entries(fields(headers)).map(([name, each]) => {
    const { required = false, schema } = fields(each)
    return [name, { required: required === true, schema: fields(schema) }] as const
  })
  const types = Object.entries(fields(content)).map(
    ([type, media]) => [type, fields(media)] as const,
  )
  const schemas = types.map(
    ([type, { schema }]) => [type.toLowerCase(), sentSchema(schema, 'writeOnly')] as const,
  )
  const [, media] = types.find(([type]) => isJson(type)) ?? types[0] ?? []
  /** The headers are by name, as the contract spells it. The schemas of the body are by media type; none: it has no body. */
  return { headers: new Map(entries), schemas: new Map(schemas), ...examplesOf(media ?? {}) }
}

/** The examples of a parameter or a media type, or else of its schema; and those that have a name. */
function examplesOf(value: Record<string, unknown>) {
  const entries = Object.entries(fields(value['examples'])).map(([name, each]) => [
    name,
    fields(each)['value'],
  ])
  const named: Record<string, unknown> = Object.fromEntries(entries)
  const own = 'example' in value ? [value['example']] : Object.values(named)
  return { examples: own.length > 0 ? own : examplesOfSchema(fields(value['schema'])), named }
}

function examplesOfSchema({ example, examples, allOf }: Schema): unknown[] {
  const own = example === undefined ? Object.values(fields(examples)) : [example]
  return own.length > 0
    ? own
    : Object.values(fields(allOf)).flatMap((each) => examplesOfSchema(fields(each)))
}

/** Replaces each reference by its target. In a schema, the keywords beside the reference apply, too. */
function resolve(node: unknown, root: unknown): unknown {
  if (typeof node === 'bigint') return toInteger(node)
  if (Array.isArray(node)) return node.map((each) => resolve(each, root))
  if (!isObject(node)) return node
  const { $ref, ...others } = node
  const rest = Object.fromEntries(
    Object.entries(others).map(([key, value]) => [key, resolve(value, root)]),
  )
  if (typeof $ref !== 'string') return rest
  const keys = $ref.split('/').slice(1)
  const place = keys.reduce((each, key) => fields(each)[unescape(key)], root)
  const target = resolve(place, root)
  const isTold = Object.keys(rest).every((key) => key === 'summary' || key === 'description')
  return isTold ? target : { allOf: [target, rest] }
}

const unescape = (key: string) =>
  decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')

/** The keywords with schemas for the same value, and for its parts. */
const SAME = /^(allOf|anyOf|oneOf|not|if|then|else)$/
const PARTS = /^(items|prefixItems|additionalProperties)$/

/**
 * The schema of what one side sends: without the members that only the other side sends.
 * @param mark of those members: `readOnly` for a request, `writeOnly` for an answer
 */
const sentSchema = (schema: unknown, mark: 'readOnly' | 'writeOnly'): Schema =>
  fields(sent(schema, mark, []))

/** @param hidden names of members of the same value that have the mark */
function sent(node: unknown, mark: string, hidden: readonly string[]): unknown {
  if (Array.isArray(node)) return node.map((each) => sent(each, mark, hidden))
  if (!isObject(node)) return node
  const members = partsOf(node).flatMap(({ properties }) => Object.entries(fields(properties)))
  const isMarked = (member: unknown) => partsOf(fields(member)).some((each) => each[mark] === true)
  const names = [...hidden, ...members.flatMap(([name, member]) => (isMarked(member) ? name : []))]
  const changed = Object.entries(node).map(([key, value]) => {
    const entries = Object.entries(fields(value))
    const others = entries.map(
      ([name, each]) => [name, !names.includes(name) && sent(each, mark, [])] as const,
    )
    if (key === 'required')
      return [key, Object.values(fields(value)).filter((name) => !names.includes(String(name)))]
    if (/^(patternP|p)roperties$/.test(key)) return [key, Object.fromEntries(others)]
    return [
      key,
      SAME.test(key) ? sent(value, mark, names) : PARTS.test(key) ? sent(value, mark, []) : value,
    ]
  })
  return Object.fromEntries(changed)
}
