// Reads an OpenAPI document from one file or several, and finds the line of each object in them.
import { dirname, relative, resolve } from 'node:path'
import {
  BaseResolver,
  bundle,
  createConfig,
  type Document,
  getLineColLocation,
  lint,
  type Source,
  YamlParseError,
} from '@redocly/openapi-core'
import { isScalar, parseDocument, stringify } from 'yaml'
import type { Root } from './openapi.ts'
import { reasonOf, StartupError } from '../../errors.ts'

/** The rules of Redocly's linter: the structure of OpenAPI 3.1 and JSON Schema 2020-12, references and names. */
const RULES = [
  ...['struct', 'no-unresolved-refs', 'no-identical-paths', 'path-parameters-defined'],
  ...['operation-parameters-unique', 'no-undefined-server-variable'],
]

/** An OpenAPI document with a valid structure. */
export interface OpenApi {
  readonly root: Root
  /** The document as one file, without references to others. */
  readonly bundle: Root
  /** The text to serve: the file, or a bundle of several files. */
  readonly text: string
  readonly isBundle: boolean
  /** The text of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /** The position of the default of the server variable `base_url` in the text. */
  readonly baseUrl: readonly [from: number, to: number] | null
}

/** The place of an object: its file, and the keys that lead to it. */
interface Origin {
  readonly documents: ReadonlyMap<string, Document>
  readonly path: string
  readonly keys: readonly string[]
}
const ORIGINS = new WeakMap<object, Origin>()

/** The target of a reference, which may be a reference, too. @returns undefined if the node is not a reference */
export function resolveReference<T>(node: T): T | undefined {
  const origin = isReference(node) ? ORIGINS.get(node) : undefined
  if (!isReference(node) || origin === undefined) return undefined
  const [file = '', pointer = ''] = node.$ref.split('#')
  const path = file === '' ? origin.path : resolve(dirname(origin.path), file)
  const keys = decodeURIComponent(pointer).split('/').slice(1)
  const names = keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
  return names.reduce((each, key) => member(deref(each), key), origin.documents.get(path)?.parsed) as T | undefined
}

/** Follows references to their end. Anything else is returned as it is. */
export function deref<T>(node: T): T {
  const target = resolveReference(node)
  return target === undefined ? node : deref(target)
}

/** The members of an object by name. Follows the references of the object and of each member. */
export function derefEntries<T>(node: Readonly<Record<string, T>> | undefined): [name: string, member: T][] {
  return Object.entries(deref(node) ?? {}).map(([name, each]) => [name, deref(each)])
}

/** The file and the line of an object, or of its member `key`. */
export function findLine(node: object, key?: string): string {
  const { documents, path, keys } = ORIGINS.get(node) ?? {}
  const source = documents?.get(path ?? '')?.source
  return source === undefined ? '' : lineAt(source, [...(keys ?? []), ...(key === undefined ? [] : [key])])
}

