import type { KeyType } from '../store.ts'
import type { Query } from './pool.ts'

/** How a table uses the connections of the store. */
export interface Access {
  readonly read: Query
  readonly write: Query
  /** How many reads may run at a time. */
  readonly parallel: number
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Called after each commit, with its number of writes. */
  readonly onCommit: (writes: number) => void
}

/** A table of a collection: its columns in the order owner, key and item. */
export interface Columns {
  readonly name: string
  readonly type: KeyType
  readonly columns: readonly [owner: string, key: string, item: string]
}
