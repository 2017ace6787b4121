// Reads an OpenAPI document from one file or several, and checks its structure.
import { dirname, relative } from 'node:path'
import {
  BaseResolver,
  bundle,
  createConfig,
  type Document,
  lint,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
  type Source,
  YamlParseError,
} from '@redocly/openapi-core'
import type { Plugin } from '@redocly/openapi-core/lib/config/types.js'
import { isScalar, parseDocument, stringify } from 'yaml'
import type { Report } from './references.ts'
import { breakCircles, checkReferences, findNode, findPlace, member, storeOrigins } from './references.ts'
import { reasonOf, StartupError } from '../../errors.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]

/** An OpenAPI document with a valid structure. Its objects may be references: see `deref`. */
export interface OpenApi {
  readonly root: Oas3_1Definition
  /** The text of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /** Changes `root` into one document, without references to other files. @returns the text to serve */
  readonly bundle: () => Promise<string>
}

/** The rules of Redocly's linter: the structure of OpenAPI 3.1 and JSON Schema 2020-12, references and names. */
const RULES = [
  ...['struct', 'no-unresolved-refs', 'no-identical-paths', 'path-parameters-defined'],
  ...['operation-parameters-unique', 'no-undefined-server-variable'],
]

/**
 * Reads a YAML file, and the files that it refers to.
 * @param refuse is told each fault of the structure
 * @throws {StartupError} if it is no OpenAPI document, or not of version 3.1
 */
export async function readOpenApi(file: string, refuse: Report): Promise<OpenApi> {
  const resolver = new FileResolver()
  const options = { ref: file, config: await configOf(RULES), externalRefResolver: resolver }
  try {
    const main = await resolver.resolveDocument(null, file, true)
    if (main instanceof Error) throw main
    const references = storeOrigins([main])
    checkVersion(main)
    // The linter would not tell the line of such a reference.
    breakCircles(references, () => undefined)
    const problems = await lint(options)
    const read = await Promise.allSettled(resolver.cache.values()) // the linter has reported what can't be read
    const documents = read.flatMap((each) => ('value' in each && 'parsed' in each.value ? [each.value] : []))
    references.push(...storeOrigins(documents))
    // The linter does not look at keywords beside a `$ref`, so it looks again without `$ref`. What it then misses may be
    // in the target.
    const crowded = references.filter((each) => Object.keys(each).length > 1)
    for (const each of crowded) Reflect.deleteProperty(each, '$ref')
    if (crowded.length > 0) {
      const others = await lint({ ...options, config: await configOf(['struct']) })
      problems.push(...others.filter(({ message }) => !/must (be present|contain)/i.test(message)))
    }
    for (const each of documents) each.parsed = parseExactly(each.source.body)
    const exact = storeOrigins(documents)
    breakCircles(exact, refuse)
    checkReferences(exact, main.source, refuse)
    for (const { message, suggest, location } of problems) {
      const [at] = location
      const document = documents.find(({ source }) => source.absoluteRef === at?.source.absoluteRef) ?? main
      const { node, key } = findNode(document, at?.pointer ?? '')
      const [first] = at?.reportOnKey === true ? [] : Object.keys(node) // the place of an object is its first line
      const [suggestion] = suggest
      const also = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`
      refuse(node, `${message.replaceAll('\n', ' ')}${also}`, key ?? first)
    }
    const folder = dirname(main.source.absoluteRef)
    return {
      root: main.parsed as Oas3_1Definition,
      sources: documents.map(({ source }) => [relative(folder, source.absoluteRef), source.body]),
      bundle: async () => {
        await bundle(options)
        return documents.length > 1 ? stringify(main.parsed) : main.source.body
      },
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    const line = error instanceof YamlParseError ? `:${error.line}` : ''
    throw new StartupError(`${file}${line}: ${reasonOf(error).replace(/ in "[^]*/, '')}`)
  }
}

/** The configuration of the linter with some of its rules. */
export const configOf = (rules: readonly string[]) =>
  createConfig({
    plugins: [PLUGIN],
    rules: Object.fromEntries(['contract/boolean-schemas', ...rules].map((rule) => [rule, 'error'])),
  })

const MAPS = ['NamedSchemas', 'SchemaProperties', 'PatternProperties', 'DependentRequired']
const INHERITED = Object.getOwnPropertyNames(Object.prototype).filter((name) => name !== '__proto__')

/** What the linter does not know of JSON Schema 2020-12. */
const PLUGIN: Plugin = {
  id: 'contract',
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
    // Else it would find what is inherited from `Object.prototype` for members of these names.
    oas3: (types) => {
      const { Schema = { properties: {} }, ...others } = types
      const maps = MAPS.map((name) => {
        const { properties, additionalProperties: type } = others[name] ?? { properties: {} }
        const typeOf = (value: unknown, key: string) =>
          typeof value === 'function' ? null : typeof type === 'function' ? type(value, key) : type
        const named = Object.fromEntries(INHERITED.map((key) => [key, typeOf]))
        return [name, { ...others[name], properties: { ...named, ...properties } }] as const
      })
      const properties = { ...Schema.properties, dependentSchemas: 'NamedSchemas' }
      return { ...types, ...Object.fromEntries(maps), Schema: { ...Schema, properties } }
    },
  },
}

/** The position of the default of the server variable `base_url`. */
export function findBaseUrl(text: string): readonly [from: number, to: number] | null {
  const node = parseDocument(text).getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return isScalar(node) && node.range ? [node.range[0], node.range[1]] : null
}

function checkVersion({ parsed }: Document): void {
  const version = member(parsed, 'openapi')
  if (typeof version !== 'string') throw new Error('not an OpenAPI document')
  if (!/^3\.1\.\d+$/.test(version)) {
    const { file, line } = findPlace(parsed as object, 'openapi')
    throw new StartupError(`${file}:${line}: OpenAPI ${version} is not served: write openapi: 3.1.0`)
  }
}

/** Parses YAML. An integer that a `number` can't hold becomes a `bigint`. */
function parseExactly(text: string): unknown {
  const reviver = (_: unknown, value: unknown) =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
  return parseDocument(text, { intAsBigInt: true, merge: true }).toJS({ reviver })
}

/** Reads files, but no URLs. */
class FileResolver extends BaseResolver {
  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return super.loadExternalRef(path)
  }
}
