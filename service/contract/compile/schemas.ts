// Compiles the schemas of a contract for validation.ts, and refuses everything that it can't validate as described.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Schema } from '../compiled.ts'
import { deref, resolveReference } from './document.ts'
import type { Root } from './openapi.ts'
import { allMembers, allParts, declaredTypes, isFile, type Part, partWith, valuesAt } from './shapes.ts'
import { isObject, Validators } from '../validation.ts'
import { exactJson } from '../../http/json.ts'

/** Reports a fault of an object in the document, or of its member `key`. The text says what to write instead. */
export type Refuse = (node: object, fault: string, key?: string) => void

/** The document to compile, and the collectors of its schemas and its faults. */
export interface Context {
  readonly root: Root
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** What a schema validates: a request, an alternative in a request (below `anyOf` and others), a form, or a response. */
export type Use = 'request' | 'choice' | 'form' | 'response'

const MAPS = /^(patternProperties|dependentSchemas)$/
const LISTS = /^(allOf|anyOf|oneOf|prefixItems)$/
const SINGLE = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const CHOICES = /^(anyOf|oneOf|not|if|then|else)$/
/** Keywords whose schemas are about the same value: one schema may have `required`, another one `properties`. */
const SAME_VALUE = /^(allOf|anyOf|oneOf|dependentSchemas|not|if|then|else)$/
const COPIED = /^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$/
const BOUNDS = /^((exclusive)?(Min|Max|min|max)imum|multipleOf)$/
const DIALECT = /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/
const FILE_FAULT = 'a file of a form is "type: string, format: binary", and no more is served'
const NUMBER = /^(int32|int64|integer|number)$/
const NUMBER_FORMAT = /^(int32|int64|float|double)$/

/** The compiled schemas of a contract. Each gets an id, and `$ref` refers to these ids. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** The defaults of absent members: the part of the schema that has it, and the schema that it must fit. */
  readonly defaults: { readonly part: Part; readonly schema: Schema }[] = []
  readonly #ids = new Map<string, Map<unknown, string>>()
  readonly #accepted = new Map<string, boolean>()
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
  addDefault(schema: unknown, converted: Schema): string | undefined {
    const part = partWith(schema, 'default')
    if (part !== undefined) this.defaults.push({ part, schema: converted })
    return part && exactJson(part['default'])
  }

  /** Whether a response may be this value. The result is cached by schema: pass the same value in each call. */
  accepts(schema: unknown, value: unknown): boolean {
    const id = this.add(schema, 'response')
    const known = this.#accepted.get(id)
    const isAccepted =
      known ?? new Validators(this.all, false).compile('body', { $ref: id })({ body: value }) === undefined
    this.#accepted.set(id, isAccepted)
    return isAccepted
  }

