// Redocly's linter and bundler: what they know of OpenAPI 3.1, and by which rules a document is checked.
import { fileURLToPath } from 'node:url'
import { createConfig } from '@redocly/openapi-core'
import type { Plugin } from '@redocly/openapi-core/lib/config/types.js'
import { isObject } from '../engine/json-schema/assertions.ts'

type Types = ReturnType<NonNullable<NonNullable<Plugin['typeExtension']>['oas3']>>

/** The rules of the linter itself: the structure, references and names of OpenAPI 3.1. */
const RULES = {
  struct: 'error',
  'no-unresolved-refs': 'error',
  'path-parameters-defined': 'error',
  'operation-parameters-unique': 'error',
  'no-undefined-server-variable': 'error',
} as const
const REFUSALS = fileURLToPath(import.meta.resolve('./refusals.yaml'))

/** The configuration to bundle the files of a document. */
export const bundlingConfig = () => createConfig({ ...configOf(withKeywords), rules: {} })
/** The configuration to check a document without its schemas, which schemas.ts checks. */
export const checkingConfig = () =>
  createConfig({
    ...configOf((types) => withoutSchemas(withKeywords(types))),
    extends: [REFUSALS],
    rules: RULES,
  })

function configOf(oas3: (types: Types) => Types) {
  const plugin: Plugin = { id: 'contract', typeExtension: { oas3 } }
  return { plugins: [plugin], resolve: { doNotResolveExamples: true } }
}

const MAPS = ['NamedSchemas', 'SchemaProperties', 'PatternProperties', 'DependentRequired']
const INHERITED = Object.getOwnPropertyNames(Object.prototype).filter(
  (name) => name !== '__proto__',
)

function withKeywords({ Schema = { properties: {} }, ...others }: Types): Types {
  // Otherwise it would take what a map inherits from `Object.prototype` for the types of members with these names.
  const maps = MAPS.map((name) => {
    const { properties, additionalProperties: type } = others[name] ?? { properties: {} }
    const typeOf = (value: unknown, key: string) => {
      if (typeof value === 'function') return null
      return typeof type === 'function' ? type(value, key) : type
    }
    const named = Object.fromEntries(INHERITED.map((key) => [key, typeOf]))
    return [name, { ...others[name], properties: { ...named, ...properties } }] as const
  })
  const properties = { ...Schema.properties, dependentSchemas: 'NamedSchemas' }
  // Other keywords are annotations (section 6.5).
  const types = {
    ...others,
    ...Object.fromEntries(maps),
    Schema: { ...Schema, properties, additionalProperties: {} },
  }
  // It would follow each `$ref` in an extension, and check those that it knows.
  const plain = Object.entries(types).map(
    ([name, { extensionsPrefix: _, properties, ...type }]) => {
      const standard = Object.entries(properties).filter(([key]) => !key.startsWith('x-'))
      return [name, { ...type, properties: Object.fromEntries(standard) }] as const
    },
  )
  return Object.fromEntries(plain)
}

function withoutSchemas(types: Types): Types {
  const isSchema = (type: unknown) => type === 'Schema' || type === 'NamedSchemas'
  const unread = (value: unknown) =>
    isObject(value) || typeof value === 'boolean' ? null : ({ type: 'object' } as const)
  const without = ({ properties, ...type }: Types[string]) => ({
    ...type,
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, each]) => [key, isSchema(each) ? unread : each]),
    ),
  })
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, without(type)]))
}
