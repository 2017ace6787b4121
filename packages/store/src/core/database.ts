// A database with the tables of collections: the common interface of SQLite and PostgreSQL.
import type {
  IndexValue,
  Key,
  KeyType,
  Store,
  StoredIndex,
  StoreOptions,
} from '@plant-store/engine/for-store'
import type { Batcher } from './batch.ts'

/** The message for a table with keys of another type. */
export const otherKeys = (name: string, type: KeyType) =>
  `the collection ${name} has keys of another type than ${type}: rename it, or restore the type of its keys`
/** The message for items that a unique index can't have both, found at the start. */
export const duplicates = (
  collection: string,
  index: string,
  owner: string,
  [first, second]: readonly [string, string],
) =>
  `the index ${index} of ${collection} is unique, but ${first} and ${second} of "${owner}" have the same values`
export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

/** The tables of a store: their keys, and their indexes. */
export type TableDefinitions = Readonly<
  Record<string, { readonly key: KeyType; readonly indexes?: readonly StoredIndex[] }>
>

/** The options of a store, with its indexes read. */
export type DatabaseOptions = Omit<StoreOptions, 'collections'> & {
  readonly collections: TableDefinitions
}

export interface Entry {
  readonly owner: string
  readonly key: Key
  readonly text: string
}

/** An item of a known owner: its key, and its JSON. */
export type Found = Pick<Entry, 'key' | 'text'>

/** The order of rows of one owner, and its bounds. */
export interface Order {
  /** Absent: by key. */
  readonly index?: StoredIndex | undefined
  /** Values of the first properties of the index. */
  readonly equals: readonly IndexValue[]
  /** The least value of the next property. */
  readonly from?: IndexValue | undefined
  /** All values of the next property are less than this one. */
  readonly to?: IndexValue | undefined
  /** Whether the greatest row is first, by values and by key. */
  readonly isDescending: boolean
}

/** All rows of an owner, by ascending key. */
export const BY_KEY: Order = { equals: [], isDescending: false }

/** The place of a row in an order. */
export interface Position {
  /** The values of all properties of the index; none by key. */
  readonly values: readonly IndexValue[]
  readonly key: Key
}

/**
 * The bounds of a chunk of a list. It ends at the first bound reached, but has at least one row.
 */
export interface Chunk {
  readonly owner: string
  readonly order: Order
  /** Exclusive, in this order; absent: from the first row. */
  readonly after: Position | undefined
  /** In rows. */
  readonly most: number
  /** In bytes, or in characters. Only the last row may exceed it. */
  readonly length: number
  /** The last row, at most. */
  readonly end?: Position | undefined
}

/**
 * The rows of a chunk: items as JSON with commas between, the position of the last row if there is
 * one, and whether more rows follow.
 */
export interface Rows {
  readonly text: string
  readonly count: number
  readonly last?: Position | undefined
  readonly hasMore: boolean
}

/** The rows of a chunk with their keys. */
export interface FoundRows extends Pick<Rows, 'last' | 'hasMore'> {
  readonly items: readonly Found[]
}

/** Some rows in an order, by their number: after a position, or from the first row. */
export interface Range {
  readonly owner: string
  readonly order: Order
  readonly after: Position | undefined
  readonly count: number
}

/**
 * The table of a collection in a database: the methods of `Collection` with items as JSON, and
 * chunks of lists.
 */
export interface Table {
  readonly key: KeyType
  /** As the store was opened with. */
  readonly indexes: readonly StoredIndex[]
  create(owner: string, key: Key, text: string): Promise<string>
  find(owner: string, key: Key): Promise<string | undefined>
  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined>
  delete(owner: string, key: Key): Promise<boolean>
  /** Reads a chunk in one moment. @param deadline on the clock of `performance.now()` */
  read(chunk: Chunk, deadline: number): Promise<Rows>
  /** Reads a chunk as `read` does, with the keys. */
  readItems(chunk: Chunk, deadline: number): Promise<FoundRows>
  /** The position of the last row of a range; undefined if there are fewer rows. */
  skip(range: Range, deadline: number): Promise<Position | undefined>
  /** The number of rows of a range, at most `count`. */
  count(range: Range, deadline: number): Promise<number>
  /** The row with these values in a unique index. */
  findBy(
    owner: string,
    index: StoredIndex,
    values: readonly IndexValue[],
  ): Promise<Found | undefined>
  /**
   * The next rows of all owners, by owner and key, after an entry or from the first row. Empty
   * after the last row.
   */
  entries(after?: Entry): Promise<Entry[]>
}

/** The position of a key in the order by key. */
export function positionOf(key: Key | undefined): Position | undefined {
  return key === undefined ? undefined : { values: [], key }
}

/** Whether two positions in the same order are equal. */
export function isSamePosition(left: Position | undefined, right: Position | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return left.key === right.key && hasSameValues(left.values, right.values)
}

/** Whether two orders of one table are equal, with their bounds. */
export function isSameOrder(left: Order, right: Order): boolean {
  if (left.index !== right.index || left.isDescending !== right.isDescending) return false
  return (
    left.from === right.from && left.to === right.to && hasSameValues(left.equals, right.equals)
  )
}

function hasSameValues(left: readonly IndexValue[], right: readonly IndexValue[]): boolean {
  return left.length === right.length && left.every((value, at) => value === right[at])
}

/** @throws {Error} if there is no table of this name */
export function tableOf<AnyTable>(tables: ReadonlyMap<string, AnyTable>, name: string): AnyTable {
  const table = tables.get(name)
  if (table === undefined) throw new Error(`the store has no collection ${name}`)
  return table
}

/** A row, by its collection and its key. */
export interface Place {
  readonly table: string
  readonly key: Key
}

/**
 * Decides the future of some rows.
 * @param texts the stored items; undefined where there is none
 * @returns for each row: the new item, null to delete the row, or undefined to leave it; undefined
 * to write nothing
 */
export type Decide = (
  texts: readonly (string | undefined)[],
) => readonly (string | null | undefined)[] | undefined

/** A read in the queue: of a chunk of a long list, with at most this many rows. */
export interface ChunkRead {
  readonly owner: string
  readonly rows: number
  readonly read: (deadline: number) => Promise<unknown>
}

/**
 * A store with its tables, for its collections. Every method may fail with StoreUnavailable
 * (errors.ts).
 */
export interface Database extends Store {
  readonly tables: ReadonlyMap<string, Table>
  /**
   * Milliseconds for an operation. An embedded store bounds only chunks of lists, which wait for
   * one another.
   */
  readonly timeout: number
  /**
   * Changes rows of an owner, all or none. No other write gets between. `decide` may be called
   * again.
   * @param places each once
   */
  change(owner: string, places: readonly Place[], decide: Decide): Promise<void>
  /** The queue for the chunks of long lists: see `makeReadQueue` in lists.ts. */
  readonly reads: Batcher<ChunkRead, unknown>
}