  /** @param parts all schemas that are about the same value */
  #convert(schema: unknown, use: Use, parts = allParts(schema)): Schema {
    if (!isObject(schema)) return schema !== false
    if (use === 'form' && isFile(schema)) return { file: true }
    const isInt32 = schema['format'] === 'int32'
    const types = declaredTypes(schema)?.map((each) => (each === 'integer' && isInt32 ? 'int32' : each))
    const isNumber = types?.some((each) => NUMBER.test(each)) === true
    const converted: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      const fault = FAULTS[key]?.(value, schema, use)
      if (fault !== undefined) this.#refuse(schema, fault, key)
      const nested = use !== 'response' && CHOICES.test(key) ? 'choice' : use
      const convert = (one: unknown) =>
        this.#convert(one, nested, SAME_VALUE.test(key) ? [...parts, ...allParts(one)] : undefined)
      if (key === '$ref') converted[key] = this.add(resolveReference(schema), use)
      else if (key === 'type') Object.assign(converted, isNumber ? { types } : { type: value })
      else if (key === 'format' && !NUMBER_FORMAT.test(String(value))) converted[key] = value
      else if (key === 'enum') converted[key] = valuesAt(schema, key).map(exactJson)
      else if (key === 'const') converted[key] = [exactJson(value)]
      else if (key === 'properties') this.#addMembers(converted, schema, use)
      else if (key === 'required') converted[key] = valuesAt(schema, key).filter((name) => isSent(parts, name, use))
      else if (BOUNDS.test(key)) converted[key] = String(value)
      else if (COPIED.test(key) || (key === 'description' && ('pattern' in schema || 'not' in schema)))
        converted[key] = value
      else if (SINGLE.test(key)) converted[key] = convert(value)
      else if (LISTS.test(key)) converted[key] = valuesAt(schema, key).map(convert)
      else if (MAPS.test(key))
        converted[key] = Object.fromEntries(
          Object.entries(deref(value) ?? {}).map(([name, one]) => [name, convert(one)]),
        )
    }
    return converted
  }

  /** Adds the schemas of members. Requests must not have `readOnly` members; responses lose their `writeOnly` members. */
  #addMembers(converted: Record<string, unknown>, schema: Part, use: Use): void {
    const properties: Record<string, Schema> = {}
    const filled: Record<string, string> = {}
    const entries = [...allMembers([schema])]
    const isRemoved = ([, each]: [string, unknown]) => use === 'response' && isMarked(each, 'writeOnly')
    for (const [name, each] of entries.filter((entry) => !isRemoved(entry))) {
      const isAllowed = use === 'response' || !isMarked(each, 'readOnly')
      const member = isAllowed ? this.#convert(each, use) : { notSent: true }
      properties[name] = member
      if (use === 'response' || !isAllowed || valuesAt(schema, 'required').includes(name)) continue
      const text = this.addDefault(each, member)
      if (text === undefined) continue
      if (use === 'choice')
        this.#refuse(
          partWith(each, 'default') ?? schema,
          'a default below anyOf, oneOf, not or if is not served: write it beside',
          'default',
        )
      filled[name] = text
    }
    Object.assign(converted, { properties })
    if (Object.keys(filled).length > 0) Object.assign(converted, { filled })
    if (entries.some(isRemoved)) Object.assign(converted, { removed: entries.filter(isRemoved).map(([name]) => name) })
  }
}

const isMarked = (schema: unknown, key: string) => partWith(schema, key)?.[key] === true

/** OpenAPI 3.1.0, section 4.8.24.1: `required` holds only for the side that sends the member. */
function isSent(parts: readonly Part[], name: unknown, use: Use): boolean {
  const schema = allMembers(parts).get(String(name))
  return !isMarked(schema, use === 'response' ? 'writeOnly' : 'readOnly')
}

/** By keyword: a function that returns what is wrong with its value. */
const FAULTS: Readonly<Record<string, (value: unknown, schema: Part, use: Use) => string | undefined>> = {
  ...Object.fromEntries(
    ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$vocabulary'].map((key) => [
      key,
      () => `${key} is not served: refer with $ref: '#/components/schemas/...'`,
    ]),
  ),
  $schema: (dialect) => dialectFault('$schema', dialect),
  format: (format, schema, use) => formatFault(String(format), declaredTypes(schema) ?? [], use),
  contentMediaType: (_, { contentEncoding }, use) =>
    use === 'form' && contentEncoding === undefined ? FILE_FAULT : undefined,
  pattern: (pattern) =>
    isPattern(pattern) ? undefined : 'the pattern is not a regular expression of ECMAScript, with the flag u',
  properties: (members) => (Object.hasOwn(members ?? {}, '__proto__') ? 'a member __proto__ is not served' : undefined),
  enum: bigIntFault,
  const: bigIntFault,
  default: bigIntFault,
}

/** Checks the dialect of JSON Schema. @returns the fault if it is not the dialect of OpenAPI 3.1 */
export function dialectFault(key: string, dialect: unknown): string | undefined {
  const isServed = dialect === undefined || (typeof dialect === 'string' && DIALECT.test(dialect))
  return isServed ? undefined : `only JSON Schema 2020-12 is served: leave ${key} out`
}

function formatFault(format: string, types: readonly string[], use: Use): string | undefined {
  const isNumber = types.some((type) => NUMBER.test(type))
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

function bigIntFault(value: unknown, schema: Part): string | undefined {
  if (!hasBigInt(value) || declaredTypes(schema)?.includes('int64') === true) return undefined
  return 'a number beyond 2^53 needs "type: integer, format: int64" beside it'
}

function hasBigInt(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && Object.values(value ?? {}).some(hasBigInt))
}
