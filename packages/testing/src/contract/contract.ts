// Reads contracts, without the code of the service.
import { fileURLToPath } from 'node:url'
import type { Product } from '@plant-store/engine'
import { isBytes, isJson, isServed } from '../http/media-types.ts'
import { readSecurity, type Security } from './credentials.ts'
import { follow, followed, followedItems, readDocument } from '../document/document.ts'
import { typesOf } from '../schemas/readings.ts'
import {
  addFormats,
  fields,
  listOf,
  optionsOf,
  partsOf,
  remembered,
  type Schema,
} from '../schemas/schemas.ts'
import { schemaReader } from '../schemas/schema-reader.ts'

export type Parameter = ReturnType<typeof toParameter>
export type Response = ReturnType<typeof toResponse>
export type Operation = ReturnType<typeof toOperation> & Security
export type Contract = Awaited<ReturnType<typeof readContract>>

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace']
/** The most bytes of a body without `x-body-limit`. */
const limitOf = (type: string) =>
  isBytes(type) || /^multipart\//i.test(type) ? 2 ** 20 : 100 * 2 ** 10
/** The answer where a contract has no response `Error`. */
const ERROR = {
  content: { 'application/json': { schema: { type: 'object', required: ['error', 'message'] } } },
}

/** Reads the contract of a product. */
export const contractOf: (product: Product) => Promise<Contract> = remembered(readContract)

/** The name of an operation in `without` of product.ts. */
function nameOf(method: string, path: string, operation: unknown): string {
  const { operationId } = fields(operation)
  return typeof operationId === 'string' ? operationId : `${method.toUpperCase()} ${path}`
}

/** Reads one document: follows its references, and reads its schemas. */
interface Reader {
  readonly root: Record<string, unknown>
  readonly schemaOf: ReturnType<typeof schemaReader>
}

async function readContract({ contract, errorBody, formats, guards, without = [] }: Product) {
  addFormats(formats)
  const file = fileURLToPath(contract.file)
  const root = await readDocument(file)
  const reader: Reader = { root, schemaOf: schemaReader(root) }
  const { security, paths, components, servers } = root
  const { securitySchemes, responses } = fields(components)
  const schemes = Object.fromEntries(followed(root, securitySchemes))
  const operations = followed(root, paths).flatMap(([template, item]) => {
    const methods = Object.entries(item).filter(
      ([name, value]) => METHODS.includes(name) && !without.includes(nameOf(name, template, value)),
    )
    return methods.map(([method, value]): Operation => {
      const shared = { security, limit: root['x-body-limit'], servers: item['servers'] ?? servers }
      const own = { ...shared, ...fields(value) }
      const path = prefixOf(own.servers) + template
      const secured = readSecurity(own.security, schemes, guards)
      const source = { method: method.toUpperCase(), path, item, value: own }
      return { ...toOperation(reader, source), ...secured }
    })
  })
  return {
    file,
    operations,
    /** The paths of the operations, with names in braces. */
    paths: [...new Set(operations.map(({ path }) => path))],
    /** All scopes of its operations. */
    scopes: [...new Set(operations.flatMap(({ scopes }) => scopes))],
    /** The headers declared once for every response; undefined without `x-every-response`. */
    everyResponse:
      'x-every-response' in root ? toResponse(reader, root['x-every-response']).headers : undefined,
    /** The answer to a request without an operation, and to an error not declared by the operation. */
    anyError: toResponse(reader, fields(responses)['Error'] ?? ERROR),
    /** Writes errors in the form of the product. */
    errorBody,
  }
}

/** The path of the first server, without the path of a gateway. */
function prefixOf(servers: unknown): string {
  const [{ url = '', variables = {} } = {}] = Object.values(fields(servers)).map(fields)
  const path = String(url)
    .replace(/^{base_url}(?=\/|$)/, '')
    .replaceAll(/{([^}]+)}/g, (_, name: string) => {
      const { default: value } = fields(fields(variables)[name])
      return typeof value === 'string' ? value : '*'
    })
  const segments = new URL(path, 'http://host').pathname.split('/')
  return segments.map((segment) => (/^[^*%]+$/.test(segment) ? `/${segment}` : '')).join('')
}

