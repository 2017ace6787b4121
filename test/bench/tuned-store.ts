// The file of the service, used by hand: tokens, plants, group commit and a cache of pages.
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'

const { DATABASE_URL = '' } = process.env
const db = new DatabaseSync(DATABASE_URL.replace('sqlite:', ''), { readBigInts: true })
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -32768')
const selectVersion = db.prepare('PRAGMA data_version')
let version: unknown
let versionRead = -Infinity

/** A cache by key. Within 100 ms after another program has written to the file, it forgets everything. */
class FileCache<Value> {
  readonly #values = new Map<string, Value>()
  readonly #max: number
  #version: unknown

  constructor(max: number) {
    this.#max = max
  }

  get(key: string): Value | undefined {
    if (performance.now() - versionRead > 100) {
      version = selectVersion.get()?.['data_version']
      versionRead = performance.now()
    }
    if (version !== this.#version) this.#values.clear()
    this.#version = version
    return this.#values.get(key)
  }

  set(key: string, value: Value): void {
    const [oldest] = this.#values.keys()
    if (oldest !== undefined && this.#values.size >= this.#max) this.#values.delete(oldest)
    this.#values.set(key, value)
  }

  delete(key: string): void {
    this.#values.delete(key)
  }
}

interface Token {
  readonly digest: string
  readonly caller: string
  readonly expires?: number
}

const tokens = new FileCache<Token>(100_000)
const selectToken = db.prepare('SELECT item FROM access_tokens WHERE owner = ? AND key = ?')

/** @returns undefined for a token that is not valid */
export function callerOf(token: string): string | undefined {
  const digest = hash('sha256', token)
  const { caller, expires = Infinity } = tokens.get(digest) ?? findToken(digest) ?? {}
  return expires > Date.now() ? caller : undefined
}

function findToken(digest: string): Token | undefined {
  const row = selectToken.get('engine', digest.slice(0, 16))
  const token = row && (JSON.parse(String(row['item'])) as Token) // as the service wrote it
  if (token?.digest !== digest) return undefined
  tokens.set(digest, token)
  return token
}

interface Write {
  /** Runs the statement. @returns a function to answer with its result, after the commit */
  readonly run: () => () => void
  readonly reject: (error: unknown) => void
}
/** Group commit: the writes of one turn share one transaction, and so one sync. */
let waiting: Write[] = []

function write<Value>(statement: () => Value): Promise<Value> {
  const { promise, resolve, reject } = Promise.withResolvers<Value>()
  const run = () => {
    const value = statement()
    return () => resolve(value)
  }
  if (waiting.push({ run, reject }) === 1) setImmediate(commit)
  return promise
}

function commit(): void {
  const batch = waiting
  waiting = []
  try {
    if (batch.length > 1) db.exec('BEGIN IMMEDIATE')
    const answers = batch.map(({ run }) => run())
    if (batch.length > 1) db.exec('COMMIT')
    for (const answer of answers) answer()
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK')
    for (const { reject } of batch) reject(error)
  }
}

export interface Page {
  readonly limit: number
  readonly from: bigint
  readonly text: string
  /** The key of the last row, if more rows follow it. */
  readonly last: bigint | undefined
}
export const LEAST_KEY = -(2n ** 63n)
export const GREATEST_KEY = 2n ** 63n - 1n
/** The rows of the first piece of a list without a limit, and of the further ones. */
export const FIRST_CHUNK = 64
const CHUNK = 500
const MAX_CACHED_LENGTH = 8192
const pages = new FileCache<Page>(10_000)
const insert = db.prepare(
  'INSERT INTO plants (owner, key, item) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
)
const select = db.prepare('SELECT item FROM plants WHERE owner = ? AND key = ?')
const remove = db.prepare('DELETE FROM plants WHERE owner = ? AND key = ?')
const selectPage = db.prepare(
  'SELECT item, key FROM plants WHERE owner = ? AND key >= ? ORDER BY key LIMIT +?',
)
selectPage.setReturnArrays(true)

/** @returns the stored plant, which may be another one */
export function createPlant(owner: string, key: bigint, item: string): Promise<string> {
  return write(() => {
    pages.delete(owner)
    if (insert.run(owner, key, item).changes === 1n) return item
    return String(select.get(owner, key)?.['item'])
  })
}

export function deletePlant(owner: string, key: bigint): Promise<boolean> {
  return write(() => {
    pages.delete(owner)
    return remove.run(owner, key).changes === 1n
  })
}

/** @param from inclusive */
export function readPage(owner: string, limit: number, from: bigint): Page {
  const cached = pages.get(owner)
  if (cached?.limit === limit && cached.from === from) return cached
  const rows = selectPage.all(owner, from, limit + 1) as unknown as [item: string, key: bigint][]
  const shown = rows.slice(0, limit)
  const text = shown.map(([item]) => item).join(',')
  const last = rows.length > limit ? shown.at(-1)?.[1] : undefined
  const page = { limit, from, text, last }
  if (text.length <= MAX_CACHED_LENGTH) pages.set(owner, page)
  return page
}

/** A list without a limit. Between two pieces, others have their turn. */
export async function* readAll(owner: string, first: Page): AsyncGenerator<string> {
  let page = first
  yield `[${page.text}`
  while (page.last !== undefined) {
    await nextTurn()
    page = readPage(owner, CHUNK, page.last + 1n)
    yield `,${page.text}`
  }
  yield ']'
}
