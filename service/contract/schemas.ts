// Makes of the schemas of a contract what validation.ts runs, and refuses what would be validated otherwise than they say.
import { fullFormats } from 'ajv-formats/dist/formats.js'
import type { ErrorForm, NumberRule, Schema } from './contract.ts'
import { member, type Place } from './document.ts'
import { keywordOf, membersOf, ownTypes, partsOf, typesOf } from './schema-parts.ts'

/** Notes a fault of the document: what is not served, and what to write instead. */
export type Refuse = (place: Place, fault: string) => void

/** What is validated: a request, one of several schemas that it may fit, a request that is a form, or a response. */
type Use = 'request' | 'choice' | 'form' | 'response'

const MAPS = /^(patternProperties|dependentSchemas)$/
const LISTS = /^(allOf|anyOf|oneOf|prefixItems)$/
const SINGLE = /^(items|contains|additionalProperties|unevaluated(Items|Properties)|propertyNames|not|if|then|else)$/
const CHOICES = /^(anyOf|oneOf|not|if|then|else)$/
/** For the same value: what is required of its members may stand in one of them, and the members in another. */
const SAME = /^(allOf|anyOf|oneOf|dependentSchemas|not|if|then|else)$/
const COPIED = new RegExp('^((min|max)(Length|Items|Contains|Properties)|pattern|uniqueItems|dependentRequired)$')
const REFERENCES = /^\$(id|anchor|dynamicRef|dynamicAnchor|recursiveRef|recursiveAnchor|vocabulary)$/
const DIALECT = /^https:\/\/(spec\.openapis\.org\/oas\/3\.1\/dialect\/.*|json-schema\.org\/draft\/2020-12\/schema)$/
const FILE = 'a file of a form is "type: string, format: binary", and no more is served'
const NUMBER = /^(int64|integer|number)$/
const NUMBER_FORMAT = /^(int32|int64|float|double)$/

/** The schemas that the operations of a contract use, by ids of ours: references are to these. */
export class Schemas {
  readonly all: Record<string, Schema> = {}
  /** The values that are filled in for an absent member, each with the schema that it must fit. */
  readonly defaults: { readonly place: Place; readonly schema: Schema }[] = []
  /** How errors of a schema are written, by its id. */
  readonly errorForms = new Map<string, ErrorForm>()
  readonly #ids = new Map<string, string>()
  readonly #refuse: Refuse

  constructor(refuse: Refuse) {
    this.#refuse = refuse
  }

  /** Adds a schema, and all that it refers to. @returns its id */
  add(place: Place, use: Use): string {
    if (Object.keys(place.value ?? {}).join() === '$ref') return this.add(place.step(), use)
    const key = `${use} ${place.target.join('/')}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const id = `${/^\w+$/.exec(place.target.at(-1) ?? '')?.[0] ?? 'schema'}-${use}-${this.#ids.size}`
    this.#ids.set(key, id)
    this.all[id] = this.#convert(place, use)
    return id
  }

  /** @param parts those of the whole value that the schema is about */
  #convert(place: Place, use: Use, parts = partsOf(place)): Schema {
    if (typeof place.value === 'boolean') return place.value
    if (use === 'form' && isFile(place)) return { file: true }
    const schema = this.#typed(place)
    for (const [key, each] of place.own()) {
      const fault = faultOf(key, each, place, use)
      if (fault !== undefined) this.#refuse(each, fault)
      const inner = use !== 'response' && CHOICES.test(key) ? 'choice' : use
      const convert = (one: Place) =>
        this.#convert(one, inner, SAME.test(key) ? [...parts, ...partsOf(one)] : undefined)
      if (key === '$ref') schema[key] = this.add(place.step(), use)
      else if (key === 'properties') Object.assign(schema, this.#members(place, each, use))
      else if (key === 'required')
        schema[key] = Object.values(each.value ?? {}).filter((name) => isSent(parts, name, use))
      else if (COPIED.test(key)) schema[key] = each.value
      else if (SINGLE.test(key)) schema[key] = convert(each)
      else if (LISTS.test(key)) schema[key] = each.own().map(([, one]) => convert(one))
      else if (MAPS.test(key)) schema[key] = Object.fromEntries(each.own().map(([name, one]) => [name, convert(one)]))
    }
    return schema
  }

  /** The schemas of members. Who must not send one does not; an absent one has its default. */
  #members(place: Place, properties: Place, use: Use): Record<string, unknown> {
    const needed = Object.values(member(place.value, 'required') ?? {})
    const isKept = ([, each]: [string, Place]) => use !== 'response' || keywordOf(each, 'writeOnly')?.value !== true
    const [kept, removed] = [properties.own().filter(isKept), properties.own().filter((each) => !isKept(each))]
    const schemas = kept.map(([name, each]) => {
      const schema = this.#convert(each, use)
      const standard = keywordOf(each, 'default')
      if (use === 'response') return [name, schema]
      if (keywordOf(each, 'readOnly')?.value === true) return [name, { notSent: true }]
      if (standard === undefined || needed.includes(name)) return [name, schema]
      if (use === 'choice')
        this.#refuse(standard, 'a default below anyOf, oneOf, not or if is not served: write it beside')
      this.defaults.push({ place: standard, schema })
      return [name, Object.assign({}, schema, { default: standard.value })]
    })
    const names = removed.map(([name]) => name)
    return { properties: Object.fromEntries(schemas), ...(names.length > 0 && { notAnswered: names }) }
  }