/** The headers which OpenAPI ignores as parameters. */
const IGNORED = /^(accept|authorization|content-type)$/i

/** An operation of the contract. */
interface OperationSource {
  /** In capital letters. */
  readonly method: string
  /** With names in braces. */
  readonly path: string
  /** The path item. */
  readonly item: Record<string, unknown>
  /** The operation object. */
  readonly value: Record<string, unknown>
}

function toOperation(reader: Reader, { method, path, item, value }: OperationSource) {
  const { operationId, security, requestBody, responses, limit } = value
  const scopes = Object.values(fields(security)).map((alternative) =>
    Object.values(fields(alternative)).flat().map(String),
  )
  const parameters = [item['parameters'], value['parameters']]
    .flatMap((list) => followedItems(reader.root, list))
    .map((node) => toParameter(reader, node))
    .filter((parameter) => parameter.in !== 'header' || !IGNORED.test(parameter.name))
  const names = [...path.matchAll(/{([^{}]+)}/g)].map(([, name = '']) => name)
  const ofPath = names.map((name) => toParameter(reader, { in: 'path', name }))
  // The operation's parameters override the path's, and these the undescribed ones.
  const byName = new Map(
    [...ofPath, ...parameters]
      .filter((parameter) => parameter.in !== 'path' || names.includes(parameter.name))
      .map((parameter) => [`${parameter.in} ${parameter.name}`, parameter]),
  )
  const entries = followed(reader.root, responses).map(
    ([status, response]) => [status, toResponse(reader, response)] as const,
  )
  const hasBody = requestBody !== undefined && !/^(GET|HEAD)$/.test(method)
  const body = hasBody ? follow(reader.root, requestBody) : undefined
  return {
    id: typeof operationId === 'string' ? operationId : `${method} ${path}`,
    method,
    path,
    /** Whether a token needs a scope. */
    isScoped: scopes.length > 0 && scopes.every((required) => required.length > 0),
    scopes: scopes.flat(),
    parameters: [...byName.values()],
    body: body && toBody(reader, body, limit),
    /** By status, or `default`. */
    responses: new Map(entries),
  }
}

/** A body as JSON if possible, or else of its first media type. @param limit of bodies without their own */
function toBody({ root, schemaOf }: Reader, value: Record<string, unknown>, limit: unknown) {
  const { required, content } = value
  const entries = Object.entries(fields(content)).map(
    ([type, media]) => [type.replace(/;.*/s, ''), media] as const,
  )
  const byType = new Map(entries)
  const types = [...byType.keys()]
  const range = types.find(isJson) ?? types.find(isServed) ?? types[0] ?? ''
  const media = follow(root, byType.get(range))
  const described = follow(root, media['schema'])
  const isAny = range === '*/*' && Object.keys(described).length > 0
  const type = isAny && described['type'] !== 'string' ? 'application/json' : range
  const schema = schemaOf(media['schema'], 'readOnly')
  const most = [
    media['x-body-limit'] ?? limit ?? limitOf(type),
    isBytes(type) ? schema['maxLength'] : undefined,
  ]
  return {
    required: required === true,
    type,
    /** All its media types. */
    types,
    /** The most bytes. */
    limit: Math.min(...most.map((length) => Number(length ?? Infinity))),
    schema,
    ...examplesOf(root, media, schema),
  }
}

