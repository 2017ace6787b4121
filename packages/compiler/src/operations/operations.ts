// Compiles the operations of a contract, and reports unservable paths and parameters.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import {
  findStatus,
  type Operation,
  pathOfServer,
  reasonOf,
  type Server,
} from '@plant-store/engine/for-compiler'
import { isObject } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import { readSecurity } from './credentials.ts'
import type { Diagnostics } from '../read/diagnostics.ts'
import type * as openapi from '../read/document.ts'
import { readErrors } from './error-forms.ts'
import { warnOfImpossible } from '../schemas/impossible-warnings.ts'
import { readBody, readResponse } from './media-types.ts'
import { readParameters } from './parameters.ts'
import {
  comparePath,
  type Listed,
  type NormalOperation,
  normalize,
  prefixOf,
  serversOf,
  usableServers,
} from './normal-form.ts'
import type { Compilation } from '../schemas/schemas.ts'

/** A segment has characters and parameters, never two parameters side by side. `*` is a wildcard of the router. */
const PATH = /^(\/([\w.~!$&'()+,;=@:-]|{[^{}/]+}(?!{))+)*\/?$/
const RESERVED_PATH = /^\/(openapi\.yaml|docs(\/.*)?)$/

export function describeOperations(
  { root, diagnostics }: Pick<Compilation, 'root' | 'diagnostics'>,
  listed: readonly Listed[],
): void {
  for (const { key, written, target, operation } of listed) {
    const schemes = schemesOf(root, operation)
    diagnostics.describe(key, [written, target, operation, ...schemes].filter(isObject))
  }
}

function schemesOf({ security, components }: Oas3_1Definition, operation: openapi.Operation) {
  const alternatives: unknown[] = [operation.security ?? security].flat()
  const names = alternatives.flatMap((alternative) => Object.keys(alternative ?? {}))
  return names.map((name) => components?.securitySchemes?.[name]).filter(isObject)
}

/** Reports unservable paths, and paths the router can't tell apart. */
export function checkPaths({ root, diagnostics }: Compilation, listed: readonly Listed[]): void {
  for (const path of Object.keys({ ...root.paths }))
    if (!path.startsWith('x-') && !PATH.test(path))
      diagnostics.error(root, { code: 'path-unservable' }, 'paths', path)
  const prefix = prefixOf(root)
  const shapes = new Map<string, string>()
  for (const { method, path, written, operation } of listed) {
    const shape = shapeOf(path)
    const isMixed = shape.includes('{-}')
    const key = isMixed ? shape : `${method} ${shape}`
    const same = shapes.get(key) ?? path
    if (same !== path) diagnostics.error(operation, { code: 'path-ambiguous', path, earlier: same })
    shapes.set(key, path)
    if (RESERVED_PATH.test(prefix + path))
      diagnostics.error(written, { code: 'path-reserved', path })
  }
}

/** The shape of a path for the router: starts and ends of segments, without names of parameters. */
function shapeOf(path: string): string {
  const segments = path.split('/').map((segment) => {
    const isOneParameter = /^{[^}]*}$/.test(segment)
    return isOneParameter ? '{}' : segment.replace(/{.*}/, '{-}')
  })
  return segments.join('/')
}

/** Compiles operations, and reports failing ones. @returns operations by keys such as `GET /users` */
export function compileOperations(
  compilation: Compilation,
  listed: readonly Listed[],
): Map<string, { operation: Operation; normal: NormalOperation }> {
  const { root, diagnostics } = compilation
  checkServers(diagnostics, root)
  const ids = new Set<string>()
  const operations = new Map<string, { operation: Operation; normal: NormalOperation }>()
  for (const described of listed) {
    try {
      const normal = normalize(root, described, ids)
      checkName(diagnostics, described, normal.id, ids)
      checkLocalServers(compilation, described)
      checkPathParameters(diagnostics, described)
      operations.set(described.key, { operation: compile(compilation, normal), normal })
    } catch (error) {
      const finding: Finding = { code: 'operation-broken', reason: reasonOf(error) }
      if (!diagnostics.hasErrorOf(described.key)) diagnostics.error(described.operation, finding)
    }
  }
  compilation.schemas.checkDefaults()
  compilation.schemas.checkExamples()
  warnOfImpossible(
    compilation,
    [...operations.values()].map(({ operation }) => operation),
  )
  return operations
}

/** Reports missing and repeated names. @param ids the ids of earlier operations; this id is added */
function checkName(
  diagnostics: Diagnostics,
  { operation }: Listed,
  id: string,
  ids: Set<string>,
): void {
  const { operationId } = operation
  if (operationId === undefined) diagnostics.warn(operation, { code: 'id-absent', name: id })
  else if (operationId !== id) {
    const finding: Finding = { code: 'id-repeated', id: operationId, name: id }
    diagnostics.warn(operation, finding, 'operationId')
  }
  if (ids.has(id)) diagnostics.error(operation, { code: 'id-taken', id }, 'operationId')
  ids.add(id)
}

/** Reports undescribed and unused parameters of the path. Both together are an error: one name is probably misspelt. */
function checkPathParameters(diagnostics: Diagnostics, listed: Listed): void {
  const { operation } = listed
  const { unused, undescribed } = comparePath(listed)
  const isMisspelt = unused.length > 0 && undescribed.length > 0
  const names = undescribed.map((name) => `{${name}}`).join(', ')
  for (const { name } of unused) {
    if (isMisspelt) diagnostics.error(operation, { code: 'path-parameter-misspelt', name, names })
    else diagnostics.warn(operation, { code: 'path-parameter-unused', name })
  }
  if (isMisspelt) return
  for (const name of undescribed)
    diagnostics.warn(operation, { code: 'path-parameter-undescribed', name })
}

function checkLocalServers({ root, diagnostics }: Compilation, listed: Listed): void {
  const node = serversOf(root, listed)
  if (node !== root) checkServers(diagnostics, node)
}

/** Warns of servers with unserved paths. */
function checkServers(diagnostics: Diagnostics, node: Pick<openapi.PathItem, 'servers'>): void {
  const servers = usableServers(node)
  const prefix = prefixOf(node)
  const [first] = servers
  if (first === undefined) return
  if (!SERVER.test(writtenUrl(first)))
    diagnostics.warn(first, { code: 'server-unservable', prefix }, 'url')
  const path = first.url.replace(/^\w+:\/\/[^/]*/, ' ')
  const hasVariables = /[^{].*{/.test(path)
  if (hasVariables) diagnostics.warn(first, { code: 'server-variables', prefix }, 'url')
  for (const server of servers)
    if (pathOfServer(server) !== prefix)
      diagnostics.warn(server, { code: 'server-further', prefix }, 'url')
}

/** An address, absolute or relative, with a servable path. */
const SERVER = /^(\.{0,2}|[a-z][a-z\d+.-]*:\/\/[^/]+)(\/[\w.~!$&'()+,;=@:-]+)*\/?$/i

/** The address of a server, with variables replaced by their defaults. */
function writtenUrl({ url, variables }: Server): string {
  return url.replaceAll(/{([^}]+)}/g, (_, name: string) => variables?.[name]?.default ?? '*')
}

function compile(compilation: Compilation, normal: NormalOperation): Operation {
  const { id, method, path, requestBody } = normal
  const security = readSecurity(compilation, normal.security)
  if (method !== 'HEAD') reportUndescribed(compilation, normal) // an answer to HEAD has no body
  return {
    id,
    method,
    path,
    security,
    parameters: readParameters(compilation, normal.parameters, security),
    body: requestBody === undefined ? null : readBody(compilation, requestBody),
    responses: compileResponses(compilation, normal.responses),
    errors: readErrors(compilation, normal),
  }
}

/** Warns of built-in errors without a description in the contract. */
function reportUndescribed({ diagnostics }: Compilation, normal: NormalOperation): void {
  const { written, security, parameters, requestBody, responses } = normal
  const hasInput = parameters.length > 0 || requestBody !== undefined
  const statuses = [
    ...(hasInput ? [400] : []),
    ...(security.length > 0 ? [401] : []),
    ...(requestBody === undefined ? [] : [413, 415]),
  ]
  for (const status of statuses)
    if (findStatus(responses, status) === undefined)
      diagnostics.warn(written, { code: 'status-undescribed', status })
}

function compileResponses(
  compilation: Compilation,
  responses: NormalOperation['responses'],
): Operation['responses'] {
  const entries = Object.entries(responses).map(
    ([status, response]) => [status, readResponse(compilation, status, response)] as const,
  )
  return Object.fromEntries(entries)
}
