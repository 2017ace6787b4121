// Finds schemas no value can fit, such as a required property refused by `additionalProperties: false` in `allOf`. Undecidable
// keywords, such as `pattern` or `if`, count as possible: a warning is always right.
import type { Keywords, Schema } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import { boundsFault, sizeFault } from './impossible-bounds.ts'
import {
  closedFault,
  isAdditional,
  itemSchemas,
  propertySchemas,
  mayDescribe,
  valueAt,
} from './impossible-properties.ts'
import { hasNoKeywords, type FlattenedSchema, typesOf } from './impossible-types.ts'

/** Incoming requests need no `readOnly` properties, and outgoing responses no `writeOnly` ones, even if these are required. */
export type Direction = 'incoming' | 'outgoing'

/** Access to the schemas of a contract. */
export interface ContractSchemas {
  readonly resolve: (schema: Keywords) => Schema | undefined
  /** Whether a value fits schemas; true if this is undecidable. */
  readonly fits: (value: unknown, schemas: readonly Schema[]) => boolean
  readonly direction: Direction
}

/** The most combinations of subschemas to try for one schema. The others count as possible. */
const MAX_STEPS = 500

/** Says why no value fits a schema, by trying combinations of its subschemas. */
export class ImpossibleSchemas {
  readonly #schemas: ContractSchemas
  readonly #ids = new Map<unknown, number>()
  /** Keys of combinations with a valid value. */
  readonly #possible = new Set<string>()
  /** Keys of combinations being tried. To meet one of them again means a value nested without end. */
  readonly #pending = new Set<string>()
  #steps = 0

  constructor(schemas: ContractSchemas) {
    this.#schemas = schemas
  }

  /** Says why no value fits a schema; undefined if one fits, or perhaps. */
  faultOf(schema: Schema): Finding | undefined {
    this.#steps = 0
    return this.#faultOfAll([schema])
  }

  /** Says why no value fits all schemas. @param chosen lists of `anyOf` and `oneOf` with one alternative among the schemas */
  #faultOfAll(schemas: readonly Schema[], chosen: readonly unknown[] = []): Finding | undefined {
    const flattened = this.#flatten(schemas)
    if (flattened === undefined) return { code: 'impossible-false' }
    const key = [...flattened, ...chosen].map((keywords) => this.#idOf(keywords)).join()
    if (this.#possible.has(key) || this.#steps++ > MAX_STEPS) return undefined
    if (this.#pending.has(key)) return { code: 'impossible-endless' }
    this.#pending.add(key)
    const fault =
      this.#faultOfFlattened(flattened, schemas) ?? this.#faultOfChoices(flattened, chosen)
    this.#pending.delete(key)
    if (fault === undefined) this.#possible.add(key)
    return fault
  }

  #idOf(node: unknown): number {
    const id = this.#ids.get(node) ?? this.#ids.size
    this.#ids.set(node, id)
    return id
  }

  /** Adds the targets of references and `allOf`. Undefined if one of the schemas is `false`. */
  #flatten(schemas: readonly Schema[]): FlattenedSchema | undefined {
    const flattened = new Set<Keywords>()
    const add = (schema: Schema | undefined): boolean => {
      if (typeof schema !== 'object') return schema !== false
      if (flattened.has(schema)) return true
      flattened.add(schema)
      return [this.#schemas.resolve(schema), ...(schema.allOf ?? [])].every(add)
    }
    return schemas.every(add) ? [...flattened] : undefined
  }

  #faultOfFlattened(flattened: FlattenedSchema, schemas: readonly Schema[]): Finding | undefined {
    if (flattened.some(({ type }) => type === 'file')) return undefined
    if (flattened.some(({ not }) => not === true || hasNoKeywords(not)))
      return { code: 'impossible-not' }
    const values = valuesOf(flattened)
    if (values !== undefined) {
      const isPossible = values.some((value) => this.#schemas.fits(value, schemas))
      return isPossible ? undefined : { code: 'impossible-values' }
    }
    const types = typesOf(flattened)
    if (types.length === 0 && flattened.some(({ type }) => type !== undefined))
      return { code: 'impossible-types' }
    const faults = types.map((type) => this.#faultOfType(type, flattened))
    return faults.includes(undefined) ? undefined : faults[0]
  }

  #faultOfType(type: string, flattened: FlattenedSchema): Finding | undefined {
    if (type === 'string') return sizeFault(flattened, 'minLength', 'maxLength')
    if (type === 'number' || type === 'integer') return boundsFault(flattened, type)
    if (type === 'array') return this.#faultOfList(flattened)
    return type === 'object' ? this.#faultOfObject(flattened) : undefined
  }

  #faultOfList(flattened: FlattenedSchema): Finding | undefined {
    const fault =
      sizeFault(flattened, 'minItems', 'maxItems') ??
      sizeFault(flattened, 'minContains', 'maxContains')
    if (fault !== undefined) return fault
    const least = Math.max(0, ...flattened.map(({ minItems = 0 }) => minItems))
    // One place more than described: all further items have the same schemas.
    const places = Math.max(0, ...flattened.map(({ prefixItems = [] }) => prefixItems.length)) + 1
    const items = Array.from({ length: places }, (_, index) => itemSchemas(flattened, index))
    for (const schemas of items.slice(0, least)) {
      const itemFault = this.#faultOfAll(schemas)
      if (itemFault !== undefined) return { code: 'impossible-item', fault: itemFault }
    }
    for (const { contains, minContains = 1 } of flattened) {
      if (contains === undefined || minContains === 0) continue
      const isPossible = items.some((schemas) => this.#isPossible([contains, ...schemas]))
      if (!isPossible) return { code: 'impossible-contains' }
    }
    return undefined
  }

  #isPossible(schemas: readonly Schema[]): boolean {
    return this.#faultOfAll(schemas) === undefined
  }

