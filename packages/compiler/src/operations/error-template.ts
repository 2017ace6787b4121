// Writes the template of an error's body from its schema: properties by their meaning, and constants for the others.
import {
  type ErrorFacts,
  fillIn,
  has,
  literal,
  MAX_MESSAGE_LENGTH,
  type Template,
} from '@plant-store/engine/for-compiler'
import {
  allowedTypes,
  alternativesOf,
  type Check,
  flattenedSchema,
  type Keywords,
  type Schema,
  type SchemaObject,
} from '@plant-store/json-schema'
import { plainValues } from '../schemas/plain-values.ts'
import {
  booleanMeanings,
  numberMeanings,
  stringMeanings,
  valueForStatus,
} from './error-meanings.ts'
import { mergedOf, propertiesOf, requiredOf, restOf, typesOf } from '../schemas/merged-schema.ts'

/** Below this level of objects and lists, only required properties are written. */
const MAX_OPTIONAL_DEPTH = 2
const MAX_DEPTH = 8
const MAX_ALTERNATIVES = 20
const MAX_ITEMS = 100
/** The most schemas of properties and items to try for one body. */
const MAX_TRIED = 2000
const MESSAGE = '$message'

export interface TemplateOptions {
  readonly schemas: Readonly<Record<string, Schema>>
  readonly checkOf: (schema: Schema) => Check
  /** Errors to try each template with: of one status, with different messages. */
  readonly tried: readonly ErrorFacts[]
}

/** The template of a subschema. */
interface WrittenTemplate {
  readonly template: Template
  /** Whether it has a placeholder or a meaningful constant, so that it tells about the error. */
  readonly tells: boolean
}

/** The place of a subschema in the body. */
interface Place {
  /** The property's name; for an item, the name of its list. */
  readonly name: string
  readonly depth: number
  /** Whether a sibling has the message already. */
  readonly isSaid: boolean
}

/** Writes a template for a schema, with the message if possible. @returns undefined if no tried body fits */
export function writeTemplate(options: TemplateOptions, schema: Schema): Template | undefined {
  const template = new TemplateWriter(options, false).write(schema)
  if (template === undefined || has(template, MESSAGE)) return template
  const forced = new TemplateWriter(options, true).write(schema)
  return forced !== undefined && has(forced, MESSAGE) ? forced : template
}

function fits({ checkOf, tried }: TemplateOptions, schema: Schema, template: Template): boolean {
  const check = checkOf(schema)
  return tried.every((facts) => check(fillIn(template, facts)).error === undefined)
}

class TemplateWriter {
  readonly #options: TemplateOptions
  /** Whether a title or an unknown string may be the message. */
  readonly #isForced: boolean
  /** The object schemas being written. A recursive schema is not written within itself. */
  readonly #open = new Set<SchemaObject>()
  #triedSchemas = 0

  constructor(options: TemplateOptions, isForced: boolean) {
    this.#options = options
    this.#isForced = isForced
  }

  write(schema: Schema): Template | undefined {
    return this.#write(schema, { name: '', depth: 0, isSaid: false })?.template
  }

