// Compiles the paths of a contract for routes.ts, and refuses everything that routes.ts can't do as described.
import type { Operation, Parameter } from '../compiled.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries, tryDeref } from './references.ts'
import { readErrors } from './errors.ts'
import { readBody, readResponse } from './messages.ts'
import { readSecurity } from './security.ts'
import { DIALECT_REFUSAL } from './keywords.ts'
import type { Context } from './schemas.ts'
import { readingOf, UNREAD, UNREADABLE } from './shapes.ts'
import { PATH, readPrefix } from './servers.ts'
import { isObject } from '../assertions.ts'

/** What is not served: the keyword, the values to refuse, and the fault with what to write instead. */
type Refusals = readonly (readonly [key: string, value: RegExp, fault: string])[]

/** Methods that are not served, with the reason. */
const UNSERVED: Readonly<Record<string, string>> = {
  head: 'HEAD works where GET does',
  options: 'OPTIONS answers with Allow',
  trace: 'it would answer with secrets',
}
const OPERATION_REFUSALS: Refusals = [
  ['operationId', /^(constructor|then|)$/, "this operationId can't be the name of a method"],
]
const PARAMETER_REFUSALS: Refusals = [
  ['in', /^cookie$/, 'a parameter in a cookie is not served: write "in: header"'],
  ['name', /^__proto__$/, 'the name __proto__ is not served: use another'],
  ['allowReserved', /^true$/, '"allowReserved" is not served: leave it out'],
  ['allowEmptyValue', /^true$/, '"allowEmptyValue" is not served: leave it out'],
  ['content', /./, '"content" of a parameter is not served: write "schema"'],
]
const SEGMENT = 'write each segment as plain text and {parameters}, with text between two of them'
const RESERVED_PATH = /^\/(openapi\.yaml|docs(\/.*)?)$/

const METHODS = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options', 'trace'] as const

/** An operation of the document, with its path. */
interface Listed {
  /** Such as `GET /users`. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly item: openapi.PathItem
  readonly operation: openapi.Operation
}

/** The paths of a document. Each may be a reference, and have members beside it. */
const pathsOf = ({ paths = {} }: Context['root']): [path: string, item: openapi.PathItem][] =>
  Object.entries({ ...paths })
    .filter(([path]) => !path.startsWith('x-'))
    .map(([path, item]) => [path, item as openapi.PathItem])

/** Lists the operations of a document, in its order. */
export function listOperations({ root, findings }: Context): Listed[] {
  return pathsOf(root).flatMap(([path, written]) => {
    const target: openapi.PathItem = tryDeref(written) ?? {}
    const item = { ...target, ...written }
    return METHODS.flatMap((method) => {
      const operation = item[method]
      if (!isObject(operation)) return []
      const key = `${method.toUpperCase()} ${path}`
      findings.describe(key, [written, target, operation])
      return { key, method, path, item, operation }
    })
  })
}

/** Compiles operations. @returns also the path of the servers of the document */
export function readOperations(
  context: Context,
  listed: readonly Listed[],
): { prefix: string; operations: Operation[] } {
  const { root, refuse, note, findings } = context
  refuseAll(context, root, [['jsonSchemaDialect', ...DIALECT_REFUSAL]])
  const prefix = readPrefix(context, root)
  const shapes = new Map<string, string>()
  for (const [path, written] of pathsOf(root)) {
    if (!PATH.test(path)) refuse(written, `the path ${path} is not served: ${SEGMENT}`)
    if (/({[^}]+}).*\1/.test(path)) refuse(written, `the path ${path} has a parameter twice: give each its own name`)
    const other = shapes.get(shapeOf(path))
    if (other !== undefined) refuse(written, `the router can't tell the path ${path} from ${other}: change one of them`)
    shapes.set(shapeOf(path), path)
    if (RESERVED_PATH.test(prefix + path)) refuse(written, `the path ${path} is taken by the document and its page`)
  }
  const ids = new Set<string>()
  const operations = listed.flatMap((each) => {
    const { method, path, item, operation } = each
    const read = () => {
      if (UNSERVED[method]) refuse(operation, `"${method}" is not served: leave it out, ${UNSERVED[method]}`)
      const id = (operation.operationId ??= nameOperation(context, each))
      if (ids.has(id)) refuse(operation, `two operations have the operationId ${id}`, 'operationId')
      ids.add(id)
      if (operation.requestBody !== undefined && method === 'get')
        refuse(operation, 'a body of get is not served: write post, or a query parameter', 'requestBody')
      const local = [operation, item].find(({ servers }) => servers !== undefined)
      if (local) note(local, 'of these servers only the path counts, and only that of the first', 'servers')
      const at = (local ? readPrefix(context, local) : prefix) + path
      return { id, method: method.toUpperCase(), path: at, ...readOperation(context, operation, item.parameters) }
    }
    const compiled = findings.during(each, read)
    if (compiled) findings.compiled.set(each.key, compiled)
    return compiled ?? []
  })
  return { prefix, operations }
}

