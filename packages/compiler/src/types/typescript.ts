// Writes the types of a contract in TypeScript: of its schemas, and of its operations. Each valid value fits its type; where
// TypeScript has no such type, the type is a wider one. The value at run time counts: an int64 is a `bigint`.
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Operation, Parameter, ResponseMedia } from '@plant-store/engine/for-compiler'
import type * as openapi from '../read/document.ts'
import type { NormalOperation } from '../operations/normal-form.ts'
import {
  docComment,
  keyCode,
  stringCode,
  valueCode,
  withoutStrings,
} from '../operations/printing.ts'
import {
  derefEntries,
  member,
  resolveReference,
  tryDeref,
  usableEntries,
} from '../read/references.ts'
import { findLocation, locationOf, nameOf } from '../read/source-locations.ts'
import type { Schemas } from '../schemas/schemas.ts'
import {
  declaredTypes,
  isFile,
  flattenedSchema,
  type SchemaObject,
  schemasAt,
} from '../schemas/shapes.ts'
import { isContainer, isInt64, isNumeric, isObject } from '@plant-store/json-schema'

/** Other schemas for the same values: they may make an integer an int64. */
interface Context {
  /** Schemas that apply, too. */
  readonly certain: readonly unknown[]
  /** Schemas that may apply. */
  readonly possible: readonly unknown[]
}
const ALONE: Context = { certain: [], possible: [] }

type SentAs = 'json' | 'form'
type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/**
 * The most references whose targets are written out in one type, because schemas around them change their types. Further
 * references become `unknown`: otherwise a type could double at each level.
 */
const MAX_WRITTEN_OUT = 1000

/** Writes the types of the schemas of a document. */
class TypeWriter {
  /** The types that others refer to, by their keys: names of `components/schemas`, or pointers. */
  readonly named = new Map<string, string>()
  readonly #schemas: Schemas
  /** The combinations of schemas that are being written, by their keys, with the names that they got: at first none. */
  readonly #open = new Map<string, string>()
  readonly #ids = new Map<unknown, number>()
  /** How many references were written out in the type that is being written. */
  #writtenOut = 0

  constructor(schemas: Schemas) {
    this.#schemas = schemas
  }

  /** The type of the values that fit all of these schemas. @param sentAs in a form there may be files */
  write(group: readonly unknown[], sentAs: SentAs = 'json', context = ALONE): string {
    const schemas = group.filter((schema) => schema !== true && schema !== undefined)
    const [only] = schemas
    if (only === undefined) return 'unknown'
    const isReference = schemas.length === 1 && sentAs === 'json' && isPlainReference(only)
    if (isReference && !isMadeExact(only, context)) return this.#refer(only)
    return this.#writeOnce(schemas, sentAs, context)
  }

  /** Writes a type, unless it is being written: a type that has itself in it needs a name. */
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

