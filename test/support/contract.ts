// Contracts, read without the code of the service.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import type { Product } from '../../service/engine/index.ts'
import { readSecurity, type Security } from './credentials.ts'
import { resolve } from './references.ts'
import { fields, type Schema } from './schemas.ts'

export interface Parameter {
  readonly in: string
  readonly name: string
  readonly required: boolean
  readonly schema: Schema
  /** Whether a list is sent as one text, with commas between its items. */
  readonly hasCommas: boolean
  readonly examples: readonly unknown[]
  /** The named examples. */
  readonly named: Named
}

export interface Body {
  /** Whether it is JSON. */
  readonly isJson: boolean
  /** The most bytes of it. */
  readonly limit: number
  readonly schema: Schema
  readonly examples: readonly unknown[]
  readonly named: Named
}

type Named = Readonly<Record<string, unknown>>

export interface Response {
  /** By name, as the contract spells it. */
  readonly headers: ReadonlyMap<string, { readonly required: boolean; readonly schema: Schema }>
  /** The media type of the body, JSON if there are several; undefined if there is no body. */
  readonly type: string | undefined
  /** The schema of that media type. */
  readonly schema: Schema | undefined
  readonly examples: readonly unknown[]
  readonly named: Named
}

export interface Operation extends Security {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With names in braces. */
  readonly path: string
  /** Whether a token needs a scope for it. */
  readonly isScoped: boolean
  /** The scopes that it names. */
  readonly scopes: readonly string[]
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** By status, or `default`. */
  readonly responses: ReadonlyMap<string, Response>
}

/** Parses a contract as the service does: with merge keys (https://yaml.org/type/merge.html), and exact integers. */
export const parseContract = (text: string): unknown =>
  parse(text, (_key, value: unknown) => value, { intAsBigInt: true, merge: true })

export interface Contract {
  /** Its path. */
  readonly file: string
  readonly operations: readonly Operation[]
  /** The paths of the operations, with names in braces. */
  readonly paths: readonly string[]
  /** All scopes of its operations. */
  readonly scopes: readonly string[]
  /** The headers that it declares once for every response, by name; undefined if it does not say which those are. */
  readonly everyResponse: Response['headers'] | undefined
  /** The answer to a request without an operation, and to an error that the operation does not name. */
  readonly anyError: Response
  /** Writes errors in the form of the product. */
  readonly errorBody: Product['errorBody']
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']
/** The most bytes of a body for which the contract names none. */
const BODY_LIMIT = 2 ** 20
/** The answer where a contract has no response `Error`. */
const ERROR = { content: { 'application/json': { schema: { type: 'object', required: ['error', 'message'] } } } }

const contracts = new WeakMap<Product, Contract>()

/** Reads the contract of a product. */
export function contractOf(product: Product): Contract {
  const contract = contracts.get(product) ?? readContract(product)
  contracts.set(product, contract)
  return contract
}

function readContract({ contract, errorBody, guards }: Product): Contract {
  const file = fileURLToPath(contract.file)
  const root = parseContract(readFileSync(file, 'utf8'))
  const { security, paths, components, servers, ...document } = fields(resolve(root, root))
  const operations = Object.entries(fields(paths)).flatMap(([template, item]) => {
    const path = prefixOf(servers) + template
    const { parameters = [], ...others } = fields(item)
    const methods = Object.entries(others).filter(([name]) => METHODS.includes(name))
    const shared = Object.values(fields(parameters))
    return methods.map(([method, value]) => {
      const own = { security, ...fields(value) }
      const schemes = fields(fields(components)['securitySchemes'])
      return { ...toOperation(method.toUpperCase(), path, own, shared), ...readSecurity(own.security, schemes, guards) }
    })
  })
  return {
    file,
    operations,
    paths: [...new Set(operations.map(({ path }) => path))],
    scopes: [...new Set(operations.flatMap(({ scopes }) => scopes))],
    everyResponse: 'x-every-response' in document ? toResponse(document['x-every-response']).headers : undefined,
    anyError: toResponse(fields(fields(components)['responses'])['Error'] ?? ERROR),
    errorBody,
  }
}

/** The path of the first server, without that of a gateway. */
function prefixOf(servers: unknown): string {
  const [{ url = '', variables = {} } = {}] = Object.values(fields(servers)).map(fields)
  const path = String(url)
    .replace(/^{[^}]+}/, '')
    .replaceAll(/{([^}]+)}/g, (_, name: string) => String(fields(fields(variables)[name])['default']))
  return new URL(path, 'http://host').pathname.replace(/\/$/, '')
}

