// Writes the TypeScript types of schemas. They describe values at run time: an int64 is a `bigint`. Every valid value fits its type.
// Where TypeScript can't express a rule, the type is wider.
import { isObject } from '@plant-store/json-schema'
import { keyCode, stringCode } from '../operations/printing.ts'
import { tryDeref } from '../read/references.ts'
import { findLocation, locationOf, nameOf } from '../read/source-locations.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { isFile, type SchemaObject, schemasAt, type ValueSyntax } from '../schemas/shapes.ts'
import { block, comment, intersection, union } from './code.ts'
import {
  NONE_AROUND,
  choicesOf,
  type SurroundingSchemas,
  surroundingOf,
  flatten,
  hasIndex,
  hasPropertyKeywords,
  hasPossible,
  isClosed,
  isMadeExact,
  isNever,
  isPlainReference,
  type JsonType,
  jsonTypesOf,
  numberTypeOf,
  literalsOf,
  possibleSchemas,
  shapeOf,
} from './joint-schemas.ts'

/** The pointer of a schema with a name. */
const COMPONENT = /^#\/components\/schemas\/(?=[^/]+$)/

/**
 * The most references inlined in one type, because surrounding schemas change their types. Further ones become `unknown`:
 * otherwise a type could double at each numberType.
 */
const MAX_INLINED = 1000

export class TypeWriter {
  /** Types by their keys in the interface `schemas`: names of `components/schemas`, or JSON pointers. */
  readonly named = new Map<string, string>()
  readonly #schemas: Schemas
  /** Names of the types being written, by their schemas: empty until a type refers to itself, and so needs a name. */
  readonly #open = new Map<string, string>()
  readonly #ids = new Map<unknown, number>()
  /** Count of references inlined in the current type. */
  #inlined = 0

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** Writes the type of values valid by all schemas of the group. */
  write(
    group: readonly unknown[],
    syntax: ValueSyntax = 'json',
    surrounding = NONE_AROUND,
  ): string {
    const schemas = group.filter((schema) => schema !== true && schema !== undefined)
    const [only] = schemas
    if (only === undefined) return 'unknown'
    const isReference = schemas.length === 1 && syntax === 'json' && isPlainReference(only)
    if (isReference && !isMadeExact(only, surrounding)) return this.#refer(only)
    return this.#writeOnce(schemas, syntax, surrounding)
  }

