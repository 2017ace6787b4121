// What schemas of the same value say together: its kinds, its constants, its properties, and whether it is an int64.
import { isContainer, isInt64, isNumeric, isObject } from '@plant-store/json-schema'
import { keyCode, valueCode } from '../operations/printing.ts'
import { member, resolveReference } from '../read/references.ts'
import { declaredTypes, flattenedSchema, type SchemaObject, schemasAt } from '../schemas/shapes.ts'

/** Other schemas of the same value: they may make an integer an int64. */
export interface Context {
  /** These apply, too. */
  readonly certain: readonly unknown[]
  /** These may apply. */
  readonly possible: readonly unknown[]
}
export const ALONE: Context = { certain: [], possible: [] }

export type Kind = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** The schemas, with the targets of their references and their `allOf`: a value must fit all. */
export const flatten = (group: readonly unknown[]): SchemaObject[] => [
  ...new Set(group.flatMap((schema) => flattenedSchema(schema))),
]

/** Whether no value fits a schema, because it is `false`, refers to `false`, or has it in `allOf`. */
export function isNever(schema: unknown): boolean {
  if (schema === false) return true
  return flattenedSchema(schema).some(
    (part) => resolveReference<unknown>(part) === false || schemasAt(part, 'allOf').includes(false),
  )
}

/** The lists of alternatives in a schema. */
export const choicesOf = (schema: SchemaObject) =>
  ['anyOf', 'oneOf'].filter((key) => schema[key] !== undefined).map((key) => schemasAt(schema, key))

/** The alternatives and conditional schemas of a schema, and those in them: each may apply to its value. */
export function possibleSchemas(schema: SchemaObject, seen = new Set<unknown>()): SchemaObject[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const branches = [...choicesOf(schema).flat(), ...conditionalSchemas(schema)]
  return flatten(branches).flatMap((branch) => [branch, ...possibleSchemas(branch, seen)])
}

/** The schemas which apply under a condition. */
const conditionalSchemas = (schema: SchemaObject): unknown[] => [
  ...schemasAt(schema, 'dependentSchemas'),
  ...['if', 'then', 'else'].flatMap((key) => schema[key] ?? []),
]

export const hasPossible = (joint: readonly SchemaObject[]) =>
  joint.some((schema) => possibleSchemas(schema).length > 0)

/** The types of numbers: with `bigint` if a schema with int64 applies. */
export function levelOf(
  certain: readonly SchemaObject[],
  possible: readonly SchemaObject[],
): string {
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

/** The kinds allowed by all schemas; undefined for any. */
export function kindsOf(joint: readonly SchemaObject[]): Set<Kind> | undefined {
  const rules = joint.flatMap((schema) => {
    const types = declaredTypes(schema).map(asKind)
    return types.length > 0 ? [new Set(types)] : []
  })
  const [first, ...others] = rules
  return first && others.reduce((left, rule) => left.intersection(rule), first)
}

/** The values of `const` and `enum` allowed by all schemas, as types; undefined without these keywords. */
export function literalsOf(
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
 * The properties of an object: the schemas of each, the names of required ones, and the names in schemas which may
 * apply.
 */
export function shapeOf(joint: readonly SchemaObject[]) {
  const members = new Map<string, unknown[]>()
  for (const { properties } of joint)
    for (const [name, schema] of Object.entries(properties ?? {}))
      members.set(name, [...(members.get(name) ?? []), schema])
  const required = joint.flatMap((schema) => [schema['required'] ?? []].flat().map(String))
  const conditional = flatten(joint.flatMap(conditionalSchemas))
  const others = conditional.flatMap(({ properties }) => Object.keys(properties ?? {}))
  return { members, required: new Set(required), others }
}

/** The context of a property: its schemas in the context of its object. */
export function contextOf(
  name: string,
  own: readonly unknown[],
  { certain, possible }: Context,
): Context {
  const schemasIn = (around: readonly unknown[]) =>
    flatten(around).flatMap(({ properties }) => member(properties, name) ?? [])
  return {
    certain: schemasIn(certain).filter((schema) => !own.includes(schema)),
    possible: schemasIn(possible),
  }
}

/** Whether the schemas around a named type make an int64 of an integer in it. */
export function isMadeExact(schema: unknown, context: Context): boolean {
  const joint = flatten([schema])
  const isMade = (own: readonly SchemaObject[], { certain, possible }: Context) =>
    own.length > 0 && !own.some(isInt64) && flatten([...certain, ...possible]).some(isInt64)
  const { members } = shapeOf(joint)
  return (
    isMade(joint, context) ||
    [...members].some(([name, own]) => isMade(flatten(own), contextOf(name, own, context)))
  )
}

/** Whether a schema describes further properties, by pattern or by default. */
export const hasIndex = (schema: SchemaObject) =>
  Object.keys(schema['patternProperties'] ?? {}).length > 0 ||
  ['additionalProperties', 'unevaluatedProperties'].some((key) => (schema[key] ?? false) !== false)
/** Whether a schema names or describes properties. */
export const hasMembers = (schema: SchemaObject) =>
  hasIndex(schema) || ['properties', 'required'].some((key) => schemasAt(schema, key).length > 0)
export const isClosed = (schema: SchemaObject) =>
  [schema['additionalProperties'], schema['unevaluatedProperties']].includes(false)

/** Whether a schema is a reference, and no keyword beside it changes the type. */
export const isPlainReference = (schema: unknown) =>
  isObject(schema) &&
  typeof schema['$ref'] === 'string' &&
  Object.keys(schema).every((key) =>
    /^(\$ref|summary|description|title|examples?|deprecated|default|readOnly|writeOnly|x-.*)$/.test(
      key,
    ),
  )
