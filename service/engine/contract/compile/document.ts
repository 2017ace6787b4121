// Reads an OpenAPI document from one file or several, and checks its structure.
import { dirname, relative } from 'node:path'
import {
  BaseResolver,
  bundle,
  type Document,
  lint,
  type Oas3_1Definition,
  type Oas3_1Schema,
  type Oas3PathItem,
  type OasRef,
  type Source,
} from '@redocly/openapi-core'
import {
  type Document as YamlDocument,
  isScalar,
  LineCounter,
  parseDocument,
  stringify,
  visit,
} from 'yaml'
import type { Compiled } from '../compiled.ts'
import type { Findings } from './findings.ts'
import {
  type File,
  leadsTo,
  member,
  placeOf,
  resolveReference,
  setApart,
  storeOrigins,
} from './references.ts'
import { checkingConfig, readingConfig } from './lint.ts'
import { reasonOf, StartupError } from '../../errors.ts'

export type PathItem = Oas3PathItem<Oas3_1Schema>
export type Operation = NonNullable<PathItem['get']>
export type Parameter = Exclude<NonNullable<Operation['parameters']>[number], OasRef>
export type RequestBody = Exclude<NonNullable<Operation['requestBody']>, OasRef>
export type MediaType = RequestBody['content'][string]
export type Response = Operation['responses'][string]

/** An OpenAPI document. Its objects may be references: see `deref`. */
interface OpenApi {
  readonly root: Oas3_1Definition
  /** Whether its version of OpenAPI is served. If not, nothing else of it is reported. */
  readonly isServed: boolean
  /** The text of each file, by its path relative to the folder of the main file. */
  readonly sources: readonly (readonly [path: string, text: string])[]
  /**
   * Changes `root` into one document, without references to other files.
   * @returns its text if it had several files, and the position of the default of the server variable `base_url` in it
   */
  readonly bundle: () => Promise<Pick<Compiled, 'bundle' | 'baseUrl'>>
}

/**
 * Reads a YAML file, and the files that it refers to.
 * @param findings get each fault of the structure
 * @throws {StartupError} if it is no YAML, or no OpenAPI document
 */
export async function readOpenApi(file: string, findings: Findings): Promise<OpenApi> {
  const resolver = new FileResolver()
  try {
    const main = await resolver.read(null, file)
    const unserved = versionFault(main.parsed)
    const { files, references } = await resolver.readAll(main, findings)
    if (unserved !== undefined) findings.refuse(main.parsed as object, unserved.fault, unserved.key)
    checkReferences(references, findings)
    const options = { ref: file, externalRefResolver: resolver }
    const problems =
      unserved === undefined ? await lint({ ...options, config: await checkingConfig() }) : []
    for (const { ruleId, location, message, suggest, severity } of problems) {
      const [{ source, pointer = '' } = { source: main.source }] = location
      const file = files.find((each) => each.source === source) ?? main
      const member = ruleId === 'no-unresolved-refs' ? '/$ref' : ''
      const place = { file, pointer: pointer.replace(/^(#\/)?$/, '#') + member }
      const text =
        message.replaceAll('\n', ' ') +
        (suggest[0] === undefined ? '' : ` Did you mean ${suggest[0]}?`)
      findings.add(place, text, severity === 'error', suggest.length > 0)
    }
    const folder = dirname(main.source.absoluteRef)
    return {
      root: main.parsed as Oas3_1Definition,
      isServed: unserved === undefined,
      sources: files.map(({ source }) => [relative(folder, source.absoluteRef), source.body]),
      bundle: async () => {
        if (files.length === 1) return { bundle: null, baseUrl: findBaseUrl(main.yaml) }
        for (const each of references) setApart(resolveReference(each))
        await bundle({ ...options, config: await readingConfig() })
        const text = stringify(main.parsed)
        return { bundle: text, baseUrl: findBaseUrl(parseDocument(text)) }
      },
    }
  } catch (error) {
    if (error instanceof StartupError) throw error
    throw new StartupError(`${file}: ${reasonOf(error)}`)
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

/** Refuses references that nobody could follow, and removes them. */
function checkReferences(references: readonly OasRef[], findings: Findings): void {
  for (const each of references) {
    const target = resolveReference<unknown>(each)
    if (target === null)
      each.$ref = '#/-' // the linter can't follow a pointer through null
    else if (typeof target === 'object') findings.refer(placeOf(each), target)
  }
  for (const each of references.filter((one) => leadsTo(one, one))) {
    findings.refuse(each, 'the reference leads back to itself')
    Reflect.deleteProperty(each, '$ref')
  }
}

/** Reads files, but no URLs. An integer that a `number` can't hold becomes a `bigint`. */
class FileResolver extends BaseResolver {
  override async loadExternalRef(path: string): Promise<Source> {
    if (URL.canParse(path)) throw new Error('only files are read: copy it beside the contract')
    return super.loadExternalRef(path)
  }

  override parseDocument(source: Source, isMain = false): Document {
    if (!isMain && !DOCUMENT.test(source.absoluteRef)) return super.parseDocument(source)
    const lines = new LineCounter()
    const options = { intAsBigInt: true, merge: true, lineCounter: lines, prettyErrors: false }
    const yaml = parseDocument(source.body, options)
    let [fault] = yaml.errors.map(({ message, pos: [at] }) => ({ message, at }))
    visit(yaml, {
      Alias: (_, alias, path) => {
        const target = alias.resolve(yaml)
        if (target && !path.includes(target)) return
        const message = `${target ? 'endless' : 'unidentified'} alias "${alias.source}"`
        fault ??= { message, at: alias.range?.[0] ?? 0 }
      },
    })
    const path = relative('', source.absoluteRef)
    if (fault) throw new StartupError(`${path}:${lines.linePos(fault.at).line}: ${fault.message}`)
    const parsed: unknown = yaml.toJS({
      maxAliasCount: 10_000, // of an alias, times those within it
      reviver: (_, value: unknown) =>
        typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value,
    })
    const file: File = { source, parsed, isMain, yaml, lines }
    return file
  }

  async read(base: string | null, path: string): Promise<File> {
    const found = await this.resolveDocument(base, path, base === null)
    if (found instanceof Error) throw found
    return found as File
  }

  /** Reads all files that references lead to. For one that can't be read, the linter and schemas.ts report the reference. */
  async readAll(main: File, findings: Findings): Promise<{ files: File[]; references: OasRef[] }> {
    const files = new Map([[main.source.absoluteRef, main]])
    const references: OasRef[] = []
    for (const [base, file] of files) {
      const own = storeOrigins(file, files, (place, target) => findings.refer(place, target))
      references.push(...own)
      for (const path of new Set(own.map(({ $ref }) => $ref.replace(/#.*/, '')))) {
        if (!DOCUMENT.test(path)) continue
        const found = await this.read(base, path).catch((error: unknown) => {
          if (error instanceof StartupError) throw error
        })
        if (found) files.set(found.source.absoluteRef, found)
      }
    }
    return { files: [...files.values()], references }
  }
}

const DOCUMENT = /\.(ya?ml|json)$/i
