// Configures Redocly's linter and bundler: the objects of OpenAPI 3.1, and the rules for a document.
import { fileURLToPath } from 'node:url'
import { createConfig, type NormalizedProblem, Oas3_1Types } from '@redocly/openapi-core'
import type { Plugin } from '@redocly/openapi-core/lib/config/types.js'
import type { NormalizedNodeType } from '@redocly/openapi-core/lib/types/index.js'
import type { UserContext } from '@redocly/openapi-core/lib/walk.js'
import { isObject } from '@plant-store/json-schema'
import { nameOf } from './source-locations.ts'
import { isNear } from './spelling.ts'

type Types = ReturnType<NonNullable<NonNullable<Plugin['typeExtension']>['oas3']>>

/** Built-in rules of the linter, and the two rules below. */
const RULES = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'operation-parameters-unique': 'error',
  'no-undefined-server-variable': 'warn',
  'contract/unknown-field': 'error',
  'contract/unused-field': 'error',
} as const
const REFUSALS = fileURLToPath(import.meta.resolve('./refusals.yaml'))

export const bundlingConfig = () => createConfig({ ...configOf(withCorrections), rules: {} })

/** The configuration to check a document without its schemas: schemas.ts checks them. */
export const checkingConfig = () =>
  createConfig({
    ...configOf((types) => withoutSchemas(withCorrections(types))),
    extends: [REFUSALS],
    rules: RULES,
    preprocessors: { 'service/internal-schemas': 'off' }, // a contract is compiled as it was written
  })

/** @param change corrects Redocly's table of the objects of OpenAPI */
function configOf(change: (types: Types) => Types) {
  const plugin: Plugin = {
    id: 'contract',
    typeExtension: { oas3: change },
    rules: { oas3: FIELD_RULES },
  }
  return { plugins: [plugin], resolve: { doNotResolveExamples: true } }
}

/** Corrects Redocly's table of objects where it differs from OpenAPI 3.1. */
function withCorrections(types: Types): Types {
  return withoutExtensions(withCommonHabits(withOtherKeywords(withAnyName(types))))
}

/** Fields for people and clients only, in any object. */
const FOR_PEOPLE =
  /^(title|summary|description|examples?|deprecated|tags|externalDocs|contact|license|termsOfService|links|callbacks)$/
const FIELDS = Object.values(Oas3_1Types).flatMap(({ properties }) => Object.keys(properties))
/** Fields of OpenAPI and Swagger, and keywords, with an effect on the service. */
const MEANINGFUL: ReadonlySet<string> = new Set(
  [...FIELDS, 'consumes', 'produces', 'collectionFormat'].filter((name) => !FOR_PEOPLE.test(name)),
)

/** The rule `struct` has one id for many problems. These rules find the same fields again, with an id for each problem. */
const FIELD_RULES: NonNullable<NonNullable<Plugin['rules']>['oas3']> = {
  'unknown-field': () => ({ any: reportFields((name, type, node) => isUnknown(name, type, node)) }),
  'unused-field': () => ({ any: reportFields((name, type, node) => isUnused(name, type, node)) }),
}

type FieldRule = (name: string, type: NormalizedNodeType, node: Record<string, unknown>) => boolean

function reportFields(applies: FieldRule) {
  return (node: unknown, context: UserContext): void => {
    const { type, location } = context
    if (!isObject(node) || type.items) return
    for (const name of Object.keys(node).filter((key) => applies(key, type, node)))
      context.report({ message: name, location: location.child([name]).key() })
  }
}

/** Whether a type of object has no such field. */
const isUnknown: FieldRule = (name, { properties, additionalProperties }, node) => {
  const described = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
  const type: unknown = typeof described === 'function' ? described(node[name], name) : described
  return type === undefined && !name.startsWith('x-')
}

/** Whether only other objects of the type may have a field, such as `scheme` of a security scheme. */
const isUnused: FieldRule = (name, type, node) =>
  Object.hasOwn(type.properties, name) && type.allowed?.(node)?.includes(name) === false

export interface LintProblem {
  readonly problem: NormalizedProblem
  /** Whether it is about a no-op field, which is ignored. */
  readonly isIgnored: boolean
}

/** The problems to report, without the problems of the two rules above. */
export function problemsOf(problems: readonly NormalizedProblem[]): LintProblem[] {
  const byRule = Map.groupBy(problems, ({ ruleId }) => ruleId)
  const pointersOf = (ruleId: string) => new Set(byRule.get(ruleId)?.map(pointerOf))
  const unknown = pointersOf('contract/unknown-field')
  const unused = pointersOf('contract/unused-field')
  const reported = problems.filter(({ ruleId }) => !ruleId.startsWith('contract/'))
  return reported.map((problem) => {
    const pointer = pointerOf(problem)
    const isStructure = problem.ruleId === 'struct'
    const isUnknown = unknown.has(pointer) && isWithoutMeaning(problem)
    return { problem, isIgnored: isStructure && (unused.has(pointer) || isUnknown) }
  })
}