  /** The keywords that say what a value is by itself. */
  #typed(place: Place): Record<string, unknown> {
    const { type, format, enum: list, const: single, description } = place.value as Record<string, unknown>
    const number = numberRule(place)
    const isExplained = ['pattern', 'not'].some((key) => member(place.value, key) !== undefined)
    return {
      ...(isExplained && { description }),
      ...(number ? { number } : type !== undefined && { type }),
      ...(typeof format === 'string' && !NUMBER_FORMAT.test(format) && { format }),
      ...listed(list ?? (single === undefined ? undefined : [single])),
    }
  }
}

/** The values that are listed. Where one is a number, they are texts of JSON. */
function listed(values: unknown): Record<string, unknown> {
  if (!Array.isArray(values)) return {}
  const isText = values.some((each) => typeof each === 'number' || typeof each === 'bigint')
  return isText
    ? { listed: values.map((each) => (typeof each === 'bigint' ? String(each) : JSON.stringify(each))) }
    : { enum: values }
}

/** Whether a dialect of JSON Schema is that of OpenAPI 3.1. */
export function isServedDialect(dialect: unknown): boolean {
  return typeof dialect === 'string' && DIALECT.test(dialect)
}

/** What is not served of a keyword. */
function faultOf(key: string, { value }: Place, schema: Place, use: Use): string | undefined {
  if (REFERENCES.test(key)) return `${key} is not served: refer with $ref: '#/components/schemas/...'`
  if (key === '$schema' && !isServedDialect(value)) return 'only JSON Schema 2020-12 is served: leave $schema out'
  if (key === 'format') return formatFault(String(value), ownTypes(schema), use)
  const isFileOf31 = key === 'contentMediaType' && member(schema.value, 'contentEncoding') === undefined
  if (use === 'form' && isFileOf31) return FILE
  if (key === 'pattern' && !isPattern(value))
    return 'the pattern is no regular expression of ECMAScript, with the flag u'
  if (key === 'properties' && Object.hasOwn(value ?? {}, '__proto__')) return 'a member __proto__ is not served'
  const isInexact =
    /^(enum|const|default)$/.test(key) && hasBigInt(value) && ownTypes(schema)?.includes('int64') !== true
  return isInexact ? 'a number beyond 2^53 needs "type: integer, format: int64" beside it' : undefined
}

function formatFault(format: string, types: readonly string[] = [], use: Use): string | undefined {
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

function hasBigInt(value: unknown): boolean {
  return typeof value === 'bigint' || (typeof value === 'object' && Object.values(value ?? {}).some(hasBigInt))
}

/** Whether a schema says of bytes that they are bytes, and nothing more. */
export function isFile(place: Place): boolean {
  const said = partsOf(place)
    .flatMap((part) => part.own())
    .filter(([key]) => !/^(title|description|examples?|\$ref)$/.test(key))
  const isMore = said.some(
    ([key, { value }]) => !/^(type string|format binary|contentMediaType .*)$/.test(`${key} ${String(value)}`),
  )
  return !isMore && said.some(([key]) => key === 'format')
}

/** The types that a text may be read as: no text spells null, and each integer is a number. */
export function textTypes(schema: Place): string[] {
  const types = (typesOf(schema) ?? ['any']).filter((type) => type !== 'null')
  return types.includes('number') ? types.filter((type) => type !== 'integer') : types
}

/** OpenAPI 3.1.0, section 4.8.24.1: what only one side sends is required only of that. */
function isSent(parts: readonly Place[], name: unknown, use: Use): boolean {
  const place = membersOf(parts).get(String(name))
  return place === undefined || keywordOf(place, use === 'response' ? 'writeOnly' : 'readOnly')?.value !== true
}

const RANGES = {
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  // RFC 8259, section 6: those on which all readers of JSON agree.
  integer: [1n - 2n ** 53n, 2n ** 53n - 1n],
} as const

/** What a schema says of numbers, its bounds in digits; undefined if that is nothing. */
function numberRule(place: Place): NumberRule | undefined {
  const types = ownTypes(place)
  const [type = 'any', ...more] = types?.filter((each) => NUMBER.test(each)) ?? []
  const kind = [type, ...more].includes('number') ? 'number' : (type as 'int64' | 'integer' | 'any')
  const { format, ...keywords } = place.value as Record<string, unknown>
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords as Readonly<
    Record<string, number | bigint | undefined>
  >
  const given = { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }
  const texts = Object.entries(given).flatMap(([key, each]) => (each === undefined ? [] : [[key, String(each)]]))
  if (kind === 'any' && (types !== undefined || texts.length === 0)) return undefined
  const others = types?.filter((each) => !NUMBER.test(each)) ?? null
  if (kind === 'number' || kind === 'any') return { kind, others, ...(Object.fromEntries(texts) as object) }
  const [low, high] = RANGES[kind === 'integer' && format === 'int32' ? format : kind]
  const lows = [low, ...ceiling(minimum), ...floor(exclusiveMinimum).map((each) => each + 1n)]
  const highs = [high, ...floor(maximum), ...ceiling(exclusiveMaximum).map((each) => each - 1n)]
  return {
    kind,
    others,
    minimum: String(lows.reduce((a, b) => (a > b ? a : b))),
    maximum: String(highs.reduce((a, b) => (a < b ? a : b))),
    ...(multipleOf !== undefined && { multipleOf: String(multipleOf) }),
  }
}

const floor = (bound?: number | bigint) =>
  bound === undefined ? [] : [typeof bound === 'bigint' ? bound : BigInt(Math.floor(bound))]
const ceiling = (bound?: number | bigint) =>
  bound === undefined ? [] : [typeof bound === 'bigint' ? bound : BigInt(Math.ceil(bound))]