function toParameter(reader: Reader, value: Record<string, unknown>) {
  const { root, schemaOf } = reader
  const [media] = followed(root, value['content']).map(([, content]) => content)
  const { schema: node, ...described } = media ?? value
  const schema = schemaOf(node)
  const parts = optionsOf(schema)
  const names = parts.flatMap(({ properties }) => Object.keys(fields(properties)))
  const others = parts.flatMap((part) => OTHERS.map((keyword) => part[keyword] ?? false))
  return {
    in: String(value['in']),
    name: String(value['name']),
    required: value['required'] === true || value['in'] === 'path',
    schema,
    /** Whether a list is sent as one string, with commas between its items. */
    hasCommas: !isExploded(value),
    /** The style of an object, or JSON. */
    sentAs: sentAsOf(value, schema),
    /** Of an object: the names of described properties. */
    names,
    /** Whether it may have further ones. */
    isOpen: names.length === 0 || others.some((member) => member !== false),
    /** The names in the query of other parameters. */
    reserved: reservedIn(root),
    /** Whether an empty string means absence. */
    allowsEmpty: value['allowEmptyValue'] === true && value['required'] !== true,
    ...examplesOf(root, described, schema),
  }
}

/** The keywords of properties without a described name. */
const OTHERS = ['patternProperties', 'additionalProperties', 'unevaluatedProperties']

function sentAsOf(value: Record<string, unknown>, schema: Schema) {
  const { in: place, content, style } = value
  if (content !== undefined) return 'json'
  if (style === 'deepObject') return style
  const types = [...typesOf(schema)].filter((type) => type !== 'null')
  if (types.join() !== 'object') return undefined
  if (!isExploded(value)) return 'pairs'
  return place === 'query' ? 'members' : 'assignments'
}

/** Whether the parts of a value are sent one by one. */
function isExploded({ in: place, explode }: Record<string, unknown>): boolean {
  const isForm = place === 'query' || place === 'cookie'
  return typeof explode === 'boolean' ? explode : isForm
}

/** The names of all parameters in queries, of a path or an operation, and of the credentials there. */
const reservedIn = remembered((root: Record<string, unknown>): string[] => {
  const { parameters, securitySchemes } = fields(root['components'])
  const items = followed(root, root['paths']).map(([, item]) => item)
  const lists = items.flatMap((item) => [item, ...Object.values(item)]).map(fields)
  const described = lists.flatMap((node) => followedItems(root, node['parameters']))
  const shared = [...followed(root, parameters), ...followed(root, securitySchemes)]
  const inQuery = [...described, ...shared.map(([, node]) => node)].filter(
    (node) => node['in'] === 'query',
  )
  return inQuery.map(({ name }) => String(name))
})

function toResponse({ root, schemaOf }: Reader, value: unknown) {
  const { headers, content } = follow(root, value)
  const entries = followed(root, headers).map(([name, { required = false, schema }]) => {
    return [name, { required: required === true, schema: schemaOf(schema) }] as const
  })
  const types = followed(root, content).map(([type, media]) => {
    const schema = schemaOf(media['schema'], 'writeOnly')
    return { type, schema, media }
  })
  const { media = {}, schema = {} } = types.find(({ type }) => isJson(type)) ?? types[0] ?? {}
  return {
    /** By name, spelled as in the contract. */
    headers: new Map(entries),
    /** The schemas of its body by media type; none without a body. */
    schemas: new Map(types.map(({ type, schema }) => [type.toLowerCase(), schema])),
    ...examplesOf(root, media, schema),
  }
}

/** The examples of a parameter or a media type, or else of its schema; and the named ones. */
function examplesOf(root: unknown, value: Record<string, unknown>, schema: Schema) {
  const entries = followed(root, value['examples'])
    .filter(([, example]) => 'value' in example)
    .map(([name, example]) => [name, example['value']] as const)
  const named: Record<string, unknown> = Object.fromEntries(entries)
  const own = 'example' in value ? [value['example']] : Object.values(named)
  return { examples: own.length > 0 ? own : examplesIn(schema), named }
}

function examplesIn(schema: Schema): unknown[] {
  const lists = partsOf(schema).map(({ examples }) => listOf(examples))
  return lists.find((own) => own.length > 0) ?? []
}
