import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'

/** The headers that HTTP itself has: OpenAPI does not describe them. */
const FRAMING = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive', 'transfer-encoding'])

/** Those that are on every response, and not only where a status calls for them. */
const STANDARD = new Set(['cache-control', 'x-content-type-options', 'x-request-id'])

interface Response {
  readonly headers?: Record<string, { readonly required?: boolean; readonly schema: { readonly type?: string } }>
  readonly content?: Record<string, { readonly schema: object }>
}

interface Document {
  readonly paths: Record<string, Record<string, { readonly responses: Record<string, Response> }>>
  readonly components: { readonly responses: Record<string, Response> }
}

const file: unknown = parse(readFileSync('openapi.yaml', 'utf8'))
const contract: Document = JSON.parse(JSON.stringify(file), (_key, value) => resolve(value))
const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)

/** Fails on an answer whose status, headers or body the contract does not document. */
export function assertDocumented(
  method: string,
  url: string,
  { status, headers, text, json }: { status: number; headers: IncomingHttpHeaders; text: string; json: unknown },
): void {
  const where = `${method} ${url} answered ${status}`
  if (status === 100) return
  const template = Object.keys(contract.paths).find((each) =>
    new RegExp(`^${each.replaceAll(/{\w+}/g, '[^/]+')}$`).test(url.split('?')[0] ?? ''),
  )
  if (method === 'OPTIONS' && template !== undefined && status === 204) {
    assert.ok(headers.allow, `${where} without Allow`)
    return
  }
  const operation = contract.paths[template ?? '']?.[method === 'HEAD' ? 'get' : method.toLowerCase()]
  assert.ok(operation?.responses[status] ?? status >= 400, `${where}, which the contract does not declare`)
  // Where there is no operation, what every operation has as its default holds.
  const response = operation?.responses[status] ?? contract.components.responses['Error'] ?? {}

  const declared = Object.entries(response.headers ?? {})
  for (const name of Object.keys(headers)) {
    const isDeclared = declared.some(([each]) => each.toLowerCase() === name)
    assert.ok(isDeclared || FRAMING.has(name), `${where} with the header ${name}`)
  }
  for (const [name, { required, schema }] of declared) {
    const value = headers[name.toLowerCase()]
    if (value !== undefined) assertValid(`${where}: ${name}`, schema, schema.type === 'integer' ? Number(value) : value)
    else assert.ok(!required && !STANDARD.has(name.toLowerCase()), `${where} without ${name}`)
  }

  if (response.content === undefined || method === 'HEAD') {
    assert.equal(text, '', `${where} with a body`)
    return
  }
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', where)
  assertValid(where, response.content['application/json']?.schema ?? false, json)
  if (status >= 400) assertValid(where, { properties: { error: { const: status } } }, json)
}

function assertValid(where: string, schema: object | boolean, value: unknown): void {
  assert.ok(ajv.validate(schema, value), `${where}: ${ajv.errorsText()}: ${JSON.stringify(value)}`)
}

/** Puts in the place of a reference what it leads to; keywords beside it apply, too. */
function resolve(node: unknown): unknown {
  if (typeof node !== 'object' || node === null || !('$ref' in node) || typeof node.$ref !== 'string') return node
  const { $ref, ...rest } = node
  const target = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((each, key) => (each instanceof Object ? Reflect.get(each, key) : undefined), file)
  const resolved: unknown = JSON.parse(JSON.stringify(target), (_key, value) => resolve(value))
  return 'description' in rest && Object.keys(rest).length === 1 ? resolved : merge(resolved, rest)
}

function merge(target: unknown, rest: object): unknown {
  return Object.keys(rest).length === 0 ? target : { allOf: [target, rest] }
}
