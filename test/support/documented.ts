import { strict as assert } from 'node:assert'
import type { IncomingHttpHeaders } from 'node:http'
import { anyError, everyResponse, matches, operationOf, paths } from './contract.ts'
import { brief, parse } from './json.ts'
import { faultsOf, fields, type Schema } from './schemas.ts'
import { record } from './statuses.ts'

/** The headers that HTTP itself has: OpenAPI does not describe them. */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'])

/** The statuses that HTTP decides, before an operation or without it. An operation declares them as its default. */
const HTTP_STATUSES = new Set([400, 408, 417, 431, 500, 501, 505])

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Fails if the contract does not document the status, the headers or the body of an answer. */
export function assertDocumented(method: string, url: string, answer: Answered): void {
  check(method, url, answer)
  const operation = operationOf(method, url)
  if (answer.status === 100 || operation === undefined) return
  const status = String(answer.status)
  record(operation.id, operation.responses.has(status) ? status : 'default')
}

/** Says what the contract does not document of an answer; undefined if it documents everything. */
export function faultOf(method: string, url: string, answer: Answered): string | undefined {
  try {
    check(method, url, answer)
    return undefined
  } catch (error) {
    return String(error)
  }
}

function check(method: string, url: string, { status, headers, text }: Answered): void {
  const where = `${method} ${url} answered ${status}`
  if (status === 100) return
  const operation = operationOf(method, url)
  if (method === 'OPTIONS' && status === 204 && url === '*') return
  if (method === 'OPTIONS' && status === 204 && paths.some((path) => matches(path, url))) {
    assert.ok(headers.allow, `${where} without Allow`)
    return
  }
  const named = operation?.responses.get(String(status))
  const isOther = status >= 400 && (operation === undefined || HTTP_STATUSES.has(status))
  const of = `the response ${status} of the operation ${operation?.id ?? 'that it has not'} in openapi.yaml`
  assert.ok(named ?? isOther, `${where}: add ${of}, or answer another status`)
  // Without an operation, the default answer of all operations applies.
  const response = named ?? operation?.responses.get('default') ?? anyError

  const declared = new Map(
    [...response.headers, ...everyResponse].map(([name, header]) => [name.toLowerCase(), header]),
  )
  for (const name of Object.keys(headers)) {
    assert.ok(declared.has(name) || FRAMING.has(name), `${where} with the header ${name}: add it to "headers" of ${of}`)
  }
  for (const [name, { required, schema }] of declared) {
    const value = headers[name]
    if (value === undefined) assert.ok(!required, `${where} without the header ${name} of ${of}`)
    else assertValid(`${where}, the header ${name}`, schema, schema['type'] === 'integer' ? Number(value) : value)
  }

  if (response.schema === undefined || method === 'HEAD') {
    assert.equal(text, '', `${where} with a body: add "content" to ${of}`)
    return
  }
  assert.equal(headers['content-type'], 'application/json', where)
  assertValid(where, response.schema, parse(text))
  if (status >= 400) assert.equal(fields(parse(text))['error'], status, where)
}

function assertValid(where: string, schema: Schema, value: unknown): void {
  const faults = faultsOf(schema, value).map(({ instancePath, message }) => `${instancePath} ${message ?? ''}`)
  assert.ok(faults.length === 0, `${where}: ${faults.join(', ')}: ${brief(value)}`)
}
