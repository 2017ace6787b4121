// The port of the store: its interface for the engine. The product passes the function for opening
// a store.
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { JsonText } from './http/json.ts'
import type { Defined, ItemRange, UniqueValues } from './index-types.ts'
import type { Written } from './written.ts'

export type Settings = Pick<Config, 'DATABASE_POOL_SIZE' | 'DATABASE_TIMEOUT'> &
  Partial<Pick<Config, 'NODE_ENV' | 'DATABASE_PASSWORD_FILE'>>

/** Events reported by a store to the service. Commands open a store without them. */
export interface StoreEvents {
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>
  /**
   * Called once, when the store can't be used until the process is restarted. Every later call of
   * the store fails.
   */
  readonly onFailure: (message: string, error: unknown) => void
}

/** In UTF-8. An owner is a caller with its source, or a name chosen by the product. */
export const MAX_OWNER_BYTES = 1024

/** A key: an int64, or a string of 1 to 1024 bytes in UTF-8 without NUL. */
export type Key = bigint | string
export type KeyType = 'int64' | 'text'

/** A value of an index: a number may have a fraction, a bigint is an int64. */
export type IndexValue = string | bigint | number | boolean
export type IndexType = 'string' | 'int64' | 'number' | 'boolean'

/** A property in an index: the names on the way to it, and the type of its values. */
export interface IndexedProperty {
  readonly path: readonly string[]
  readonly type: IndexType
}

/**
 * An index of a collection. Items without one of its properties, or with null in its place, are
 * not in it. Its order: a string by its bytes in UTF-8, a number by its value, false before true.
 */
export interface StoredIndex {
  readonly name: string
  /** Whether an owner has each list of values at most once. */
  readonly isUnique: boolean
  readonly properties: readonly IndexedProperty[]
}

/** Collections by name, which is also the name of their table. */
export type Collections = Readonly<
  Record<
    string,
    {
      readonly key: KeyType
      /** Absent: none. @throws {StartupError} if one does not fit the contract */
      readonly readIndexes?: () => Promise<readonly StoredIndex[]>
    }
  >
>

/**
 * The engine's collection of access tokens, which no product may define (see
 * auth/access-tokens.ts).
 */
export const ACCESS_TOKENS = 'access_tokens'
export const TOKENS_OWNER = 'engine'

/** The collections to open a store with: those of the product, and the access tokens. */
export function storedCollections({ collections }: { collections: Collections }): Collections {
  return { ...collections, [ACCESS_TOKENS]: { key: 'text' } }
}

/**
 * JSON documents, each under its owner and its key. The owner is a caller, or for shared items a
 * name chosen by the product: a string without NUL of at most {@link MAX_OWNER_BYTES}. No owner
 * sees or changes the items of another. Under an owner or a key that can't be stored, no item is
 * found, deleted or listed.
 *
 * When the promise of a write is fulfilled, the write is on disk, and every later call sees it, on
 * every replica. Every method may fail with StoreUnavailable (errors.ts): a failed write may be
 * done or not, and can be repeated.
 *
 * An index has the order of its properties, then of the key. A string is compared by its bytes in
 * UTF-8, a number by its value; false is before true. An item without one of the properties, or
 * with null in its place, is not in it. A range of an index has in `equals` values of the first
 * properties, and in `from` (inclusive) and `to` (exclusive) bounds of the next one. Without any it
 * is the whole index.
 * @template Indexes the indexes used by the class, written as in `product.ts`
 * @example
 * ```ts
 * import type { components, Request, Result } from './contract.gen.ts'
 * import { type Collection, refusal } from '@plant-store/engine'
 *
 * type Note = components['schemas']['Note']
 * export class NoteService {
 *   readonly #notes: Collection<Note>
 *
 *   constructor(notes: Collection<Note>) {
 *     this.#notes = notes
 *   }
 *
 *   async getNote({ caller, path: { id } }: Request<'getNote'>): Promise<Result<'getNote'>> {
 *     const note = await this.#notes.find(caller, id)
 *     return note === undefined ? refusal(404, 'No such note') : { status: 200, body: note }
 *   }
 * }
 * ```
 * @example
 * ```ts
 * import { type Collection, NotUnique, refusal } from '@plant-store/engine'
 *
 * type Member = { readonly email: string; readonly joined: string }
 * type Members = Collection<Member, string, { email: { on: ['email']; unique: true }; joined: ['joined'] }>
 *
 * export async function join(members: Members, id: string, member: Member) {
 *   try {
 *     return { status: 201, body: await members.create('/library', id, member) } as const
 *   } catch (error) {
 *     if (error instanceof NotUnique) return refusal(409, 'This address has a member')
 *     throw error
 *   }
 * }
 *
 * export const byAddress = (members: Members, email: string) =>
 *   members.find('/library', { index: 'email', equals: [email] })
 * export const newest = (members: Members, cursor?: string) =>
 *   members.list('/library', { index: 'joined', descending: true, limit: 20, cursor })
 * export const joinedIn = (members: Members, year: number) =>
 *   members.count('/library', { index: 'joined', from: `${year}`, to: `${year + 1}`, most: 1000 })
 * ```
 */