/**
 * Reads a YAML file, and the files that it refers to.
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readOpenApi(file: string): Promise<OpenApi> {
  const resolver = new FileResolver(false)
  const config = await createConfig({ rules: Object.fromEntries(RULES.map((rule) => [rule, 'error'])) })
  try {
    const document = await resolver.resolveDocument(null, file, true)
    if (document instanceof Error) throw document
    const version = member(document.parsed, 'openapi')
    if (typeof version !== 'string') throw new Error('not an OpenAPI document')
    if (!/^3\.1\.\d+$/.test(version)) {
      const line = lineAt(document.source, ['openapi'])
      throw new StartupError(`${line}: OpenAPI ${version} is not served: write openapi: 3.1.0`)
    }
    storeOrigins(new Map([[document.source.absoluteRef, document]]), document.source.absoluteRef, document.parsed)
    const loop = findLoop(document.parsed)
    if (loop !== undefined) throw new StartupError(`${findLine(loop)}: the reference leads back to itself`)
    const problems = await lint({ ref: file, config, externalRefResolver: resolver })
    const faults = problems.map(({ message, suggest: [suggestion], location: [at] }) => {
      const line = at && `${relative('', at.source.absoluteRef)}:${getLineColLocation(at).start.line}: `
      return `${line}${message.replaceAll('\n', ' ')}${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
    })
    if (faults.length > 0) throw new StartupError([...new Set(faults)].join('\n'))
    return await bundleFiles(file, await resolver.documents())
  } catch (error) {
    if (error instanceof StartupError) throw error
    const line = error instanceof YamlParseError ? `:${error.line}` : ''
    throw new StartupError(`${file}${line}: ${reasonOf(error).replace(/ in "[^]*/, '')}`)
  }
}

async function bundleFiles(file: string, files: ReadonlyMap<string, Document>): Promise<OpenApi> {
  const config = await createConfig({})
  const resolver = new FileResolver(true)
  const documents = new Map([...files].map(([path, { source }]) => [path, resolver.parseDocument(source)]))
  for (const [path, { parsed }] of documents) storeOrigins(documents, path, parsed)
  const isBundle = files.size > 1
  const { bundle: whole } = await bundle({ ref: file, config, externalRefResolver: resolver })
  storeOrigins(new Map([[resolve(file), whole]]), resolve(file), whole.parsed)
  const text = isBundle ? stringify(whole.parsed) : whole.source.body
  const base = parseDocument(text).getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return {
    root: documents.get(resolve(file))?.parsed as Root,
    bundle: whole.parsed as Root,
    text,
    isBundle,
    sources: [...files].map(([path, { source }]) => [relative(dirname(resolve(file)), path), source.body]),
    baseUrl: isScalar(base) && base.range ? [base.range[0], base.range[1]] : null,
  }
}

/** Finds a component that refers to itself. The linter would throw an error without a line. */
function findLoop(document: unknown): object | undefined {
  const kinds = Object.values(member(document, 'components') ?? {})
  return kinds
    .flatMap((kind) => Object.values(kind as object) as object[])
    .find((component) => {
      const seen = new Set<unknown>()
      for (let each: unknown = component; each !== undefined; each = resolveReference(each)) {
        if (seen.has(each)) return each === component
        seen.add(each)
      }
      return false
    })
}

/** Stores the place of each object. An alias of YAML has the place of its anchor. */
function storeOrigins(documents: Origin['documents'], path: string, node: unknown, keys: readonly string[] = []): void {
  if (typeof node !== 'object' || node === null || ORIGINS.has(node)) return
  ORIGINS.set(node, { documents, path, keys })
  for (const [key, each] of Object.entries(node)) storeOrigins(documents, path, each, [...keys, key])
}

function lineAt(source: Source, keys: readonly string[]): string {
  const pointer = `#/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
  return `${relative('', source.absoluteRef)}:${getLineColLocation({ source, pointer, reportOnKey: true }).start.line}`
}

/** Reads files, but no URLs. @param exact whether an integer that a `number` can't hold becomes a `bigint` */
class FileResolver extends BaseResolver {
  readonly #exact: boolean

  constructor(exact: boolean) {
    super()
    this.#exact = exact
  }

  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return super.loadExternalRef(path)
  }

  override parseDocument(source: Source, isRoot?: boolean): Document {
    if (!this.#exact) return super.parseDocument(source, isRoot)
    const reviver = (_: unknown, value: unknown) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
    const parsed: unknown = parseDocument(source.body, { intAsBigInt: true, merge: true }).toJS({ reviver })
    return { source, parsed }
  }

  /** The files that were read, by their absolute paths. */
  async documents(): Promise<Map<string, Document>> {
    const all = await Promise.all(this.cache.values())
    return new Map(all.flatMap((each) => (each instanceof Error ? [] : [[each.source.absoluteRef, each]])))
  }
}

function isReference(value: unknown): value is { readonly $ref: string } {
  return typeof member(value, '$ref') === 'string'
}

/** An own property of an object or a list. */
function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}
