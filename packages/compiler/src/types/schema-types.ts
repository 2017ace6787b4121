// Writes the types of schemas. Each valid value fits its type; where TypeScript has no such type, a wider one.
import { isObject } from '@plant-store/json-schema'
import { keyCode, stringCode } from '../operations/printing.ts'
import { tryDeref } from '../read/references.ts'
import { findLocation, locationOf, nameOf } from '../read/source-locations.ts'
import type { Schemas } from '../schemas/schemas.ts'
import { isFile, type SchemaObject, schemasAt, type SentAs } from '../schemas/shapes.ts'
import { block, comment, intersection, union } from './code.ts'
import {
  ALONE,
  choicesOf,
  type Context,
  contextOf,
  flatten,
  hasIndex,
  hasMembers,
  hasPossible,
  isClosed,
  isMadeExact,
  isNever,
  isPlainReference,
  type Kind,
  kindsOf,
  levelOf,
  literalsOf,
  possibleSchemas,
  shapeOf,
} from './joint-schemas.ts'

/** The pointer of a schema with a name. */
const COMPONENT = /^#\/components\/schemas\/(?=[^/]+$)/

/**
 * The most references whose targets are written out in one type, because schemas around them change their types. Further
 * ones become `unknown`: a type could double at each level.
 */
const MAX_WRITTEN_OUT = 1000

/** Writes the types of the schemas of a document. */
export class TypeWriter {
  /** Types with a name, by names of `components/schemas`, or by pointers. */
  readonly named = new Map<string, string>()
  readonly #schemas: Schemas
  /** The names of types still being written, by key. A name is empty until the type refers to itself. */
  readonly #open = new Map<string, string>()
  readonly #ids = new Map<unknown, number>()
  /** The number of references written out in the current type. */
  #writtenOut = 0

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** The type of values which fit all schemas. @param sentAs `form`: values may be files */
  write(group: readonly unknown[], sentAs: SentAs = 'json', context = ALONE): string {
    const schemas = group.filter((schema) => schema !== true && schema !== undefined)
    const [only] = schemas
    if (only === undefined) return 'unknown'
    const isReference = schemas.length === 1 && sentAs === 'json' && isPlainReference(only)
    if (isReference && !isMadeExact(only, context)) return this.#refer(only)
    return this.#writeOnce(schemas, sentAs, context)
  }

  /** Writes a type. One still being written refers to itself, and gets a name. */
  #writeOnce(schemas: readonly unknown[], sentAs: SentAs, context: Context): string {
    const key = `${sentAs} ${schemas.map((schema) => this.#idOf(schema)).join()}`
    const openName = this.#open.get(key)
    if (openName !== undefined) {
      const name = openName || `a part of ${key}`
      this.#open.set(key, name)
      return `schemas[${stringCode(name)}]`
    }
    if (this.#open.size === 0) this.#writtenOut = 0
    if (schemas.some(isPlainReference)) this.#writtenOut += 1
    if (this.#writtenOut > MAX_WRITTEN_OUT) return 'unknown'
    this.#open.set(key, '')
    const text = this.#writeAll(schemas, sentAs, context)
    const name = this.#open.get(key)
    this.#open.delete(key)
    if (name) this.named.set(name, text)
    return text
  }

  /** A reference to a named type. */
  #refer(node: unknown): string {
    const target = tryDeref<unknown>(node) // undefined only in a schema without a user
    if (isObject(target)) return this.#nameOf(target)
    return target === false ? 'never' : 'unknown'
  }

