// Compares an answer with the contract: status, headers and body.
import { strict as assert } from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import type { Contract, Operation, Response } from '../contract/contract.ts'
import { brief, parse, stringify } from '../json/json.ts'
import { isJson } from '../http/media-types.ts'
import { matches, operationOf } from '../contract/paths.ts'
import { faultsOf, fields, isValid, type Schema } from '../schemas/schemas.ts'
import { readingOf } from '../schemas/readings.ts'
import { record } from './statuses.ts'

/** The headers of HTTP itself: OpenAPI does not describe them. */
const FRAMING = new Set([
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
])

/** The headers of the service. A contract with `x-every-response` declares all of them there. */
const STANDARD = new Set([
  ...[
    'cache-control',
    'content-security-policy',
    'x-content-type-options',
    'x-request-id',
    'www-authenticate',
    'retry-after',
    'allow',
    'vary',
  ],
  ...['origin', 'methods', 'headers'].map((name) => `access-control-allow-${name}`),
  ...['access-control-expose-headers', 'access-control-max-age'],
])

/** The built-in statuses, decided before an operation or without it. An operation may leave them to its default. */
const STATUSES = new Set([400, 401, 403, 408, 413, 415, 417, 431, 500, 501, 503, 505])

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Fails if the contract does not document the status, the headers or the body of an answer. */
export function assertDocumented(
  contract: Contract,
  method: string,
  url: string,
  answer: Answered,
): void {
  check(contract, method, url, answer)
  const operation = operationOf(contract, method, url)
  if (answer.status === 100 || operation === undefined) return
  record(
    contract,
    operation.id,
    keysOf(answer.status).find((key) => operation.responses.has(key)) ?? 'default',
  )
}

/** The keys of a status among responses, but `default`. */
const keysOf = (status: number) => [String(status), `${Math.floor(status / 100)}XX`]

/** The first undocumented part of an answer; undefined if the contract documents everything. */
export function faultOf(
  contract: Contract,
  method: string,
  url: string,
  answer: Answered,
): string | undefined {
  try {
    check(contract, method, url, answer)
    return undefined
  } catch (error) {
    return String(error)
  }
}

function check(contract: Contract, method: string, url: string, answer: Answered): void {
  const { status, headers } = answer
  const where = `${method} ${url} answered ${status}`
  if (status === 100) return
  const isOptions = method === 'OPTIONS' && status === 204
  if (isOptions && url === '*') return
  if (isOptions && contract.paths.some((path) => matches(path, url))) {
    assert.ok(headers.allow, `${where} without Allow`)
    return
  }
  const operation = operationOf(contract, method, url)
  const of = `the response ${status} of the operation ${operation?.id ?? '(none)'} in openapi.yaml`
  const response = responseOf(contract, operation, status)
  assert.ok(response, `${where}: add ${of}, or answer another status`)
  const checked = { contract, method, answer, response, where, of }
  checkHeaders(checked)
  checkBody(checked)
}

/** The response for an answer; undefined if its status is not documented. */
function responseOf(
  contract: Contract,
  operation: Operation | undefined,
  status: number,
): Response | undefined {
  if (operation === undefined) return status >= 400 ? otherError(contract, status) : undefined
  const { responses } = operation
  const [named] = keysOf(status).flatMap((key) => responses.get(key) ?? [])
  if (named !== undefined) return named
  const isDocumented = status >= 400 ? STATUSES.has(status) : succeedsByDefault(operation)
  if (!isDocumented) return undefined
  return responses.get('default') ?? undescribedError(contract, operation, status)
}

/** An answer, and its response in the contract. */
interface Checked {
  readonly contract: Contract
  readonly method: string
  readonly answer: Answered
  readonly response: Response
  /** The name of the answer, for messages. */
  readonly where: string
  /** The name of the response, for messages. */
  readonly of: string
}

function checkHeaders({ contract, answer, response, where, of }: Checked): void {
  const { everyResponse } = contract
  const { headers } = answer
  const described = [...response.headers, ...(everyResponse ?? [])]
  const declared = new Map(described.map(([name, header]) => [name.toLowerCase(), header]))
  const undeclared = everyResponse === undefined ? FRAMING.union(STANDARD) : FRAMING
  for (const name of Object.keys(headers)) {
    const isAllowed = declared.has(name) || undeclared.has(name)
    assert.ok(isAllowed, `${where} with the header ${name}: add it to "headers" of ${of}`)
  }
  for (const [name, { required, schema }] of declared) {
    const value = headers[name]
    if (value === undefined) assert.ok(!required, `${where} without the header ${name} of ${of}`)
    else assertValid(`${where}, the header ${name}`, schema, readingOf(schema, String(value)))
  }
}

