import { readFileSync } from 'node:fs'
import { type Document, isScalar, parseDocument } from 'yaml'
import { StartupError } from './config.ts'
import type { operations } from './contract.gen.ts'

export type { components, SecurityScheme } from './contract.gen.ts'

/** The operationIds of the contract. */
export type OperationId = keyof operations

/** What the service gets of a request: the parts that the contract describes, validated. An int64 is a `bigint`. */
export interface Request<Id extends OperationId> {
  /** Whom the access token names; empty for an operation that needs none. */
  readonly caller: string
  readonly path: Part<Id, 'path'>
  readonly query: Part<Id, 'query'>
  readonly header: Part<Id, 'header'>
  readonly body: RequestBody<operations[Id]>
}

/** What the service answers: a status that the contract declares, with the headers and the body of that status. */
export type Result<Id extends OperationId> = Results<operations[Id]['responses']>

/** A method for each operation of the contract, named by its operationId. */
export type Service = { [Id in OperationId]: (request: Request<Id>) => Promise<Result<Id>> }

type Part<Id extends OperationId, Name extends string> = operations[Id]['parameters'] extends {
  [_ in Name]?: infer Value extends object
}
  ? Readonly<Value>
  : unknown
type Results<Responses> = {
  [Status in keyof Responses & number]: {
    readonly status: Status
    readonly headers?: { readonly [Name in HeaderName<Responses[Status]>]?: string }
  } & Answer<Content<Responses[Status]>>
}[keyof Responses & number]
type Answer<Json> = [Json] extends [undefined]
  ? { readonly body?: undefined }
  : { readonly body: Streamable<Json> }
type RequestBody<Operation> = Operation extends { requestBody: infer Body }
  ? Content<Body>
  : Operation extends { requestBody?: infer Body }
    ? Content<NonNullable<Body>> | undefined
    : undefined
type Content<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : undefined
type HeaderName<Response> = Response extends { headers: infer Headers }
  ? keyof { [Name in keyof Headers as string extends Name ? never : Name]: unknown }
  : never

/** An array may be answered in batches: it is then streamed, in the memory of one batch. */
type Streamable<Json> = Json extends readonly (infer Item)[] ? Json | AsyncIterable<Item[]> : Json

/** The OpenAPI document, as the server needs it. */
export interface Contract {
  readonly file: string
  /** The bytes to serve: those of the file, but for the default of `base_url`. */
  readonly bytes: Buffer
  /** The document in the form that fastify-openapi-glue reads rightly. */
  readonly document: Readonly<Record<string, unknown>>
  /** By operationId. */
  readonly operations: ReadonlyMap<string, Operation>
}

/** What the routes need of an operation beside what fastify-openapi-glue makes of it. */
export interface Operation {
  /** The names of the security schemes that must all be satisfied. */
  readonly security: readonly string[]
  /** Whether the operation has a request body, always JSON. */
  readonly body: 'required' | 'optional' | 'none'
}

/**
 * Reads an OpenAPI 3.1 document.
 * @param file the path of a YAML file
 * @param baseUrl the default of the server variable `base_url` in the served bytes
 * @throws {StartupError} with file, line and reason if it can't be read or can't be served
 */
export function readContract(file: string, baseUrl?: string): Contract {
  const text = readFileSync(file, 'utf8')
  const yaml = parseDocument(text)
  const [fault] = yaml.errors
  if (fault !== undefined) throw new StartupError(`${file}: ${fault.message}`)
  const document: unknown = yaml.toJS()
  if (!isObject(document)) throw new StartupError(`${file}: not an OpenAPI document`)
  return {
    file,
    bytes: Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, yaml, baseUrl)),
    operations: new Map(operationsOf(document)),
    document: Object.fromEntries(
      Object.entries(document).map(([key, value]) => [key, plainRefs(value, document)]),
    ),
  }
}

function withBaseUrl(text: string, yaml: Document, baseUrl: string): string {
  const node = yaml.getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  if (!isScalar(node) || !node.range) throw new StartupError('the contract has no server variable base_url')
  const [start, end] = node.range
  return text.slice(0, start) + JSON.stringify(baseUrl) + text.slice(end)
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'])

function* operationsOf(document: Record<string, unknown>): Generator<[string, Operation]> {
  for (const [path, item] of members(document['paths'])) {
    for (const [method, operation] of members(item)) {
      if (!METHODS.has(method) || !isObject(operation)) continue
      const id = operation['operationId']
      if (typeof id !== 'string') throw new StartupError(`${method} ${path} has no operationId`)
      const security = schemesOf(id, operation['security'] ?? document['security'] ?? [])
      yield [id, { security, body: bodyOf(id, operation['requestBody']) }]
    }
  }
}

function schemesOf(id: string, security: unknown): string[] {
  if (!Array.isArray(security) || security.length > 1) {
    throw new StartupError(`${id}: alternatives in "security" are not supported`)
  }
  return members(security[0]).map(([scheme]) => scheme)
}

function bodyOf(id: string, body: unknown): Operation['body'] {
  if (!isObject(body)) return 'none'
  const types = members(body['content']).map(([type]) => type)
  if (types.join() !== 'application/json') throw new StartupError(`${id}: a request body is application/json`)
  return body['required'] === true ? 'required' : 'optional'
}

/**
 * OpenAPI 3.1 allows keywords beside `$ref`, and a component that is only a `$ref`; fastify-openapi-glue drops the
 * first and takes the second for a schema without rules. `allOf`, and the end of the chain, say the same to it.
 */
function plainRefs(node: unknown, document: object): unknown {
  if (Array.isArray(node)) return node.map((each) => plainRefs(each, document))
  if (!isObject(node)) return node
  const { $ref, ...rest } = node
  if (typeof $ref !== 'string') {
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, plainRefs(value, document)]))
  }
  const end = { $ref: lastOf($ref, document) }
  const isPlain = Object.keys(rest).every((key) => key === 'summary' || key === 'description')
  return isPlain ? end : { allOf: [end, plainRefs(rest, document)] }
}

function lastOf(ref: string, document: object, seen: readonly string[] = []): string {
  const keys = decodeURIComponent(ref).split('/').slice(1)
  const target = keys.reduce<unknown>(
    (node, key) => (isObject(node) ? node[key.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined),
    document,
  )
  if (!isObject(target) || seen.includes(ref)) throw new StartupError(`"$ref: ${ref}" leads nowhere`)
  const { $ref: next, ...rules } = target
  return typeof next === 'string' && Object.keys(rules).length === 0
    ? lastOf(next, document, [...seen, ref])
    : ref
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function members(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : []
}
