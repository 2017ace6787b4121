// Reads the rows of an owner in an order: by key or by an index, from either end.
import type { DatabaseSync } from 'node:sqlite'
import type { IndexValue, StoredIndex } from '@plant-store/engine/for-store'
import type { Chunk, Order, Position, Range } from '../core/database.ts'
import { OrderStatements } from './order-statements.ts'
import { searchesOf } from './searches.ts'
import type { ArrayRow } from './sql.ts'

/**
 * The rows of the first query of a chunk. The next query reads as many as fit, by the length of
 * these rows.
 */
const FIRST_ROWS = 20
/** Each query of a chunk reads at most this many times the rows of the previous one. */
const GROWTH = 8

/** The rows of a chunk, each with the item and the key first. */
interface ChunkRows {
  readonly rows: readonly ArrayRow[]
  readonly last: Position | undefined
  readonly hasMore: boolean
}

export class OrderedRows {
  readonly #statements: ReadonlyMap<StoredIndex | undefined, OrderStatements>

  constructor(db: DatabaseSync, table: string, indexes: readonly StoredIndex[] = []) {
    const statements = [undefined, ...indexes].map(
      (index) => [index, new OrderStatements(db, table, index)] as const,
    )
    this.#statements = new Map(statements)
  }

  /** Reads a chunk with several queries. They see one moment: nothing is written between them. */
  readChunk({ owner, order, after, most, length, end }: Chunk): ChunkRows {
    const statements = this.#of(order)
    const rows: ArrayRow[] = []
    let last = after
    let characters = 0
    let hasMore = true
    let size = FIRST_ROWS
    while (hasMore && characters < length && rows.length < most) {
      const wanted = Math.min(size, most - rows.length)
      const next = this.#rows({ owner, order, after: last, count: wanted + 1 }, end)
      hasMore = next.length > wanted
      for (const row of next.slice(0, wanted)) {
        if (characters >= length) {
          hasMore = true
          break
        }
        rows.push(row)
        characters += String(row[0]).length
      }
      const row = rows.at(-1)
      last = row === undefined ? last : statements.positionOf(row)
      const fitting = ((length - characters) * rows.length) / characters
      size = Math.ceil(Math.max(1, Math.min(size * GROWTH, fitting)))
    }
    return { rows, last, hasMore }
  }

  /** The row with these values in a unique index. */
  find(owner: string, index: StoredIndex, equals: readonly IndexValue[]): ArrayRow | undefined {
    const order = { index, equals, isDescending: false }
    return this.#rows({ owner, order, after: undefined, count: 1 }, undefined)[0]
  }

  /** The position of the last row of a range; undefined if there are fewer rows. */
  skip(range: Range): Position | undefined {
    const statements = this.#of(range.order)
    let { count } = range
    for (const query of queriesOf(range)) {
      const row = statements.skip({ ...query, count })
      if (row !== undefined) return statements.positionOf(row)
      count -= statements.count({ ...query, count })
    }
    return undefined
  }

  /** The number of rows of a range, at most `count`. */
  count(range: Range): number {
    const statements = this.#of(range.order)
    let left = range.count
    for (const query of queriesOf(range)) left -= statements.count({ ...query, count: left })
    return range.count - left
  }

  /** The rows of a range. @param end the position of the last row, at most */
  #rows(range: Range, end: Position | undefined): readonly ArrayRow[] {
    const statements = this.#of(range.order)
    const rows: ArrayRow[] = []
    for (const first of queriesOf(range)) {
      const query = { ...first, count: range.count - rows.length }
      if (query.count === 0) break
      rows.push(...(end === undefined ? statements.rows(query) : statements.rowsTo(end, query)))
    }
    return rows
  }

  /** @throws {Error} for an index that the table has not */
  #of({ index }: Order): OrderStatements {
    const statements = this.#statements.get(index)
    if (statements === undefined) throw new Error(`the collection has no index ${index?.name}`)
    return statements
  }
}

function queriesOf({ owner, order, after, count }: Range) {
  const { isDescending } = order
  return searchesOf(order, after).map((search) => ({ owner, search, isDescending, count }))
}
