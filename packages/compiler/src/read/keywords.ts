// Compiles the keywords of schemas: keeps, rewrites or leaves out each one.
import { declaredTypes, isObject, type Schema, type SchemaObject } from '@plant-store/json-schema'

interface KeywordToCompile {
  readonly key: string
  readonly value: unknown
  readonly schema: SchemaObject
  readonly compile: (schema: unknown) => Schema
  /** Compiles the target of the schema's reference. @returns the id of the target */
  readonly refer: () => string
}

/** Returns the compiled keywords: none for a keyword without effect on values. */
type CompileKeyword = (keyword: KeywordToCompile) => Readonly<Record<string, unknown>>

const keep: CompileKeyword = ({ key, value }) => ({ [key]: value })
const leaveOut: CompileKeyword = () => ({})
const compileSchema: CompileKeyword = ({ key, value, compile }) => ({ [key]: compile(value) })
const compileList: CompileKeyword = ({ key, value, compile }) => ({
  [key]: [value].flat().map(compile),
})

const compileMap: CompileKeyword = ({ key, value, compile }) => {
  const entries = Object.entries(value ?? {}).map(([name, schema]) => [name, compile(schema)])
  return { [key]: Object.fromEntries(entries) as unknown }
}

/** `nullable` of OpenAPI 3.0 adds the type null. */
const compileType: CompileKeyword = ({ key, value, schema }) => ({
  [key]: schema['nullable'] === true ? declaredTypes(schema) : value,
})

/** `exclusiveMinimum: true` of OpenAPI 3.0 makes `minimum` exclusive. */
const compileBound: CompileKeyword = ({ key, value, schema }) => {
  const exclusive = key === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum'
  return { [schema[exclusive] === true ? exclusive : key]: value }
}

const compileExclusive: CompileKeyword = ({ key, value }) =>
  typeof value === 'boolean' ? {} : { [key]: value }

/** Error messages of `pattern` and `not` quote the description. */
const compileDescription: CompileKeyword = ({ key, value, schema }) =>
  'pattern' in schema || 'not' in schema ? { [key]: String(value) } : {}

const compileReference: CompileKeyword = ({ key, refer }) => ({ [key]: refer() })

/** Keywords with an effect on values. */
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

/** Other keywords of JSON Schema 2020-12 and OpenAPI. */
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

/** Compiles a keyword. @returns undefined if JSON Schema 2020-12 and OpenAPI do not know it */
export function compileKeyword(
  keyword: KeywordToCompile,
): Readonly<Record<string, unknown>> | undefined {
  const { key } = keyword
  if (key.startsWith('x-')) return {}
  return (EVALUATED.get(key) ?? WITHOUT_EFFECT.get(key))?.(keyword)
}

/** Whether an object has keywords with an effect, besides `$ref`. The `required` of a parameter is no keyword. */
export function hasKeywords(node: object): boolean {
  return Object.entries(node).some(([key, value]) => {
    const isOfParameter = key === 'required' && typeof value === 'boolean'
    return key !== '$ref' && EVALUATED.has(key) && !isOfParameter
  })
}

export function isSchema(node: unknown): boolean {
  return isObject(node) || typeof node === 'boolean'
}
