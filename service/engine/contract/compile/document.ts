// Reads an OpenAPI document from one file or several, and checks its structure.
import { dirname, relative } from 'node:path'
import {
  BaseResolver,
  bundle,
  lint,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
  type Source,
  YamlParseError,
} from '@redocly/openapi-core'
import { type Document as YamlDocument, isScalar, LineCounter, parseDocument, stringify } from 'yaml'
import type { Compiled } from '../compiled.ts'
import { checkingConfig, describeProblem, readingConfig } from './lint.ts'
import {
  breakCircles,
  checkReferences,
  findNode,
  member,
  type Report,
  storeLines,
  storeOrigins,
  resolveReference,
  yamlOf,
} from './references.ts'
import { reasonOf, StartupError } from '../../errors.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]

/** An OpenAPI document. Its objects may be references: see `deref`. */
export interface OpenApi {
  readonly root: Oas3_1Definition
  /** Whether it is of a version that is served. If not, nothing else is said of it. */
  readonly isServed: boolean
  /** The text of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /**
   * Changes `root` into one document, without references to other files.
   * @returns its text if it had several files, and the position of the default of the server variable `base_url` in it
   */
  readonly bundle: () => Promise<Pick<Compiled, 'bundle' | 'baseUrl'>>
}

/** The parts of a document that only people and clients read, and fields of it that OpenAPI does not have. */
const WITHOUT_EFFECT =
  /^#\/((?!(openapi|info|jsonSchemaDialect|servers|paths|components|security)(\/|$))[^/]+|info\/[^/]+|externalDocs|webhooks|components\/(links|examples|callbacks)|paths\/[^/]+\/[^/]+\/(callbacks|tags|externalDocs))(\/|$)/

/**
 * Reads a YAML file, and the files that it refers to.
 * @param refuse is told each fault of the structure
 * @param note is told each one in a part that has no effect
 * @throws {StartupError} if it is no YAML, or no OpenAPI document
 */
export async function readOpenApi(file: string, refuse: Report, note: Report): Promise<OpenApi> {
  const resolver = new FileResolver()
  const options = { ref: file, externalRefResolver: resolver }
  try {
    const main = await resolver.resolveDocument(null, file, true)
    if (main instanceof Error) throw main
    const unserved = versionFault(main.parsed)
    // The linter would not tell the line of a reference that leads back to itself.
    breakCircles(storeOrigins([main]), () => undefined)
    const problems = unserved === undefined ? await lint({ ...options, config: await checkingConfig() }) : []
    const read = await Promise.allSettled(resolver.cache.values()) // the linter has reported what can't be read
    const documents = read.flatMap((each) => ('value' in each && 'parsed' in each.value ? [each.value] : []))
    for (const each of documents) each.parsed = parseExactly(each.source)
    const references = storeOrigins(documents)
    if (unserved !== undefined) refuse(main.parsed as object, unserved.fault, unserved.key)
    breakCircles(references, refuse)
    checkReferences(references, main.source, refuse)
    for (const problem of problems) {
      const [at] = problem.location
      const document = documents.find(({ source }) => source.absoluteRef === at?.source.absoluteRef) ?? main
      const { node, key } = findNode(document, at?.pointer ?? '')
      // The linter does not step into the target of a reference with other keywords.
      if (problem.ruleId === 'no-unresolved-refs' && resolveReference(node) !== undefined) continue
      const [first] = at?.reportOnKey === true ? [] : Object.keys(node) // the place of an object is its first line
      const hasEffect = !WITHOUT_EFFECT.test(at?.pointer ?? '') || problem.suggest.length > 0
      const report = hasEffect ? refuse : note
      report(node, describeProblem(problem), key ?? first)
    }
    const folder = dirname(main.source.absoluteRef)
    return {
      root: main.parsed as Oas3_1Definition,
      isServed: unserved === undefined,
      sources: documents.map(({ source }) => [relative(folder, source.absoluteRef), source.body]),
      bundle: async () => {
        const written = yamlOf(main.source)
        if (documents.length === 1) return { bundle: null, baseUrl: written ? findBaseUrl(written) : null }
        await bundle({ ...options, config: await readingConfig() })
        const text = stringify(main.parsed)
        return { bundle: text, baseUrl: findBaseUrl(parseDocument(text)) }
      },
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    const line = error instanceof YamlParseError ? `:${error.line}` : ''
    throw new StartupError(`${file}${line}: ${reasonOf(error).replace(/ in "[^]*/, '')}`)
  }
}

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

/** Parses YAML. An integer that a `number` can't hold becomes a `bigint`. */
function parseExactly(source: Source): unknown {
  const lines = new LineCounter()
  const document = parseDocument(source.body, { intAsBigInt: true, merge: true, lineCounter: lines })
  storeLines(source, document, lines)
  return document.toJS({
    reviver: (_, value: unknown) =>
      typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
  })
}

/** Reads files, but no URLs. */
class FileResolver extends BaseResolver {
  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return super.loadExternalRef(path)
  }
}
