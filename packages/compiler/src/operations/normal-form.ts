// The normal form of operations: references are followed, parameters of the path are merged, absent names and responses are
// added. The document itself stays unchanged, and no fault is reported here.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { isObject } from '@plant-store/json-schema'
import { pathOfServer } from '@plant-store/engine/for-compiler'
import type * as openapi from '../read/document.ts'
import { deref, derefEntries, member, tryDeref } from '../read/references.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const

/** An operation of the document, with its path. */
export interface Listed {
  /** Such as `GET /users`. */
  readonly key: string
  readonly method: (typeof METHODS)[number]
  readonly path: string
  /** The path as it is in the document: it may be a reference, and have members beside it. */
  readonly written: openapi.PathItem
  /** The target of the reference; the path itself if it is no reference. */
  readonly target: openapi.PathItem
  /** The path, with the members of its target. */
  readonly item: openapi.PathItem
  readonly operation: openapi.Operation
}

/** Lists the operations of a document, in its order. */
export function listOperations({ paths }: Oas3_1Definition): Listed[] {
  const items = Object.entries({ ...paths } as Record<string, openapi.PathItem>)
  return items.filter(([path]) => !path.startsWith('x-')).flatMap(listPath)
}

function listPath([path, written]: readonly [string, openapi.PathItem]): Listed[] {
  const target: openapi.PathItem = tryDeref(written) ?? {}
  const item = { ...target, ...written }
  return METHODS.flatMap((method) => {
    const operation = item[method]
    if (!isObject(operation)) return []
    const key = `${method.toUpperCase()} ${path}`
    return [{ key, method, path, written, target, item, operation }]
  })
}

/** An operation in normal form. */
export interface NormalOperation {
  readonly key: string
  /** As it is in the document, for diagnostics. */
  readonly written: openapi.Operation
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With the path of its server. */
  readonly path: string
  readonly summary: string | undefined
  readonly security: NonNullable<Oas3_1Definition['security']>
  readonly parameters: readonly openapi.Parameter[]
  readonly requestBody: openapi.RequestBody | undefined
  /** By status, range or `default`; `default` if the document has none. */
  readonly responses: Readonly<Record<string, openapi.Response>>
}

/**
 * @param ids that other operations have
 * @throws {StartupError} if a reference leads nowhere
 */
export function normalize(
  root: Oas3_1Definition,
  listed: Listed,
  ids: ReadonlySet<string>,
): NormalOperation {
  const { key, method, path, operation } = listed
  const isRead = /^(get|head)$/.test(method)
  const requestBody = isRead ? undefined : operation.requestBody
  return {
    key,
    written: operation,
    id: idOf(listed, ids),
    method: method.toUpperCase(),
    path: prefixOf(serversOf(root, listed)) + path,
    summary: operation.summary,
    security: operation.security ?? root.security ?? [],
    parameters: parametersOf(listed),
    requestBody: requestBody === undefined ? undefined : deref(requestBody),
    responses: responsesOf(listed),
  }
}

/** The `operationId`, unless there is none, or another operation has it. */
function idOf(listed: Listed, ids: ReadonlySet<string>): string {
  const { operationId } = listed.operation
  return operationId === undefined || ids.has(operationId) ? nameOf(listed) : operationId
}

/** Names the method of an operation that has no `operationId`, by its path: `getUsersId` for `GET /users/{id}`. */
function nameOf({ method, path }: Listed): string {
  const words = path.split(/[^a-z\d]+/i)
  const capitalized = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return [method, ...capitalized].join('')
}

type WithServers = Pick<openapi.PathItem, 'servers'>

/** The object with the servers of an operation: the operation itself, its path, or the document. */
export function serversOf(root: Oas3_1Definition, { operation, item }: Listed): WithServers {
  const own = [operation, item].find(({ servers }) => servers !== undefined)
  return own ?? root
}

/** The servers with an address: the linter refuses others. */
export function usableServers({ servers }: WithServers): NonNullable<WithServers['servers']> {
  return [servers ?? []].flat().filter((server) => typeof member(server, 'url') === 'string')
}

/** The path of the first server. A prefix of a gateway is in the variable `base_url`. */
export function prefixOf(node: WithServers): string {
  const [first] = usableServers(node)
  return first === undefined ? '' : pathOfServer(first)
}

type Parameters = openapi.PathItem['parameters']

/** The parameters of an operation: all parameters of its path, described or not, and no other ones in the path. */
function parametersOf(listed: Listed): openapi.Parameter[] {
  const { described, unused, undescribed } = comparePath(listed)
  return [
    ...described.filter((parameter) => !unused.includes(parameter)),
    ...undescribed.map((name) => ({ name, in: 'path' as const, required: true })),
  ]
}

/** Compares the parameters that a path has with the described parameters. */
export function comparePath({ path, item, operation }: Listed): {
  /** The parameters in the query, the headers and the cookies, too. */
  readonly described: readonly openapi.Parameter[]
  /** The parameters in the path that it does not have. */
  readonly unused: readonly openapi.Parameter[]
  /** The names of parameters of the path without a description. */
  readonly undescribed: readonly string[]
} {
  const names = [...path.matchAll(/{([^{}]+)}/g)].map(([, name = '']) => name)
  const described = mergeParameters(item.parameters, operation.parameters)
  const inPath = described.filter((parameter) => parameter.in === 'path')
  const isDescribed = (name: string) => inPath.some((parameter) => parameter.name === name)
  return {
    described,
    unused: inPath.filter(({ name }) => !names.includes(name)),
    undescribed: names.filter((name) => !isDescribed(name)),
  }
}

/** A parameter of the operation replaces the same parameter of its path. */
function mergeParameters(ofPath: Parameters = [], own: Parameters = []): openapi.Parameter[] {
  const merged = new Map<string, openapi.Parameter>()
  for (const node of [...ofPath, ...own]) {
    const parameter = deref(node)
    if (!isDescribedElsewhere(parameter)) merged.set(keyOf(parameter), parameter)
  }
  return [...merged.values()]
}

/** OpenAPI describes these headers by other means (3.1.0, section 4.8.12.2). */
function isDescribedElsewhere({ in: place, name }: openapi.Parameter): boolean {
  return place === 'header' && /^(accept|authorization|content-type)$/i.test(name)
}

/** Two parameters with the same key are the same parameter. The names of headers are case-insensitive. */
function keyOf({ in: place, name }: openapi.Parameter): string {
  return place === 'header' ? `header ${name.toLowerCase()}` : `${String(place)} ${name}`
}

/** OpenAPI 3.1 does not require responses. No method answers with a status of 1XX, and HEAD with no content. */
function responsesOf({ method, operation }: Listed): NormalOperation['responses'] {
  const responses: Partial<openapi.Operation>['responses'] = operation.responses
  const described = derefEntries(responses).filter(([key]) => !key.startsWith('1'))
  if (described.length === 0) return { default: { description: '' } }
  const normal: Record<string, openapi.Response> = {}
  for (const [key, response] of described) {
    if (key.startsWith('x-')) continue
    normal[statusOf(key)] = method === 'head' ? { ...response, content: {} } : response
  }
  return normal
}

/** A status, or a range in capital letters. */
function statusOf(key: string): string {
  return /^\dxx$/i.test(key) ? key.toUpperCase() : key
}
