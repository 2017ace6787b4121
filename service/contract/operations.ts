// Makes of the paths of a contract what routes.ts serves, and refuses what would be served otherwise than it is described.
import type { Operation, Parameter, Requirement } from './contract.ts'
import type { Place } from './document.ts'
import { readBody, readErrors, readResponse } from './messages.ts'
import { keywordOf } from './schema-parts.ts'
import { type Refuse, type Schemas, textTypes } from './schemas.ts'
import { readSecurityScheme } from './security.ts'

const METHODS = /^(get|put|post|delete|patch)$/
const NOT_SERVED: Readonly<Record<string, string>> = {
  head: 'leave it out, HEAD works where GET does',
  options: 'leave it out, OPTIONS answers with Allow',
  trace: 'leave it out',
  servers: 'write the servers at the top',
}
/** A segment is a parameter or has none. `*` and parentheses mean something to the router. */
const PATH = /^(\/([\w.~!$&'+,;=@:-]+|{[^{}/]+}))*\/?$/
const TAKEN = /^\/(openapi\.yaml|docs(\/.*)?)$/
/** Headers that OpenAPI describes by other means: as parameters they mean nothing (3.1.0, section 4.8.12.2). */
const OF_OPENAPI = /^(accept|authorization|content-type)$/i
const STYLES: Readonly<Record<string, string>> = { path: 'simple', query: 'form', header: 'simple' }

/** What is read, where its schemas go, and where its faults go. */
export interface Context {
  readonly root: Place
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** The operations of a contract, in its order. */
export function readOperations(context: Context): Operation[] {
  const { root, refuse } = context
  const prefix = readPrefix(context)
  const paths = root.get('paths').described()
  const read = paths.flatMap(([path, item]) => {
    if (!PATH.test(path)) refuse(item, `the path ${path} is not served: a segment is plain, or one {parameter}`)
    if (TAKEN.test(prefix + path)) refuse(item, `the path ${path} is taken by the document and its page`)
    return item.described().flatMap(([method, each]) => {
      const instead = NOT_SERVED[method]
      if (instead !== undefined) refuse(each, `"${method}" of a path is not served: ${instead}`)
      if (!METHODS.test(method)) return []
      return [{ id: each.get('operationId'), operation: readOperation(context, each, item, method, prefix + path) }]
    })
  })
  for (const [index, { id }] of read.entries()) {
    const isTaken = read.slice(0, index).some((other) => other.id.value === id.value)
    if (isTaken && typeof id.value === 'string') refuse(id, `two operations have the operationId ${id.value}`)
  }
  return read.map(({ operation }) => operation)
}

/** The path that all servers have in common. A gateway may add another: that is in the variable `base_url`. */
function readPrefix({ root, refuse }: Context): string {
  const [first, ...others] = root
    .get('servers')
    .entries()
    .map(([, server]) => {
      const url = server.get('url')
      const path = String(url.value)
        .replace(/^({[^}]+}|[a-z][a-z\d+.-]*:\/\/[^/]*|\.(?=\/|$))/i, '')
        .replace(/\/$/, '')
      if (!PATH.test(path) || path.includes('{'))
        refuse(url, 'a path with variables is not served: write {base_url} or /v1')
      return { path, url }
    })
  for (const { path, url } of others) {
    if (path !== first?.path)
      refuse(url, `servers of several paths are not served: write ${first?.path ?? ''} here, too`)
  }
  return first?.path ?? ''
}

function readOperation(context: Context, place: Place, item: Place, method: string, path: string): Operation {
  const { refuse } = context
  const [id, body, servers] = [place.get('operationId'), place.get('requestBody'), place.get('servers')]
  if (typeof id.value !== 'string') refuse(place, `${method} ${path} needs an operationId: the name of its method`)
  if (/^(constructor|then|)$/.test(String(id.value))) refuse(id, `the operationId ${String(id.value)} can be no method`)
  if (servers.value !== undefined) refuse(servers, 'servers of an operation are not served: write them at the top')
  if (body.value !== undefined && /^(get|delete)$/.test(method)) {
    refuse(body, `a body of ${method} is not served: write put, post or patch, or a query parameter`)
  }
  const parameters = [item, place]
    .flatMap((each) => each.get('parameters').entries())
    .map(([, each]) => {
      const [where, name] = [String(each.get('in').value), String(each.get('name').value)]
      return [`${where} ${where === 'header' ? name.toLowerCase() : name}`, each] as const
    })
  const responses = place.get('responses').described()
  if (responses.length === 0) refuse(place, `${method} ${path} needs responses`)
  return {
    id: String(id.value),
    method: method.toUpperCase(),
    path,
    security: readSecurity(context, place),
    // The operation's own ones go before those of its path.
    parameters: [...new Map(parameters).values()].flatMap((each) => readParameter(context, each) ?? []),
    body: body.value === undefined ? null : readBody(context, body),
    responses: Object.fromEntries(responses.map(([status, each]) => [status, readResponse(context, status, each)])),
    errors: readErrors(context, responses),
  }
}

function readSecurity({ root, refuse }: Context, operation: Place): Requirement[][] {
  const own = operation.get('security')
  const alternatives = own.value === undefined ? root.get('security') : own
  return alternatives.entries().map(([, schemes]) =>
    schemes.entries().flatMap(([name, scopes]) => {
      const described = root.at('components', 'securitySchemes', name)
      const scheme = readSecurityScheme(Object.fromEntries(described.entries().map(([key, each]) => [key, each.value])))
      if (scheme !== undefined) return [{ scheme, scopes: scopes.entries().map(([, each]) => String(each.value)) }]
      const instead = 'write "type: http, scheme: bearer", or an apiKey in a header'
      if (described.value === undefined)
        refuse(scopes, `the security scheme ${name} is not in components/securitySchemes`)
      else refuse(described, `the security scheme ${name} is not served: ${instead}`)
      return []
    }),
  )
}

function readParameter({ schemas, refuse }: Context, place: Place): Parameter | undefined {
  const [at, schema] = [place.get('in'), place.get('schema')]
  const [where, name] = [String(at.value), String(place.get('name').value)]
  const required = place.get('required').value === true
  if (where === 'cookie') refuse(at, 'a parameter in a cookie is not served: write "in: header"')
  if (where === 'path' && !required) refuse(place, 'a parameter in a path needs "required: true"')
  if (name === '__proto__') refuse(place.get('name'), 'the name __proto__ is not served: use another')
  if (where === 'header' && OF_OPENAPI.test(name)) {
    refuse(place.get('name'), `the header ${name} is no parameter: describe it with "security", or with media types`)
  }
  for (const [key, each] of place.entries()) {
    const isSet = key === 'style' ? each.value !== STYLES[where] : each.value === true
    if (/^(style|allowReserved|allowEmptyValue)$/.test(key) && isSet) {
      refuse(each, `${key}: ${String(each.value)} of ${name} is not served: leave it out`)
    }
    if (key === 'content') refuse(each, '"content" of a parameter is not served: write "schema"')
  }
  if (schema.value === undefined) return undefined
  const items = where === 'query' && textTypes(schema).join() === 'array' ? keywordOf(schema, 'items') : undefined
  const [type = 'any', ...others] = textTypes(items ?? schema)
  if (!/^(int64|integer|number|boolean|string)$/.test(type) || others.length > 0) {
    const wanted = 'integer, number, boolean or string, or in a query a list of these'
    const found = [type, ...others].join(' or ')
    refuse(schema, `the parameter ${name} needs one "type" that a text can have: ${wanted}, not ${found}`)
  }
  const standard = required ? undefined : keywordOf(schema, 'default')
  const id = schemas.add(schema, 'request')
  if (standard) schemas.defaults.push({ place: standard, schema: { $ref: id } })
  const separator = place.get('explode').value === false ? 'commas' : 'repeated'
  return {
    in: where as Parameter['in'],
    name,
    required,
    schema: id,
    type: type as Parameter['type'],
    list: items === undefined ? null : separator,
    ...(standard !== undefined && { default: standard.value }),
  }
}
