import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import type { DataValidateFunction } from 'ajv/dist/types/index.js'
import addFormats from 'ajv-formats'
import type { FastifySchemaCompiler } from 'fastify'
import { fields, isObject } from './contract.ts'
import { StartupError, HttpError } from '../errors.ts'

type Schema = Readonly<Record<string, unknown>>

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** What the error messages call the parts of a request. */
const PARTS: Readonly<Record<string, string>> = { params: 'path', querystring: 'query', headers: 'header' }

/**
 * Compiles the schemas of the contract, in OpenAPI 3.1's own dialect of JSON Schema, 2020-12. Nothing is changed to
 * make it fit: an int64 becomes a `bigint`, and the text of a parameter the value that it spells, or it is refused.
 * @throws {StartupError} at boot, for a schema that can't be held to the letter
 */
export function validatorCompiler(): FastifySchemaCompiler<Schema> {
  // The schema of schemas would take longer to compile than all of the contract; the linter holds the contract to it.
  const lean = { meta: false, validateSchema: false }
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictTuples: false, verbose: true, ...lean })
  addFormats.default(ajv)
  ajv.addVocabulary(['example', 'externalDocs', 'xml', 'discriminator'])
  ajv.addKeyword({ keyword: 'int64', modifying: true, errors: true, compile: int64Keyword })
  return ({ schema, httpPart = 'body' }) => {
    const validate = ajv.compile(JSON.parse(JSON.stringify(schema), withInt64) as Schema) // of which it is a copy
    const read = httpPart === 'body' ? (data: unknown) => data : parametersReader(schema, httpPart)
    return (data: unknown) => {
      const value = read(data)
      if (validate(value)) return { value }
      return { error: new HttpError(400, messageOf(PARTS[httpPart] ?? httpPart, validate.errors?.[0])) }
    }
  }
}

function messageOf(part: string, error: ErrorObject | undefined): string {
  const { instancePath = '', keyword, message = 'is invalid', params, parentSchema } = error ?? {}
  const extra: unknown = params?.['additionalProperty'] ?? params?.['unevaluatedProperty']
  const meaning: unknown = parentSchema?.['description']
  // The text of these two says nothing to people; the author of the schema does.
  const isExplained = (keyword === 'pattern' || keyword === 'not') && typeof meaning === 'string'
  const own = isExplained ? `is invalid: ${meaning}` : message
  const fault = typeof extra === 'string' ? `must not have the property ${extra.slice(0, 100)}` : own
  return `${part}${instancePath} ${fault}`
}

const BOUNDS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']

// Ajv's `type: integer` knows no bigint: with `format: int64`, and the bounds, it becomes a keyword of ours.
function withInt64(_key: string, schema: unknown): unknown {
  if (!isObject(schema)) return schema
  const { type, format, minimum, maximum, ...rules } = schema
  // Without a type an int64 could be meant, and a bigint would pass Ajv's own bounds.
  if (type === undefined && BOUNDS.some((bound) => typeof schema[bound] === 'number')) {
    throw new StartupError('the bounds of a number need its "type" beside them')
  }
  if (format !== 'int64') return schema
  const other = type === 'integer' ? ['const', 'enum', ...BOUNDS].find((key) => key in rules) : 'other type'
  if (other !== undefined) throw new StartupError(`format int64 needs "type: integer" and allows no ${other}`)
  return { ...rules, int64: { minimum: bound(minimum, INT64_MIN), maximum: bound(maximum, INT64_MAX) } }
}

// YAML is read with numbers, and 2^63 - 1 is none: it reads as 2^63.
function bound(value: unknown, limit: bigint): bigint {
  if (value === undefined || value === Number(limit)) return limit
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value)
  throw new StartupError(`the bound ${JSON.stringify(value)} of an int64 is no exact number`)
}

function int64Keyword({ minimum, maximum }: Readonly<Record<'minimum' | 'maximum', bigint>>): DataValidateFunction {
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

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/
const INTEGER = /^(0|-?[1-9]\d*)$/

/** By type. Texts are read as JSON spells values; another spelling stays a text, for the schema to refuse. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  int64: (text) => (INTEGER.test(text) ? BigInt(text) : text),
  integer: (text) => (INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text),
  number: (text) => (NUMBER.test(text) ? Number(text) : text),
  boolean: (text) => (text === 'true' ? true : text === 'false' ? false : text),
  string: (text) => text,
}

/** Reads the parameters that the contract has, and leaves out all others. One that is repeated stays an array. */
function parametersReader({ properties }: Schema, httpPart: string): (data: unknown) => unknown {
  const readers = Object.entries(fields(properties)).map(([name, schema]) => {
    const type = typeOf(schema)
    const read = READERS[type]
    if (read === undefined) {
      throw new StartupError(`the parameter ${name} needs a "type": integer, number, boolean or string, not ${type}`)
    }
    return { name, sent: httpPart === 'headers' ? name.toLowerCase() : name, read }
  })
  return (data) => {
    const texts = isObject(data) ? data : {}
    const values: Record<string, unknown> = {}
    for (const { name, sent, read } of readers) {
      if (!Object.hasOwn(texts, sent)) continue
      const text = texts[sent]
      values[name] = typeof text === 'string' ? read(text) : text
    }
    return values
  }
}

/** The type that a schema names, itself or in the first part of its `allOf`. */
function typeOf(schema: unknown): string {
  const { type, format, allOf } = fields(schema)
  if (type === undefined && Array.isArray(allOf)) return typeOf(allOf[0])
  return format === 'int64' ? format : String(type)
}
