// Reads an OpenAPI document from one file or several, and finds the line of each object in them.
import { dirname, relative, resolve } from 'node:path'
import {
  BaseResolver,
  bundle,
  createConfig,
  type Document,
  getLineColLocation,
  isRef,
  lint,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
  type Source,
  unescapePointer,
  YamlParseError,
} from '@redocly/openapi-core'
import { isScalar, parseDocument, stringify } from 'yaml'
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

/** Where an object was read. The bundler may change its `$ref`, but not this. */
interface Origin {
  readonly documents: ReadonlyMap<string, Document>
  readonly source: Source
  readonly pointer: string
  readonly $ref: string | undefined
}
const ORIGINS = new WeakMap<object, Origin>()

/** The target of a reference, which may be a reference, too. @returns undefined if the node is not a reference */
export function resolveReference<T>(node: T | OasRef): T | undefined {
  const { documents, source, $ref } = (isRef(node) && ORIGINS.get(node)) || {}
  if (documents === undefined || source === undefined || $ref === undefined) return undefined
  const [file = '', pointer = ''] = $ref.split('#')
  const path = file === '' ? source.absoluteRef : resolve(dirname(source.absoluteRef), file)
  let target: unknown = documents.get(path)?.parsed
  for (const name of pointer.split('/').slice(1)) target = member(deref(target), unescapePointer(name))
  return target as T | undefined
}

/** Follows references to their end. Anything else is returned as it is. */
export function deref<T>(node: T | OasRef): T {
  const target = resolveReference(node)
  return target === undefined ? (node as T) : deref(target)
}

/** The members of an object by name. Follows the references of the object and of each member. */
export function derefEntries<T>(node: Readonly<Record<string, T | OasRef>> | undefined): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, each]) => [name, deref(each)])
}

/** The file and the line of an object, or of its member `key`. */
export function findLine(node: object, key?: string): string {
  const origin = ORIGINS.get(node)
  if (origin === undefined) return ''
  const pointer = origin.pointer + (key === undefined ? '' : segment(key))
  return lineOf({ source: origin.source, pointer, reportOnKey: true })
}

/**
 * Reads a YAML file, and the files that it refers to.
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readOpenApi(file: string): Promise<OpenApi> {
  const resolver = new FileResolver()
  const config = await createConfig({ rules: Object.fromEntries(RULES.map((rule) => [rule, 'error'])) })
  const options = { ref: file, config, externalRefResolver: resolver }
  try {
    const main = await resolver.resolveDocument(null, file, true)
    if (main instanceof Error) throw main
    checkDocument(main)
    const faults = (await lint(options)).map(({ message, suggest: [suggestion], location: [at] }) => {
      const line = at && `${lineOf(at)}: `
      return `${line}${message.replaceAll('\n', ' ')}${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
    })
    if (faults.length > 0) throw new StartupError([...new Set(faults)].join('\n'))

    const documents = (await Promise.all(resolver.cache.values())).filter((each) => 'parsed' in each)
    for (const each of documents) each.parsed = parseExactly(each.source.body)
    checkReferences(storeOrigins(documents), main.source)
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

/** The position of the default of the server variable `base_url`. */
export function findBaseUrl(text: string): readonly [from: number, to: number] | null {
  const node = parseDocument(text).getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return isScalar(node) && node.range ? [node.range[0], node.range[1]] : null
}

/** Refuses other versions of OpenAPI, and references that lead back to themselves: the linter would not tell the line. */
function checkDocument(main: Document): void {
  const references = storeOrigins([main])
  const version = member(main.parsed, 'openapi')
  if (typeof version !== 'string') throw new Error('not an OpenAPI document')
  if (!/^3\.1\.\d+$/.test(version)) {
    const line = findLine(main.parsed as object, 'openapi')
    throw new StartupError(`${line}: OpenAPI ${version} is not served: write openapi: 3.1.0`)
  }
  checkReferences(references, main.source)
}

/** Parses YAML. An integer that a `number` can't hold becomes a `bigint`. */
function parseExactly(text: string): unknown {
  const reviver = (_: unknown, value: unknown) =>
    typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
  return parseDocument(text, { intAsBigInt: true, merge: true }).toJS({ reviver })
}

/** Stores the origin of each object. An alias of YAML has the origin of its anchor. @returns the references */
function storeOrigins(all: readonly Document[]): object[] {
  const documents = new Map(all.map((each) => [each.source.absoluteRef, each]))
  const references: object[] = []
  const store = (source: Source, node: unknown, pointer: string) => {
    if (typeof node !== 'object' || node === null || ORIGINS.has(node)) return
    ORIGINS.set(node, { documents, source, pointer, $ref: isRef(node) ? node.$ref : undefined })
    if (isRef(node)) references.push(node)
    for (const [key, each] of Object.entries(node)) store(source, each, pointer + segment(key))
  }
  for (const { source, parsed } of all) store(source, parsed, '#')
  return references
}

/** Refuses references that lead back to themselves, and keywords that the bundler would lose. */
function checkReferences(references: readonly object[], main: Source): void {
  for (const each of references) {
    if (leadsTo(each, each)) throw new StartupError(`${findLine(each)}: the reference leads back to itself`)
    const target = resolveReference<object>(each)
    if (!isRef(target) || Object.keys(target).every((key) => /^(\$ref|summary|description)$/.test(key))) continue
    // Across files, the bundler replaces a reference to a reference by one to the end of both.
    if ([each, target, deref<object>(target)].every((node) => ORIGINS.get(node)?.source === main)) continue
    const fault = 'keywords beside this $ref are lost where other files refer to it: write "allOf: [{ $ref: ... }]"'
    throw new StartupError(`${findLine(target)}: ${fault}`)
  }
}

/** Whether a reference leads to a node: by references, and by schemas for the same value. */
function leadsTo(goal: unknown, from: unknown, seen = new Set<unknown>()): boolean {
  if (typeof from !== 'object' || from === null || seen.has(from)) return false
  seen.add(from)
  const { allOf, anyOf, oneOf, dependentSchemas, not, if: condition, then, else: otherwise } = from as Oas3_1Schema
  const next = [allOf, anyOf, oneOf, dependentSchemas].flatMap((each) => Object.values<unknown>(each ?? {}))
  const targets = [resolveReference(from), not, condition, then, otherwise, ...next]
  return targets.some((each) => each === goal || leadsTo(goal, each, seen))
}

/** A step of a JSON pointer in a fragment of a URI (RFC 6901, section 6), as Redocly decodes it. */
const segment = (key: string) => `/${key.replaceAll('%', '%25').replaceAll('~', '~0').replaceAll('/', '~1')}`

function lineOf(location: Parameters<typeof getLineColLocation>[0]): string {
  return `${relative('', location.source.absoluteRef)}:${getLineColLocation(location).start.line}`
}

/** Reads files, but no URLs. */
class FileResolver extends BaseResolver {
  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return super.loadExternalRef(path)
  }
}

/** An own property of an object or a list. */
function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
