// Finds out which schemas apply to which parts of a valid value: JSON Schema 2020-12, section 7.7.1.
import type { Schema } from './compiled.ts'
import { isInt64, toInt64 } from './numbers.ts'
import { toRegExp } from './patterns.ts'
import { parseJson } from '../http/json.ts'

/** A schema that is an object, as schemas.ts compiles it. */
export interface Keywords {
  readonly $ref?: string
  readonly number?: { readonly types?: readonly string[] }
  /** The JSON of the default of each member that may be absent. */
  readonly defaults?: Readonly<Record<string, string>>
  /** Whether the value is for the other side only: `readOnly` in a request, `writeOnly` in a response. */
  readonly hidden?: true
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly dependentSchemas?: Readonly<Record<string, Schema>>
  readonly if?: Schema
  readonly then?: Schema
  readonly else?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly patternProperties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly unevaluatedProperties?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly items?: Schema
  readonly contains?: Schema
  readonly unevaluatedItems?: Schema
}

/** A place in a value: a member or an item of its holder. */
export interface Place {
  readonly holder: object
  readonly key: string
  /** The place of the holder; undefined if the holder only holds the whole value. */
  readonly outer?: Place
}

/** A schema that applies to the value of a place. */
export interface Found {
  readonly schema: Keywords
  readonly value: unknown
  readonly place: Place
}

/**
 * The schemas that change a value, or forbid it. In a request, an int64 becomes a `bigint`, an absent member gets its
 * default, and no member may be `readOnly`. In a response, `writeOnly` members are removed. In a stored item, an int64
 * becomes a `bigint`.
 */
export const CHANGES = {
  request: ({ number, defaults, hidden }: Keywords) => isInt64(number) || defaults !== undefined || hidden === true,
  response: ({ hidden }: Keywords) => hidden === true,
  item: ({ number }: Keywords) => isInt64(number),
}

/** The schemas that apply to the same value and to its members, where that does not depend on the value. */
interface Plan {
  readonly isWanted: boolean
  readonly same?: readonly Schema[]
  readonly members?: readonly (readonly [key: string, schema: Schema])[]
}
const DEPENDS = /^(anyOf|oneOf|dependentSchemas|if)$/
const MEMBERS = /^(patternProperties|prefixItems|items|contains|unevaluated(Items|Properties))$/

export class Annotations {
  readonly #schemas: Readonly<Record<string, Schema>>
  readonly #isWanted: (schema: Keywords) => boolean
  readonly #validate: (schema: Schema, value: unknown) => boolean
  readonly #leading = new Map<unknown, boolean>()
  readonly #plans = new Map<Keywords, Plan>()
  /** What is known of the value at hand: without it, alternatives within alternatives would take exponential time. */
  #known = new Map<unknown, Map<Schema, boolean>>()

  /** @param isWanted whether to find a schema @param validate whether a value is valid */
  constructor(
    schemas: Readonly<Record<string, Schema>>,
    isWanted: (schema: Keywords) => boolean,
    validate: (schema: Schema, value: unknown) => boolean,
  ) {
    this.#schemas = schemas
    this.#isWanted = isWanted
    this.#validate = validate
  }

  /** Whether a wanted schema may apply to a part of a value of this schema. If not, there is nothing to find. */
  leads(schema: Schema): boolean {
    const known = this.#leading.get(schema)
    if (known !== undefined) return known
    const seen = new Set<unknown>()
    const isLeading = this.#reaches(schema, seen)
    // If this one leads nowhere, none that it has led to does.
    for (const each of isLeading ? [schema] : seen) this.#leading.set(each, isLeading)
    return isLeading
  }