function checkBody({ contract, method, answer, response, where, of }: Checked): void {
  const { status, headers, text } = answer
  const { schemas } = response
  const isHead = method === 'HEAD'
  if (schemas.size === 0 && STATUSES.has(status) && !isHead) return // the service gives the reason, described or not
  if (schemas.size === 0 || isHead) {
    assert.equal(text, '', `${where} with a body: add "content" to ${of}`)
    return
  }
  const type = String(headers['content-type']).replace(/^(text\/[^;]+);.*/, '$1') // only `text/…` has a charset
  // The types of answers have no parameters, whatever the contract says. Of two equal ones, the first is served.
  const byType = new Map(
    [...schemas].reverse().map(([range, schema]) => [range.replace(/\s*;.*/s, ''), schema]),
  )
  const schema = [type, type.replace(/\/.*/, '/*'), '*/*']
    .map((type) => byType.get(type))
    .find(Boolean)
  const types = [...schemas.keys()].join(' or ')
  assert.ok(schema, `${where} as ${type}, not as ${types}: add it to "content" of ${of}`)
  if (!isJson(type)) return
  const value = parse(text)
  assertValid(where, schema, value)
  if (status >= 400 && !contract.errorBody) checkUsual(where, status, fields(value))
}

/** A body in the usual form has the status. */
function checkUsual(where: string, status: number, { error, ...rest }: Record<string, unknown>) {
  const isUsual = typeof error === 'number' && Object.keys(rest).join() === 'message'
  if (isUsual) assert.equal(error, status, where)
}

/** The request of an error made for a comparison of properties; it has no operation. */
const ORIGIN = { path: '/', id: '5f0c3e1a-9d7b-4c52-8a46-1b2e3d4c5f60', operationId: '' }

/** Whether the success of an operation is its default: no other response is one. */
const succeedsByDefault = ({ responses }: Operation) =>
  responses.has('default') && ![...responses.keys()].some((key) => /^[23]/.test(key))

/** The keys of built-in errors. */
const KEYS = new Set(['default', ...[...STATUSES, 404].flatMap(keysOf)])

/** A built-in error without a response in the operation: it has the form of another error of it, or of any operation. */
function undescribedError(
  contract: Contract,
  { id, path, responses }: Operation,
  status: number,
): Response {
  const { anyError, errorBody } = contract
  const ofPath = path.includes('{') ? [404] : [] // a segment such as ".." is no parameter
  const own = [...STATUSES, ...ofPath].flatMap((status) => keysOf(status))
  const described = [...responses].find(([key, { schemas }]) => own.includes(key) && schemas.size)
  if (described !== undefined) return { ...anyError, schemas: described[1].schemas }
  if (errorBody === undefined) return otherError(contract, status)
  const body = errorBody(status, 'The reason', { ...ORIGIN, operationId: id })
  const required = Object.keys(fields(body))
  return { ...anyError, schemas: new Map([['application/json', { required }]]) }
}

/**
 * An error without an operation has the form of an operation's errors. One written by the product has all their
 * properties.
 */
function otherError({ anyError, errorBody, operations }: Contract, status: number): Response {
  const written = errorBody && parse(stringify(errorBody(status, 'The reason', ORIGIN)))
  const required = Object.keys(fields(written))
  const errors = operations
    .flatMap(({ responses }) => [...responses])
    .filter(([key]) => KEYS.has(key))
    .flatMap(([, { schemas }]) => [...schemas])
  if (errors.length === 0 && written === undefined) return anyError
  if (errors.length === 0)
    return { ...anyError, schemas: new Map([['application/json', { required }]]) }
  const whole = errors.map(([type, schema]): [string, Schema] => {
    const isWritten = written !== undefined && isJson(type) && isValid(schema, written)
    return isWritten ? [type, { allOf: [schema, { required }] }] : [type, schema]
  })
  const byType = Map.groupBy(whole, ([type]) => type)
  const schemas = [...byType].map(([type, entries]): [string, Schema] => {
    const [[, first] = [type, {}], ...others] = entries
    return [type, others.length === 0 ? first : { anyOf: entries.map(([, schema]) => schema) }]
  })
  return { ...anyError, schemas: new Map(schemas) }
}

function assertValid(where: string, schema: Schema, value: unknown): void {
  const faults = faultsOf(schema, value).map(
    ({ instancePath, message }) => `${instancePath} ${message ?? ''}`,
  )
  assert.ok(faults.length === 0, `${where}: ${faults.join(', ')}: ${brief(value)}`)
}
