// Makes the normal form of operations: follows references, merges parameters of the path, adds absent names and responses. The
// document itself stays unchanged, and no error is reported here.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { isObject } from '@plant-store/json-schema'
import { pathOfServer } from '@plant-store/engine/for-compiler'
import type * as openapi from '../read/document.ts'
import { deref, derefEntries, member, tryDeref } from '../read/references.ts'

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const

export interface Listed {
  /** Such as `GET /users`. */
  readonly key: string
  readonly method: (typeof METHODS)[number]
  readonly path: string
  /** The path item in the document: perhaps a reference, with fields beside it. */
  readonly written: openapi.PathItem
  /** The target of this reference, or the path item itself. */
  readonly target: openapi.PathItem
  /** The path item with the fields of its target. */
  readonly item: openapi.PathItem
  readonly operation: openapi.Operation
}

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

export interface NormalOperation {
  readonly key: string
  /** The operation in the document, for diagnostics. */
  readonly written: openapi.Operation
  readonly id: string
  /** In upper case. */
  readonly method: string
  /** With the path of its server. */
  readonly path: string
  readonly summary: string | undefined
  readonly security: NonNullable<Oas3_1Definition['security']>
  readonly parameters: readonly openapi.Parameter[]
  readonly requestBody: openapi.RequestBody | undefined
  /** By status, range or `default`. Never empty: `default` is added. */
  readonly responses: Readonly<Record<string, openapi.Response>>
}

/** Makes the normal form. @param ids ids of other operations @throws {StartupError} if a reference leads nowhere */
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

/** The `operationId`, unless it is absent or taken. */
function idOf(listed: Listed, ids: ReadonlySet<string>): string {
  const { operationId } = listed.operation
  return operationId === undefined || ids.has(operationId) ? nameOf(listed) : operationId
}

/** A name by method and path, in place of an `operationId`: `getUsersId` for `GET /users/{id}`. */
function nameOf({ method, path }: Listed): string {
  const words = path.split(/[^a-z\d]+/i)
  const capitalized = words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  return [method, ...capitalized].join('')
}

type WithServers = Pick<openapi.PathItem, 'servers'>

/** The object with the servers of an operation: the operation itself, its path, or the document. */
export function serversOf(root: Oas3_1Definition, { operation, item }: Listed): WithServers {
  const nearest = [operation, item].find(({ servers }) => servers !== undefined)
  return nearest ?? root
}

export function usableServers({ servers }: WithServers): NonNullable<WithServers['servers']> {
  return [servers ?? []].flat().filter((server) => typeof member(server, 'url') === 'string')
}

/** The path of the first server, without the prefix of a gateway in the variable `base_url`. */
export function prefixOf(node: WithServers): string {
  const [first] = usableServers(node)
  return first === undefined ? '' : pathOfServer(first)
}

type Parameters = openapi.PathItem['parameters']

/** The parameters of an operation. In the path, they are exactly the parameters of its template. */
function parametersOf(listed: Listed): openapi.Parameter[] {
  const { described, unused, undescribed } = comparePath(listed)
  return [
    ...described.filter((parameter) => !unused.includes(parameter)),
    ...undescribed.map((name) => ({ name, in: 'path' as const, required: true })),
  ]
}

export function comparePath({ path, item, operation }: Listed): {
  /** Including parameters in the query, the headers and the cookies. */
  readonly described: readonly openapi.Parameter[]
  /** Described parameters `in: path` absent from the template. */
  readonly unused: readonly openapi.Parameter[]
  /** Names in the template without a description. */
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
function mergeParameters(
  ofPath: Parameters = [],
  ofOperation: Parameters = [],
): openapi.Parameter[] {
  const merged = new Map<string, openapi.Parameter>()
  for (const node of [...ofPath, ...ofOperation]) {
    const parameter = deref(node)
    if (!isDescribedElsewhere(parameter)) merged.set(keyOf(parameter), parameter)
  }
  return [...merged.values()]
}

/** OpenAPI describes these headers by other means (3.1.0, section 4.8.12.2). */
function isDescribedElsewhere({ in: place, name }: openapi.Parameter): boolean {
  return place === 'header' && /^(accept|authorization|content-type)$/i.test(name)
}

/** Identifies a parameter. The names of headers are case-insensitive. */
function keyOf({ in: place, name }: openapi.Parameter): string {
  return place === 'header' ? `header ${name.toLowerCase()}` : `${String(place)} ${name}`
}

/** The responses of an operation: at least `default`, without 1XX, and without content for HEAD. */
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

function statusOf(key: string): string {
  return /^\dxx$/i.test(key) ? key.toUpperCase() : key
}
