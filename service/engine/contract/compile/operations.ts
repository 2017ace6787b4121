// Compiles the paths of a contract for routes.ts, and refuses everything that routes.ts can't do as described.
import type { Operation, Parameter, Requirement } from '../compiled.ts'
import { isGuarded, readSecurityScheme } from '../security.ts'
import type * as openapi from './document.ts'
import { deref, derefEntries, tryDeref } from './references.ts'
import { readErrors } from './errors.ts'
import { readBody, readResponse } from './messages.ts'
import { DIALECT_REFUSAL } from './keywords.ts'
import type { Context } from './schemas.ts'
import { readingOf, UNREAD, UNREADABLE } from './shapes.ts'

/** What is not served: the keyword, the values to refuse, and the fault with what to write instead. */
type Refusals = readonly (readonly [key: string, value: RegExp, fault: string])[]

const PATH_REFUSALS: Refusals = [
  ['head', /./, '"head" is not served: leave it out, HEAD works where GET does'],
  ['options', /./, '"options" is not served: leave it out, OPTIONS answers with Allow'],
  ['trace', /./, '"trace" is not served: leave it out'],
  ['servers', /./, '"servers" of a path is not served: write the servers at the top'],
]
const OPERATION_REFUSALS: Refusals = [
  ['operationId', /^(constructor|then|)$/, "this operationId can't be the name of a method"],
  ['servers', /./, '"servers" of an operation is not served: write the servers at the top'],
]
const PARAMETER_REFUSALS: Refusals = [
  ['in', /^cookie$/, 'a parameter in a cookie is not served: write "in: header"'],
  ['name', /^__proto__$/, 'the name __proto__ is not served: use another'],
  ['allowReserved', /^true$/, '"allowReserved" is not served: leave it out'],
  ['allowEmptyValue', /^true$/, '"allowEmptyValue" is not served: leave it out'],
  ['content', /./, '"content" of a parameter is not served: write "schema"'],
]
/** A segment is plain text and parameters, with text between two of them. The router uses `*` for its own syntax. */
const PATH = /^(\/([\w.~!$&'()+,;=@:-]|{[^{}/]+}(?!{))+)*\/?$/
const SEGMENT = 'write each segment as plain text and {parameters}, with text between two of them'
const RESERVED_PATH = /^\/(openapi\.yaml|docs(\/.*)?)$/
/** OpenAPI ignores these headers as parameters, and describes them by other means (3.1.0, section 4.8.12.2). */
const IGNORED_HEADERS = /^(accept|authorization|content-type)$/i

const SCHEME = 'write names of HTTP, and an apiKey in a header, a query or a cookie'

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const

/** The operations of a contract, in its order. @param prefix the path of the servers */
export function readOperations(context: Context, prefix: string): Operation[] {
  const { root, refuse, findings } = context
  refuseAll(context, root, [['jsonSchemaDialect', ...DIALECT_REFUSAL]])
  const ids = new Set<string>()
  const shapes = new Map<string, string>()
  const paths = Object.entries(root.paths ?? {}).filter(([path]) => !path.startsWith('x-'))
  const described = paths.flatMap(([path, written]) => {
    const target = tryDeref(written) ?? {}
    const item = { ...target, ...written }
    const operations = METHODS.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const key = `${method.toUpperCase()} ${path}`
      findings.describe(key, [written, target, operation])
      return { key, method, path, operation, parameters: item.parameters }
    })
    if (!PATH.test(path)) refuse(written, `the path ${path} is not served: ${SEGMENT}`)
    if (/({[^}]+}).*\1/.test(path)) refuse(written, `the path ${path} has a parameter twice: give each its own name`)
    const other = shapes.get(shapeOf(path))
    if (other !== undefined) refuse(written, `the router can't tell the path ${path} from ${other}: change one of them`)
    shapes.set(shapeOf(path), path)
    if (RESERVED_PATH.test(prefix + path)) refuse(written, `the path ${path} is taken by the document and its page`)
    for (const each of new Set([written, target])) refuseAll(context, each, PATH_REFUSALS)
    return operations
  })
  return described.flatMap(({ key, method, path, operation, parameters }) => {
    const { operationId: id } = operation
    const read = () => {
      if (id === undefined) refuse(operation, `${method} ${path} needs an operationId: the name of its method`)
      else if (ids.has(id)) refuse(operation, `two operations have the operationId ${id}`, 'operationId')
      else ids.add(id)
      if (operation.requestBody !== undefined && /^(get|delete)$/.test(method)) {
        const instead = 'write put, post or patch, or a query parameter'
        refuse(operation, `a body of ${method} is not served: ${instead}`, 'requestBody')
      }
      return readOperation(context, operation, parameters)
    }
    const compiled = findings.during(key, operation, read)
    return compiled ? { id: id ?? '', method: method.toUpperCase(), path: prefix + path, ...compiled } : []
  })
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

/** The path of the servers, which must be the same for all. A prefix of a gateway is in the variable `base_url`. */
export function readPrefix({ root: { servers = [] }, refuse }: Context): string {
  const paths = servers.map(({ url }) =>
    url.replace(/^({[^}]+}|[a-z][a-z\d+.-]*:\/\/[^/]*|\.(?=\/|$))/i, '').replace(/\/$/, ''),
  )
  const [prefix = ''] = paths
  for (const [index, server] of servers.entries()) {
    const path = paths[index] ?? ''
    if (!PATH.test(path) || path.includes('{'))
      refuse(server, 'a path with variables is not served: write {base_url} or /v1', 'url')
    if (path !== prefix) refuse(server, `servers of several paths are not served: write ${prefix} here, too`, 'url')
  }
  return prefix
}