  #reaches(node: unknown, seen: Set<unknown>): boolean {
    if (typeof node !== 'object' || node === null || seen.has(node)) return false
    seen.add(node)
    const known = this.#leading.get(node)
    if (known !== undefined) return known
    const { $ref }: Keywords = node
    const target = typeof $ref === 'string' ? this.#schemas[$ref] : undefined
    return (
      this.#isWanted(node) || [target, ...Object.values<unknown>({ ...node })].some((each) => this.#reaches(each, seen))
    )
  }

  /**
   * Finds the wanted schemas that apply to a valid value and to what is in it.
   * @param place of the value. Its holder may be a copy: the places that are found are then in the copy
   */
  find(schema: Schema, value: unknown, place: Place, found: Found[] = []): Found[] {
    if (typeof schema === 'boolean' || !this.leads(schema)) return found
    const { isWanted, same = this.#sameValue(schema, value), members } = this.#planOf(schema)
    if (isWanted) found.push({ schema, value, place })
    for (const each of same) this.find(each, value, place, found)
    const holder: unknown = Reflect.get(place.holder, place.key)
    if (typeof value !== 'object' || value === null || typeof holder !== 'object' || holder === null) return found
    const all = () =>
      Object.keys(value).flatMap((key) => this.#applied(schema, value, key).map((one) => [key, one] as const))
    for (const [key, one] of members ?? all())
      if (Object.hasOwn(value, key)) this.find(one, Reflect.get(value, key), { holder, key, outer: place }, found)
    return found
  }

  #planOf(schema: Keywords): Plan {
    const known = this.#plans.get(schema)
    if (known) return known
    const { properties = {}, additionalProperties = true } = schema
    const keys = Object.keys(schema)
    const isNamed = !this.leads(additionalProperties) && !keys.some((key) => MEMBERS.test(key))
    const plan = {
      isWanted: this.#isWanted(schema),
      ...(!keys.some((key) => DEPENDS.test(key)) && { same: this.#sameValue(schema, undefined) }),
      ...(isNamed && { members: Object.entries(properties).filter(([, each]) => this.leads(each)) }),
    }
    this.#plans.set(schema, plan)
    return plan
  }

  /** Changes a value as the schemas say that were found. */
  change(found: readonly Found[]): void {
    for (const { schema, value, place } of found) {
      const exact = isInt64(schema.number) ? toInt64(value) : undefined
      if (exact !== undefined) Reflect.set(place.holder, place.key, exact)
      if (schema.defaults === undefined) continue
      const holder: unknown = Reflect.get(place.holder, place.key)
      if (typeof holder !== 'object' || holder === null || Array.isArray(holder)) continue
      for (const [key, text] of Object.entries(schema.defaults)) {
        if (Object.hasOwn(holder, key)) continue
        const standard = parseJson(Buffer.from(text))
        Reflect.set(holder, key, standard)
        this.change(this.find(schema.properties?.[key] ?? true, standard, { holder, key, outer: place }))
      }
    }
  }

  /** Whether a value is valid. @param schema a part of a compiled schema */
  matches(schema: Schema, value: unknown): boolean {
    if (typeof schema === 'boolean') return schema
    const known = this.#known.get(value) ?? new Map<Schema, boolean>()
    const isValid = known.get(schema) ?? this.#validate(schema, value)
    if (typeof value === 'object') this.#known.set(value, known.set(schema, isValid))
    return isValid
  }

  /** To call after each value. */
  forget(): void {
    if (this.#known.size > 0) this.#known = new Map()
  }

  /** The schemas within a schema that apply to the same value. */
  #sameValue(schema: Keywords, value: unknown): Schema[] {
    const { $ref, allOf = [], anyOf = [], oneOf = [], dependentSchemas = {}, if: condition } = schema
    const all: (Schema | undefined)[] = [...allOf]
    if ($ref !== undefined) all.push(this.#schemas[$ref])
    for (const each of [...anyOf, ...oneOf]) if (this.matches(each, value)) all.push(each)
    for (const [name, each] of Object.entries(dependentSchemas))
      if (typeof value === 'object' && value !== null && Object.hasOwn(value, name)) all.push(each)
    if (condition !== undefined)
      all.push(...(this.matches(condition, value) ? [condition, schema.then] : [schema.else]))
    return all.filter((each) => each !== undefined)
  }

  /** The schemas within a schema that apply to a member or an item. */
  #applied(schema: Keywords, value: object, key: string): Schema[] {
    const all = this.#evaluating(schema, value, key)
    const rest = restOf(schema, value)
    return rest === undefined || this.isEvaluated(schema, value, key) ? all : [...all, rest]
  }

  /** Whether a member or an item is not left to `unevaluatedProperties` or `unevaluatedItems` of a schema (section 11). */
  isEvaluated(schema: Keywords, value: object, key: string): boolean {
    if (this.#evaluating(schema, value, key).length > 0) return true
    return this.#sameValue(schema, value).some(
      (each) => typeof each !== 'boolean' && (restOf(each, value) !== undefined || this.isEvaluated(each, value, key)),
    )
  }

  #evaluating(schema: Keywords, value: object, key: string): Schema[] {
    if (Array.isArray(value)) {
      const { prefixItems = [], items, contains } = schema
      const all = [prefixItems[Number(key)] ?? items ?? []].flat()
      return contains !== undefined && this.matches(contains, value[Number(key)]) ? [...all, contains] : all
    }
    const { properties = {}, patternProperties = {}, additionalProperties } = schema
    const all = Object.hasOwn(properties, key) ? [properties[key] ?? true] : []
    for (const [pattern, each] of Object.entries(patternProperties)) if (toRegExp(pattern).test(key)) all.push(each)
    return all.length > 0 || additionalProperties === undefined ? all : [additionalProperties]
  }
}

const restOf = ({ unevaluatedItems, unevaluatedProperties }: Keywords, value: object) =>
  Array.isArray(value) ? unevaluatedItems : unevaluatedProperties
