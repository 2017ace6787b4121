// Makes of the paths of a contract what routes.ts serves, and refuses what it would serve otherwise than it is described.
import type { Body, ErrorForm, Media, Operation, Parameter, Requirement, Response, Schema } from './contract.ts'
import type { Place } from './document.ts'
import { fields } from './fields.ts'
import { writeError } from './errors.ts'
import { kindOf } from './media-types.ts'
import { keywordOf, membersOf, partsOf, typesOf } from './schema-parts.ts'
import { isFile, type Refuse, type Schemas } from './schemas.ts'
import { readSecurityScheme } from './security.ts'
import { maxJsonBytes, maxLength } from './size.ts'
import { Validators } from './validation.ts'

/** The most bytes of a body for which the contract says nothing else with `x-body-limit`. */
const BODY_LIMIT = 16_384
const METHODS = /^(get|put|post|delete|patch)$/
const OTHER_METHODS: Readonly<Record<string, string>> = {
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
const STATUS = /^([2-5]\d\d|[2-5]XX|default)$/
/** What is answered without the method, or whatever that gives. */
const OWN_ERRORS = /^(400|401|403|408|413|415|417|431|500|501|503|[45]XX|default)$/
/** Of these nothing need be said. */
const USUAL_ERROR = JSON.stringify({ type: 'application/json', form: { error: 'status', message: 'message' } })
const WITHOUT_BODY = /^(204|205|304)$/

interface Context {
  /** The operationIds that were read. */
  readonly ids: Set<unknown>
  readonly root: Place
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** The operations of a contract, in its order. */
export function readOperations(given: Omit<Context, 'ids'>): Operation[] {
  const context = { ...given, ids: new Set() }
  const { root, refuse } = context
  const prefix = readPrefix(context)
  return root
    .get('paths')
    .described()
    .flatMap(([path, item]) => {
      if (!PATH.test(path)) refuse(item, `the path ${path} is not served: a segment is plain, or one {parameter}`)
      if (TAKEN.test(prefix + path)) refuse(item, `the path ${path} is taken by the document and its page`)
      return item.described().flatMap(([method, operation]) => {
        const instead = OTHER_METHODS[method]
        if (instead !== undefined) refuse(operation, `"${method}" of a path is not served: ${instead}`)
        return METHODS.test(method) ? [readOperation(context, operation, item, method, prefix + path)] : []
      })
    })
}

/** The path that all servers have in common. A gateway may add another: that is in the variable `base_url`. */
function readPrefix({ root, refuse }: Context): string {
  const prefixes = root
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
  const [first, ...others] = prefixes
  for (const { path, url } of others) {
    if (path !== first?.path)
      refuse(url, `servers of several paths are not served: write ${first?.path ?? ''} here, too`)
  }
  return first?.path ?? ''
}

function readOperation(context: Context, place: Place, item: Place, method: string, path: string): Operation {
  const { refuse, ids } = context
  const [id, requestBody, servers] = [place.get('operationId'), place.get('requestBody'), place.get('servers')]
  if (typeof id.value !== 'string') refuse(place, `${method} ${path} needs an operationId: the name of its method`)
  if (ids.has(id.value)) refuse(id, `two operations have the operationId ${String(id.value)}`)
  ids.add(id.value)
  if (/^(constructor|then|)$/.test(String(id.value))) refuse(id, `the operationId ${String(id.value)} can be no method`)
  if (servers.value !== undefined) refuse(servers, 'servers of an operation are not served: write them at the top')
  if (requestBody.value !== undefined && /^(get|delete)$/.test(method)) {
    refuse(requestBody, `a body of ${method} is not served: write put, post or patch, or a query parameter`)
  }
  const responses = place.get('responses').described()
  const all = [item, place].flatMap((each) =>
    each
      .get('parameters')
      .entries()
      .map(([, parameter]) => parameter),
  )
  const named = all.map((each) => {
    const [where, name] = [String(each.get('in').value), String(each.get('name').value)]
    return [`${where} ${where === 'header' ? name.toLowerCase() : name}`, each] as const
  })
  return {
    id: String(id.value),
    method: method.toUpperCase(),
    path,
    security: readSecurity(context, place),
    // The operation's own ones go before those of its path.
    parameters: [...new Map(named).values()].flatMap((each) => readParameter(context, each) ?? []),
    body: requestBody.value === undefined ? null : readBody(context, requestBody),
    responses: Object.fromEntries(responses.map(([status, each]) => [status, readResponse(context, status, each)])),
    errors: Object.fromEntries(
      responses
        .filter(([status]) => OWN_ERRORS.test(status))
        .map(([status, each]) => [status, readError(context, status, each)] as const)
        .filter(([, error]) => JSON.stringify(error) !== USUAL_ERROR),
    ),
  }
}

function readSecurity({ root, refuse }: Context, operation: Place): Requirement[][] {
  const own = operation.get('security')
  const alternatives = own.value === undefined ? root.get('security') : own
  return alternatives.entries().map(([, schemes]) =>
    schemes.entries().flatMap(([name, scopes]) => {
      const described = root.at('components', 'securitySchemes', name)
      if (described.value === undefined)
        refuse(scopes, `there is no security scheme ${name} in components/securitySchemes`)
      const scheme = readSecurityScheme(Object.fromEntries(described.entries().map(([key, each]) => [key, each.value])))
      if (scheme === undefined) {
        if (described.value !== undefined)
          refuse(
            described,
            `the security scheme ${name} is not served: write "type: http, scheme: bearer", or an apiKey in a header`,
          )
        return []
      }
      return [{ scheme, scopes: Object.values(fields(scopes.value)).map(String) }]
    }),
  )
}

function readParameter({ schemas, refuse }: Context, place: Place): Parameter | undefined {
  const [name, where, schema, explode] = [place.get('name'), place.get('in'), place.get('schema'), place.get('explode')]
  const at = String(where.value)
  const required = place.get('required').value === true
  if (at === 'cookie') refuse(where, 'a parameter in a cookie is not served: write "in: header"')
  if (at === 'path' && !required) refuse(place, 'a parameter in a path needs "required: true"')
  if (name.value === '__proto__') refuse(name, 'the name __proto__ is not served: use another')
  if (at === 'header' && OF_OPENAPI.test(String(name.value))) {
    refuse(name, `the header ${String(name.value)} is no parameter: describe it with "security", or with media types`)
  }
  for (const [key, each] of place.entries()) {
    const isSet = key === 'style' ? each.value !== STYLES[at] : each.value === true
    if (/^(style|allowReserved|allowEmptyValue)$/.test(key) && isSet) {
      refuse(each, `${key}: ${String(each.value)} of ${String(name.value)} is not served: leave it out`)
    }
    if (key === 'content') refuse(each, '"content" of a parameter is not served: write "schema"')
  }
  if (schema.value === undefined) return undefined
  const types = textTypes(schema)
  const items = keywordOf(schema, 'items')
  const isList = types.join() === 'array' && at === 'query' && items !== undefined
  const [type = 'any', ...others] = isList ? textTypes(items) : types
  if (!/^(int64|integer|number|boolean|string)$/.test(type) || others.length > 0) {
    const found = [type, ...others].join(' or ')
    const wanted = 'integer, number, boolean or string, or in a query a list of these'
    refuse(schema, `the parameter ${String(name.value)} needs one "type" that a text can have: ${wanted}, not ${found}`)
  }
  const standard = required ? undefined : keywordOf(schema, 'default')
  const id = schemas.add(schema, 'request')
  if (standard) schemas.defaults.push({ place: standard, schema: { $ref: id } })
  return {
    in: at as Parameter['in'],
    name: String(name.value),
    required,
    schema: id,
    type: type as Parameter['type'],
    list: isList ? (explode.value === false ? 'commas' : 'repeated') : null,
    ...(standard !== undefined && { default: standard.value }),
  }
}

/** The types that a text may be read as: no text spells null, and each integer is a number. */
function textTypes(schema: Place): string[] {
  const types = (typesOf(schema) ?? ['any']).filter((type) => type !== 'null')
  return types.includes('number') ? types.filter((type) => type !== 'integer') : types
}

function readBody(context: Context, place: Place): Body {
  return {
    required: place.get('required').value === true,
    content: Object.fromEntries(
      place
        .get('content')
        .entries()
        .map(([type, media]) => {
          const fields = kindOf(type) === 'form' ? { fields: readFields(media.get('schema')) } : {}
          const schema = readMedia(context, type, media, 'request')
          return [type, { schema, limit: readLimit(context, type, media), ...fields }]
        }),
    ),
  }
}

function readFields(schema: Place): NonNullable<Media['fields']> {
  const fields = [...membersOf(partsOf(schema))].map(([name, place]) => {
    const items = textTypes(place).join() === 'array' ? keywordOf(place, 'items') : undefined
    const [type = 'any'] = textTypes(items ?? place)
    return [name, { type: isFile(items ?? place) ? 'file' : type, isList: items !== undefined }] as const
  })
  return Object.fromEntries(fields)
}

/** The id of the schema of a media type; null if there is none, or no use for one. */
function readMedia(
  { schemas, refuse }: Context,
  type: string,
  place: Place,
  use: 'request' | 'response',
): string | null {
  const kind = kindOf(type)
  const schema = place.get('schema')
  const types = schema.value === undefined ? undefined : typesOf(schema)
  const fault = (wanted: string) => refuse(schema, `the schema of ${type} is not served: write ${wanted}`)
  if (typeof kind !== 'string') refuse(place, `the media type ${type} is not served: ${kind.instead}`)
  else if (kind === 'form' && use === 'response')
    refuse(place, `${type} is not served as a response: write application/json`)
  else if (kind === 'form' && types?.join() !== 'object')
    fault('"type: object", with a property for each field and file')
  else if (kind === 'text' && types !== undefined && types.join() !== 'string') fault('"type: string"')
  else if (kind === 'bytes' && !isBytes(schema)) fault('"type: string, format: binary"')
  else if (place.get('encoding').value !== undefined)
    refuse(place.get('encoding'), '"encoding" is not served: leave it out')
  else if (schema.value !== undefined && kind !== 'bytes') return schemas.add(schema, kind === 'form' ? 'form' : use)
  return null
}

/** Whether nothing is said of bytes but that they are bytes. */
function isBytes(schema: Place): boolean {
  const said = Object.entries(fields(schema.value)).map(([key, value]) => `${key}: ${String(value)}`)
  return said.every((each) => /^(type: string|format: binary|contentMediaType: .*|description: .*)$/s.test(each))
}

/** The most bytes of a body. What the schema allows beyond that must be refused by the contract itself. */
function readLimit({ root, refuse }: Context, type: string, place: Place): number {
  const limit = [place, root].map((each) => each.get('x-body-limit')).find(({ value }) => value !== undefined)
  if (limit !== undefined) {
    const isCount = Number.isSafeInteger(limit.value) && Number(limit.value) > 0
    if (!isCount) refuse(limit, 'x-body-limit is a number of bytes, from 1')
    return Number(limit.value)
  }
  const schema = place.get('schema')
  const kind = kindOf(type)
  const most = kind === 'json' ? maxJsonBytes(schema) : kind === 'text' ? 4 * maxLength(partsOf(schema)) : Infinity
  const allowed = most === Infinity ? 'a body of any length' : `a body of ${most} bytes`
  if (most > BODY_LIMIT) {
    refuse(
      place,
      `the schema allows ${allowed}, and ${BODY_LIMIT} are taken: write "x-body-limit: ${BODY_LIMIT}", or more, here or at the top`,
    )
  }
  return BODY_LIMIT
}

function readResponse(context: Context, status: string, place: Place): Response {
  const { refuse } = context
  if (!STATUS.test(status))
    refuse(place, `the status ${status} is not served: write 200 to 599, 2XX to 5XX, or default`)
  const content = place.get('content')
  if (WITHOUT_BODY.test(status) && content.entries().length > 0)
    refuse(content, `${status} has no body: leave "content" out`)
  for (const [name, header] of place.get('headers').entries()) {
    if (/^content-type$/i.test(name)) continue // OpenAPI 3.1.0, section 4.8.17.1: it is ignored
    const schema = header.get('schema')
    const isText = schema.value !== undefined && textTypes(schema).every((type) => !/^(object|array)$/.test(type))
    if (!isText) refuse(header, `the header ${name} is not served: write a "schema" of one text, number or boolean`)
  }
  const types = content.entries().map(([type, media]) => [type, readMedia(context, type, media, 'response')] as const)
  return Object.fromEntries(types)
}

/** How the errors of a response are written that the service answers by itself. */
function readError({ schemas, refuse }: Context, status: string, place: Place): Operation['errors'][string] {
  const content = place.get('content').entries()
  const [type, media] = content.find(([each]) => kindOf(each) === 'json') ?? []
  if (media === undefined || type === undefined) {
    if (content.length > 0)
      refuse(place.get('content'), `the service answers ${status} by itself, as JSON: write application/json`)
    return null
  }
  const schema = media.get('schema')
  const form = errorForm(schema, schema.value === undefined ? null : schemas.add(schema, 'response'), schemas.all)
  if (form !== undefined) return { type, form }
  const known = 'error, code or status for the number, message or detail for the text, or those of RFC 9457'
  refuse(
    schema,
    `the service answers ${status} by itself, and knows no value for this schema: require nothing but ${known}`,
  )
  return null
}

/** What a member of an error is given, by its name and its type: those of RFC 9457, and what is usual beside. */
const MEMBERS: readonly (readonly [name: RegExp, type: RegExp, given: ErrorForm[string]])[] = [
  [/^(error|code|status|statusCode|status_code)$/, /^(integer|number|int64)$/, 'status'],
  [/^(code|status|statusCode|status_code)$/, /^string$/, 'digits'],
  [/^type$/, /^string$/, 'blank'],
  [/^title$/, /^string$/, 'phrase'],
  [/^(message|detail|description|reason|error|error_description)$/, /^string$/, 'message'],
]

/** How to write an error that a schema accepts; undefined if it is not known how. */
function errorForm(schema: Place, id: string | null, schemas: Readonly<Record<string, Schema>>): ErrorForm | undefined {
  const members = [...membersOf(partsOf(schema))].flatMap(([name, place]) => {
    const types = typesOf(place) ?? []
    const found = MEMBERS.find(([names, type]) => names.test(name) && types.some((each) => type.test(each)))
    return found === undefined ? [] : [[name, found[2]] as const]
  })
  const form = Object.fromEntries(members)
  const accepts = id === null ? () => undefined : new Validators(schemas, false).of('body', { $ref: id })
  return accepts({ body: writeError(form, 400, 'reason') }) === undefined ? form : undefined
}