/** The methods of a path, as `Allow` names them: those of the contract, OPTIONS, and HEAD where GET is. */
export function allowOf({ operations }: Contract, path: string): string {
  const own = operations.filter((each) => each.path === path).map(({ method }) => method)
  return [...new Set([...own, 'OPTIONS', ...(own.includes('GET') ? ['HEAD'] : [])])].sort().join(', ')
}

/** Whether a URL matches a path. */
export function matches(path: string, url: string): boolean {
  const pattern = path.split(/{[^}]+}/).map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${pattern.join('[^/?]+')}([?]|$)`).test(url)
}

/** The operation that answers a request; undefined if there is none. */
export function operationOf({ operations, paths }: Contract, method: string, url: string): Operation | undefined {
  const own = method === 'HEAD' ? ['HEAD', 'GET'] : [method]
  // A path without parameters wins over a template that matches it.
  const path = paths.find((each) => each === url.split('?')[0]) ?? paths.find((each) => matches(each, url))
  return operations.find((each) => each.path === path && own.includes(each.method))
}

type Unguarded = Omit<Operation, keyof Security>

function toOperation(method: string, path: string, value: Record<string, unknown>, shared: unknown[]): Unguarded {
  const { operationId, security, parameters, requestBody, responses } = value
  const scopes = Object.values(fields(security)).map((each) => Object.values(fields(each)).flat().map(String))
  const all = [...shared, ...Object.values(fields(parameters))].map((each) => toParameter(fields(each)))
  const byName = new Map(all.map((each) => [`${each.in} ${each.name}`, each])) // the operation's parameters override the path's
  const { 'application/json': json, ...others } = fields(fields(requestBody)['content'])
  const content = fields(json ?? Object.values(others)[0])
  return {
    id: String(operationId),
    method,
    path,
    isScoped: scopes.length > 0 && scopes.every((each) => each.length > 0),
    scopes: scopes.flat(),
    parameters: [...byName.values()],
    body:
      requestBody === undefined
        ? undefined
        : {
            isJson: json !== undefined,
            limit: Number(content['x-body-limit'] ?? BODY_LIMIT),
            schema: fields(content['schema']),
            examples: examplesOf(content),
            named: namedOf(content),
          },
    responses: new Map(Object.entries(fields(responses)).map(([status, each]) => [status, toResponse(each)])),
  }
}

function toParameter(value: Record<string, unknown>): Parameter {
  return {
    in: String(value['in']),
    name: String(value['name']),
    required: value['required'] === true,
    schema: fields(value['schema']),
    hasCommas: value['in'] !== 'query' || value['explode'] === false,
    examples: examplesOf(value),
    named: namedOf(value),
  }
}

function toResponse(value: unknown): Response {
  const { headers, content } = fields(value)
  const entries = Object.entries(fields(headers)).map(([name, each]) => {
    const { required = false, schema } = fields(each)
    return [name, { required: required === true, schema: fields(schema) }] as const
  })
  const types = Object.keys(fields(content))
  const type = types.find((each) => /^application\/([^;]+\+)?json\b/.test(each)) ?? types[0]
  const json = type === undefined ? undefined : fields(content)[type]
  return {
    headers: new Map(entries),
    type,
    schema: json === undefined ? undefined : fields(fields(json)['schema']),
    examples: examplesOf(fields(json)),
    named: namedOf(fields(json)),
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
