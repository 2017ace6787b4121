// Reads an OpenAPI document in steps: checks its references, bundles its files, upgrades it, locates its objects, checks its structure.
import { dirname, relative } from 'node:path'
import type { Oas3_1Definition, Oas3_1Schema, Oas3PathItem, OasRef } from '@redocly/openapi-core'
import { type Document as YamlDocument, isScalar, parseDocument } from 'yaml'
import { type Compiled, reasonOf, StartupError } from '@plant-store/engine/for-compiler'
import { isContainer } from '@plant-store/json-schema'
import { removeBrokenReferences } from './broken-references.ts'
import { moveIntoMain, writeYaml } from './bundle.ts'
import type { Diagnostics } from './diagnostics.ts'
import { publishedPart } from './internal-schemas.ts'
import { removeNoOpFields } from './no-op-fields.ts'
import { Reach } from './reach.ts'
import { member, resolveReference } from './references.ts'
import { type File, findPlaces, locationOf, storeLocations } from './source-locations.ts'
import { checkStructure, reportProblem } from './structure.ts'
import { isOpenApi30, upgrade } from './upgrade.ts'
import { FileResolver } from './yaml-files.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]
export type Header = Exclude<NonNullable<Response['headers']>[string], OasRef>

/** An OpenAPI document. Its objects may be references: see `deref`. */
interface OpenApi {
  readonly root: Oas3_1Definition
  /** Whether its version of OpenAPI is supported. If not, only the version is reported. */
  readonly isServed: boolean
  /** The content of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /** Absolute paths of its files, including missing ones. */
  readonly files: readonly string[]
  /** The document in YAML, if it had several files. */
  readonly bundle: Compiled['bundle']
  readonly published: Compiled['published']
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
    const isServed = checkVersion(main, diagnostics)
    const references = tidy(main, diagnostics)
    const hasOtherFiles = references.some(leadsToOtherFile)
    if (isServed && hasOtherFiles) await bundleFiles(main, resolver, diagnostics)
    if (isOpenApi30(main.parsed)) upgrade(main, diagnostics)
    locate(main, diagnostics)
    if (isServed) await checkStructure(main, resolver, diagnostics)
    for (const { finding, ...place } of resolver.unreadLinks) diagnostics.tell(place, finding)
    const root = main.parsed as Oas3_1Definition
    return {
      root,
      isServed,
      sources: listSources(main, resolver),
      files: [...resolver.getFiles()],
      ...writeDocuments(main, diagnostics, isServed ? publishedPart(root, diagnostics) : undefined),
    }
  } catch (error) {
    const message =
      error instanceof StartupError ? error.message : `${relative('', file)}: ${reasonOf(error)}`
    throw new UnreadableDocument(message, [...resolver.getFiles()])
  }
}

/** Writes the documents that are not as their files. @param part the published part, if it is not the whole */
function writeDocuments(
  main: File,
  { isBundle }: Diagnostics,
  part: object | undefined,
): Pick<OpenApi, 'bundle' | 'published' | 'baseUrl'> {
  const bundle = isBundle ? writeYaml(main.parsed) : null
  const published = part && writeYaml(part)
  const served = published ?? bundle
  const baseUrl = findBaseUrl(served === null ? main.yaml : parseDocument(served))
  return { bundle, published, baseUrl }
}

/** Removes no-op fields and broken references, which would stop a later step. @returns the other references */
function tidy(main: File, diagnostics: Diagnostics): readonly OasRef[] {
  removeNoOpFields(main, diagnostics)
  const { places, aliases } = findPlaces(main)
  for (const { location, target } of aliases) diagnostics.refer(location, target)
  return removeBrokenReferences(main, places, diagnostics)
}

function leadsToOtherFile({ $ref }: OasRef): boolean {
  return !$ref.startsWith('#')
}

/** Moves parts of other files into the main one, and tidies them. */
async function bundleFiles(
  main: File,
  resolver: FileResolver,
  diagnostics: Diagnostics,
): Promise<void> {
  const unresolved = await moveIntoMain(main, resolver)
  diagnostics.isBundle = resolver.sources.length > 1
  tidy(main, diagnostics)
  for (const { file, problem } of unresolved) reportProblem(problem, false, file, diagnostics)
}

/** Stores the location of each object, and connects each reference with its target. */
function locate(main: File, diagnostics: Diagnostics): void {
  const { places } = findPlaces(main)
  storeLocations(places)
  for (const [node, location] of places) {
    const target = resolveReference<unknown>(node)
    if (isContainer(target)) diagnostics.refer(location, locationOf(target))
  }
}

function listSources(main: File, { sources }: FileResolver): OpenApi['sources'] {
  const folder = dirname(main.source.absoluteRef)
  return sources.map(({ absoluteRef, body }) => [relative(folder, absoluteRef), body] as const)
}

function findBaseUrl(document: YamlDocument): readonly [from: number, to: number] | null {
  const node = document.getIn(['servers', 0, 'variables', 'base_url', 'default'], true)
  return isScalar(node) && node.range ? [node.range[0], node.range[1]] : null
}

/** Whether the version is supported; if not, reports it. @throws {Error} if the document has no version */
function checkVersion(main: File, diagnostics: Diagnostics): boolean {
  const key = ['openapi', 'swagger'].find((name) => member(main.parsed, name) !== undefined)
  if (key === undefined) throw new Error('not an OpenAPI document')
  const version = String(member(main.parsed, key))
  if (/^3\.[01]\.\d+$/.test(version)) return true
  const place = { file: main, pointer: `#/${key}` }
  const code = version.startsWith('2') ? 'version-swagger' : 'version-unknown'
  diagnostics.add(place, { code, version }, true)
  return false
}
