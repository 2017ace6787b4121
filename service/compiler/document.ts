// Reads an OpenAPI document from one file or several, and checks its structure. What other files have is moved into the main one.
import { readFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import {
  BaseResolver,
  bundle,
  type Document,
  isRef,
  lint,
  type NormalizedProblem,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
  Source,
} from '@redocly/openapi-core'
import { Document as YamlDocument, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml'
import type { Compiled } from '../engine/contract/compiled.ts'
import type { Findings } from './findings.ts'
import {
  type File,
  leadsTo,
  member,
  placeOf,
  resolveReference,
  storeOrigins,
} from './references.ts'
import { bundlingConfig, checkingConfig } from './lint.ts'
import { hasKeywords } from './schemas.ts'
import { isHolder, isObject } from '../engine/json-schema/assertions.ts'
import { reachable } from '../engine/json-schema/joint-schemas.ts'
import { reasonOf, StartupError } from '../engine/errors.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]

/** An OpenAPI document. Its objects may be references within it: see `deref`. */
interface OpenApi {
  readonly root: Oas3_1Definition
  /** Whether its version of OpenAPI is served. If not, nothing else of it is reported. */
  readonly isServed: boolean
  /** The text of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /** The absolute paths of the files that it refers to, also of those that are missing. */
  readonly files: readonly string[]
  /** The text of the document as it is served, if it had several files. */
  readonly bundle: Compiled['bundle']
  readonly baseUrl: Compiled['baseUrl']
}

/** A document can't be read. */
export class UnreadableDocument extends StartupError {
  /** The absolute paths of its files, as far as they are known. */
  readonly files: readonly string[]

  constructor(message: string, files: readonly string[]) {
    super(message)
    this.files = files
  }
}

/**
 * Reads a YAML file. If it refers to others, what it refers to is moved into it.
 * @param findings get each fault of the structure
 * @throws {UnreadableDocument} if it is no YAML, or no OpenAPI document
 */
export async function readOpenApi(file: string, findings: Findings): Promise<OpenApi> {
  const resolver = new FileResolver()
  try {
    const main = await resolver.read(file)
    const unserved = versionFault(main.parsed)
    const references = readReferences(main, findings)
    if (unserved !== undefined) findings.refuse(main.parsed as object, unserved.fault, unserved.key)
    const options = { ref: file, externalRefResolver: resolver }
    const isLinked = references.some(({ $ref }) => !$ref.startsWith('#'))
    if (unserved === undefined && isLinked) await moveIntoMain(main, resolver, findings)
    const problems =
      unserved === undefined ? await lint({ ...options, config: await checkingConfig() }) : []
    for (const problem of problems) report(problem, main, findings)
    const folder = dirname(main.source.absoluteRef)
    const bundle = findings.isBundle ? writeYaml(main.parsed) : null
    return {
      root: main.parsed as Oas3_1Definition,
      isServed: unserved === undefined,
      sources: resolver.sources.map(({ absoluteRef, body }) => [
        relative(folder, absoluteRef),
        body,
      ]),
      files: [...resolver.getFiles()],
      bundle,
      baseUrl: findBaseUrl(bundle === null ? main.yaml : parseDocument(bundle)),
    }
  } catch (error) {
    const message = error instanceof StartupError ? error.message : `${file}: ${reasonOf(error)}`
    throw new UnreadableDocument(message, [...resolver.getFiles()])
  }
}

/** Stores the origins of a file, and refuses references that nobody could follow. @returns the others */
function readReferences(main: File, findings: Findings): readonly OasRef[] {
  const references = storeOrigins(main, (place, target) => findings.refer(place, target))
  checkReferences(references, findings)
  return references.filter(isRef)
}

/** Moves what a file refers to in others into it, by Redocly's bundler. */
async function moveIntoMain(main: File, resolver: FileResolver, findings: Findings): Promise<void> {
  const config = await bundlingConfig()
  const root = main.parsed as Oas3_1Definition
  setKeywordsApart(root)
  const own = new Set(listComponents(root).map(({ pointer }) => pointer))
  const { problems } = await bundle({ doc: main, externalRefResolver: resolver, config })
  if (resolver.fault) throw resolver.fault
  findings.isBundle = resolver.sources.length > 1
  renameComponents(root, own)
  readReferences(main, findings)
  for (const problem of problems) {
    const { source } = problem.location[0] ?? { source: main.source }
    const within = resolver.files.get(source.absoluteRef) ?? main
    const isRead = !WITHOUT_EFFECT.test(problem.location[0]?.pointer ?? '')
    if (problem.severity === 'error' && isRead) report(problem, within, findings)
  }
}

/**
 * Moves the `$ref` of each schema with keywords beside it into its `allOf`. The bundler follows a reference that leads to
 * another one to its end, and would lose the keywords on the way.
 */
function setKeywordsApart(document: unknown): void {
  for (const node of reachable(document, () => undefined).filter(isRef)) {
    if (!hasKeywords(node)) continue
    const allOf: unknown[] = [member(node, 'allOf') ?? []].flat()
    Reflect.set(node, 'allOf', [{ $ref: node.$ref }, ...allOf])
    Reflect.deleteProperty(node, '$ref')
  }
}

/** Adds what Redocly says of a document to the findings. */
function report(problem: NormalizedProblem, file: File, findings: Findings): void {
  const { ruleId, location, message, suggest, severity } = problem
  const [{ pointer = '' } = {}] = location
  const member = ruleId === 'no-unresolved-refs' || ruleId === 'bundler' ? '/$ref' : ''
  const place = { file, pointer: pointer.replace(/^(#\/)?$/, '#') + member }
  const text =
    message.replaceAll('\n', ' ') + (suggest[0] === undefined ? '' : ` Did you mean ${suggest[0]}?`)
  findings.add(place, text, severity === 'error', suggest.length > 0)
}

/** What only people and clients read may lead nowhere. */
const WITHOUT_EFFECT = /\/(discriminator\/mapping|examples)\//

/** The components of a document, by pointers as the bundler writes them: without escapes. */
const listComponents = ({ components = {} }: Oas3_1Definition) =>
  Object.entries<unknown>({ ...components }).flatMap(([type, all]) =>
    isObject(all)
      ? Object.keys(all).map((name) => ({ all, name, pointer: `#/components/${type}/${name}` }))
      : [],
  )

/**
 * Gives components names that OpenAPI allows: the bundler takes the parts of pointers and the names of files as they are.
 * @param own the pointers of those that were in the main file before
 */
function renameComponents(root: Oas3_1Definition, own: ReadonlySet<string>): void {
  const renamed = new Map<unknown, string>()
  for (const { all, name, pointer } of listComponents(root)) {
    if (COMPONENT_NAME.test(name) || own.has(pointer)) continue
    let allowed = name.replaceAll(/[^\w.-]+/g, '_')
    while (allowed in all) allowed += '_'
    Reflect.set(all, allowed, Reflect.get(all, name))
    Reflect.deleteProperty(all, name)
    renamed.set(pointer, pointer.slice(0, -name.length) + allowed)
  }
  for (const node of reachable(root, () => undefined).filter(isHolder))
    for (const [key, value] of Object.entries(node))
      if (renamed.has(value)) Reflect.set(node, key, renamed.get(value))
}

const COMPONENT_NAME = /^[\w.-]+$/

/**
 * Writes a document for readers of YAML 1.1 and 1.2: of texts only words have no quotes, and what only YAML 1.1 takes for a line
 * break, or does not allow, is escaped.
 */
function writeYaml(root: unknown): string {
  const yaml = new YamlDocument(root)
  visit(yaml, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && !WORD.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  const escape = (character: string) =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  return yaml
    .toString({ lineWidth: 0 })
    .replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g, escape)
}

/** A text that no reader of YAML takes for a number, a date, a boolean or null. */
const WORD = /^(?!(y|n|yes|no|on|off|true|false|null)$)[$a-z]\w*$/i

function findBaseUrl(document: YamlDocument): readonly [from: number, to: number] | null {
  const node = document.getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return isScalar(node) && node.range ? [node.range[0], node.range[1]] : null
}

const CONVERT = 'convert it with `npx @scalar/cli document upgrade FILE --output openapi.yaml`'

/** What is wrong with the version of a document. @throws {Error} if it has none */
function versionFault(root: unknown): { key: string; fault: string } | undefined {
  const key = ['openapi', 'swagger'].find((each) => member(root, each) !== undefined)
  if (key === undefined) throw new Error('not an OpenAPI document')
  const version = String(member(root, key))
  if (/^3\.1\.\d+$/.test(version)) return undefined
  const instead = /^2|^3\.0/.test(version) ? CONVERT : 'write openapi: 3.1.0'
  return { key, fault: `OpenAPI ${version} is not served: ${instead}` }
}

/** Refuses references that nobody could follow, and removes them. */
function checkReferences(references: readonly OasRef[], findings: Findings): void {
  for (const each of references.filter(({ $ref }) => decode($ref) === undefined)) {
    findings.refuse(each, 'this $ref is no URI: write % as %25', '$ref')
    Reflect.deleteProperty(each, '$ref')
  }
  for (const each of references.filter(isRef)) {
    const target = resolveReference<unknown>(each)
    if (target === null)
      each.$ref = '#/-' // the linter can't follow a pointer through null
    else if (typeof target === 'object') findings.refer(placeOf(each), target)
  }
  for (const each of references.filter(isRef).filter((one) => leadsTo(one, one))) {
    findings.refuse(each, 'the reference leads back to itself')
    Reflect.deleteProperty(each, '$ref')
  }
}

/** Reads files, but no URLs. An integer that a `number` can't hold becomes a `bigint`. */
class FileResolver extends BaseResolver {
  /** The files that were read, by their absolute paths. The main one is the first. */
  readonly files = new Map<string, File>()
  readonly sources: Source[] = []
  /** The first fault of YAML. Redocly takes it for a reference that leads nowhere. */
  fault: StartupError | undefined

  /** @param ref a relative reference: in it, characters may be percent-encoded (RFC 3986, section 2.1) */
  override resolveExternalRef(base: string | null, ref: string): string {
    return super.resolveExternalRef(
      base,
      base === null || URL.canParse(ref) ? ref : (decode(ref) ?? ref),
    )
  }

  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return new Source(path, await readFile(path, 'utf8'))
  }

  override parseDocument(source: Source, isMain = false): Document {
    this.sources.push(source)
    if (!isMain && !DOCUMENT.test(source.absoluteRef)) return { source, parsed: source.body }
    try {
      const file = parseFile(source, isMain)
      if (!isMain) setKeywordsApart(file.parsed)
      this.files.set(source.absoluteRef, file)
      return file
    } catch (error) {
      if (error instanceof StartupError) this.fault ??= error
      throw error
    }
  }

  async read(path: string): Promise<File> {
    const found = await this.resolveDocument(null, path, true)
    if (found instanceof Error) throw found
    return found as File
  }
}

/** Parses YAML. @throws {StartupError} with the file and the line of the first fault */
function parseFile(source: Source, isMain: boolean): File {
  const lines = new LineCounter()
  const yaml = parseDocument(source.body, { ...YAML, lineCounter: lines })
  let [fault] = yaml.errors.map(({ message, pos: [at] }) => ({ message, at }))
  visit(yaml, {
    Alias: (_, alias, path) => {
      const target = alias.resolve(yaml)
      if (target && !path.includes(target)) return
      const message = `${target ? 'endless' : 'unidentified'} alias "${alias.source}"`
      fault ??= { message, at: alias.range?.[0] ?? 0 }
    },
    Pair: (_, pair) => {
      const name = keyText(pair.key)
      if (name === undefined) {
        const at = isNode(pair.key) ? pair.key.range?.[0] : undefined
        fault ??= { message: 'a key must be a text', at: at ?? 0 }
      } else if (isScalar(pair.key)) pair.key.value = name
    },
  })
  const path = relative('', source.absoluteRef)
  if (fault) throw new StartupError(`${path}:${lines.linePos(fault.at).line}: ${fault.message}`)
  const parsed: unknown = yaml.toJS({
    maxAliasCount: 10_000, // of an alias, times those within it
    reviver: (_, value: unknown) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  })
  return { source, parsed, isMain, yaml, lines }
}

/** The text of a key as it is written: `1.10` stays so. The symbol of a merge key; undefined for what is no scalar. */
function keyText(key: unknown): unknown {
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' || typeof key.value === 'symbol' ? key.value : key.source
}

const YAML = {
  intAsBigInt: true,
  merge: true,
  prettyErrors: false,
  uniqueKeys: (a: unknown, b: unknown) => keyText(a) !== undefined && keyText(a) === keyText(b),
} as const
const DOCUMENT = /\.(ya?ml|json)$/i

/** Decodes a reference. @returns undefined if it is not percent-encoded as a URI has to be */
function decode(reference: string): string | undefined {
  try {
    return decodeURIComponent(reference)
  } catch {
    return undefined
  }
}
