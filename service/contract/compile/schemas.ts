// Makes of the schemas of a contract what validation.ts runs, and refuses what would be validated otherwise than they say.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { Schema } from '../compiled.ts'
import { deref, targetOf } from './document.ts'
import type { Root } from './openapi.ts'
import { inner, isFile, membersOf, ownTypes, type Part, partsOf, partWith } from './shapes.ts'
import { Validators } from '../validation.ts'
import { exactJson } from '../../http/json.ts'
import { isObject } from '../validation.ts'

/** Notes a fault of an object of the document, or of a member of it: what is not served, and what to write instead. */
export type Refuse = (node: object, fault: string, key?: string) => void

/** What is compiled, where its schemas go, and where its faults go. */
export interface Context {
  readonly root: Root
  readonly schemas: Schemas
  readonly refuse: Refuse
}

/** What is validated: a request, one of several schemas that it may fit, a request that is a form, or a response. */
export type Use = 'request' | 'choice' | 'form' | 'response'

const MAPS = /^(patternProperties|dependentSchemas)$/
const LISTS = /^(allOf|anyOf|oneOf|prefixItems)$/
const SINGLE = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const CHOICES = /^(anyOf|oneOf|not|if|then|else)$/
/** For the same value: what is required of its members may stand in one of them, and the members in another. */
const SAME = /^(allOf|anyOf|oneOf|dependentSchemas|not|if|then|else)$/
const COPIED = /^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$/
const BOUNDS = /^((exclusive)?(Min|Max|min|max)imum|multipleOf)$/
const DIALECT = /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/
const FILE = 'a file of a form is "type: string, format: binary", and no more is served'
const NUMBER = /^(int32|int64|integer|number)$/
const NUMBER_FORMAT = /^(int32|int64|float|double)$/

