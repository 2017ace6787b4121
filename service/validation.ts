import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { StartupError } from './config.ts'
import { HttpError } from './errors.ts'

type Schema = Readonly<Record<string, unknown>>

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** What the error messages call the parts of a request. */
const PARTS = new Map([
  ['params', 'path'],
  ['querystring', 'query'],
  ['headers', 'header'],
])

/**
 * Compiles the schemas of the contract, in OpenAPI 3.1's own dialect of JSON Schema, 2020-12. Nothing is changed to
 * make it fit: an int64 becomes a `bigint`, and the text of a parameter the value that it spells, or it is refused.
 * @throws {StartupError} at boot, for a schema that can't be held to the letter
 */
export function validatorCompiler(): FastifySchemaCompiler<Schema> {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, verbose: true })
  addFormats.default(ajv)
  ajv.addVocabulary(['example', 'externalDocs', 'xml', 'discriminator'])
  ajv.addKeyword({ keyword: 'int64', modifying: true, errors: true, compile: int64Keyword })
  return ({ schema, httpPart = 'body' }) => {
    const validate = ajv.compile(withInt64(schema))
    const read: Reader =
      httpPart === 'body' ? (data) => data : parametersReader(schema, httpPart === 'headers')
    return (data: unknown) => {
      const value = read(data)
      if (validate(value)) return { value }
      return { error: new HttpError(400, messageOf(PARTS.get(httpPart) ?? httpPart, validate.errors?.[0])) }
    }
  }
}

function messageOf(part: string, error: ErrorObject | undefined): string {
  const { instancePath = '', keyword, message = 'is invalid', params, parentSchema } = error ?? {}
  const extra: unknown = params?.['additionalProperty'] ?? params?.['unevaluatedProperty']
  if (typeof extra === 'string')
    return `${part}${instancePath} must not have the property ${extra.slice(0, 100)}`
  const description: unknown = parentSchema?.['description']
  // These two say nothing to people; the author of the schema does.
  if ((keyword === 'pattern' || keyword === 'not') && typeof description === 'string') {
    return `${part}${instancePath} is invalid: ${description}`
  }
  return `${part}${instancePath} ${message}`
}

const MAPS_OF_SCHEMAS = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs'])
const DATA = new Set(['const', 'default', 'enum', 'example', 'examples'])

// Ajv's `type: integer` knows no bigint: with `format: int64`, and the bounds, it becomes a keyword of ours.
function withInt64(schema: Schema): Schema {
  const rules = schema['format'] === 'int64' ? int64Rules(schema) : schema
  return mapValues(rules, (value, keyword) => {
    if (DATA.has(keyword) || keyword === 'int64') return value
    if (Array.isArray(value)) return value.map((each: unknown) => (isSchema(each) ? withInt64(each) : each))
    if (!isSchema(value)) return value
    return MAPS_OF_SCHEMAS.has(keyword)
      ? mapValues(value, (each) => (isSchema(each) ? withInt64(each) : each))
      : withInt64(value)
  })
}

function int64Rules({ type, format: _format, minimum, maximum, ...rules }: Schema): Schema {
  const unsupported = ['const', 'enum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].filter(
    (key) => key in rules,
  )
  if (type !== 'integer' || unsupported.length > 0) {
    throw new StartupError(
      `format int64 needs "type: integer" and allows no ${unsupported.join(', ') || 'other type'}`,
    )
  }
  return { ...rules, int64: { minimum: bound(minimum, INT64_MIN), maximum: bound(maximum, INT64_MAX) } }
}

// YAML is read with numbers, and 2^63 - 1 is none: it reads as 2^63.
function bound(value: unknown, limit: bigint): bigint {
  if (value === undefined || value === Number(limit)) return limit
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw new StartupError(`the bound ${JSON.stringify(value)} of an int64 is no exact number`)
}

function int64Keyword({
  minimum,
  maximum,
}: {
  readonly minimum: bigint
  readonly maximum: bigint
}): DataValidateFunction {
  const validate: DataValidateFunction = (data: unknown, context) => {
    const value = typeof data === 'number' && Number.isInteger(data) ? BigInt(data) : data
    if (typeof value === 'bigint' && value >= minimum && value <= maximum) {
      if (context !== undefined) Reflect.set(context.parentData, context.parentDataProperty, value)
      return true
    }
    validate.errors = [{ message: `must be an integer from ${minimum} to ${maximum}` }]
    return false
  }
  return validate
}

type Reader = (value: unknown) => unknown

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : text),
  integer: (text) => (INTEGER.test(text) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
}

/** Reads the texts of parameters as JSON spells values; another spelling stays a text, for the schema to refuse. */
function parametersReader({ properties }: Schema, areHeaders: boolean): Reader {
  const readers = Object.entries(isSchema(properties) ? properties : {}).map(
    ([name, schema]) => [name, areHeaders ? name.toLowerCase() : name, readerOf(schema)] as const,
  )
  return (data) => {
    if (!isSchema(data)) return data
    const value: Record<string, unknown> = { ...data }
    for (const [name, key, read] of readers) if (key in data) value[name] = read(data[key])
    return value
  }
}

function readerOf(schema: unknown): Reader {
  if (!isSchema(schema)) return (value) => value
  const { type, format, items, allOf } = schema
  if (type === undefined && Array.isArray(allOf)) return readerOf(allOf[0])
  if (type === 'array') {
    const read = readerOf(items)
    return (value) => (Array.isArray(value) ? value : [value]).map(read)
  }
  const read = READERS[String(format === 'int64' ? format : type)]
  return (value) => (typeof value === 'string' && read !== undefined ? read(value) : value)
}

function mapValues(object: Schema, change: (value: unknown, key: string) => unknown): Schema {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))
}

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
