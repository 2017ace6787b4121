import type { Logger } from 'pino'
import type { Config } from '../engine/config.ts'
import type { JsonText } from '../engine/http/json.ts'
import type { Batcher } from './batch.ts'

/** The settings that a store reads, besides `DATABASE_URL`. */
export type Settings = Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_TIMEOUT'> &
  Partial<Pick<Config, 'NODE_ENV'>>

/** How a store reports to the service. Commands open a store without it. */
export interface Monitor {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /** Called once, when the store can't be used until the process is restarted. Every later call of the store fails. */
  readonly onFailure: (message: string, error: unknown) => void
}

/** A key: an int64, or a text of 1 to 1024 bytes in UTF-8 without NUL. */
export type Key = bigint | string
export type KeyType = 'int64' | 'text'
/** Says that a table was made for another type of keys. */
export const otherKeys = (name: string, type: KeyType) =>
  `the keys of the collection ${name} are no ${type}: give it another name, or its keys the type that they had`
export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

/** The collections of a product by name, which is also the name of their table. */
export type Collections = Readonly<Record<string, { readonly key: KeyType }>>

/**
 * JSON documents, each under its owner and its key. The owner is a caller, or a name that the product chooses for what
 * callers share: a text of at most 1024 bytes in UTF-8 without NUL. No owner sees or changes what another one has. Under an
 * owner or a key that can't be stored there is nothing: it is not found, deleted or listed.
 *
 * When the promise of a write is fulfilled, the write is on disk, and every later call sees it, on every replica. Every
 * method may fail with StoreUnavailable (errors.ts): a failed write may be done or not, and can be repeated.
 */
export interface Collection<Item, K extends Key = bigint> {
  /**
   * Stores an item, unless the owner has one under this key.
   * @returns the item that is stored under the key now
   * @throws {HttpError} 400 for an owner or a key that can't be stored
   * @throws {Error} for an item that its schema refuses, or that JSON would change: nothing is stored
   */
  create(owner: string, key: K, item: Item): Promise<Item>
  /** The owner's item under this key; undefined if there is none. */
  find(owner: string, key: K): Promise<Item | undefined>
  /**
   * Changes an item. No other change gets between: `change` gets the item that is stored. It may be called again if
   * another process was faster, so it must do nothing else.
   * @param change returns the new item, and no promise; undefined leaves the item as it is
   * @returns the item that is stored now; undefined if there is none
   * @throws {Error} for a new item as of `create`: nothing is changed
   */
  update(owner: string, key: K, change: (item: Item) => Item | undefined): Promise<Item | undefined>
  /** Deletes the owner's item under this key. @returns whether there was one */
  delete(owner: string, key: K): Promise<boolean>
  /**
   * Lists the owner's items by ascending key: an int64 by its value, a text by its bytes in UTF-8. A list of up to 64 KB
   * shows one moment. A longer one is read in steps: what is there all the time is in it once, what was never there is not.
   * @throws {HttpError} 400 for a cursor that `list` did not make, and for a limit that is no integer from 0
   */
  list(owner: string, page?: PageRequest): Promise<Page<Item>>
}

/**
 * Which items a page has: at most `limit`, after a cursor. Absent: all, from the first one. With the limit 0 it is empty, and
 * no page follows it.
 */
interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Some items of one owner. */
export interface Page<Item> {
  /** The items as JSON; in parts if they are too long to hold in memory. */
  readonly items: JsonText<Item[]> | AsyncIterable<JsonText<Item[]>>
  /** The cursor of the next page, if the owner has more items. */
  readonly next?: string
}

/** An item as JSON, with its owner and its key. */
export interface Entry {
  readonly owner: string
  readonly key: Key
  readonly text: string
}

/** A step of a list: it ends at the first bound that it reaches, but has at least one row. */
export interface Step {
  readonly owner: string
  /** The key after which it begins; absent: from the first one. */
  readonly after: Key | undefined
  /** The most rows. */
  readonly most: number
  /** The length in bytes, or characters, after which no further row is read. */
  readonly length: number
  /** The key after which no further row is read. */
  readonly end?: Key | undefined
}

/** What a step has read: items as JSON with commas between, the last key if there is one, and whether more rows follow. */
export interface Rows {
  readonly text: string
  readonly count: number
  readonly last?: Key | undefined
  readonly hasMore: boolean
}

/** The table of a collection in a database: the methods of `Collection` with items as JSON texts, and steps of lists. */
export interface Table {
  readonly key: KeyType
  create(owner: string, key: Key, text: string): Promise<string>
  find(owner: string, key: Key): Promise<string | undefined>
  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined>
  delete(owner: string, key: Key): Promise<boolean>
  /** Reads a step in one moment. @param deadline when it must be read, on the clock of `performance.now()` */
  read(step: Step, deadline: number): Promise<Rows>
  /** The key of the row `count` places after a key, or from the first one; undefined if there are fewer. */
  skip(
    owner: string,
    after: Key | undefined,
    count: number,
    deadline: number,
  ): Promise<Key | undefined>
  /** The next rows of all owners, by owner and key, after an entry or from the first one. Empty after the last one. */
  entries(after?: Entry): Promise<Entry[]>
}

/** An access token. The token itself is not stored, only its SHA-256, the digest. */
export interface StoredToken {
  /** Names the token in lists and commands; the beginning of its digest. */
  readonly id: string
  readonly caller: string
  readonly created: Date
  /** Absent if it never expires. */
  readonly expires?: Date
  /** RFC 6749, section 3.3. */
  readonly scopes: readonly string[]
  readonly digest: Uint8Array
}

/** The figures of a store that the metrics show. */
export interface Figures {
  /** How many transactions were committed since the start, and how many writes were in them. */
  readonly commits: number
  readonly writes: number
  /** SQLite: the bytes of the write-ahead log. */
  readonly walBytes?: number
  /**
   * PostgreSQL. Connections: the most that are allowed (`size`), the used and the idle ones. `waiting` operations are not
   * sent yet.
   */
  readonly pool?: Readonly<Record<'size' | 'used' | 'idle' | 'waiting', number>>
}

/** The tables of the collections, and access tokens. Every method may fail with StoreUnavailable (errors.ts). */
export interface Store {
  /** By the names of the collections. */
  readonly tables: ReadonlyMap<string, Table>
  /** Milliseconds for an operation. An embedded store has it for the steps of lists, which wait for each other. */
  readonly timeout: number
  /** Runs the steps of long lists, with {@link runSteps}. */
  readonly steps: Batcher<Turn, unknown>

  addToken(token: StoredToken): Promise<void>
  /** The access token with this digest, expired or not; undefined if there is none. */
  findToken(digest: Uint8Array): Promise<StoredToken | undefined>
  /** All access tokens, also expired ones, the oldest first. */
  listTokens(): Promise<StoredToken[]>
  /** Deletes the access token with this id. @returns whether there was one */
  deleteToken(id: string): Promise<boolean>

  /** Checks that each table can be read. */
  ping(): Promise<void>
  figures(): Figures
  /** Whether the store has neither items nor tokens. */
  isEmpty(): Promise<boolean>
  /** Waits for the writes under way, then closes the store. May be called again. */
  close(): Promise<void>
}

/** What an owner's turn is for: a step of a long list, which reads at most this many rows. */
export interface Turn {
  readonly owner: string
  readonly rows: number
  readonly read: (deadline: number) => Promise<unknown>
}