const pointerOf = ({ location: [first] }: NormalizedProblem) => first?.pointer ?? ''

/** Whether an unknown field can be ignored: it means nothing elsewhere, and is probably not misspelt. */
function isWithoutMeaning(problem: NormalizedProblem): boolean {
  const [token = ''] = pointerOf(problem).split('/').slice(-1)
  const name = nameOf(token)
  const meant = problem.suggest.find((suggested) => isNear(name, suggested))
  return FOR_PEOPLE.test(meant ?? name) || (meant === undefined && !MEANINGFUL.has(name))
}

type Properties = Types[string]['properties']

/** Types of objects with any keys, such as schemas by name. */
const MAPS = ['NamedSchemas', 'SchemaProperties', 'PatternProperties', 'DependentRequired']
/** Names every object inherits, such as `constructor`. */
const INHERITED = Object.getOwnPropertyNames(Object.prototype).filter(
  (name) => name !== '__proto__',
)

/**
 * Redocly looks up the type of a key by `properties[name]`. For the name `constructor` it would find an inherited function, and
 * call it. So each map gets entries for these names.
 */
function withAnyName(types: Types): Types {
  const { Schema, ...otherTypes } = types
  const corrected: Types = { ...otherTypes }
  for (const name of MAPS) {
    const map = types[name] ?? { properties: {} }
    corrected[name] = { ...map, properties: { ...inheritedNames(map), ...map.properties } }
  }
  if (Schema === undefined) return corrected
  // Redocly's map for this keyword has no name, so it would stay uncorrected.
  const properties: Properties = { ...Schema.properties, dependentSchemas: 'NamedSchemas' }
  return { ...corrected, Schema: { ...Schema, properties } }
}

function inheritedNames({ additionalProperties: type }: Types[string]): Properties {
  const typeOf = (value: unknown, name: string) => {
    const isMissing = typeof value === 'function' // Redocly has read the inherited property
    if (isMissing) return null
    return typeof type === 'function' ? type(value, name) : type
  }
  return Object.fromEntries(INHERITED.map((name) => [name, typeOf]))
}

/** Redocly refuses unknown keywords. In JSON Schema they are annotations (core, section 6.5). */
function withOtherKeywords({ Schema = { properties: {} }, ...otherTypes }: Types): Types {
  return { ...otherTypes, Schema: { ...Schema, additionalProperties: {} } }
}

const FLOWS = ['ImplicitFlow', 'PasswordFlow', 'ClientCredentials', 'AuthorizationCode']

/** Allows common deviations with one obvious reading: refusals.yaml warns of them. */
function withCommonHabits(types: Types): Types {
  const corrected: Types = { ...types }
  for (const name of FLOWS) corrected[name] = withoutRequired(types[name], 'scopes')
  corrected['Response'] = withoutRequired(types['Response'], 'description')
  const { requiredOneOf: _, ...parameter } = types['Parameter'] ?? { properties: {} }
  corrected['Parameter'] = parameter
  const { Header, Responses } = types
  if (Header !== undefined) {
    const { requiredOneOf: _schema, properties, ...header } = Header
    corrected['Header'] = { ...header, properties: { ...properties, name: null, in: null } }
  }
  const ofStatus = (_value: unknown, key: string) =>
    /^[1-5](\d\d|xx)$/i.test(key) ? 'Response' : undefined
  if (Responses !== undefined)
    corrected['Responses'] = { ...Responses, additionalProperties: ofStatus }
  return corrected
}

function withoutRequired(type: Types[string] = { properties: {} }, name: string): Types[string] {
  const { required } = type
  if (!Array.isArray(required)) return type
  return { ...type, required: required.filter((candidate) => candidate !== name) }
}

/** Extensions may have any value, but Redocly follows each `$ref` in them, and checks known extensions. */
function withoutExtensions(types: Types): Types {
  const withoutExtension = ({ extensionsPrefix: _, properties, ...type }: Types[string]) => {
    const standard = Object.entries(properties).filter(([name]) => !name.startsWith('x-'))
    return { ...type, properties: Object.fromEntries(standard) }
  }
  return mapValues(types, withoutExtension)
}

/** Redocly knows only a part of JSON Schema. Here it accepts any object or boolean as a schema. */
function withoutSchemas(types: Types): Types {
  const unread = (value: unknown) => {
    const mayBeSchema = isObject(value) || typeof value === 'boolean'
    return mayBeSchema ? null : ({ type: 'object' } as const)
  }
  return mapValues(types, ({ properties, ...type }) => ({
    ...type,
    properties: mapValues(properties, (property) =>
      property === 'Schema' || property === 'NamedSchemas' ? unread : property,
    ),
  }))
}

function mapValues<Value>(
  record: Readonly<Record<string, Value>>,
  change: (value: Value) => Value,
): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}