  /** A reference to a type that has a name. */
  #refer(node: unknown): string {
    const target = tryDeref<unknown>(node) // only a schema that no operation uses leads nowhere
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
    const location = isObject(schema) ? findLocation(schema) : undefined // that of a text has none
    const isNamed = isObject(schema) && COMPONENT.test(location?.pointer ?? '')
    return isNamed && sentAs === 'json' ? this.#nameOf(schema) : this.write([schema], sentAs)
  }

  /** Reserves a name before the types that refer to it are written. */
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
    // A schema with members means an object, unless a schema around it says more.
    const ofMembers = joint.some(hasMembers)
      ? (kindsOf(flatten(outer.certain)) ?? new Set<Kind>(['object']))
      : undefined
    const allowed = kinds ?? ofMembers
    if (allowed === undefined) return 'unknown'
    const typeOf = (kind: Kind) => {
      if (kind === 'number') return level
      if (kind === 'array') return this.#writeArray(joint, sentAs)
      if (kind === 'object') return this.#writeObject(joint, sentAs, inner)
      // Only a schema that no operation uses has a type that is none.
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
    // All members must fit the type of the index.
    const types = named.length === 0 ? [] : [...named.map(({ type }) => type), 'undefined']
    const more = index === undefined ? [] : [`[key: string]: ${union([index, ...types])};`]
    return block([...lines, ...more])
  }

  /** The type of members without a schema of their own; undefined if the schemas do not say that there are any. */
  #writeIndex(joint: readonly SchemaObject[], sentAs: SentAs): string | undefined {
    const types = joint.filter(hasIndex).flatMap((schema) => {
      const { additionalProperties, unevaluatedProperties } = schema
      // Which members the alternatives have evaluated is not known here.
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

  /** Marks the type of a member that only one side sends, or that has a default. */
  #mark(schemas: readonly unknown[], type: string): string {
    const joint = flatten(schemas)
    const side = ['readOnly', 'writeOnly'].find((key) =>
      joint.some((schema) => schema[key] === true),
    )
    const mark = side ?? (this.isFilledIn(schemas) ? 'default' : undefined)
    return mark === undefined ? type : `Mark<${type}, ${stringCode(mark)}>`
  }

  /** Whether a member or a parameter with these schemas is always there, because it has a default. */
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

/** All schemas that a value of these must fit, in which references and `allOf` are resolved. */
const flatten = (group: readonly unknown[]): SchemaObject[] => [
  ...new Set(group.flatMap((schema) => flattenedSchema(schema))),
]

/** Whether no value fits a schema, because it is `false`, refers to `false`, or has it in `allOf`. */
function isNever(schema: unknown): boolean {
  if (schema === false) return true
  return flattenedSchema(schema).some(
    (part) => resolveReference<unknown>(part) === false || schemasAt(part, 'allOf').includes(false),
  )
}

/** The lists of alternatives in a schema. */
const choicesOf = (schema: SchemaObject) =>
  ['anyOf', 'oneOf'].filter((key) => schema[key] !== undefined).map((key) => schemasAt(schema, key))

/** The schemas that may apply to the value of a schema, and the schemas that may apply with them. */
function possibleSchemas(schema: SchemaObject, seen = new Set<unknown>()): SchemaObject[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const branches = [...choicesOf(schema).flat(), ...conditionalSchemas(schema)]
  return flatten(branches).flatMap((branch) => [branch, ...possibleSchemas(branch, seen)])
}

/** The schemas that apply to the value of a schema under a condition. */
const conditionalSchemas = (schema: SchemaObject): unknown[] => [
  ...schemasAt(schema, 'dependentSchemas'),
  ...['if', 'then', 'else'].flatMap((key) => schema[key] ?? []),
]

const hasPossible = (joint: readonly SchemaObject[]) =>
  joint.some((schema) => possibleSchemas(schema).length > 0)

/** The types of numbers: with `bigint` if a schema with int64 applies. */
function levelOf(certain: readonly SchemaObject[], possible: readonly SchemaObject[]): string {
  const exact = certain.filter(isInt64)
  const isFraction = exact.some((schema) => declaredTypes(schema).filter(isNumeric).length > 1)
  if (exact.length > 0 && !isFraction) return 'bigint'
  return [...exact, ...possible].some(isInt64) ? 'number | bigint' : 'number'
}

const kindOf = (value: unknown): Kind => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : (typeof value as Kind)
}
const asKind = (type: string) => (type === 'integer' ? 'number' : type) as Kind

/** The kinds of values that schemas allow together; undefined for all. */
function kindsOf(joint: readonly SchemaObject[]): Set<Kind> | undefined {
  const rules = joint.flatMap((schema) => {
    const types = declaredTypes(schema).map(asKind)
    return types.length > 0 ? [new Set(types)] : []
  })
  const [first, ...others] = rules
  return first && others.reduce((left, rule) => left.intersection(rule), first)
}

/** The values of `const` and `enum` that schemas allow together, as types; undefined if there are none of these keywords. */
function literalsOf(
  joint: readonly SchemaObject[],
  kinds: ReadonlySet<Kind> | undefined,
): string[] | undefined {
  const lists = joint.flatMap((schema) => {
    const listed = [
      ...('const' in schema ? [[schema['const']]] : []),
      ...(Array.isArray(schema['enum']) ? [schema['enum']] : []),
    ]
    return listed.map((values: unknown[]) =>
      values.filter((value) => kinds?.has(kindOf(value)) !== false).map(literal),
    )
  })
  const [first, ...others] = lists
  return first?.filter((type) => others.every((list) => list.includes(type)))
}

