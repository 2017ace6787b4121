// Reads the YAML files of a document, only from its folder.
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
import { type Finding, sentenceOf } from '../sentences/sentences.ts'
import { moveRefsIntoAllOf } from './keywords-beside-ref.ts'
import { isUrl, type Reach } from './reach.ts'
import { decode } from './references.ts'
import type { File } from './source-locations.ts'
import { findUnreadLinks, type UnreadLink } from './unread-links.ts'

/** Reads files within reach, but no URLs. Integers beyond 2^53 become `bigint`. */
export class FileResolver extends BaseResolver {
  readonly #reach: Reach
  /** The files read so far, by absolute path. The main one is the first. */
  readonly files = new Map<string, File>()
  readonly sources: Source[] = []
  /** Links out of reach, for people and clients only. */
  readonly unreadLinks: UnreadLink[] = []
  /** The first error of YAML. Redocly would take it for a dangling reference. */
  error: StartupError | undefined

  constructor(reach: Reach) {
    super()
    this.#reach = reach
  }

  /** @param ref a relative reference, perhaps percent-encoded (RFC 3986, section 2.1) */
  override resolveExternalRef(base: string | null, ref: string): string {
    const isRelative = base !== null && !URL.canParse(ref)
    const path = isRelative ? decode(ref) : undefined
    return super.resolveExternalRef(base, path ?? ref)
  }

  override async loadExternalRef(path: string): Promise<Source> {
    const refusal = this.#reach.refusalOf(path)
    if (refusal !== undefined) throw new Error(sentenceOf(refusal))
    const body = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new Error(sentenceOf(unreadable(path, error)), { cause: error })
    })
    return new Source(path, body)
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

  #isOutOfReach({ source }: File, ref: string): boolean {
    if (isUrl(ref)) return true
    const [path = ''] = ref.split('#')
    const target = this.resolveExternalRef(source.absoluteRef, path)
    return path !== '' && this.#reach.refusalOf(target) !== undefined
  }

  async read(path: string): Promise<File> {
    const document = await this.resolveDocument(null, path, true)
    if (document instanceof Error) throw document
    return document as File
  }
}

/** Why a file can't be read, without its absolute path. */
function unreadable(path: string, error: unknown): Finding {
  const file = relative('', path)
  const reason = error instanceof Error && 'code' in error ? String(error.code) : 'error'
  return reason === 'ENOENT'
    ? { code: 'file-missing', file }
    : { code: 'file-unreadable', reason, file }
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

/** The most objects after expansion of all aliases. */
const MAX_ALIAS_COUNT = 10_000

/** Makes a `number` of integers up to 2^53. */
function toNumber(_key: unknown, value: unknown): unknown {
  const isShort = typeof value === 'bigint' && Number.isSafeInteger(Number(value))
  return isShort ? Number(value) : value
}

interface YamlError {
  readonly message: string
  /** In characters from the start of the file. */
  readonly offset: number
}

/** The first error: of the syntax, of an alias, or of a key. */
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
      if (keySource(key) !== undefined) return
      const offset = isNode(key) ? key.range?.[0] : undefined
      errors.push({ message: 'a key must be a string', offset: offset ?? 0 })
    },
  })
  return errors[0]
}

/** Keeps keys as strings, which YAML would take for numbers, booleans or null. */
function keepKeysAsWritten(yaml: YamlDocument): void {
  visit(yaml, {
    Pair: (_, { key }) => {
      if (isScalar(key)) key.value = keySource(key)
    },
  })
}

/** The source of a key, so that `1.10` stays unchanged. A merge key is a symbol; a key other than a scalar is undefined. */
function keySource(key: unknown): unknown {
  if (!isScalar(key)) return undefined
  return typeof key.value === 'string' || typeof key.value === 'symbol' ? key.value : key.source
}

const YAML = {
  intAsBigInt: true,
  merge: true,
  prettyErrors: false,
  uniqueKeys: (a: unknown, b: unknown) =>
    keySource(a) !== undefined && keySource(a) === keySource(b),
} as const
const DOCUMENT = /\.(ya?ml|json)$/i
