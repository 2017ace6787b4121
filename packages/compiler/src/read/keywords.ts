// Compiles the keywords of schemas: which of them the service evaluates, and in which form.
import { declaredTypes, isObject, type Schema, type SchemaObject } from '@plant-store/json-schema'

/** A schema that is being compiled. */
interface Part {
  readonly key: string
  readonly value: unknown
  /** The schema that has the keyword. */
  readonly schema: SchemaObject
  /** Compiles a schema within this one. */
  readonly compile: (schema: unknown) => Schema
  /** Compiles the target of its reference. @returns the id of the target */
  readonly refer: () => string
}

/** The compiled keywords of a keyword: none if it does not validate or change values. */
type CompileKeyword = (part: Part) => Readonly<Record<string, unknown>>

const keep: CompileKeyword = ({ key, value }) => ({ [key]: value })
const leaveOut: CompileKeyword = () => ({})
const compileSchema: CompileKeyword = ({ key, value, compile }) => ({ [key]: compile(value) })
const compileList: CompileKeyword = ({ key, value, compile }) => ({
  [key]: [value].flat().map(compile),
})

/** Compiles schemas by name. */
const compileMap: CompileKeyword = ({ key, value, compile }) => {
  const entries = Object.entries(value ?? {}).map(([name, schema]) => [name, compile(schema)])
  return { [key]: Object.fromEntries(entries) as unknown }
}

/** In OpenAPI 3.0, `nullable` adds the type null. */
const compileType: CompileKeyword = ({ key, value, schema }) => ({
  [key]: schema['nullable'] === true ? declaredTypes(schema) : value,
})

/** In OpenAPI 3.0, `exclusiveMinimum: true` makes `minimum` exclusive. */
const compileBound: CompileKeyword = ({ key, value, schema }) => {
  const exclusive = key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'
  return { [schema[exclusive] === true ? exclusive : key]: value }
}

const compileExclusive: CompileKeyword = ({ key, value }) =>
  typeof value === 'boolean' ? {} : { [key]: value }

/** The messages of `pattern` and `not` use the description of a schema. */
const compileDescription: CompileKeyword = ({ key, value, schema }) =>
  'pattern' in schema || 'not' in schema ? { [key]: String(value) } : {}

const compileReference: CompileKeyword = ({ key, refer }) => ({ [key]: refer() })

/** The keywords that validate or change a value. */
const EVALUATED: ReadonlyMap<string, CompileKeyword> = new Map([
  ['$ref', compileReference],
  ['type', compileType],
  ['minimum', compileBound],
  ['maximum', compileBound],
  ['exclusiveMinimum', compileExclusive],
  ['exclusiveMaximum', compileExclusive],
  ...withAll(compileMap, ['properties', 'patternProperties', 'dependentSchemas']),
  ...withAll(compileList, ['allOf', 'anyOf', 'oneOf', 'prefixItems']),
  ...withAll(compileSchema, ['not', 'if', 'then', 'else', 'items', 'contains']),
  ...withAll(compileSchema, ['additionalProperties', 'propertyNames']),
  ...withAll(compileSchema, ['unevaluatedItems', 'unevaluatedProperties']),
  ...withAll(keep, ['enum', 'const', 'default', 'format', 'pattern', 'multipleOf']),
  ...withAll(keep, ['minLength', 'maxLength', 'minItems', 'maxItems', 'uniqueItems']),
  ...withAll(keep, ['minContains', 'maxContains', 'minProperties', 'maxProperties']),
  ...withAll(keep, ['required', 'dependentRequired', 'readOnly', 'writeOnly']),
])

/** The other keywords of JSON Schema 2020-12 and OpenAPI. */
const WITHOUT_EFFECT: ReadonlyMap<string, CompileKeyword> = new Map([
  ['description', compileDescription],
  ...withAll(leaveOut, ['title', 'example', 'examples', 'deprecated', 'nullable']),
  ...withAll(leaveOut, ['$comment', '$defs', '$schema', 'discriminator', 'xml', 'externalDocs']),
  ...withAll(leaveOut, ['contentEncoding', 'contentMediaType', 'contentSchema']),
])

function withAll(
  compile: CompileKeyword,
  keywords: readonly string[],
): (readonly [string, CompileKeyword])[] {
  return keywords.map((keyword) => [keyword, compile] as const)
}

/** Compiles a keyword. @returns undefined for one that JSON Schema 2020-12 and OpenAPI do not know */
export function compileKeyword(part: Part): Readonly<Record<string, unknown>> | undefined {
  const { key } = part
  if (key.startsWith('x-')) return {}
  return (EVALUATED.get(key) ?? WITHOUT_EFFECT.get(key))?.(part)
}

/** Whether an object has keywords, besides `$ref`, that validate or change a value. The `required` of a parameter does not count. */
export function hasKeywords(node: object): boolean {
  return Object.entries(node).some(([key, value]) => {
    const isOfParameter = key === 'required' && typeof value === 'boolean'
    return key !== '$ref' && EVALUATED.has(key) && !isOfParameter
  })
}

/** Whether a node can be a schema. */
export function isSchema(node: unknown): boolean {
  return isObject(node) || typeof node === 'boolean'
}
