import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Document, isNode, isScalar, LineCounter, parseDocument, YAMLParseError } from 'yaml'
import type { operations } from './contract.gen.ts'
import type { JsonText } from '../http/json.ts'
import { readSecurityScheme, type SecurityScheme } from './security.ts'
import { reasonOf, StartupError } from '../errors.ts'

export type { components } from './contract.gen.ts'

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
type RequestBody<Operation> = Operation extends { requestBody: infer Body } ? Content<Body> : undefined
type Results<Responses> = {
  [Status in keyof Responses & number]: { readonly status: Status } & Headers<Responses[Status]> &
    Answer<Content<Responses[Status]>>
}[keyof Responses & number]
type Headers<Response> = Response extends { headers: infer All }
  ? { readonly headers?: { readonly [Name in keyof All as string extends Name ? never : Name]?: string } }
  : unknown
/** A body may be JSON already. An array may be answered in batches: it is then streamed, in the memory of one batch. */
type Answer<Json> = [Json] extends [undefined]
  ? { readonly body?: undefined }
  : { readonly body: Json | JsonText<Json> | (Json extends readonly unknown[] ? AsyncIterable<JsonText<Json>> : never) }
type Content<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : undefined

/** The OpenAPI document, as the server needs it. */
export interface Contract {
  readonly file: string
  /** The bytes to serve: those of the file, but for the default of `base_url`. */
  readonly bytes: Buffer
  /** The document without references, in the form that fastify-openapi-glue reads rightly. */
  readonly document: Readonly<Record<string, unknown>>
  /** By operationId. */
  readonly operations: ReadonlyMap<string, Operation>
}

/** What the routes need of an operation beside what fastify-openapi-glue makes of it. */
export interface Operation {
  /** The security schemes that must all be satisfied. */
  readonly security: readonly SecurityScheme[]
  /** The names of its header parameters. */
  readonly headers: readonly string[]
  /** Whether the operation has a request body; it is then required, and JSON. */
  readonly hasBody: boolean
}

/**
 * Reads an OpenAPI 3.1 document. What would be served otherwise than it says is refused.
 * @param file the path of a YAML file
 * @param baseUrl the default of the server variable `base_url` in the served bytes
 * @throws {StartupError} with file, line and reason
 */
export function readContract(file: string, baseUrl?: string): Contract {
  const lines = new LineCounter()
  let yaml: Document | undefined
  try {
    const text = readFileSync(file, 'utf8')
    yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    const [fault] = yaml.errors
    if (fault !== undefined) throw fault
    const source: unknown = yaml.toJS()
    const document = inlined(source, source)
    if (!isObject(document)) throw new StartupError('not an OpenAPI document')
    moveParameters(document)
    const bytes = Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, yaml, baseUrl))
    return { file, bytes, document, operations: operationsOf(document) }
  } catch (error) {
    const node = error instanceof ContractFault ? yaml?.getIn(error.at, true) : undefined
    const offset = error instanceof YAMLParseError ? error.pos[0] : isNode(node) ? node.range?.[0] : undefined
    const line = offset === undefined ? '' : `:${lines.linePos(offset).line}`
    throw new StartupError(`${file}${line}: ${reasonOf(error)}`)
  }
}

/** What tells one document from another: in hexadecimal digits, the SHA-256 of it as JSON. */
export function digestOf(document: unknown): string {
  return hash('sha256', JSON.stringify(document))
}

/** A fault of the document. */
class ContractFault extends Error {
  /** The keys that lead to it from the root. */
  readonly at: readonly string[]

  constructor(message: string, at: readonly string[]) {
    super(message)
    this.at = at
  }
}

function withBaseUrl(text: string, yaml: Document, baseUrl: string): string {
  const node = yaml.getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  if (!isScalar(node) || !node.range) throw new StartupError('there is no server variable base_url')
  const [start, end] = node.range
  return node.value === baseUrl ? text : text.slice(0, start) + JSON.stringify(baseUrl) + text.slice(end)
}

/**
 * Puts in the place of each reference what it leads to. OpenAPI 3.1 allows keywords beside `$ref`, and a component that
 * is only a `$ref`; fastify-openapi-glue drops the first and takes the second for a schema without rules.
 */
