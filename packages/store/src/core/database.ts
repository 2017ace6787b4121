// A database with the tables of collections: the common interface of SQLite and PostgreSQL.
import type { Key, KeyType, Store } from '@plant-store/engine/for-store'
import type { Batcher } from './batch.ts'

/** The message for a table with keys of another type. */
export const otherKeys = (name: string, type: KeyType) =>
  `the collection ${name} has keys of another type than ${type}: rename it, or restore the type of its keys`
export const INT64_MIN = -(2n ** 63n)
export const INT64_MAX = 2n ** 63n - 1n

export interface Entry {
  readonly owner: string
  readonly key: Key
  readonly text: string
}

/**
 * The bounds of a chunk of a list. It ends at the first bound reached, but has at least one row.
 */
export interface Chunk {
  readonly owner: string
  /** Exclusive; absent: from the first key. */
  readonly after: Key | undefined
  /** In rows. */
  readonly most: number
  /** In bytes, or in characters. Only the last row may exceed it. */
  readonly length: number
  /** The key of the last row, at most. */
  readonly end?: Key | undefined
}

/**
 * The rows of a chunk: items as JSON with commas between, the key of the last row if there is one,
 * and whether more rows follow.
 */
export interface Rows {
  readonly text: string
  readonly count: number
  readonly last?: Key | undefined
  readonly hasMore: boolean
}

/**
 * The table of a collection in a database: the methods of `Collection` with items as JSON, and
 * chunks of lists.
 */
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
  /** Reads a chunk in one moment. @param deadline on the clock of `performance.now()` */
  read(chunk: Chunk, deadline: number): Promise<Rows>
  /**
   * The key of the row `count` places after a key, or after the beginning; undefined if there are
   * fewer rows.
   */
  skip(
    owner: string,
    after: Key | undefined,
    count: number,
    deadline: number,
  ): Promise<Key | undefined>
  /**
   * The next rows of all owners, by owner and key, after an entry or from the first row. Empty
   * after the last row.
   */
  entries(after?: Entry): Promise<Entry[]>
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
