// Compiles the schemas of a contract for validation.ts, and refuses everything that it can't validate as described.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Schema } from '../compiled.ts'
import { resolveReference } from './references.ts'
import { allMembers, allParts, declaredTypes, entriesAt, isFile, type Part, partWith, valuesAt } from './shapes.ts'
import { BOUNDS, isObject, type NumberRule, Validators } from '../validation.ts'
import { exactJson } from '../../http/json.ts'

/** Reports a fault of an object in the document, or of its member `key`. The text says what to write instead. */
export type Refuse = (node: object, fault: string, key?: string) => void

/** The document to compile, and the collectors of its schemas and its faults. */
export interface Context {
  readonly root: Oas3_1Definition
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** What a schema validates: a request, an alternative in a request (below `anyOf` and others), a form, or a response. */
export type Use = 'request' | 'choice' | 'form' | 'response'

/** Keywords with one schema, with a list of schemas, and with schemas by name. */
const SCHEMA = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const SCHEMA_LIST = /^(allOf|anyOf|oneOf|prefixItems)$/
const SCHEMA_MAP = /^(patternProperties|dependentSchemas)$/
const CHOICES = /^(anyOf|oneOf|not|if|then|else)$/
/** Keywords whose schemas are about the same value: one schema may have `required`, another one `properties`. */
const SAME_VALUE = /^(allOf|anyOf|oneOf|dependentSchemas|not|if|then|else)$/
const COPIED = /^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$/
const NOT_SERVED = /^\$(id|anchor|dynamicRef|dynamicAnchor|vocabulary)$/
const NUMBER_FORMAT = /^(int32|int64|float|double)$/

/** The compiled schemas of a contract. Each gets an id, and `$ref` refers to these ids. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** Values that must fit a schema, each with the place and the text of the fault. */
  readonly #values: { value: unknown; schema: Schema; node: object; key: string; fault: string | undefined }[] = []
  readonly #ids = new Map<string, Map<unknown, string>>()
  readonly #refuse: Refuse

  constructor(refuse: Refuse) {
    this.#refuse = refuse
  }

  /** Adds a schema, and the schemas that it refers to. @returns its id */
  add(schema: unknown, use: Use): string {
    if (Object.keys(schema ?? {}).join() === '$ref') return this.add(resolveReference(schema), use)
    const ids = this.#ids.get(use) ?? new Map<unknown, string>()
    const known = ids.get(schema)
    if (known !== undefined) return known
    const id = `${use}-${Object.keys(this.all).length}`
    this.#ids.set(use, ids.set(schema, id))
    this.all[id] = true // reserves the id before members get theirs
    this.all[id] = this.#convert(schema, use)
    return id
  }

  /** Adds the schema of a parameter or a member that may be absent. @returns the JSON of its default, if it has one */
  addDefault(schema: unknown, converted: Schema, use: Use): string | undefined {
    const part = partWith(schema, 'default')
    if (part === undefined) return undefined
    if (use === 'choice')
      this.#refuse(part, 'a default below anyOf, oneOf, not or if is not served: write it beside', 'default')
    this.addValue(part['default'], converted, part, 'default')
    return exactJson(part['default'])
  }

  /** Adds a value that must fit a schema. @param fault what to report if it does not; by default, what is wrong with it */
  addValue(value: unknown, schema: Schema, node: object, key: string, fault?: string): void {
    this.#values.push({ value, schema, node, key, fault })
  }

  /** Refuses each value that does not fit its schema. The schemas must be complete, and without faults. */
  checkValues(): void {
    const validators = new Validators(this.all, true)
    for (const { value, schema, node, key, fault } of this.#values) {
      const found = validators.compile(key, schema)({ [key]: value })
      if (found !== undefined) this.#refuse(node, fault ?? found, key)
    }
  }