function inlined(
  node: unknown,
  document: unknown,
  at: readonly string[] = [],
  within: readonly string[] = [],
): unknown {
  if (Array.isArray(node)) return node.map((each, index) => inlined(each, document, [...at, String(index)], within))
  if (!isObject(node)) return node
  const { $ref, ...others } = node
  const members = Object.entries(others)
  const rest = Object.fromEntries(members.map(([key, value]) => [key, inlined(value, document, [...at, key], within)]))
  if ($ref === undefined) return rest
  const pointer = typeof $ref === 'string' ? $ref : 'no text'
  const [root, ...keys] = decodeURIComponent(pointer).split('/')
  const unescaped = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  const target = unescaped.reduce((at, key) => fields(at)[key], document)
  if (root !== '#' || !isObject(target)) throw new ContractFault(`"$ref: ${pointer}" leads nowhere`, [...at, '$ref'])
  supported(!within.includes(pointer), `"$ref: ${pointer}" that leads back to itself`, [...at, '$ref'])
  const referred = inlined(target, document, unescaped, [...within, pointer])
  const isPlain = Object.keys(rest).every((key) => key === 'summary' || key === 'description')
  return isPlain ? referred : { allOf: [referred, rest] }
}

/** Moves the parameters of each path to its operations, whose own ones win: fastify-openapi-glue would take only those. */
function moveParameters(document: Record<string, unknown>): void {
  for (const item of Object.values(fields(document['paths'])).filter(isObject)) {
    const shared = Object.values(fields(item['parameters']))
    delete item['parameters']
    for (const operation of Object.values(item).filter(isObject)) {
      const all = [...shared, ...Object.values(fields(operation['parameters']))].map(fields)
      const byName = new Map(all.map((each) => [`${String(each['in'])} ${String(each['name'])}`, each]))
      operation['parameters'] = [...byName.values()]
    }
  }
}

const METHODS = new Set(['get', 'put', 'post', 'delete', 'patch'])
const PATH = /^(\/([\w.~-]+|{\w+}))+$/
/** Headers that OpenAPI describes by other means: as parameters they mean nothing (3.1.0, section 4.8.12.2). */
const OF_OPENAPI = /^(accept|authorization|content-type)$/i
const OF_PARAMETERS = new Set(['name', 'in', 'description', 'required', 'deprecated', 'schema', 'example', 'examples'])

function operationsOf(document: Record<string, unknown>): ReadonlyMap<string, Operation> {
  const operations = new Map<string, Operation>()
  for (const [path, item] of Object.entries(fields(document['paths']))) {
    supported(PATH.test(path), `the path ${path}`, ['paths', path])
    const { summary: _summary, description: _description, ...methods } = fields(item)
    for (const [method, operation] of Object.entries(methods)) {
      const at = ['paths', path, method]
      supported(METHODS.has(method), `${path}: "${method}"`, at)
      const { operationId: id, security: required = document['security'], parameters, requestBody } = fields(operation)
      if (typeof id !== 'string') throw new ContractFault(`${method} ${path} has no operationId`, at)
      if (operations.has(id)) throw new ContractFault(`two operations have the operationId ${id}`, at)

      const headers: string[] = []
      for (const parameter of Object.values(fields(parameters)).map(fields)) {
        const [place, name] = [String(parameter['in']), String(parameter['name'])]
        supported(/^(path|query|header)$/.test(place), `${id}: a parameter in ${place}`, at)
        supported(place !== 'header' || !OF_OPENAPI.test(name), `${id}: the header ${name} as a parameter`, at)
        for (const key of Object.keys(parameter)) supported(OF_PARAMETERS.has(key), `${id}: "${key}" of ${name}`, at)
        if (place === 'header') headers.push(name)
      }
      const [schemes = {}, ...alternatives] = Object.values(fields(required)).map(fields)
      supported(alternatives.length === 0, `${id}: alternatives in "security"`, at)
      supported(Object.values(schemes).flat().length === 0, `${id}: scopes in "security"`, at)
      const { required: isRequired, content } = fields(requestBody ?? { required: true })
      const isRead = isRequired === true && Object.keys(fields(content)).every((type) => type === 'application/json')
      supported(isRead, `${id}: a request body that is not required, or not application/json`, at)
      const security = Object.keys(schemes).map((name) => securityScheme(document, name, at))
      operations.set(id, { security, headers, hasBody: isObject(requestBody) })
    }
  }
  return operations
}

function securityScheme(document: Record<string, unknown>, name: string, at: readonly string[]): SecurityScheme {
  const described = fields(fields(document['components'])['securitySchemes'])[name]
  if (!isObject(described)) throw new ContractFault(`the security scheme ${name} is not described`, at)
  const scheme = readSecurityScheme(described)
  if (scheme !== undefined) return scheme
  const fault = `the security scheme ${name} is neither of the type http with the scheme bearer nor an apiKey in a header`
  throw new ContractFault(fault, ['components', 'securitySchemes', name])
}

function supported(isSupported: boolean, what: string, at: readonly string[]): void {
  if (!isSupported) throw new ContractFault(`${what} is not supported`, at)
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The members of an object or an array; none of anything else. */
export function fields(value: unknown): Record<string, unknown> {
  return Object.assign<Record<string, unknown>, unknown>({}, value)
}