/** Names the method of an operation that has no `operationId`, by its path: `getUsersId` for `GET /users/{id}`. */
function nameOperation({ note }: Context, { method, path, operation }: Listed): string {
  const words = path.split(/[^a-z\d]+/i).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
  const id = [method, ...words].join('')
  note(operation, `without operationId, the method is called ${id}`)
  return id
}

/** Without the names, and without what stands between parameters of a segment: the router looks at its start and its end. */
function shapeOf(path: string): string {
  const segments = path.split('/').map((each) => (/^{[^}]*}$/.test(each) ? '{}' : each.replace(/{.*}/, '{-}')))
  return segments.join('/')
}

function refuseAll({ refuse }: Context, node: object, refusals: Refusals): void {
  for (const [key, value, fault] of refusals) {
    if (Object.hasOwn(node, key) && value.test(String(Reflect.get(node, key)))) refuse(node, fault, key)
  }
}

/** Whether an operation has no responses: OpenAPI 3.1 does not require them. */
const isEmpty = ({ responses }: Partial<openapi.Operation>) => Object.keys(deref(responses) ?? {}).length === 0

/** @param inherited the parameters of its path */
function readOperation(
  context: Context,
  operation: openapi.Operation,
  inherited: openapi.PathItem['parameters'] = [],
): Omit<Operation, 'id' | 'method' | 'path'> {
  const { root, note } = context
  const { requestBody, parameters: own = [], security = root.security ?? [] } = operation
  refuseAll(context, operation, OPERATION_REFUSALS)
  if (isEmpty(operation)) {
    note(operation, 'without responses, the method answers any status without a body')
    operation.responses = { default: { description: '' } }
  }
  const statuses = derefEntries(operation.responses).filter(([status]) => !status.startsWith('x-'))
  // A parameter of the operation replaces the same parameter of its path.
  const described = [...inherited, ...own].map(deref)
  const parameters = described.filter((each) => !isIgnored(each)).map((each) => [keyOf(each), each] as const)
  for (const each of described.filter(isIgnored))
    note(each, `OpenAPI ignores the header ${each.name} as a parameter: write "security", or media types`, 'name')
  return {
    security: readSecurity(context, security),
    parameters: [...new Map(parameters).values()].map((each) => readParameter(context, each)),
    body: requestBody === undefined ? null : readBody(context, deref(requestBody)),
    responses: Object.fromEntries(statuses.map(([status, each]) => [status, readResponse(context, status, each)])),
    errors: readErrors(context, statuses),
  }
}

/** OpenAPI describes these headers by other means (3.1.0, section 4.8.12.2). */
export const isIgnored = ({ in: place, name }: openapi.Parameter) =>
  place === 'header' && /^(accept|authorization|content-type)$/i.test(name)

/** Parameters with the same key are the same one. The names of headers are case-insensitive. */
const keyOf = ({ in: place, name }: openapi.Parameter) =>
  place === 'header' ? `header ${name.toLowerCase()}` : `${String(place)} ${name}`

function readParameter(context: Context, parameter: openapi.Parameter): Parameter {
  const { schemas, refuse } = context
  const { in: place, name, required = false, explode = true, schema = true } = parameter
  const usual = place === 'query' ? 'form' : 'simple'
  const { style = usual } = parameter
  refuseAll(context, parameter, PARAMETER_REFUSALS)
  if (style !== usual) refuse(parameter, `style: ${style} of ${name} is not served: leave it out`, 'style')
  if (place === 'path' && !required) refuse(parameter, 'a parameter in a path needs "required: true"')
  const reading = readingOf(schema, explode && place === 'query') // a list in a header is `a,b`
  if (reading === undefined) refuse(parameter, `the parameter ${name} ${UNREADABLE}`, 'schema')
  else if (reading.list !== null && place === 'path')
    refuse(parameter, `the list ${name} of a path is not served: write "in: query", or "type: string"`, 'schema')
  const id = schemas.add(schema, 'request')
  const standard = required ? undefined : schemas.addDefault(schema, { $ref: id })
  return {
    in: place as Parameter['in'],
    name,
    required,
    schema: id,
    ...(reading ?? UNREAD),
    ...(standard !== undefined && { default: standard }),
  }
}