  #nameOf(schema: object): string {
    const name = nameOf(locationOf(schema).pointer.replace(COMPONENT, ''))
    if (!this.named.has(name)) {
      const writtenOut = this.#writtenOut
      this.#writtenOut = 0
      this.reserve(name)
      this.named.set(name, this.write([schema]))
      this.#writtenOut = writtenOut
    }
    return `schemas[${stringCode(name)}]`
  }

  /** The type of a whole body or parameter. */
  writeWhole(schema: unknown, sentAs: SentAs): string {
    const location = isObject(schema) ? findLocation(schema) : undefined // undefined for the schema of a string without one
    const isNamed = isObject(schema) && COMPONENT.test(location?.pointer ?? '')
    return isNamed && sentAs === 'json' ? this.#nameOf(schema) : this.write([schema], sentAs)
  }

  /** Reserves a name: other types may refer to it before it is written. */
  reserve(name: string): void {
    this.named.set(name, 'unknown')
  }

  #writeAll(group: readonly unknown[], sentAs: SentAs, context: Context): string {
    if (group.some(isNever)) return 'never'
    const joint = flatten(group)
    if (sentAs === 'form' && joint.some(isFile)) return 'File'
    const choices = joint.flatMap(choicesOf)
    const inner: Context = {
      certain: [...context.certain, ...joint],
      possible: [...context.possible, ...joint.flatMap((schema) => possibleSchemas(schema))],
    }
    const unions = choices.map((branches) =>
      union(branches.map((branch) => this.write([branch], sentAs, inner))),
    )
    const base = this.#writeBase(joint, sentAs, context, inner)
    return intersection([base, ...unions])
  }

  /** The type of schemas without their alternatives. */
  #writeBase(
    joint: readonly SchemaObject[],
    sentAs: SentAs,
    outer: Context,
    inner: Context,
  ): string {
    const level = levelOf(flatten([...outer.certain, ...joint]), flatten(inner.possible))
    const kinds = kindsOf(joint)
    const literals = level === 'number' ? literalsOf(joint, kinds) : undefined
    if (literals) return union(literals)
    // A schema with properties means an object, unless a schema around it says more.
    const ofMembers = joint.some(hasMembers)
      ? (kindsOf(flatten(outer.certain)) ?? new Set<Kind>(['object']))
      : undefined
    const allowed = kinds ?? ofMembers
    if (allowed === undefined) return 'unknown'
    const typeOf = (kind: Kind) => {
      if (kind === 'number') return level
      if (kind === 'array') return this.#writeArray(joint, sentAs)
      if (kind === 'object') return this.#writeObject(joint, sentAs, inner)
      // An unknown type: the schema has no user, or it would be refused.
      return /^(null|boolean|string)$/.test(kind) ? kind : 'unknown'
    }
    return union([...allowed].map(typeOf))
  }

  #writeObject(joint: readonly SchemaObject[], sentAs: SentAs, context: Context): string {
    const { members, required, others } = shapeOf(joint)
    const described = [...members].map(([name, schemas]) => {
      const type = this.write(schemas, sentAs, contextOf(name, schemas, context))
      return { name, comment: comment(flatten(schemas)), type: this.#mark(schemas, type) }
    })
    const unknown = [...new Set([...required, ...others])]
      .filter((name) => !members.has(name))
      .map((name) => ({ name, comment: '', type: 'unknown' }))
    const named = [...described, ...unknown]
    const lines = named.map(({ name, comment, type }) => {
      const isOptional = required.has(name) ? '' : '?'
      return `${comment}${keyCode(name)}${isOptional}: ${type};`
    })
    const isOpen = lines.length === 0 && !joint.some(isClosed)
    const index = this.#writeIndex(joint, sentAs) ?? (isOpen ? 'unknown' : undefined)
    const isEmpty = lines.length === 0 && index === undefined
    if (isEmpty) return 'Record<string, never>'
    // TypeScript wants each property to fit the type of the index.
    const types = named.length === 0 ? [] : [...named.map(({ type }) => type), 'undefined']
    const more = index === undefined ? [] : [`[key: string]: ${union([index, ...types])};`]
    return block([...lines, ...more])
  }

  /** The type of further properties; undefined if no schema describes them. */
  #writeIndex(joint: readonly SchemaObject[], sentAs: SentAs): string | undefined {
    const types = joint.filter(hasIndex).flatMap((schema) => {
      const { additionalProperties, unevaluatedProperties } = schema
      // The properties evaluated by alternatives are not known here.
      const unevaluated =
        unevaluatedProperties !== false && hasPossible(joint) ? true : unevaluatedProperties
      const rest = additionalProperties ?? unevaluated ?? true
      const patterns: unknown[] = schemasAt(schema, 'patternProperties')
      return [...patterns, rest].map((rule) => this.write([rule], sentAs))
    })
    return types.length === 0 ? undefined : union(types)
  }

  /** A list; with `prefixItems` a tuple, which may be shorter. */
  #writeArray(joint: readonly SchemaObject[], sentAs: SentAs): string {
    const hasAlternatives = hasPossible(joint)
    const itemsAt = (index: number) =>
      joint.flatMap((schema) => {
        const rest = schema['items'] ?? (hasAlternatives ? true : schema['unevaluatedItems'])
        return schemasAt(schema, 'prefixItems')[index] ?? rest ?? []
      })
    const length = Math.max(...joint.map((schema) => schemasAt(schema, 'prefixItems').length))
    const least = Math.max(...joint.map((schema) => Number(schema['minItems'] ?? 0)))
    const rest = this.write(itemsAt(length), sentAs)
    const list = /^(\w+|schemas\['\w+'\])$/.test(rest) ? `${rest}[]` : `(${rest})[]`
    if (length === 0) return list
    const parts = Array.from({ length }, (_, index) => {
      const type = this.write(itemsAt(index), sentAs)
      return index < least ? type : `(${type})?`
    })
    return `[${[...parts, ...(rest === 'never' ? [] : [`...${list}`])].join(', ')}]`
  }

  /** Marks the type of a property with a default, or sent by one side only. */
  #mark(schemas: readonly unknown[], type: string): string {
    const joint = flatten(schemas)
    const side = ['readOnly', 'writeOnly'].find((key) =>
      joint.some((schema) => schema[key] === true),
    )
    const mark = side ?? (this.isFilledIn(schemas) ? 'default' : undefined)
    return mark === undefined ? type : `Mark<${type}, ${stringCode(mark)}>`
  }

  /** Whether a property or parameter is always there, because of a default. */
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
