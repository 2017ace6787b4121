import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { toInteger } from './json.ts'
import { fields, isObject, type Schema } from './schemas.ts'

export interface Parameter {
  readonly in: string
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
  readonly examples: readonly unknown[]
  /** The named examples. */
  readonly named: Named
}

export interface Body {
  readonly schema: Schema
  readonly examples: readonly unknown[]
  readonly named: Named
}

type Named = Readonly<Record<string, unknown>>

/** A link to an operation, with its parameters as runtime expressions (OpenAPI 3.1.0, section 4.8.20.3). */
export interface Link {
  readonly name: string
  readonly operationId: string
  readonly parameters: Named
}

export interface Response {
  /** By name, as the contract spells it. */
  readonly headers: ReadonlyMap<string, { readonly required: boolean; readonly schema: Schema }>
  /** The schema of application/json; undefined if there is no body. */
  readonly schema: Schema | undefined
  readonly examples: readonly unknown[]
  readonly named: Named
  readonly links: readonly Link[]
}

export interface Operation {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With names in braces. */
  readonly path: string
  /** Whether it requires an access token. */
  readonly isGuarded: boolean
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** By status, or `default`. */
  readonly responses: ReadonlyMap<string, Response>
}

/** Parses a contract as the service does: with merge keys (https://yaml.org/type/merge.html), and exact integers. */
export const parseContract = (text: string): unknown =>
  parse(text, (_key, value: unknown) => value, { intAsBigInt: true, merge: true })

const file = parseContract(readFileSync('openapi.yaml', 'utf8'))
const document = fields(resolve(file))

/** The operations of `openapi.yaml`, read without the code of the service. */
export const operations: readonly Operation[] = Object.entries(fields(document['paths'])).flatMap(([path, item]) => {
  const { parameters = [], ...methods } = fields(item)
  return Object.entries(methods)
    .filter(([, value]) => isObject(value))
    .map(([method, value]) => toOperation(method.toUpperCase(), path, fields(value), Object.values(fields(parameters))))
})

/** The headers that the contract declares once for every response, by name. */
export const everyResponse = toResponse(document['x-every-response']).headers

/** The answer to a request without an operation, and to an error that the operation does not name. */
export const anyError = toResponse(Reflect.get(fields(fields(document['components'])['responses']), 'Error'))

/** The paths, with names in braces. */
export const paths = [...new Set(operations.map(({ path }) => path))]

/** The methods of a path, as `Allow` names them: those of the contract, OPTIONS, and HEAD where GET is. */
export function allowOf(path: string): string {
  const own = operations.filter((each) => each.path === path).map(({ method }) => method)
  return [...own, 'OPTIONS', ...(own.includes('GET') ? ['HEAD'] : [])].sort().join(', ')
}

/** Whether a URL matches a path. */
export function matches(path: string, url: string): boolean {
  return new RegExp(`^${path.replaceAll(/{\w+}/g, '[^/?]+')}([?]|$)`).test(url)
}

/** The operation that answers a request; undefined if there is none. */
export function operationOf(method: string, url: string): Operation | undefined {
  const own = method === 'HEAD' ? 'GET' : method
  // A path without parameters wins over a template that matches it.
  const path = paths.find((each) => each === url.split('?')[0]) ?? paths.find((each) => matches(each, url))
  return operations.find((each) => each.path === path && each.method === own)
}

function toOperation(method: string, path: string, value: Record<string, unknown>, shared: unknown[]): Operation {
  const { operationId, security = document['security'], parameters, requestBody, responses } = value
  const all = [...shared, ...Object.values(fields(parameters))].map((each) => toParameter(fields(each)))
  const byName = new Map(all.map((each) => [`${each.in} ${each.name}`, each])) // the operation's parameters override the path's
  const content = fields(fields(fields(requestBody)['content'])['application/json'])
  return {
    id: String(operationId),
    method,
    path,
    isGuarded: Object.values(fields(security)).length > 0,
    parameters: [...byName.values()],
    body:
      requestBody === undefined
        ? undefined
        : { schema: fields(content['schema']), examples: examplesOf(content), named: namedOf(content) },
    responses: new Map(Object.entries(fields(responses)).map(([status, each]) => [status, toResponse(each)])),
  }
}

function toParameter(value: Record<string, unknown>): Parameter {
  return {
    in: String(value['in']),
    name: String(value['name']),
    required: value['required'] === true,
    schema: fields(value['schema']),
    examples: examplesOf(value),
    named: namedOf(value),
  }
}

function toResponse(value: unknown): Response {
  const { headers, content, links } = fields(value)
  const entries = Object.entries(fields(headers)).map(([name, each]) => {
    const { required = false, schema } = fields(each)
    return [name, { required: required === true, schema: fields(schema) }] as const
  })
  const json = fields(content)['application/json']
  const schema = json === undefined ? undefined : fields(fields(json)['schema'])
  return {
    headers: new Map(entries),
    schema,
    examples: examplesOf(fields(json)),
    named: namedOf(fields(json)),
    links: Object.entries(fields(links)).map(([name, link]) => {
      const { operationId, parameters } = fields(link)
      return { name, operationId: String(operationId), parameters: fields(parameters) }
    }),
  }
}

/** The examples of a parameter or a media type, or else of its schema. */
function examplesOf(value: Record<string, unknown>): unknown[] {
  const own = 'example' in value ? [value['example']] : Object.values(namedOf(value))
  return own.length > 0 ? own : examplesOfSchema(fields(value['schema']))
}

function namedOf({ examples }: Record<string, unknown>): Named {
  const named = Object.entries(fields(examples)).map(([name, each]) => [name, fields(each)['value']])
  return Object.fromEntries(named) as Named
}

function examplesOfSchema({ example, examples, allOf }: Schema): unknown[] {
  const own = example === undefined ? Object.values(fields(examples)) : [example]
  return own.length > 0 ? own : Object.values(fields(allOf)).flatMap((each) => examplesOfSchema(fields(each)))
}

/** Replaces each reference by its target. In a schema, the keywords beside the reference apply, too. */
function resolve(node: unknown): unknown {
  if (typeof node === 'bigint') return toInteger(node)
  if (Array.isArray(node)) return node.map(resolve)
  if (!isObject(node)) return node
  const { $ref, ...others } = node
  const rest = Object.fromEntries(Object.entries(others).map(([key, value]) => [key, resolve(value)]))
  if (typeof $ref !== 'string') return rest
  const keys = $ref.split('/').slice(1)
  const target = resolve(keys.reduce((each, key) => fields(each)[unescape(key)], file))
  return Object.keys(rest).every((key) => key === 'summary' || key === 'description')
    ? target
    : { allOf: [target, rest] }
}

function unescape(key: string): string {
  return decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~')
}