/** The type of one value. */
function literal(value: unknown): string {
  if (typeof value === 'bigint') return 'number' // a request has it rounded
  if (typeof value === 'number' && !Number.isFinite(value)) return 'number' // `.inf` of YAML
  if (!isContainer(value)) return valueCode(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${keyCode(name)}: ${literal(member)}`,
  )
  return `{ ${members.join('; ')} }`
}

/**
 * The members of an object, as its schemas describe them: the schemas of each member, the required members, and the members of
 * schemas that may apply.
 */
function shapeOf(joint: readonly SchemaObject[]) {
  const members = new Map<string, unknown[]>()
  for (const { properties } of joint)
    for (const [name, schema] of Object.entries(properties ?? {}))
      members.set(name, [...(members.get(name) ?? []), schema])
  const required = joint.flatMap((schema) => [schema['required'] ?? []].flat().map(String))
  const conditional = flatten(joint.flatMap(conditionalSchemas))
  const others = conditional.flatMap(({ properties }) => Object.keys(properties ?? {}))
  return { members, required: new Set(required), others }
}

/** The schemas around an object, as far as they describe one of its members. */
function contextOf(name: string, own: readonly unknown[], { certain, possible }: Context): Context {
  const schemasIn = (around: readonly unknown[]) =>
    flatten(around).flatMap(({ properties }) => member(properties, name) ?? [])
  return {
    certain: schemasIn(certain).filter((schema) => !own.includes(schema)),
    possible: schemasIn(possible),
  }
}

/** Whether the schemas around a named type make an int64 of an integer in it. */
function isMadeExact(schema: unknown, context: Context): boolean {
  const joint = flatten([schema])
  const isMade = (own: readonly SchemaObject[], { certain, possible }: Context) =>
    own.length > 0 && !own.some(isInt64) && flatten([...certain, ...possible]).some(isInt64)
  const { members } = shapeOf(joint)
  return (
    isMade(joint, context) ||
    [...members].some(([name, own]) => isMade(flatten(own), contextOf(name, own, context)))
  )
}

/** Whether a schema says something about members that have no schema of their own. */
const hasIndex = (schema: SchemaObject) =>
  Object.keys(schema['patternProperties'] ?? {}).length > 0 ||
  ['additionalProperties', 'unevaluatedProperties'].some((key) => (schema[key] ?? false) !== false)
/** Whether a schema says something about the members of an object. */
const hasMembers = (schema: SchemaObject) =>
  hasIndex(schema) || ['properties', 'required'].some((key) => schemasAt(schema, key).length > 0)
const isClosed = (schema: SchemaObject) =>
  [schema['additionalProperties'], schema['unevaluatedProperties']].includes(false)

/** Whether a schema is a reference, with nothing beside it that changes its type. */
const isPlainReference = (schema: unknown) =>
  isObject(schema) &&
  typeof schema['$ref'] === 'string' &&
  Object.keys(schema).every((key) =>
    /^(\$ref|summary|description|title|examples?|deprecated|default|readOnly|writeOnly|x-.*)$/.test(
      key,
    ),
  )

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'never')
  if (distinct.includes('unknown')) return 'unknown'
  return distinct.length === 0 ? 'never' : distinct.join(' | ')
}

function intersection(types: readonly string[]): string {
  const distinct = [...new Set(types)].filter((type) => type !== 'unknown')
  if (distinct.length === 0) return 'unknown'
  return distinct.length === 1
    ? String(distinct[0])
    : distinct.map((type) => `(${type})`).join(' & ')
}

/** Where a schema is that has a name of its own. */
const COMPONENT = /^#\/components\/schemas\/(?=[^/]+$)/
const indent = (text: string) => text.replaceAll(/^/gm, '    ')

/** The comment that an editor shows of a member. */
function comment(joint: readonly Readonly<Record<string, unknown>>[]): string {
  const description = joint
    .map((schema) => schema['description'])
    .find((text) => typeof text === 'string')
  const isDeprecated = joint.some((schema) => schema['deprecated'] === true)
  const words = [description, isDeprecated ? '@deprecated' : undefined].filter(Boolean).join(' ')
  return words === '' ? '' : `${docComment(words)}\n`
}

/** An operation in normal form, and as it was compiled. */
interface Described {
  readonly normal: NormalOperation
  readonly operation: Operation
}

/**
 * Writes the types of a contract: the interfaces `schemas`, `components` and `operations`.
 * @param schemas the compiled ones
 * @param operations those that are served
 */
export function writeTypes(
  { components }: Oas3_1Definition,
  schemas: Schemas,
  operations: readonly Described[],
): string {
  const writer = new TypeWriter(schemas)
  const names = Object.keys(components?.schemas ?? {})
  for (const name of names) writer.reserve(name)
  for (const name of names) writer.named.set(name, writer.write([components?.schemas?.[name]]))
  const parameters = usableEntries(components?.parameters).map(
    ([name, { schema = true }]) => `${keyCode(name)}: ${writer.write([schema])};`,
  )
  const operationWriter = new OperationWriter(writer, schemas)
  const methods = operations.map((operation) => operationWriter.write(operation))
  const named = [...writer.named].map(([name, type]) => `${keyCode(name)}: ${type};`)
  const isMarked = [...named, ...methods].some((text) => withoutStrings(text).includes('Mark<'))
  const visible = isMarked ? 'Visible<schemas, never>' : 'schemas' // methods and collections have items without marks
  const picked = names.map(stringCode).join(' | ') || 'never'
  return `interface schemas ${block(named)}
export interface components {
    schemas: Pick<${visible}, ${picked}>;
    parameters: ${indent(block(parameters)).trimStart()};
}
export interface operations ${block(methods)}`
}

/** Writes the types of operations. */
class OperationWriter {
  readonly #writer: TypeWriter
  readonly #schemas: Schemas

  constructor(writer: TypeWriter, schemas: Schemas) {
    this.#writer = writer
    this.#schemas = schemas
  }

  /** The member of the interface `operations`. */
  write({ normal, operation }: Described): string {
    const places = (['path', 'query', 'header', 'cookie'] as const).map((place) =>
      this.#writePlace(operation, place),
    )
    const parts = [
      `parameters: ${block(places)};`,
      this.#writeBody(operation.body),
      `responses: ${block(this.#writeResponses(normal, operation))};`,
    ]
    const { summary } = normal
    return `${comment([{ description: summary }])}${keyCode(operation.id)}: ${block(parts)};`
  }

  #writePlace({ parameters }: Operation, place: Parameter['in']): string {
    const members = parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => this.#writeParameter(parameter))
    return members.length === 0 ? `${place}?: undefined;` : `${place}: ${block(members)};`
  }

  /** A method always gets a parameter that is required, or that has a default. */
  #writeParameter({ name, required, schema }: Parameter): string {
    const isThere = required || this.#writer.isFilledIn([this.#schemas.nodeOf(schema)])
    return `${keyCode(name)}${isThere ? '' : '?'}: ${this.#typeOf(schema)};`
  }

  #writeBody(body: Operation['body']): string {
    if (body === null) return 'requestBody?: never;'
    return `requestBody${body.required ? '' : '?'}: { content: ${this.#writeContent(body.content)} };`
  }

  #writeResponses({ responses }: NormalOperation, operation: Operation): string[] {
    return Object.entries(responses).flatMap(([status, described]) => {
      const response = operation.responses[status]
      if (response === undefined) return []
      const parts = [`headers: ${this.#writeHeaders(described)};`]
      const hasBody = Object.keys(response).length > 0
      if (hasBody) parts.push(`content: ${this.#writeContent(response)};`)
      return `${/^\d+$/.test(status) ? status : keyCode(status)}: ${block(parts)};`
    })
  }

  #writeHeaders({ headers }: openapi.Response): string {
    const members = derefEntries(headers)
      .filter(([name]) => !/^content-type$/i.test(name))
      .map(([name, { required = false, schema = TEXT }]) => {
        const type = this.#writer.write([schema])
        return `${keyCode(name)}${required ? '' : '?'}: ${type};`
      })
    return block(members)
  }

  /** The types of bodies by media type. */
  #writeContent(content: Readonly<Record<string, ResponseMedia>>): string {
    const members = Object.entries(content).map(
      ([type, media]) => `${stringCode(type)}: ${this.#writeMedia(media)};`,
    )
    return block(members)
  }

  #writeMedia({ kind, schema }: ResponseMedia): string {
    if (schema !== null) return this.#typeOf(schema, kind === 'multipart' ? 'form' : 'json')
    return kind === 'text' ? 'string' : 'unknown'
  }

  #typeOf(id: string, sentAs: SentAs = 'json'): string {
    return this.#writer.writeWhole(this.#schemas.nodeOf(id), sentAs)
  }
}

/** The schema of a header that has none. */
const TEXT = { type: 'string' }

/** Members in braces, a line each. */
const block = (members: readonly string[]) =>
  members.length === 0 ? '{}' : `{\n${indent(members.join('\n'))}\n}`