/** @param inherited the parameters of its path */
function readOperation(
  context: Context,
  operation: openapi.Operation,
  inherited: openapi.PathItem['parameters'] = [],
): Omit<Operation, 'id' | 'method' | 'path'> {
  const { root, refuse } = context
  const { requestBody, parameters: own = [], security = root.security ?? [] } = operation
  refuseAll(context, operation, OPERATION_REFUSALS)
  const statuses = derefEntries(operation.responses).filter(([status]) => !status.startsWith('x-'))
  if (statuses.length === 0) refuse(operation, 'an operation needs responses')
  // A parameter of the operation replaces the same parameter of its path.
  const parameters = [...inherited, ...own].map(deref).map((each) => [keyOf(each), each] as const)
  return {
    security: readSecurity(context, security),
    parameters: [...new Map(parameters).values()].map((each) => readParameter(context, each)),
    body: requestBody === undefined ? null : readBody(context, deref(requestBody)),
    responses: Object.fromEntries(statuses.map(([status, each]) => [status, readResponse(context, status, each)])),
    errors: readErrors(context, statuses),
  }
}

/** Parameters with the same key are the same one. The names of headers are case-insensitive. */
const keyOf = ({ in: place, name }: openapi.Parameter) =>
  place === 'header' ? `header ${name.toLowerCase()}` : `${String(place)} ${name}`

type Described = Readonly<Record<string, string[]>>

/** Reads the alternatives. The product must have guards for one of them. */
function readSecurity({ root, refuse, note, product }: Context, described: readonly Described[]): Requirement[][] {
  const all = described.map((schemes) =>
    Object.entries(schemes).flatMap(([name, scopes]) => {
      const node = root.components?.securitySchemes?.[name]
      const scheme = node && readSecurityScheme(name, deref(node))
      if (node === undefined) refuse(schemes, `the security scheme ${name} is not in components/securitySchemes`, name)
      else if (scheme === undefined) refuse(node, `the security scheme ${name} is not served: ${SCHEME}`)
      return node && scheme ? [{ node, scheme, scopes, isServed: isGuarded(scheme, product ?? {}) }] : []
    }),
  )
  const isLeft = all.some((each) => each.every(({ isServed }) => isServed))
  for (const { node, scheme, isServed } of all.flat()) {
    const guard = `guards: { '${scheme.name}': (request) => ... }`
    const text = `the security scheme ${scheme.name}`
    if (isServed) continue
    if (product === undefined) note(node, `${text} is served with a guard of the product: ${guard}`)
    else if (isLeft) note(node, `${text} is left out: the product has no ${guard}`)
    else refuse(node, `${text} needs a guard: write ${guard} in the product`)
  }
  return all.map((each) => each.map(({ scheme, scopes }) => ({ scheme, scopes })))
}

function readParameter(context: Context, parameter: openapi.Parameter): Parameter {
  const { schemas, refuse } = context
  const { in: place, name, required = false, explode = true, schema = true } = parameter
  const usual = place === 'query' ? 'form' : 'simple'
  const { style = usual } = parameter
  refuseAll(context, parameter, PARAMETER_REFUSALS)
  if (style !== usual) refuse(parameter, `style: ${style} of ${name} is not served: leave it out`, 'style')
  if (place === 'path' && !required) refuse(parameter, 'a parameter in a path needs "required: true"')
  if (place === 'header' && IGNORED_HEADERS.test(name))
    refuse(parameter, `the header ${name} can't be a parameter: write "security", or media types`, 'name')
  const reading = readingOf(schema, explode)
  if (reading === undefined) refuse(parameter, `the parameter ${name} ${UNREADABLE}`, 'schema')
  else if (reading.list !== null && place !== 'query')
    refuse(parameter, `the list ${name} is not served: write "in: query", or "type: string"`, 'schema')
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
