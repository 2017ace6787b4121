// Reads an OpenAPI document of one file or several, and knows the line of all that it says.
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
import { reasonOf, StartupError } from '../errors.ts'

/** What Redocly checks: the structure that OpenAPI 3.1 and JSON Schema 2020-12 prescribe, and names that must fit. */
const RULES = [
  ...['struct', 'no-unresolved-refs', 'no-identical-paths', 'path-parameters-defined'],
  ...['operation-parameters-unique', 'no-undefined-server-variable'],
]

/** A value of the document, and the keys that lead to it from the root. A reference is followed, and is no key. */
export class Place {
  readonly root: unknown
  readonly value: unknown
  readonly keys: readonly string[]
  /** The keys that lead to the value itself, without any reference. */
  readonly target: readonly string[]

  constructor(root: unknown, value: unknown, keys: readonly string[], target: readonly string[]) {
    this.root = root
    this.value = value
    this.keys = keys
    this.target = target
  }

  static root(document: unknown): Place {
    return new Place(document, document, [], [])
  }

  /** What a reference leads to, which may be one, too; of anything else the place itself. */
  step(): Place {
    if (!isReference(this)) return this
    const $ref = String(member(this.value, '$ref'))
    const { value, target } = Place.root(this.root).at(...pointerKeys($ref))
    return new Place(this.root, value, this.keys, target)
  }

  /** A member; its value is undefined if there is none. A reference has its own, and those of what it leads to. */
  get(key: string): Place {
    const value = member(this.value, key)
    if (value === undefined && isReference(this)) return this.step().get(key)
    return new Place(this.root, value, [...this.keys, key], [...this.target, key])
  }

  at(...keys: string[]): Place {
    return keys.reduce<Place>((place, key) => place.get(key), this)
  }

  /** The members of an object or a list, by their keys: those of a reference, and of what it leads to. */
  entries(): [key: string, place: Place][] {
    if (!isReference(this)) return this.own()
    const own = this.own().filter(([key]) => key !== '$ref')
    return [...new Map([...this.step().entries(), ...own])]
  }

  /** As `entries`, without the extensions of OpenAPI. */
  described(): [key: string, place: Place][] {
    return this.entries().filter(([key]) => !key.startsWith('x-'))
  }

  /** The members that are written here, in the place of a reference or beside it. */
  own(): [key: string, place: Place][] {
    const keys = typeof this.value === 'object' ? Object.keys(this.value ?? {}) : []
    return keys.map((key) => [key, this.get(key)])
  }
}

/** An OpenAPI document whose structure is right. */
export interface OpenApi {
  readonly root: Place
  /** What is to be served: the text of the file, or several files bundled into one. */
  readonly text: string
  readonly isBundle: boolean
  /** The text of each file, by its path from the folder of the first. */
  readonly sources: ReadonlyMap<string, string>
  /** Where the default of the server variable `base_url` stands in the text. */
  readonly baseUrl: readonly [from: number, to: number] | null
  /** The file and the line where the keys lead to. */
  readonly locate: (keys: readonly string[]) => string
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
    const refuse = (keys: readonly string[], fault: string) => {
      throw new StartupError(`${lineOf(document.source, keys)}: ${fault}`)
    }
    if (!/^3\.1\.\d+$/.test(version)) refuse(['openapi'], `OpenAPI ${version} is not served: write openapi: 3.1.0`)
    const loop = findLoop(Place.root(document.parsed))
    if (loop !== undefined) refuse(loop.keys, 'the reference leads back to itself')
    const problems = await lint({ ref: file, config, externalRefResolver: resolver })
    const faults = problems.map(({ message, suggest: [suggestion], location: [at] }) => {
      const line = at && `${relative('', at.source.absoluteRef)}:${getLineColLocation(at).start.line}: `
      return `${line}${message.replaceAll('\n', ' ')}${suggestion === undefined ? '' : ` Did you mean ${suggestion}?`}`
    })
    if (faults.length > 0) throw new StartupError([...new Set(faults)].join('\n'))
    return await bundled(file, await resolver.documents())
  } catch (error) {
    if (error instanceof StartupError) throw error
    const line = error instanceof YamlParseError ? `:${error.line}` : ''
    throw new StartupError(`${file}${line}: ${reasonOf(error).replace(/ in "[^]*/, '')}`)
  }
}

/** A component that is a reference which leads to no end. The linter throws at it, without a place. */
function findLoop(root: Place): Place | undefined {
  const components = root
    .get('components')
    .own()
    .flatMap(([, kind]) => kind.own().map(([, each]) => each))
  const steps = Array.from({ length: components.length + 1 })
  return components.find((each) => isReference(steps.reduce<Place>((place) => place.step(), each)))
}

async function bundled(file: string, files: ReadonlyMap<string, Document>): Promise<OpenApi> {
  const config = await createConfig({})
  const { bundle: whole } = await bundle({
    ref: file,
    config,
    externalRefResolver: new FileResolver(true),
  })
  const isBundle = files.size > 1
  const text = isBundle ? stringify(whole.parsed) : whole.source.body
  const base = parseDocument(text).getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  const sources = [...files].map(([path, { source }]) => [relative(dirname(resolve(file)), path), source.body] as const)
  return {
    root: Place.root(whole.parsed),
    text,
    isBundle,
    sources: new Map(sources),
    baseUrl: isScalar(base) && base.range ? [base.range[0], base.range[1]] : null,
    locate: (keys) => locate(files, resolve(file), keys),
  }
}

/** Goes down from the root of a file by the keys, through references, as far as there is something. */
function locate(files: ReadonlyMap<string, Document>, path: string, keys: readonly string[]): string {
  let at = { path, keys: [] as string[] }
  const find = (from: typeof at, key: string): typeof at | undefined => {
    const value = from.keys.reduce<unknown>(member, files.get(from.path)?.parsed)
    if (member(value, key) !== undefined) return { ...from, keys: [...from.keys, key] }
    const $ref = member(value, '$ref')
    if (typeof $ref !== 'string') return undefined
    const [file = '', pointer = ''] = $ref.split('#')
    const root: typeof at = { path: file === '' ? from.path : resolve(dirname(from.path), file), keys: [] }
    const target = pointerKeys(pointer).reduce<typeof at | undefined>((each, key) => each && find(each, key), root)
    return target && find(target, key)
  }
  for (const key of keys) at = find(at, key) ?? at
  const document = files.get(at.path)
  return document === undefined ? path : lineOf(document.source, at.keys)
}

function lineOf(source: Source, keys: readonly string[]): string {
  const pointer = `#/${keys.map((key) => key.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`
  return `${relative('', source.absoluteRef)}:${getLineColLocation({ source, pointer, reportOnKey: true }).start.line}`
}

/** Reads files only. @param exact whether an integer that a `number` can't hold is read as a `bigint` */
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

function isReference({ value }: Place): boolean {
  return typeof member(value, '$ref') === 'string'
}

/** A member of an object or a list that is its own. */
export function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined
}

function pointerKeys(pointer: string): string[] {
  const keys = decodeURIComponent(pointer).split('/').slice(1)
  return keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}
