// Checks the structure of an OpenAPI document with Redocly's linter.
import { createConfig, type lint } from '@redocly/openapi-core'
import type { Plugin } from '@redocly/openapi-core/lib/config/types.js'
import { member } from './references.ts'
import { isObject } from '../assertions.ts'

/** The rules of the linter: the structure of OpenAPI 3.1 and JSON Schema 2020-12, references and names. */
const RULES = [
  ...['struct', 'no-unresolved-refs', 'no-identical-paths', 'path-parameters-defined', 'contract/boolean-schemas'],
  ...['operation-parameters-unique', 'no-undefined-server-variable'],
]

/** Configurations that know JSON Schema 2020-12: to read a document, and to check it. */
export const readingConfig = () => createConfig({ plugins: [PLUGIN], resolve: { doNotResolveExamples: true } })
export const checkingConfig = () =>
  createConfig({
    plugins: [PLUGIN],
    resolve: { doNotResolveExamples: true },
    rules: Object.fromEntries(RULES.map((rule) => [rule, 'error'])),
    preprocessors: { 'contract/keywords-of-schemas': 'on' },
  })

/** What the linter says of a problem, in one line. */
export function describeProblem({ message, suggest: [suggestion] }: Awaited<ReturnType<typeof lint>>[number]): string {
  return message.replaceAll('\n', ' ') + (suggestion === undefined ? '' : ` Did you mean ${suggestion}?`)
}

const MAPS = ['NamedSchemas', 'SchemaProperties', 'PatternProperties', 'DependentRequired']
const INHERITED = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__')

/** The keywords of a schema that are as OpenAPI 3.0 had them. */
const keysOf30 = (node: unknown) =>
  ['nullable', 'exclusiveMinimum', 'exclusiveMaximum'].filter((key) => typeof member(node, key) === 'boolean')

/** What the linter does not know of JSON Schema 2020-12. */
const PLUGIN: Plugin = {
  id: 'contract',
  preprocessors: {
    oas3: {
      // The linter does not look at what stands beside a `$ref`.
      'keywords-of-schemas': () => ({
        // keywords.ts has those of OpenAPI 3.0.
        Schema: (node) => {
          for (const key of keysOf30(node)) Reflect.deleteProperty(node, key)
        },
        ref: (node, { type, resolve }) => {
          const isSchema = type.name === 'Schema'
          if (isSchema) for (const key of keysOf30(node)) Reflect.deleteProperty(node, key)
          const { $ref, ...others } = node
          const target: unknown = type.name === 'PathItem' ? resolve(node).node : undefined
          if (Object.keys(others).length === 0 || !(isSchema || isObject(target))) return
          Reflect.deleteProperty(node, '$ref')
          const all: unknown = Reflect.get(others, 'allOf')
          if (isSchema) Reflect.set(node, 'allOf', [{ $ref }, all ?? []].flat())
          else Object.assign(node, target, others)
        },
      }),
    },
  },
  rules: {
    oas3: {
      // `true` and `false` are schemas (section 4.3.2).
      'boolean-schemas': () => ({
        any: {
          enter: (node, { type, ignoreNextVisitorsOnNode }) => {
            if (type.name === 'Schema' && typeof node === 'boolean') ignoreNextVisitorsOnNode()
          },
        },
      }),
    },
  },
  typeExtension: {
    oas3: ({ Schema = { properties: {} }, ...others }) => {
      // Else it would find what is inherited from `Object.prototype` for members of these names.
      const maps = MAPS.map((name) => {
        const { properties, additionalProperties: type } = others[name] ?? { properties: {} }
        const typeOf = (value: unknown, key: string) =>
          typeof value === 'function' ? null : typeof type === 'function' ? type(value, key) : type
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
      // It would follow each `$ref` in an extension.
      const plain = Object.entries(types).map(([name, { extensionsPrefix: _, ...type }]) => [name, type] as const)
      return Object.fromEntries(plain)
    },
  },
}
