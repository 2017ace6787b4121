// Combines schemas of the same value: its JSON types, its constants, its properties, and whether it is an int64.
import { isContainer, isInt64, isNumeric, isObject } from '@plant-store/json-schema'
import { keyCode, valueCode } from '../operations/printing.ts'
import { member, resolveReference } from '../read/references.ts'
import { declaredTypes, flattenedSchema, type SchemaObject, schemasAt } from '../schemas/shapes.ts'

/** Schemas outside of the current one, for the same value. Their `format: int64` makes an integer of it a `bigint`. */
export interface SurroundingSchemas {
  /** They always apply. */
  readonly certain: readonly unknown[]
  /** They apply under conditions: alternatives, `if`, `dependentSchemas`. */
  readonly possible: readonly unknown[]
}
export const NONE_AROUND: SurroundingSchemas = { certain: [], possible: [] }

export type JsonType = 'null' | 'boolean' | 'number' | 'string' | 'array' | 'object'

/** Adds the targets of references and `allOf` to a group of schemas. */
export const flatten = (group: readonly unknown[]): SchemaObject[] => [
  ...new Set(group.flatMap((schema) => flattenedSchema(schema))),
]

/** Whether a schema is `false`, refers to `false`, or has it in `allOf`. */
export function isNever(schema: unknown): boolean {
  if (schema === false) return true
  return flattenedSchema(schema).some(
    (part) => resolveReference<unknown>(part) === false || schemasAt(part, 'allOf').includes(false),
  )
}

export const choicesOf = (schema: SchemaObject) =>
  ['anyOf', 'oneOf'].filter((key) => schema[key] !== undefined).map((key) => schemasAt(schema, key))

/** Alternatives and conditional schemas for the same value, at any depth. */
export function possibleSchemas(schema: SchemaObject, seen = new Set<unknown>()): SchemaObject[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const branches = [...choicesOf(schema).flat(), ...conditionalSchemas(schema)]
  return flatten(branches).flatMap((branch) => [branch, ...possibleSchemas(branch, seen)])
}

const conditionalSchemas = (schema: SchemaObject): unknown[] => [
  ...schemasAt(schema, 'dependentSchemas'),
  ...['if', 'then', 'else'].flatMap((key) => schema[key] ?? []),
]

export const hasPossible = (joint: readonly SchemaObject[]) =>
  joint.some((schema) => possibleSchemas(schema).length > 0)

/** The type of numbers: `bigint` if int64 certainly applies, `number | bigint` if it may. */
export function numberTypeOf(
  certain: readonly SchemaObject[],
  possible: readonly SchemaObject[],
): string {
  const exact = certain.filter(isInt64)
  const isFraction = exact.some((schema) => declaredTypes(schema).filter(isNumeric).length > 1)
  if (exact.length > 0 && !isFraction) return 'bigint'
  return [...exact, ...possible].some(isInt64) ? 'number | bigint' : 'number'
}

const jsonTypeOf = (value: unknown): JsonType => {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : (typeof value as JsonType)
}
const toJsonType = (type: string) => (type === 'integer' ? 'number' : type) as JsonType

/** The JSON types allowed by all schemas; undefined if none has a `type`. */
export function jsonTypesOf(joint: readonly SchemaObject[]): Set<JsonType> | undefined {
  const rules = joint.flatMap((schema) => {
    const types = declaredTypes(schema).map(toJsonType)
    return types.length > 0 ? [new Set(types)] : []
  })
  const [first, ...others] = rules
  return first && others.reduce((left, rule) => left.intersection(rule), first)
}

/** Literal types of the values common to each `const` and `enum`; undefined without these keywords. */
export function literalsOf(
  joint: readonly SchemaObject[],
  jsonTypes: ReadonlySet<JsonType> | undefined,
): string[] | undefined {
  const lists = joint.flatMap((schema) => {
    const listed = [
      ...('const' in schema ? [[schema['const']]] : []),
      ...(Array.isArray(schema['enum']) ? [schema['enum']] : []),
    ]
    return listed.map((values: unknown[]) =>
      values.filter((value) => jsonTypes?.has(jsonTypeOf(value)) !== false).map(literal),
    )
  })
  const [first, ...others] = lists
  return first?.filter((type) => others.every((list) => list.includes(type)))
}

function literal(value: unknown): string {
  if (typeof value === 'bigint') return 'number' // rounded in a request
  if (typeof value === 'number' && !Number.isFinite(value)) return 'number' // `.inf` of YAML
  if (!isContainer(value)) return valueCode(value)
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`
  const properties = Object.entries(value).map(
    ([name, property]) => `${keyCode(name)}: ${literal(property)}`,
  )
  return `{ ${properties.join('; ')} }`
}

/** The properties of an object: `described` with their schemas, `required`, and `others` named only by conditional schemas. */
export function shapeOf(joint: readonly SchemaObject[]) {
  const described = new Map<string, unknown[]>()
  for (const { properties } of joint)
    for (const [name, schema] of Object.entries(properties ?? {}))
      described.set(name, [...(described.get(name) ?? []), schema])
  const required = joint.flatMap((schema) => [schema['required'] ?? []].flat().map(String))
  const conditional = flatten(joint.flatMap(conditionalSchemas))
  const others = conditional.flatMap(({ properties }) => Object.keys(properties ?? {}))
  return { described, required: new Set(required), others }
}

/** The schemas around a property, taken from the schemas around its object. */
export function surroundingOf(
  name: string,
  inner: readonly unknown[],
  { certain, possible }: SurroundingSchemas,
): SurroundingSchemas {
  const schemasIn = (around: readonly unknown[]) =>
    flatten(around).flatMap(({ properties }) => member(properties, name) ?? [])
  return {
    certain: schemasIn(certain).filter((schema) => !inner.includes(schema)),
    possible: schemasIn(possible),
  }
}

/** Whether surrounding schemas turn an integer of a named type, or of a property, into int64. */
export function isMadeExact(schema: unknown, surrounding: SurroundingSchemas): boolean {
  const joint = flatten([schema])
  const isMade = (inner: readonly SchemaObject[], { certain, possible }: SurroundingSchemas) =>
    inner.length > 0 && !inner.some(isInt64) && flatten([...certain, ...possible]).some(isInt64)
  const { described } = shapeOf(joint)
  return (
    isMade(joint, surrounding) ||
    [...described].some(([name, inner]) =>
      isMade(flatten(inner), surroundingOf(name, inner, surrounding)),
    )
  )
}

/** Whether a schema allows properties without describing them by name. */
export const hasIndex = (schema: SchemaObject) =>
  Object.keys(schema['patternProperties'] ?? {}).length > 0 ||
  ['additionalProperties', 'unevaluatedProperties'].some((key) => (schema[key] ?? false) !== false)
export const hasPropertyKeywords = (schema: SchemaObject) =>
  hasIndex(schema) || ['properties', 'required'].some((key) => schemasAt(schema, key).length > 0)
export const isClosed = (schema: SchemaObject) =>
  [schema['additionalProperties'], schema['unevaluatedProperties']].includes(false)

/** Whether a schema is a reference without type-changing keywords beside it. */
export const isPlainReference = (schema: unknown) =>
  isObject(schema) &&
  typeof schema['$ref'] === 'string' &&
  Object.keys(schema).every((key) =>
    /^(\$ref|summary|description|title|examples?|deprecated|default|readOnly|writeOnly|x-.*)$/.test(
      key,
    ),
  )