  /** Writes a type, or refers to it by name while it is still being written: then it is recursive. */
  #writeOnce(
    schemas: readonly unknown[],
    syntax: ValueSyntax,
    surrounding: SurroundingSchemas,
  ): string {
    const key = `${syntax} ${schemas.map((schema) => this.#idOf(schema)).join()}`
    const openName = this.#open.get(key)
    if (openName !== undefined) {
      const name = openName || `a part of ${key}`
      this.#open.set(key, name)
      return `schemas[${stringCode(name)}]`
    }
    if (this.#open.size === 0) this.#inlined = 0
    if (schemas.some(isPlainReference)) this.#inlined += 1
    if (this.#inlined > MAX_INLINED) return 'unknown'
    this.#open.set(key, '')
    const text = this.#writeAll(schemas, syntax, surrounding)
    const name = this.#open.get(key)
    this.#open.delete(key)
    if (name) this.named.set(name, text)
    return text
  }

  #refer(node: unknown): string {
    const target = tryDeref<unknown>(node) // dangling only in an unused schema
    if (isObject(target)) return this.#nameOf(target)
    return target === false ? 'never' : 'unknown'
  }

  #nameOf(schema: object): string {
    const name = nameOf(locationOf(schema).pointer.replace(COMPONENT, ''))
    if (!this.named.has(name)) {
      const inlined = this.#inlined
      this.#inlined = 0
      this.reserve(name)
      this.named.set(name, this.write([schema]))
      this.#inlined = inlined
    }
    return `schemas[${stringCode(name)}]`
  }

  /** The type of a whole body or parameter. */
  writeWhole(schema: unknown, syntax: ValueSyntax): string {
    const location = isObject(schema) ? findLocation(schema) : undefined // a string by default has none
    const isNamed = isObject(schema) && COMPONENT.test(location?.pointer ?? '')
    return isNamed && syntax === 'json' ? this.#nameOf(schema) : this.write([schema], syntax)
  }

  /** Reserves a name before other types refer to it. */
  reserve(name: string): void {
    this.named.set(name, 'unknown')
  }

  #writeAll(
    group: readonly unknown[],
    syntax: ValueSyntax,
    surrounding: SurroundingSchemas,
  ): string {
    if (group.some(isNever)) return 'never'
    const joint = flatten(group)
    if (syntax === 'form' && joint.some(isFile)) return 'File'
    const choices = joint.flatMap(choicesOf)
    const inner: SurroundingSchemas = {
      certain: [...surrounding.certain, ...joint],
      possible: [...surrounding.possible, ...joint.flatMap((schema) => possibleSchemas(schema))],
    }
    const unions = choices.map((branches) =>
      union(branches.map((branch) => this.write([branch], syntax, inner))),
    )
    const base = this.#writeBase(joint, syntax, surrounding, inner)
    return intersection([base, ...unions])
  }

  /** Writes the type without `anyOf` and `oneOf`. */
  #writeBase(
    joint: readonly SchemaObject[],
    syntax: ValueSyntax,
    outer: SurroundingSchemas,
    inner: SurroundingSchemas,
  ): string {
    const numberType = numberTypeOf(flatten([...outer.certain, ...joint]), flatten(inner.possible))
    const jsonTypes = jsonTypesOf(joint)
    const literals = numberType === 'number' ? literalsOf(joint, jsonTypes) : undefined
    if (literals) return union(literals)
    // Keywords about properties imply an object, unless a surrounding schema has a `type`.
    const implied = joint.some(hasPropertyKeywords)
      ? (jsonTypesOf(flatten(outer.certain)) ?? new Set<JsonType>(['object']))
      : undefined
    const allowed = jsonTypes ?? implied
    if (allowed === undefined) return 'unknown'
    const typeOf = (jsonType: JsonType) => {
      if (jsonType === 'number') return numberType
      if (jsonType === 'array') return this.#writeArray(joint, syntax)
      if (jsonType === 'object') return this.#writeObject(joint, syntax, inner)
      // Unknown types occur only in unused schemas.
      return /^(null|boolean|string)$/.test(jsonType) ? jsonType : 'unknown'
    }
    return union([...allowed].map(typeOf))
  }

  #writeObject(
    joint: readonly SchemaObject[],
    syntax: ValueSyntax,
    surrounding: SurroundingSchemas,
  ): string {
    const { described, required, others } = shapeOf(joint)
    const typed = [...described].map(([name, schemas]) => {
      const type = this.write(schemas, syntax, surroundingOf(name, schemas, surrounding))
      return { name, comment: comment(flatten(schemas)), type: this.#mark(schemas, type) }
    })
    const unknown = [...new Set([...required, ...others])]
      .filter((name) => !described.has(name))
      .map((name) => ({ name, comment: '', type: 'unknown' }))
    const named = [...typed, ...unknown]
    const lines = named.map(({ name, comment, type }) => {
      const isOptional = required.has(name) ? '' : '?'
      return `${comment}${keyCode(name)}${isOptional}: ${type};`
    })
    const isOpen = lines.length === 0 && !joint.some(isClosed)
    const index = this.#writeIndex(joint, syntax) ?? (isOpen ? 'unknown' : undefined)
    const isEmpty = lines.length === 0 && index === undefined
    if (isEmpty) return 'Record<string, never>'
    // TypeScript requires every property to fit the index type.
    const types = named.length === 0 ? [] : [...named.map(({ type }) => type), 'undefined']
    const more = index === undefined ? [] : [`[key: string]: ${union([index, ...types])};`]
    return block([...lines, ...more])
  }

  /** Writes the index type, for properties not described by name. Undefined if the schemas have no keyword about them. */
  #writeIndex(joint: readonly SchemaObject[], syntax: ValueSyntax): string | undefined {
    const types = joint.filter(hasIndex).flatMap((schema) => {
      const { additionalProperties, unevaluatedProperties } = schema
      // Alternatives may evaluate more properties, which are unknown here.
      const unevaluated =
        unevaluatedProperties !== false && hasPossible(joint) ? true : unevaluatedProperties
      const rest = additionalProperties ?? unevaluated ?? true
      const patterns: unknown[] = schemasAt(schema, 'patternProperties')
      return [...patterns, rest].map((rule) => this.write([rule], syntax))
    })
    return types.length === 0 ? undefined : union(types)
  }

  /** Writes an array type; with `prefixItems` a tuple, whose items beyond `minItems` are optional. */
  #writeArray(joint: readonly SchemaObject[], syntax: ValueSyntax): string {
    const hasAlternatives = hasPossible(joint)
    const itemsAt = (index: number) =>
      joint.flatMap((schema) => {
        const rest = schema['items'] ?? (hasAlternatives ? true : schema['unevaluatedItems'])
        return schemasAt(schema, 'prefixItems')[index] ?? rest ?? []
      })
    const length = Math.max(...joint.map((schema) => schemasAt(schema, 'prefixItems').length))
    const least = Math.max(...joint.map((schema) => Number(schema['minItems'] ?? 0)))
    const rest = this.write(itemsAt(length), syntax)
    const list = /^(\w+|schemas\['\w+'\])$/.test(rest) ? `${rest}[]` : `(${rest})[]`
    if (length === 0) return list
    const parts = Array.from({ length }, (_, index) => {
      const type = this.write(itemsAt(index), syntax)
      return index < least ? type : `(${type})?`
    })
    return `[${[...parts, ...(rest === 'never' ? [] : [`...${list}`])].join(', ')}]`
  }

  /** Marks a property with `readOnly`, `writeOnly` or a default: requests and responses differ in it. */
  #mark(schemas: readonly unknown[], type: string): string {
    const joint = flatten(schemas)
    const side = ['readOnly', 'writeOnly'].find((key) =>
      joint.some((schema) => schema[key] === true),
    )
    const mark = side ?? (this.isFilledIn(schemas) ? 'default' : undefined)
    return mark === undefined ? type : `Mark<${type}, ${stringCode(mark)}>`
  }

  /** Whether a default makes a property or a parameter always present. */
  isFilledIn(schemas: readonly unknown[]): boolean {
    return flatten(schemas).some(
      (schema) => schema['default'] !== undefined && !this.#schemas.withoutDefault.has(schema),
    )
  }

  #idOf(schema: unknown): number {
    const id = this.#ids.get(schema) ?? this.#ids.size
    this.#ids.set(schema, id)
    return id
  }
}