  #write(schema: Schema, place: Place): WrittenTemplate | undefined {
    this.#triedSchemas += 1
    if (place.depth > MAX_DEPTH || this.#triedSchemas > MAX_TRIED) return undefined
    const alternatives = alternativesOf(schema, this.#flatten).slice(0, MAX_ALTERNATIVES)
    let constant: WrittenTemplate | undefined
    for (const alternative of alternatives) {
      const candidates = this.#candidates(alternative, place)
      const written = candidates.find(({ template }) => fits(this.#options, schema, template))
      if (written?.tells === true) return written
      constant ??= written
    }
    return constant
  }

  /** Templates to try for a schema, the best one first, made one by one on demand. */
  *#candidates(schema: unknown, place: Place): Generator<WrittenTemplate> {
    const parts = this.#flatten(schema)
    const merged = mergedOf(parts)
    const types = typesOf(allowedTypes(schema, this.#flatten), merged)
    const objects = types.includes('object') ? this.#objects(parts, place.depth) : []
    const lists = types.includes('array') ? this.#lists(merged, place) : []
    const containers = [...objects, ...lists]
    if (!place.isSaid) yield* containers.filter(({ tells }) => tells)
    for (const template of this.#meanings(types, merged, place)) yield { template, tells: true }
    if (types.includes('null')) yield asConstant(null)
    if (types.includes('array')) yield asConstant([])
    yield* containers
    yield* plainValues(types, merged).map(asConstant)
  }

  /** Templates for a string, a number or a boolean with a meaning. */
  #meanings(types: readonly string[], merged: SchemaObject, { name, isSaid }: Place): Template[] {
    const { maxLength, enum: values } = merged
    const strings = types.includes('string')
      ? stringMeanings(name, merged, this.#isForced && !isSaid)
      : []
    const bounded = strings.map((template) => withBound(template, maxLength))
    const numbers = types.some((type) => /number|integer/.test(type)) ? numberMeanings(name) : []
    const booleans = types.includes('boolean') ? booleanMeanings(name) : []
    const status = this.#options.tried[0]?.status ?? 0
    const meant = Array.isArray(values) ? valueForStatus(values, status) : undefined
    const constants = meant === undefined ? [] : [literal(meant)]
    return [...bounded, ...numbers, ...booleans, ...constants]
  }

  #objects(parts: readonly SchemaObject[], depth: number): WrittenTemplate[] {
    if (parts.some((part) => this.#open.has(part))) return []
    for (const part of parts) this.#open.add(part)
    const written = this.#properties(parts, depth)
    for (const part of parts) this.#open.delete(part)
    if (written === undefined) return []
    const required = requiredOf(parts)
    const telling = written.filter(([name, { tells }]) => tells || required.includes(name))
    const needed = written.filter(([name]) => required.includes(name))
    // A body is never empty if its schema describes a property.
    const isEmpty = depth === 0 && telling.length === 0
    return [isEmpty ? written : telling, written, needed].map(asObject)
  }

  /** Writes the properties of an object. @returns undefined if nothing fits a required one */
  #properties(parts: readonly SchemaObject[], depth: number): Properties | undefined {
    const schemas = propertiesOf(parts)
    const required = requiredOf(parts)
    const names = new Set([...schemas.keys(), ...required])
    if (this.#needsAnyName(parts, depth)) names.add('message')
    const schemaOf = (name: string) => schemas.get(name) ?? restOf(parts)
    const isLate = (name: string) => !schemas.has(name) || this.#isContainer(schemaOf(name))
    // Lists and objects come last: by then a string may have the message.
    const rankOf = (name: string) => Number(!required.includes(name)) + 2 * Number(isLate(name))
    const written = new Map<string, WrittenTemplate>()
    for (const name of [...names].sort((left, right) => rankOf(left) - rankOf(right))) {
      const isSaid = written.values().some(({ template }) => has(template, MESSAGE))
      const place = { name: meaningOf(name, names), depth: depth + 1, isSaid }
      const isRequired = required.includes(name)
      if (isSaid && !isRequired && isLate(name)) continue
      const part = this.#property(schemaOf(name), place, isRequired)
      if (part === undefined && isRequired) return undefined
      if (part !== undefined) written.set(name, part)
    }
    return [...names].flatMap((name) => {
      const part = written.get(name)
      return part === undefined ? [] : [[name, part] as const]
    })
  }

  /** Writes a property. An optional list or object is written only for the message. */
  #property(schema: Schema, place: Place, isRequired: boolean): WrittenTemplate | undefined {
    if (isRequired) return this.#write(schema, place)
    if (this.#flatten(schema).some((part) => part['writeOnly'] === true)) return undefined
    if (!this.#isContainer(schema)) return this.#write(schema, place)
    if (place.depth > MAX_OPTIONAL_DEPTH) return undefined
    const written = this.#write(schema, place)
    return written && has(written.template, MESSAGE) ? written : undefined
  }

  /** Whether an object gets an undescribed property: for the message, or because it must not be empty. */
  #needsAnyName(parts: readonly SchemaObject[], depth: number): boolean {
    const { properties, minProperties = 0, additionalProperties } = mergedOf(parts)
    if (properties === undefined && minProperties !== 0) return true
    return this.#isForced && depth === 0 && additionalProperties !== false
  }

  #isContainer(schema: Schema): boolean {
    return /object|array/.test(allowedTypes(schema, this.#flatten).join())
  }

  #lists({ items = true, minItems = 1 }: Keywords, place: Place): WrittenTemplate[] {
    const item = this.#write(items, { ...place, depth: place.depth + 1 })
    if (item === undefined || minItems > MAX_ITEMS) return []
    const template = Array.from({ length: Math.max(minItems, 1) }, () => item.template)
    return [{ template, tells: item.tells }]
  }

  readonly #flatten = (schema: unknown) =>
    flattenedSchema<SchemaObject>(schema, ({ $ref }) => this.#options.schemas[String($ref)])
}

type Properties = (readonly [name: string, written: WrittenTemplate])[]

function asObject(properties: Properties): WrittenTemplate {
  const entries = properties.map(([name, { template }]) => [name, template])
  return {
    template: Object.fromEntries(entries) as Template,
    tells: properties.some(([, { tells }]) => tells),
  }
}

function asConstant(value: unknown): WrittenTemplate {
  return { template: literal(value), tells: false }
}

/** The name of a property by its siblings: `type` beside `title` is a URI, as RFC 9457 has it. */
function meaningOf(name: string, names: ReadonlySet<string>): string {
  const isProblem = names.has('title') && (names.has('status') || names.has('detail'))
  return isProblem && name === 'type' ? 'problem type' : name
}

const BOUNDED: ReadonlySet<Template> = new Set([MESSAGE, '$path', '$reason'])

/** Cuts a placeholder to `maxLength`, if its value may be longer. */
function withBound(template: Template, maxLength: unknown): Template {
  if (typeof template !== 'string' || typeof maxLength !== 'number') return template
  const isCut = maxLength < MAX_MESSAGE_LENGTH && BOUNDED.has(template)
  return isCut ? `${template}:${maxLength}` : template
}
