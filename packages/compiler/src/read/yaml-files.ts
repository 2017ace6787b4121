// Reads the YAML files of a document: those in its folder, and no others.
import { readFile } from 'node:fs/promises'
import { relative } from 'node:path'
import { BaseResolver, type Document, Source } from '@redocly/openapi-core'
import {
  type Document as YamlDocument,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml'
import { StartupError } from '@plant-store/engine/for-compiler'
import { moveRefsIntoAllOf } from './keywords-beside-ref.ts'
import { isUrl, type Reach } from './reach.ts'
import type { File } from './source-locations.ts'
import { findUnreadLinks, type UnreadLink } from './unread-links.ts'

/** Reads files within reach, but no URLs. An integer that a `number` can't hold becomes a `bigint`. */
export class FileResolver extends BaseResolver {
  readonly #reach: Reach
  /** The files that were read, by their absolute paths. The main one is the first. */
  readonly files = new Map<string, File>()
  readonly sources: Source[] = []
  /** The links of these files that only people and clients would follow, where they lead out of reach. */
  readonly unreadLinks: UnreadLink[] = []
  /** The first error of YAML. Redocly takes it for a reference that leads nowhere. */
  error: StartupError | undefined

  /** @param reach the files that references may lead to */
  constructor(reach: Reach) {
    super()
    this.#reach = reach
  }

  /** @param ref a relative reference: in it, characters may be percent-encoded (RFC 3986, section 2.1) */
  override resolveExternalRef(base: string | null, ref: string): string {
    const isRelative = base !== null && !URL.canParse(ref)
    const path = isRelative ? decode(ref) : undefined
    return super.resolveExternalRef(base, path ?? ref)
  }

  override async loadExternalRef(path: string): Promise<Source> {
    const refusal = this.#reach.refusalOf(path)
    if (refusal !== undefined) throw new Error(refusal)
    return new Source(path, await readFile(path, 'utf8'))
  }

  override parseDocument(source: Source, isMain = false): Document {
    this.sources.push(source)
    if (!isMain && !DOCUMENT.test(source.absoluteRef)) return { source, parsed: source.body }
    try {
      const file = parseFile(source, isMain)
      this.unreadLinks.push(...findUnreadLinks(file, (ref) => this.#isOutOfReach(file, ref)))
      if (!isMain) moveRefsIntoAllOf(file.parsed)
      this.files.set(source.absoluteRef, file)
      return file
    } catch (error) {
      if (error instanceof StartupError) this.error ??= error
      throw error
    }
  }

  /** Whether a reference of a file leads to a URL, or to a file that is never read. */
  #isOutOfReach({ source }: File, ref: string): boolean {
    if (isUrl(ref)) return true
    const [path = ''] = ref.split('#')
    const target = this.resolveExternalRef(source.absoluteRef, path)
    return path !== '' && this.#reach.refusalOf(target) !== undefined
  }

  /** Reads the main file. */
  async read(path: string): Promise<File> {
    const document = await this.resolveDocument(null, path, true)
    if (document instanceof Error) throw document
    return document as File
  }
}

/** Parses YAML. @throws {StartupError} with the file and the line of the first error */
function parseFile(source: Source, isMain: boolean): File {
  const lines = new LineCounter()
  const yaml = parseDocument(source.body, { ...YAML, lineCounter: lines })
  const error = firstError(yaml)
  if (error) {
    const { line } = lines.linePos(error.offset)
    throw new StartupError(`${relative('', source.absoluteRef)}:${line}: ${error.message}`)
  }
  keepKeysAsWritten(yaml)
  const parsed: unknown = yaml.toJS({ maxAliasCount: MAX_ALIAS_COUNT, reviver: toNumber })
  return { source, parsed, isMain, yaml, lines }
}

/** The most objects that aliases stand for: of an alias, times those within it. */
const MAX_ALIAS_COUNT = 10_000

/** Makes a number of an integer that a `number` can hold. */
function toNumber(_key: unknown, value: unknown): unknown {
  const isShort = typeof value === 'bigint' && Number.isSafeInteger(Number(value))
  return isShort ? Number(value) : value
}

interface YamlError {
  readonly message: string
  /** Where it is in the text. */
  readonly offset: number
}

/** The first error: of the syntax, or an alias or a key that can't be served. */
function firstError(yaml: YamlDocument): YamlError | undefined {
  const [syntaxError] = yaml.errors
  if (syntaxError) return { message: syntaxError.message, offset: syntaxError.pos[0] }
  const errors: YamlError[] = []
  visit(yaml, {
    Alias: (_, alias, path) => {
      const target = alias.resolve(yaml)
      if (target && !path.includes(target)) return
      const message = `${target ? 'endless' : 'unidentified'} alias "${alias.source}"`
      errors.push({ message, offset: alias.range?.[0] ?? 0 })
    },
    Pair: (_, { key }) => {
      if (keyText(key) !== undefined) return
      const offset = isNode(key) ? key.range?.[0] : undefined
      errors.push({ message: 'a key must be a text', offset: offset ?? 0 })
    },
  })
  return errors[0]
}

/** YAML takes some keys for numbers, booleans or null. */
function keepKeysAsWritten(yaml: YamlDocument): void {
  visit(yaml, {
    Pair: (_, { key }) => {
      if (isScalar(key)) key.value = keyText(key)
    },
  })
}

/** The text of a key as it is written: `1.10` stays so. The symbol of a merge key; undefined for a key that is no scalar. */
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
export function decode(reference: string): string | undefined {
  try {
    return decodeURIComponent(reference)
  } catch {
    return undefined
  }
}