  /** @param parts all schemas that are about the same value */
  #convert(schema: unknown, use: Use, parts = allParts(schema)): Schema {
    if (!isObject(schema)) return schema !== false
    if (use === 'form' && isFile(schema)) return { file: true }
    const types = declaredTypes(schema)
    const converted: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      const fault = FAULTS[key]?.(value, schema, use)
      if (fault !== undefined) this.#refuse(schema, fault, key)
      if (NOT_SERVED.test(key))
        this.#refuse(schema, `${key} is not served: refer with $ref: '#/components/schemas/...'`, key)
      const nested = use !== 'response' && CHOICES.test(key) ? 'choice' : use
      const convert = (one: unknown) =>
        this.#convert(one, nested, SAME_VALUE.test(key) ? [...parts, ...allParts(one)] : undefined)
      if (key === '$ref') converted[key] = this.add(resolveReference(schema), use)
      else if (key === 'type' && !types.some(isNumeric)) converted[key] = value
      else if (key === 'format' && !NUMBER_FORMAT.test(String(value))) converted[key] = value
      else if (key === 'enum') converted[key] = valuesAt(schema, key).map(exactJson)
      else if (key === 'const') converted[key] = [exactJson(value)]
      else if (key === 'properties') this.#addMembers(converted, schema, use)
      else if (key === 'required')
        converted[key] = valuesAt(schema, key).filter((name) => isSent(allMembers(parts).get(String(name)), use))
      else if (COPIED.test(key) || (key === 'description' && ('pattern' in schema || 'not' in schema)))
        converted[key] = value
      else if (SCHEMA.test(key)) converted[key] = convert(value)
      else if (SCHEMA_LIST.test(key)) converted[key] = valuesAt(schema, key).map(convert)
      else if (SCHEMA_MAP.test(key))
        converted[key] = Object.fromEntries(entriesAt(schema, key).map(([name, one]) => [name, convert(one)]))
    }
    return { ...converted, ...numberRule(schema) }
  }

  /** Adds the schemas of members. Requests must not have `readOnly` members; responses lose their `writeOnly` members. */
  #addMembers(converted: Record<string, unknown>, schema: Part, use: Use): void {
    const properties: Record<string, Schema> = {}
    const filled: Record<string, string> = {}
    const removed: string[] = []
    for (const [name, each] of allMembers([schema])) {
      if (!isSent(each, use)) {
        if (use === 'response') removed.push(name)
        else properties[name] = { notSent: true }
        continue
      }
      const member = this.#convert(each, use)
      properties[name] = member
      const isOptional = use !== 'response' && !valuesAt(schema, 'required').includes(name)
      const text = isOptional ? this.addDefault(each, member, use) : undefined
      if (text !== undefined) filled[name] = text
    }
    Object.assign(converted, { properties })
    if (Object.keys(filled).length > 0) Object.assign(converted, { filled })
    if (removed.length > 0) Object.assign(converted, { removed })
  }
}

/** OpenAPI 3.1.0, section 4.8.24.1: `readOnly` members are for responses only, `writeOnly` ones for requests only. */
function isSent(schema: unknown, use: Use): boolean {
  const mark = use === 'response' ? 'writeOnly' : 'readOnly'
  return partWith(schema, mark)?.[mark] !== true
}

/** Matches every dialect of JSON Schema but that of OpenAPI 3.1. With what to write instead. */
export const DIALECT_REFUSAL = [
  /^(?!https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$)/,
  'only JSON Schema 2020-12 is served: leave this out',
] as const
const FILE_FAULT = 'a file of a form is "type: string, format: binary", and no more is served'

/** By keyword: a function that returns what is wrong with its value. */
const FAULTS: Readonly<Record<string, (value: unknown, schema: Part, use: Use) => string | undefined>> = {
  $schema: (dialect) => (DIALECT_REFUSAL[0].test(String(dialect)) ? DIALECT_REFUSAL[1] : undefined),
  format: (format, schema, use) => formatFault(String(format), declaredTypes(schema).some(isNumeric), use),
  contentMediaType: (_, { contentEncoding }, use) =>
    use === 'form' && contentEncoding === undefined ? FILE_FAULT : undefined,
  pattern: (pattern) =>
    isPattern(pattern) ? undefined : 'the pattern is not a regular expression of ECMAScript, with the flag u',
  properties: (members) => (Object.hasOwn(members ?? {}, '__proto__') ? 'a member __proto__ is not served' : undefined),
  enum: bigIntFault,
  const: bigIntFault,
  default: bigIntFault,
}

/** What a schema says of numbers, as one keyword. */
function numberRule(schema: Part): { number: NumberRule } | undefined {
  const keys = Object.keys(BOUNDS).filter((key) => key in schema)
  const bounds = Object.fromEntries(keys.map((key) => [key, String(schema[key])]))
  const declared = declaredTypes(schema)
  if (!declared.some(isNumeric)) return keys.length === 0 ? undefined : { number: { bounds } }
  const types = declared.map((type) => (type === 'integer' && schema['format'] === 'int32' ? 'int32' : type))
  return { number: { types, bounds } }
}

const isNumeric = (type: string) => /^(int64|integer|number)$/.test(type)

function formatFault(format: string, isNumber: boolean, use: Use): string | undefined {
  if (NUMBER_FORMAT.test(format))
    return isNumber ? undefined : `the format ${format} needs "type: integer" or "type: number"`
  if (isNumber || !(format in fullFormats))
    return `the format ${format} is not served here: leave it out, or write a pattern`
  if (format !== 'binary') return undefined
  return use === 'form' ? FILE_FAULT : 'bytes within JSON are not served: write contentEncoding: base64'
}

function isPattern(pattern: unknown): boolean {
  try {
    return new RegExp(String(pattern), 'u') instanceof RegExp
  } catch {
    return false
  }
}

/** Only an int64 is compared exactly. */
function bigIntFault(value: unknown, schema: Part): string | undefined {
  const isExact = declaredTypes(schema).includes('int64') || !hasBigInt(value)
  return isExact ? undefined : 'a number beyond 2^53 needs "type: integer, format: int64" beside it'
}

function hasBigInt(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && Object.values(value ?? {}).some(hasBigInt))
}
