// Finds schemas that no value fits, such as a required member that `additionalProperties: false` of another part refuses. What
// can't be decided here, as by `pattern` or `if`, counts as possible: a warning is always right.
import type { Keywords, Schema } from '@plant-store/json-schema'
import { boundsFault, sizeFault } from './impossible-bounds.ts'
import {
  closedFault,
  isOther,
  itemSchemas,
  memberSchemas,
  mentions,
  ownValue,
} from './impossible-properties.ts'
import { hasNoKeywords, type Parts, typesOf } from './impossible-types.ts'

/** The side that gets a value: what is `readOnly` is required only of responses, what is `writeOnly` only of requests. */
export type Direction = 'incoming' | 'outgoing'

/** The schemas of a contract. */
export interface Possible {
  /** The target of a reference. */
  readonly resolve: (schema: Keywords) => Schema | undefined
  /** Whether a value fits schemas; true if nobody can say. */
  readonly fits: (value: unknown, schemas: readonly Schema[]) => boolean
  readonly direction: Direction
}

/** The most combinations of schemas that are tried for one schema. What is left then counts as possible. */
const MAX_STEPS = 500

const NEVER = 'one of its parts is false, which refuses everything'
const ENDLESS = 'it requires itself within itself, without end'

/** Says why no value fits a schema. */
export class Impossibility {
  readonly #schemas: Possible
  readonly #ids = new Map<unknown, number>()
  /** The combinations that a value fits, by their keys. */
  readonly #possible = new Set<string>()
  /** The combinations that are being tried. A value that fits one of them needs no such value within itself. */
  readonly #pending = new Set<string>()
  #steps = 0

  constructor(schemas: Possible) {
    this.#schemas = schemas
  }

  /** Why no value fits a schema; undefined if one does, or perhaps. */
  faultOf(schema: Schema): string | undefined {
    this.#steps = 0
    return this.#faultOfAll([schema])
  }

  /** Why no value fits all of these schemas. @param chosen the lists of alternatives of which one is among the schemas */
  #faultOfAll(schemas: readonly Schema[], chosen: readonly unknown[] = []): string | undefined {
    const parts = this.#flatten(schemas)
    if (parts === undefined) return NEVER
    const key = [...parts, ...chosen].map((part) => this.#idOf(part)).join()
    if (this.#possible.has(key) || this.#steps++ > MAX_STEPS) return undefined
    if (this.#pending.has(key)) return ENDLESS
    this.#pending.add(key)
    const fault = this.#faultOfParts(parts, schemas) ?? this.#faultOfChoices(parts, chosen)
    this.#pending.delete(key)
    if (fault === undefined) this.#possible.add(key)
    return fault
  }

  #idOf(node: unknown): number {
    const id = this.#ids.get(node) ?? this.#ids.size
    this.#ids.set(node, id)
    return id
  }

  /** All schemas that a value of these must fit. Undefined if one of them is `false`. */
  #flatten(schemas: readonly Schema[]): Parts | undefined {
    const parts = new Set<Keywords>()
    const add = (schema: Schema | undefined): boolean => {
      if (typeof schema !== 'object') return schema !== false
      if (parts.has(schema)) return true
      parts.add(schema)
      return [this.#schemas.resolve(schema), ...(schema.allOf ?? [])].every(add)
    }
    return schemas.every(add) ? [...parts] : undefined
  }

  #faultOfParts(parts: Parts, schemas: readonly Schema[]): string | undefined {
    if (parts.some(({ type }) => type === 'file')) return undefined
    if (parts.some(({ not }) => not === true || hasNoKeywords(not))) return 'not refuses everything'
    const values = valuesOf(parts)
    if (values !== undefined) {
      const isPossible = values.some((value) => this.#schemas.fits(value, schemas))
      return isPossible ? undefined : 'its other keywords refuse each value of its enum or const'
    }
    const types = typesOf(parts)
    if (types.length === 0 && parts.some(({ type }) => type !== undefined))
      return 'its parts allow different types'
    const faults = types.map((type) => this.#faultOfType(type, parts))
    return faults.includes(undefined) ? undefined : faults[0]
  }

  #faultOfType(type: string, parts: Parts): string | undefined {
    if (type === 'string') return sizeFault(parts, 'minLength', 'maxLength')
    if (type === 'number' || type === 'integer') return boundsFault(parts, type)
    if (type === 'array') return this.#faultOfList(parts)
    return type === 'object' ? this.#faultOfObject(parts) : undefined
  }

  #faultOfList(parts: Parts): string | undefined {
    const fault =
      sizeFault(parts, 'minItems', 'maxItems') ?? sizeFault(parts, 'minContains', 'maxContains')
    if (fault !== undefined) return fault
    const least = Math.max(0, ...parts.map(({ minItems = 0 }) => minItems))
    // The items behind the described places have the same schemas.
    const places = Math.max(0, ...parts.map(({ prefixItems = [] }) => prefixItems.length)) + 1
    const items = Array.from({ length: places }, (_, index) => itemSchemas(parts, index))
    for (const schemas of items.slice(0, least)) {
      const itemFault = this.#faultOfAll(schemas)
      if (itemFault !== undefined) return `it requires an item, and nothing fits that: ${itemFault}`
    }
    for (const { contains, minContains = 1 } of parts) {
      if (contains === undefined || minContains === 0) continue
      const isPossible = items.some((schemas) => this.#isPossible([contains, ...schemas]))
      if (!isPossible) return 'no item can be as contains requires'
    }
    return undefined
  }

  #isPossible(schemas: readonly Schema[]): boolean {
    return this.#faultOfAll(schemas) === undefined
  }

