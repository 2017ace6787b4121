// Compiles the paths of a contract for routes.ts, and refuses everything that routes.ts can't do as described.
import type { Operation, Parameter } from '../engine/contract/compiled.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries, member, tryDeref } from './references.ts'
import { readErrors } from './errors.ts'
import { readBody, readResponse } from './messages.ts'
import { readSecurity } from './security.ts'
import type { Context } from './schemas.ts'
import { readingOf, UNREADABLE } from './shapes.ts'
import { isObject } from '../engine/json-schema/assertions.ts'
import { pathOfServer } from '../engine/contract/servers.ts'
import { reasonOf } from '../engine/errors.ts'

/** A segment is plain text and parameters, with text between two of them. The router uses `*` for its own syntax. */
const PATH = /^(\/([\w.~!$&'()+,;=@:-]|{[^{}/]+}(?!{))+)*\/?$/
const RESERVED_PATH = /^\/(openapi\.yaml|docs(\/.*)?)$/

const SEGMENT =
  "this path is not served: write letters, digits, -._~!$&'()+,;=@: and {parameters}, with text between two of them"

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const

/** An operation of the document, with its path. */
export interface Listed {
  /** Such as `GET /users`. */
  readonly key: string
  readonly method: string
  readonly path: string
  /** As it is in the document: it may be a reference, and have members beside it. */
  readonly written: openapi.PathItem
  readonly item: openapi.PathItem
  readonly operation: openapi.Operation
}

/** Lists the operations of a document, in its order. */
export function listOperations({ root, findings }: Context): Listed[] {
  return Object.entries({ ...root.paths } as Record<string, openapi.PathItem>).flatMap(
    ([path, written]) => {
      if (path.startsWith('x-')) return []
      if (!PATH.test(path)) findings.refuse(root, SEGMENT, 'paths', path)
      const target: openapi.PathItem = tryDeref(written) ?? {}
      const item = { ...target, ...written }
      return METHODS.flatMap((method) => {
        const operation = item[method]
        if (!isObject(operation)) return []
        const key = `${method.toUpperCase()} ${path}`
        const names = [operation.security ?? root.security]
          .flat()
          .flatMap((each) => Object.keys(each ?? {}))
        const schemes = names
          .map((name) => root.components?.securitySchemes?.[name])
          .filter(isObject)
        findings.describe(key, [written, target, operation, ...schemes].filter(isObject))
        return { key, method, path, written, item, operation }
      })
    },
  )
}

/** Compiles operations. One that can't be gets a fault. @returns them by keys such as `GET /users`, and the servers' path */
export function readOperations(
  context: Context,
  listed: readonly Listed[],
): { prefix: string; operations: Map<string, Operation> } {
  const { root, schemas, findings } = context
  const { refuse } = findings
  const prefix = readPrefix(context, root)
  const shapes = new Map<string, string>()
  for (const { path, written } of new Map(listed.map((each) => [each.path, each])).values()) {
    const other = shapes.get(shapeOf(path))
    if (other !== undefined)
      refuse(written, `the router can't tell the path ${path} from ${other}: change one of them`)
    shapes.set(shapeOf(path), path)
    if (RESERVED_PATH.test(prefix + path))
      refuse(written, `the path ${path} is taken by the document and its page`)
  }
  const ids = new Set<string>()
  const compile = (each: Listed): Operation => {
    const { method, path, item, operation } = each
    const id = (operation.operationId ??= nameOperation(context, each))
    if (ids.has(id)) refuse(operation, `two operations have the operationId ${id}`, 'operationId')
    ids.add(id)
    const local = [operation, item].find(({ servers }) => servers !== undefined)
    const at = (local ? readPrefix(context, local) : prefix) + path
    return {
      id,
      method: method.toUpperCase(),
      path: at,
      ...readOperation(context, operation, item.parameters),
    }
  }
  const operations = new Map<string, Operation>()
  for (const each of listed) {
    try {
      operations.set(each.key, compile(each))
    } catch (error) {
      const isKnown = findings
        .list()
        .faults.some(({ operations }) => operations?.includes(each.key) !== false)
      if (!isKnown) refuse(each.operation, `this operation can't be compiled: ${reasonOf(error)}`)
    }
  }
  schemas.checkDefaults()
  return { prefix, operations }
}

/** The path of the first server. A prefix of a gateway is in the variable `base_url`. */
function readPrefix(
  { findings }: Context,
  { servers: all }: Pick<openapi.PathItem, 'servers'>,
): string {
  const { refuse, note } = findings
  const servers = [all ?? []].flat().filter((each) => typeof member(each, 'url') === 'string') // the linter refuses others
  const paths = servers.map(pathOfServer)
  const [prefix = ''] = paths
  const [first] = servers
  if (first && !PATH.test(prefix))
    refuse(first, `the path ${prefix} is not served: write {base_url} or /v1`, 'url')
  if (first && /[^{].*{/.test(first.url.replace(/^\w+:\/\/[^/]*/, ' ')))
    note(first, `variables in the path have their defaults: ${prefix}`, 'url')
  for (const [index, server] of servers.entries())
    if (paths[index] !== prefix)
      note(server, `only the path of the first server is served: ${prefix}/`, 'url')
  return prefix
}

/** Names the method of an operation that has no `operationId`, by its path: `getUsersId` for `GET /users/{id}`. */
function nameOperation({ findings }: Context, { method, path, operation }: Listed): string {
  const words = path
    .split(/[^a-z\d]+/i)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  const id = [method, ...words].join('')
  findings.note(operation, `without operationId, the method is called ${id}`)
  return id
}

/** A path as the router tells it from others: by the start and the end of each segment, not by names of parameters. */
function shapeOf(path: string): string {
  const segments = path
    .split('/')
    .map((each) => (/^{[^}]*}$/.test(each) ? '{}' : each.replace(/{.*}/, '{-}')))
  return segments.join('/')
}

/** Whether an operation has no responses: OpenAPI 3.1 does not require them. */
const isEmpty = ({ responses }: Partial<openapi.Operation>) =>
  Object.keys(deref(responses) ?? {}).length === 0

/** @param inherited the parameters of its path */
function readOperation(
  context: Context,
  operation: openapi.Operation,
  inherited: openapi.PathItem['parameters'] = [],
): Omit<Operation, 'id' | 'method' | 'path'> {
  const { root } = context
  const { requestBody, parameters: own = [], security = root.security ?? [] } = operation
  if (isEmpty(operation)) operation.responses = { default: { description: '' } }
  const statuses = derefEntries(operation.responses).filter(([status]) => !status.startsWith('x-'))
  // A parameter of the operation replaces the same parameter of its path.
  const described = [...inherited, ...own].map(deref)
  const parameters = described
    .filter((each) => !isIgnored(each))
    .map((each) => [keyOf(each), each] as const)
  return {
    security: readSecurity(context, security),
    parameters: [...new Map(parameters).values()].map((each) => readParameter(context, each)),
    body: requestBody === undefined ? null : readBody(context, deref(requestBody)),
    responses: Object.fromEntries(
      statuses.map(([status, each]) => [status, readResponse(context, status, each)]),
    ),
    errors: readErrors(context, operation.responses),
  }
}

/** OpenAPI describes these headers by other means (3.1.0, section 4.8.12.2). */
const isIgnored = ({ in: place, name }: openapi.Parameter) =>
  place === 'header' && /^(accept|authorization|content-type)$/i.test(name)

/** Parameters with the same key are the same one. The names of headers are case-insensitive. */
const keyOf = ({ in: place, name }: openapi.Parameter) =>
  place === 'header' ? `header ${name.toLowerCase()}` : `${String(place)} ${name}`

function readParameter(context: Context, parameter: openapi.Parameter): Parameter {
  const { schemas } = context
  const { refuse } = context.findings
  const { in: place, name, required = false, explode = true, schema = true } = parameter
  const { isRead, reading, itemSchema } = readingOf(schema, explode && place === 'query') // a list in a header is `a,b`
  if (!isRead) refuse(parameter, `the parameter ${name} ${UNREADABLE}`, 'schema')
  else if (reading.list !== null && place === 'path')
    refuse(
      parameter,
      `the list ${name} of a path is not served: write "in: query", or "type: string"`,
      'schema',
    )
  const items = reading.types.length > 1 &&
    itemSchema !== undefined && { items: schemas.add(itemSchema) }
  return {
    in: place as Parameter['in'],
    name,
    required,
    schema: schemas.add(schema),
    ...reading,
    ...items,
  }
}
