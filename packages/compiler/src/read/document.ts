// Reads an OpenAPI document from one or several files, moves all parts into the main one, and checks the structure.
import { dirname, relative } from 'node:path'
import {
  isRef,
  lint,
  type NormalizedProblem,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
} from '@redocly/openapi-core'
import { type Document as YamlDocument, isScalar, parseDocument } from 'yaml'
import { type Compiled, reasonOf, StartupError } from '@plant-store/engine/for-compiler'
import type { Diagnostics } from './diagnostics.ts'
import { leadsTo, member, resolveReference } from './references.ts'
import { type File, locationOf, storeLocations } from './source-locations.ts'
import { moveIntoMain, writeYaml } from './bundle.ts'
import { Reach } from './reach.ts'
import { decode, FileResolver } from './yaml-files.ts'
import { removeNoOpFields } from './no-op-fields.ts'
import { checkingConfig, problemsOf } from './lint.ts'
import { isOpenApi30, upgrade } from './upgrade.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]

/** An OpenAPI document. Its objects may be references: see `deref`. */
interface OpenApi {
  readonly root: Oas3_1Definition
  /** Whether its version of OpenAPI is supported. If not, only the version is reported. */
  readonly isServed: boolean
  /** The content of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /** Absolute paths of its files, including missing ones. */
  readonly files: readonly string[]
  /** The document to serve in YAML, if it had several files. */
  readonly bundle: Compiled['bundle']
  readonly baseUrl: Compiled['baseUrl']
}

export class UnreadableDocument extends StartupError {
  /** Absolute paths of its known files. */
  readonly files: readonly string[]

  constructor(message: string, files: readonly string[]) {
    super(message)
    this.files = files
  }
}

/**
 * Reads a YAML file, and moves referenced parts of other files into it.
 * @param diagnostics gets the errors of the structure
 * @param refsWithin the folder that must hold the other files; by default the folder of the file
 * @throws {UnreadableDocument} if it is no YAML, or no OpenAPI document
 */
export async function readOpenApi(
  file: string,
  diagnostics: Diagnostics,
  refsWithin?: string,
): Promise<OpenApi> {
  const resolver = new FileResolver(new Reach(file, refsWithin))
  try {
    const main = await resolver.read(file)
    const unserved = versionError(main.parsed)
    removeNoOpFields(main, diagnostics)
    const references = readReferences(main, diagnostics)
    if (unserved !== undefined)
      diagnostics.error(main.parsed as object, unserved.text, unserved.key)
    else {
      if (references.some(leadsToOtherFile)) await bundleFiles(main, resolver, diagnostics)
      if (isOpenApi30(main.parsed)) {
        upgrade(main, diagnostics)
        readReferences(main, diagnostics)
      }
      await checkStructure(main, resolver, diagnostics)
    }
    for (const { text, ...place } of resolver.unreadLinks) diagnostics.tell(place, text)
    const bundle = diagnostics.isBundle ? writeYaml(main.parsed) : null
    return {
      root: main.parsed as Oas3_1Definition,
      isServed: unserved === undefined,
      sources: listSources(main, resolver),
      files: [...resolver.getFiles()],
      bundle,
      baseUrl: findBaseUrl(bundle === null ? main.yaml : parseDocument(bundle)),
    }
  } catch (error) {
    const message = error instanceof StartupError ? error.message : `${file}: ${reasonOf(error)}`
    throw new UnreadableDocument(message, [...resolver.getFiles()])
  }
}

/** Stores the locations of a file's objects, and reports broken references. @returns the other references */
function readReferences(main: File, diagnostics: Diagnostics): readonly OasRef[] {
  const references = storeLocations(main, (alias, target) => diagnostics.refer(alias, target))
  checkReferences(references, diagnostics)
  return references.filter(isRef)
}

function leadsToOtherFile({ $ref }: OasRef): boolean {
  return !$ref.startsWith('#')
}

/** Moves parts of other files into the main one, and reads its references again. */
async function bundleFiles(
  main: File,
  resolver: FileResolver,
  diagnostics: Diagnostics,
): Promise<void> {
  const unresolved = await moveIntoMain(main, resolver)
  diagnostics.isBundle = resolver.sources.length > 1
  removeNoOpFields(main, diagnostics)
  readReferences(main, diagnostics)
  for (const { file, problem } of unresolved) report(problem, false, file, diagnostics)
}

async function checkStructure(
  main: File,
  resolver: FileResolver,
  diagnostics: Diagnostics,
): Promise<void> {
  const ref = main.source.absoluteRef
  const problems = await lint({
    ref,
    externalRefResolver: resolver,
    config: await checkingConfig(),
  })
  for (const { problem, isIgnored } of problemsOf(problems))
    report(problem, isIgnored, main, diagnostics)
}

function listSources(main: File, { sources }: FileResolver): OpenApi['sources'] {
  const folder = dirname(main.source.absoluteRef)
  return sources.map(({ absoluteRef, body }) => [relative(folder, absoluteRef), body] as const)
}

function report(
  problem: NormalizedProblem,
  isIgnored: boolean,
  file: File,
  diagnostics: Diagnostics,
): void {
  const { ruleId, location, message, suggest, severity } = problem
  const pointer = location[0]?.pointer ?? ''
  const isReference = ruleId === 'no-unresolved-refs' || ruleId === 'bundler'
  const key = isReference ? '/$ref' : ''
  const place = { file, pointer: pointer.replace(/^(#\/)?$/, '#') + key }
  const advice = suggest[0] === undefined ? '' : ` Did you mean ${suggest[0]}?`
  const text = message.replaceAll('\n', ' ') + advice
  const isServed = /^#\/((paths|components)\/.*|[^/]+)$/.test(place.pointer)
  const isError = severity === 'error' && !(isServed && isIgnored)
  diagnostics.add(place, text, isError, suggest.length > 0)
}

function findBaseUrl(document: YamlDocument): readonly [from: number, to: number] | null {
  const node = document.getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return isScalar(node) && node.range ? [node.range[0], node.range[1]] : null
}

const CONVERT = 'convert it with `npx @scalar/cli document upgrade FILE --output openapi.yaml`'

/** The error of an unsupported version. @throws {Error} if the document has no version */
function versionError(root: unknown): { key: string; text: string } | undefined {
  const key = ['openapi', 'swagger'].find((name) => member(root, name) !== undefined)
  if (key === undefined) throw new Error('not an OpenAPI document')
  const version = String(member(root, key))
  if (/^3\.[01]\.\d+$/.test(version)) return undefined
  const instead = version.startsWith('2') ? CONVERT : 'write openapi: 3.1.0'
  return { key, text: `OpenAPI ${version} is not served: ${instead}` }
}

/** Reports and removes broken references: no URI, or circular. */
function checkReferences(references: readonly OasRef[], diagnostics: Diagnostics): void {
  for (const reference of references) {
    if (decode(reference.$ref) !== undefined) continue
    diagnostics.error(reference, 'this $ref is no URI: write % as %25', '$ref')
    Reflect.deleteProperty(reference, '$ref')
  }
  for (const reference of references.filter(isRef)) {
    const target = resolveReference<unknown>(reference)
    if (target === null)
      reference.$ref = '#/-' // the linter can't follow a pointer through null
    else if (typeof target === 'object') diagnostics.refer(locationOf(reference), target)
  }
  const circular = references.filter(isRef).filter((reference) => leadsTo(reference, reference))
  for (const reference of circular) {
    diagnostics.error(reference, 'the reference leads back to itself')
    Reflect.deleteProperty(reference, '$ref')
  }
}