/** The schemas that the operations of a contract use, by ids of ours: references are to these. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** The values that are filled in for an absent member: where they stand, and the schemas that they must fit. */
  readonly defaults: { readonly part: Part; readonly schema: Schema }[] = []
  readonly #ids = new Map<string, Map<unknown, string>>()
  readonly #accepted = new Map<string, boolean>()
  readonly #refuse: Refuse

  constructor(refuse: Refuse) {
    this.#refuse = refuse
  }

  /** Adds a schema, and all that it refers to. @returns its id */
  add(schema: unknown, use: Use): string {
    if (Object.keys(schema ?? {}).join() === '$ref') return this.add(targetOf(schema), use)
    const ids = this.#ids.get(use) ?? new Map<unknown, string>()
    const known = ids.get(schema)
    if (known !== undefined) return known
    const id = `${use}-${Object.keys(this.all).length}`
    this.#ids.set(use, ids.set(schema, id))
    this.all[id] = true // a number of its own, before those of its members
    this.all[id] = this.#convert(schema, use)
    return id
  }

  /** Adds the schema of a parameter or a member that may be absent. @returns the JSON of its default, if it has one */
  addDefault(schema: unknown, converted: Schema): string | undefined {
    const part = partWith(schema, 'default')
    if (part !== undefined) this.defaults.push({ part, schema: converted })
    return part && exactJson(part['default'])
  }

  /** Whether a response may be this value, which is always the same for a schema. */
  accepts(schema: unknown, value: unknown): boolean {
    const id = this.add(schema, 'response')
    const known = this.#accepted.get(id)
    const isAccepted = known ?? new Validators(this.all, false).of('body', { $ref: id })({ body: value }) === undefined
    this.#accepted.set(id, isAccepted)
    return isAccepted
  }

  /** @param parts those of the whole value that the schema is about */
  #convert(schema: unknown, use: Use, parts = partsOf(schema)): Schema {
    if (!isObject(schema)) return schema !== false
    if (use === 'form' && isFile(schema)) return { file: true }
    const isInt32 = schema['format'] === 'int32'
    const types = ownTypes(schema)?.map((each) => (each === 'integer' && isInt32 ? 'int32' : each))
    const isNumber = types?.some((each) => NUMBER.test(each)) === true
    const converted: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(schema)) {
      const fault = FAULTS[key]?.(value, schema, use)
      if (fault !== undefined) this.#refuse(schema, fault, key)
      const nested = use !== 'response' && CHOICES.test(key) ? 'choice' : use
      const convert = (one: unknown) =>
        this.#convert(one, nested, SAME.test(key) ? [...parts, ...partsOf(one)] : undefined)
      if (key === '$ref') converted[key] = this.add(targetOf(schema), use)
      else if (key === 'type') Object.assign(converted, isNumber ? { types } : { type: value })
      else if (key === 'format' && !NUMBER_FORMAT.test(String(value))) converted[key] = value
      else if (key === 'enum') converted[key] = inner(schema, key).map(exactJson)
      else if (key === 'const') converted[key] = [exactJson(value)]
      else if (key === 'properties') this.#addMembers(converted, schema, use)
      else if (key === 'required') converted[key] = inner(schema, key).filter((name) => isSent(parts, name, use))
      else if (BOUNDS.test(key)) converted[key] = String(value)
      else if (COPIED.test(key) || (key === 'description' && ('pattern' in schema || 'not' in schema)))
        converted[key] = value
      else if (SINGLE.test(key)) converted[key] = convert(value)
      else if (LISTS.test(key)) converted[key] = inner(schema, key).map(convert)
      else if (MAPS.test(key))
        converted[key] = Object.fromEntries(
          Object.entries(deref(value) ?? {}).map(([name, one]) => [name, convert(one)]),
        )
    }
    return converted
  }

  /** Adds the schemas of members. A member that a request must not have is refused, and taken out of responses. */
  #addMembers(converted: Record<string, unknown>, schema: Part, use: Use): void {
    const properties: Record<string, Schema> = {}
    const filled: Record<string, string> = {}
    const entries = [...membersOf([schema])]
    const isRemoved = ([, each]: [string, unknown]) => use === 'response' && isSaid(each, 'writeOnly')
    for (const [name, each] of entries.filter((entry) => !isRemoved(entry))) {
      const isKept = use === 'response' || !isSaid(each, 'readOnly')
      const member = isKept ? this.#convert(each, use) : { notSent: true }
      properties[name] = member
      if (use === 'response' || !isKept || inner(schema, 'required').includes(name)) continue
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

const isSaid = (schema: unknown, key: string) => partWith(schema, key)?.[key] === true

/** OpenAPI 3.1.0, section 4.8.24.1: a member that only one side sends is required only of that side. */
function isSent(parts: readonly Part[], name: unknown, use: Use): boolean {
  const schema = membersOf(parts).get(String(name))
  return !isSaid(schema, use === 'response' ? 'writeOnly' : 'readOnly')
}

/** What is wrong with the value of a keyword. */
const FAULTS: Readonly<Record<string, (value: unknown, schema: Part, use: Use) => string | undefined>> = {
  ...Object.fromEntries(
    ['$id', '$anchor', '$dynamicRef', '$dynamicAnchor', '$vocabulary'].map((key) => [
      key,
      () => `${key} is not served: refer with $ref: '#/components/schemas/...'`,
    ]),
  ),
  $schema: (dialect) => dialectFault('$schema', dialect),
  format: (format, schema, use) => formatFault(String(format), ownTypes(schema) ?? [], use),
  contentMediaType: (_, { contentEncoding }, use) =>
    use === 'form' && contentEncoding === undefined ? FILE : undefined,
  pattern: (pattern) =>
    isPattern(pattern) ? undefined : 'the pattern is no regular expression of ECMAScript, with the flag u',
  properties: (members) => (Object.hasOwn(members ?? {}, '__proto__') ? 'a member __proto__ is not served' : undefined),
  enum: bigIntFault,
  const: bigIntFault,
  default: bigIntFault,
}

/** Why a dialect of JSON Schema is not served: it is not the one of OpenAPI 3.1. */
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
  return use === 'form' ? FILE : 'bytes within JSON are not served: write contentEncoding: base64'
}

function isPattern(pattern: unknown): boolean {
  try {
    return new RegExp(String(pattern), 'u') instanceof RegExp
  } catch {
    return false
  }
}

function bigIntFault(value: unknown, schema: Part): string | undefined {
  if (!hasBigInt(value) || ownTypes(schema)?.includes('int64') === true) return undefined
  return 'a number beyond 2^53 needs "type: integer, format: int64" beside it'
}

function hasBigInt(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && Object.values(value ?? {}).some(hasBigInt))
}