export interface Collection<Item, K extends Key = bigint, Indexes = unknown> {
  /** Never set: it carries the indexes for TypeScript. */
  readonly indexes?: Defined<Indexes>
  /**
   * Stores an item, unless the owner has one under this key.
   * @returns the item stored under the key now
   * @throws {HttpError} 400 for an owner or a key that can't be stored, and for an item that can't
   * be in an index: its values have more than 512 bytes in UTF-8 (a number counts 8), or a string
   * in the item has a NUL
   * @throws {NotUnique} if it has the values of another item in a unique index
   * @throws {Error} for an item refused by its schema, or changed by JSON: nothing is stored
   */
  create(owner: string, key: K, item: Item): Promise<Item>
  /** The owner's item under this key; undefined if there is none. */
  find(owner: string, key: K): Promise<Item | undefined>
  /**
   * The owner's item with these values in a unique index, and its key; undefined if there is none.
   * @throws {HttpError} 400 for values that no item can have
   */
  find(
    owner: string,
    values: UniqueValues<Item, Indexes>,
  ): Promise<{ readonly key: K; readonly item: Item } | undefined>
  /**
   * Changes the stored item, with no other change between. `change` may be called again if another
   * process was faster, so it must have no side effect.
   * @param change returns the new item, and no promise; undefined leaves the item as it is. Or it returns an answer with
   * the one or the other, by `write(item, answer)`
   * @returns the item stored now, or the answer when all is on disk; undefined if there is no item
   * @throws {HttpError | NotUnique | Error} for a new item as of `create`: nothing is changed
   */
  update(owner: string, key: K, change: (item: Item) => Item | undefined): Promise<Item | undefined>
  update<Returned extends Item | Written<Item | undefined, unknown> | undefined>(
    owner: string,
    key: K,
    change: (item: Item) => Returned,
  ): Promise<Updated<Item, Returned> | undefined>
  /** The item under a key, for `change`: several items of one owner are changed together. */
  at(key: K): ItemAt<Item>
  /** Deletes the owner's item under this key. @returns whether there was one */
  delete(owner: string, key: K): Promise<boolean>
  /**
   * Lists the owner's items by key, an int64 by its value, a string by its bytes in UTF-8; or a
   * range of an index. A list of up to 64 KB shows one moment. A longer list is read in chunks: it
   * has every item that exists the whole time exactly once, and none that never existed. An item
   * whose values in the index change meanwhile may be missed, or be there twice.
   * @throws {HttpError} 400 for a cursor of another list, for a limit that is no integer from 0, and
   * for values that no item can have
   */
  list(owner: string, page?: PageRequest & OrderRequest<Item, Indexes>): Promise<Page<Item>>
  /**
   * Counts the owner's items, or a range of an index, and stops at `most`. Up to 5,000 items it
   * shows one moment.
   * @throws {HttpError} 400 for values that no item can have
   * @throws {Error} for a `most` that is no integer from 0
   */
  count(owner: string, range: ItemRange<Item, Indexes> & { readonly most: number }): Promise<number>
  /**
   * The items of a list as values, with their keys. They are read in chunks as a long list is,
   * while they are taken.
   * @throws {HttpError} 400 for values that no item can have
   */
  entries(
    owner: string,
    order?: OrderRequest<Item, Indexes>,
  ): AsyncIterable<{ readonly key: K; readonly item: Item }>
}