  #faultOfObject(parts: Parts): string | undefined {
    const fault = sizeFault(parts, 'minProperties', 'maxProperties') ?? closedFault(parts)
    if (fault !== undefined) return fault
    const required = this.#requiredNames(parts)
    const most = Math.min(...parts.map(({ maxProperties = Infinity }) => maxProperties))
    if (required.size > most) return `it requires ${required.size} members, and allows ${most}`
    const present = [...parts, ...this.#dependent(parts, required)]
    for (const name of required) {
      const memberFault = this.#faultOfMember(present, name)
      if (memberFault !== undefined) return memberFault
    }
    return undefined
  }

  /** The names of the members that the parts require, without those that this side never sends. */
  #requiredNames(parts: Parts): ReadonlySet<string> {
    const mark = this.#schemas.direction === 'incoming' ? 'readOnly' : 'writeOnly'
    const hasMark = (schema: Schema) =>
      this.#flatten([schema])?.some((part) => part[mark] === true) === true
    const isMarked = (name: string) => memberSchemas(parts, name).some(hasMark)
    const names = new Set(parts.flatMap(({ required = [] }) => required))
    // The loop goes on with the names that it adds.
    for (const name of names)
      for (const { dependentRequired = {} } of parts)
        for (const dependent of ownValue(dependentRequired, name) ?? []) names.add(dependent)
    return new Set([...names].filter((name) => !isMarked(name)))
  }

  /** The schemas that the presence of members adds. */
  #dependent(parts: Parts, names: ReadonlySet<string>): Parts {
    const schemas = parts.flatMap(({ dependentSchemas = {} }) =>
      [...names].map((name) => ownValue(dependentSchemas, name) ?? true),
    )
    return this.#flatten(schemas) ?? []
  }

  #faultOfMember(parts: Parts, name: string): string | undefined {
    const isNamed = parts.every(({ propertyNames = true }) =>
      this.#schemas.fits(name, [propertyNames]),
    )
    if (!isNamed) return `it requires ${name}, and propertyNames refuses that name`
    const isUndescribed = parts.some(
      (part) => part.additionalProperties === false && isOther(part, name),
    )
    if (isUndescribed)
      return `it requires ${name}, and additionalProperties: false refuses that: describe ${name} beside it`
    const isUnevaluated = parts.some(
      (part) =>
        part.unevaluatedProperties === false && !mentions(part, name, this.#schemas.resolve),
    )
    if (isUnevaluated)
      return `it requires ${name}, and unevaluatedProperties: false refuses that: describe ${name} beside it`
    const fault = this.#faultOfAll(memberSchemas(parts, name))
    return fault === undefined ? undefined : `it requires ${name}, and nothing fits that: ${fault}`
  }

  /** Tries the alternatives of each list of them, together with the parts. */
  #faultOfChoices(parts: Parts, chosen: readonly unknown[]): string | undefined {
    const choices = parts.flatMap(({ anyOf, oneOf }) => [anyOf ?? [], oneOf ?? []])
    const next = choices.find((choice) => choice.length > 0 && !chosen.includes(choice))
    if (next === undefined) return undefined
    const faults = next.map((schema) => this.#faultOfAll([...parts, schema], [...chosen, next]))
    if (faults.includes(undefined)) return undefined
    return `it fits none of its alternatives; of the first, ${faults[0]}`
  }
}

/** The values of the first `enum` or `const`. */
function valuesOf(parts: Parts): readonly unknown[] | undefined {
  for (const part of parts) {
    if (Object.hasOwn(part, 'const')) return [part.const]
    if (part.enum !== undefined) return part.enum
  }
  return undefined
}