  #faultOfObject(flattened: FlattenedSchema): Finding | undefined {
    const fault = sizeFault(flattened, 'minProperties', 'maxProperties') ?? closedFault(flattened)
    if (fault !== undefined) return fault
    const required = this.#requiredNames(flattened)
    const most = Math.min(...flattened.map(({ maxProperties = Infinity }) => maxProperties))
    if (required.size > most) return { code: 'impossible-count', least: required.size, most }
    const present = [...flattened, ...this.#dependent(flattened, required)]
    for (const name of required) {
      const propertyFault = this.#faultOfProperty(present, name)
      if (propertyFault !== undefined) return propertyFault
    }
    return undefined
  }

  /** The names of required properties, without `readOnly` ones of requests and `writeOnly` ones of responses. */
  #requiredNames(flattened: FlattenedSchema): ReadonlySet<string> {
    const mark = this.#schemas.direction === 'incoming' ? 'readOnly' : 'writeOnly'
    const hasMark = (schema: Schema) =>
      this.#flatten([schema])?.some((keywords) => keywords[mark] === true) === true
    const isMarked = (name: string) => propertySchemas(flattened, name).some(hasMark)
    const names = new Set(flattened.flatMap(({ required = [] }) => required))
    // The loop also visits the names it adds.
    for (const name of names)
      for (const { dependentRequired = {} } of flattened)
        for (const dependent of valueAt(dependentRequired, name) ?? []) names.add(dependent)
    return new Set([...names].filter((name) => !isMarked(name)))
  }

  #dependent(flattened: FlattenedSchema, names: ReadonlySet<string>): FlattenedSchema {
    const schemas = flattened.flatMap(({ dependentSchemas = {} }) =>
      [...names].map((name) => valueAt(dependentSchemas, name) ?? true),
    )
    return this.#flatten(schemas) ?? []
  }

  #faultOfProperty(flattened: FlattenedSchema, name: string): Finding | undefined {
    const isNamed = flattened.every(({ propertyNames = true }) =>
      this.#schemas.fits(name, [propertyNames]),
    )
    if (!isNamed) return { code: 'impossible-name', name }
    const isUndescribed = flattened.some(
      (keywords) => keywords.additionalProperties === false && isAdditional(keywords, name),
    )
    if (isUndescribed) return { code: 'impossible-additional', name }
    const isUnevaluated = flattened.some(
      (keywords) =>
        keywords.unevaluatedProperties === false &&
        !mayDescribe(keywords, name, this.#schemas.resolve),
    )
    if (isUnevaluated) return { code: 'impossible-unevaluated', name }
    const fault = this.#faultOfAll(propertySchemas(flattened, name))
    return fault === undefined ? undefined : { code: 'impossible-property', name, fault }
  }

  /** Tries each alternative of `anyOf` and `oneOf` together with the other schemas. */
  #faultOfChoices(flattened: FlattenedSchema, chosen: readonly unknown[]): Finding | undefined {
    const choices = flattened.flatMap(({ anyOf, oneOf }) => [anyOf ?? [], oneOf ?? []])
    const next = choices.find((choice) => choice.length > 0 && !chosen.includes(choice))
    if (next === undefined) return undefined
    const faults = next.map((schema) => this.#faultOfAll([...flattened, schema], [...chosen, next]))
    const [fault] = faults
    if (fault === undefined || faults.includes(undefined)) return undefined
    return { code: 'impossible-alternatives', fault }
  }
}

function valuesOf(flattened: FlattenedSchema): readonly unknown[] | undefined {
  for (const keywords of flattened) {
    if (Object.hasOwn(keywords, 'const')) return [keywords.const]
    if (keywords.enum !== undefined) return keywords.enum
  }
  return undefined
}