/** What an update returns whose function returns these values: its answers, or the item. */
export type Updated<Item, Returned> =
  Returned extends Written<unknown, infer Answer> ? Answer : Item

/** An item of a collection, for `change`. The method `at` of a collection makes it. */
export interface ItemAt<Item> {
  /** Never set: it carries the type of the item for TypeScript. */
  readonly item?: Item
  /** For `change`, which says more. @returns the answer of `decide`, or of its `write` */
  changeTogether(
    owner: string,
    items: Readonly<Record<string, ItemAt<unknown>>>,
    decide: (stored: Readonly<Record<string, unknown>>) => unknown,
  ): Promise<unknown>
}

/**
 * The bounds of a page: at most `limit` items, after a cursor. Absent: all, from the first one.
 * With the limit 0 the page is empty, and none follows it.
 */
export interface PageRequest {
  readonly limit?: number | undefined
  readonly cursor?: string | undefined
}

/** Which items, and whether the greatest is first: by the values in the index, and by the key. */
export type OrderRequest<Item, Indexes> = ItemRange<Item, Indexes> & {
  readonly descending?: boolean | undefined
}

/**
 * Some items of one owner.
 * @example
 * ```ts
 * import type { components } from './contract.gen.ts'
 * import type { Collection, Page } from '@plant-store/engine'
 *
 * type Note = components['schemas']['Note']
 * export async function firstPage(notes: Collection<Note>, owner: string): Promise<Page<Note>> {
 *   return notes.list(owner, { limit: 20 })
 * }
 * ```
 */
export interface Page<Item> {
  /** The items as JSON; in parts if they are too long to hold in memory. */
  readonly items: JsonText<Item[]> | AsyncIterable<JsonText<Item[]>>
  /** The cursor of the next page, if the owner has more items. */
  readonly next?: string
}

/** The statistics of a store, for the metrics. */
export interface StoreStats {
  /** The transactions committed since the start, and the writes in them. */
  readonly commits: number
  readonly writes: number
  /** SQLite: the bytes of the write-ahead log. */
  readonly walBytes?: number
  /**
   * PostgreSQL: the most connections (`size`), the used and the idle ones, and the operations
   * `waiting` for one.
   */
  readonly pool?: Readonly<Record<'size' | 'used' | 'idle' | 'waiting', number>>
}

/** Reads and writes the items of a collection. */
export interface ItemFormat<Item> {
  readonly parse: (text: string) => Item
  /** Writes an item as JSON. @throws {Error} if it must not be stored */
  readonly write?: (item: Item) => string
}

/**
 * The collections of the product and of the engine. Every method may fail with StoreUnavailable
 * (errors.ts).
 */
export interface Store {
  /** A collection named when the store was opened. */
  collection<Item, K extends Key, Indexes = unknown>(
    name: string,
    format: ItemFormat<Item>,
  ): Collection<Item, K, Indexes>

  /** The number of items in each collection, at most {@link MAX_COUNT}. */
  counts(): Promise<Readonly<Record<string, number>>>
  isEmpty(): Promise<boolean>
  /** Checks that each collection can be read, and on a server that it could be written. */
  ping(): Promise<void>
  stats(): StoreStats
  /**
   * Changes after another program has written to the store: within 100 ms on SQLite. NaN while the
   * store fails. Undefined if the store can't tell. It never throws.
   */
  dataVersion(): number | undefined
  /** Waits for the writes under way, then closes the store. May be called again. */
  close(): Promise<void>
}

/** The number at which `counts` stops, because counting on could take long. */
export const MAX_COUNT = 500

export interface StoreOptions {
  readonly database: Config['DATABASE_URL']
  readonly collections: Collections
  /** Whether this process locks an embedded store; false for a command beside a running service. */
  readonly isExclusive: boolean
  readonly settings: Settings
  readonly events?: StoreEvents
}

/** Opens a store, with all missing tables. @throws {StartupError} */
export type OpenStore = (options: StoreOptions) => Promise<Store>
