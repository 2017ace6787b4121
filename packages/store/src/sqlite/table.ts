// The table of a collection on SQLite.
import type { IndexValue, Key, KeyType, StoredIndex } from '@plant-store/engine/for-store'
import type {
  Chunk,
  Entry,
  Found,
  FoundRows,
  Position,
  Range,
  Rows,
  Table,
  TableDefinitions,
} from '../core/database.ts'
import type { Connection } from './connection.ts'
import { OrderedRows } from './ordered-rows.ts'
import { PageCache } from './page-cache.ts'
import { type ArrayRow, prepareStatements, toKey } from './sql.ts'

const LEAST_KEYS: Readonly<Record<KeyType, number | string>> = { int64: -Infinity, text: '' }

/** A row with its item before and after a change; null to delete the row. */
interface Replacement {
  readonly owner: string
  readonly key: Key
  readonly before: string | undefined
  readonly after: string | null
}

export class SqliteTable implements Table {
  readonly key: KeyType
  readonly indexes: readonly StoredIndex[]
  readonly #connection: Connection
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #pages: PageCache
  readonly #rows: OrderedRows
  readonly #hasUnique: boolean

  constructor(
    connection: Connection,
    name: string,
    { key, indexes = [] }: TableDefinitions[string],
  ) {
    this.key = key
    this.indexes = indexes
    this.#connection = connection
    this.#sql = prepareStatements(connection.db, name)
    this.#pages = new PageCache(() => connection.dataVersion())
    this.#rows = new OrderedRows(connection.db, name, indexes)
    this.#hasUnique = indexes.some(({ isUnique }) => isUnique)
  }

  create(owner: string, key: Key, text: string): Promise<string> {
    return this.#write(owner, () => {
      const isNew = this.#sql.create.write(owner, key, text)
      return isNew ? text : String(this.#find(owner, key))
    })
  }

  async find(owner: string, key: Key): Promise<string | undefined> {
    await this.#connection.turn()
    return this.#connection.run(() => this.#find(owner, key))
  }

  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined> {
    return this.#write(owner, () => {
      const stored = this.#find(owner, key)
      const text = stored === undefined ? undefined : change(stored)
      if (text === undefined) return stored
      this.#sql.update.write(text, owner, key)
      return text
    })
  }

  delete(owner: string, key: Key): Promise<boolean> {
    return this.#write(owner, () => this.#sql.delete.write(owner, key))
  }

  /** The stored item, for a change under way. */
  findNow(owner: string, key: Key): string | undefined {
    return this.#find(owner, key)
  }

  /**
   * Deletes a row of a change under way, if it is no more, or if another row of the change may get
   * its value in a unique index.
   */
  makeRoom({ owner, key, before, after }: Replacement): void {
    this.#pages.delete(owner)
    if (before !== undefined && (after === null || this.#hasUnique))
      this.#sql.delete.write(owner, key)
  }

  /** Writes a row of a change under way, when there is room for all of them. */
  put({ owner, key, before, after }: Replacement): void {
    if (after === null) return
    if (before === undefined || this.#hasUnique) this.#sql.create.write(owner, key, after)
    else this.#sql.update.write(after, owner, key)
  }

  async read(chunk: Chunk): Promise<Rows> {
    // Even for a cached page: answers sent one after the other cost a sixth less.
    await this.#connection.turn()
    const page = this.#pages.get(chunk)
    if (page) return page
    const rows = this.#readChunk(chunk)
    this.#pages.set(chunk, rows)
    return rows
  }

  async readItems(chunk: Chunk): Promise<FoundRows> {
    const { rows, last, hasMore } = this.#connection.run(() => this.#rows.readChunk(chunk))
    return { items: rows.map(toItem), last, hasMore }
  }

  async skip(range: Range): Promise<Position | undefined> {
    return this.#connection.run(() => this.#rows.skip(range))
  }

  async count(range: Range): Promise<number> {
    return this.#connection.run(() => this.#rows.count(range))
  }

  async findBy(
    owner: string,
    index: StoredIndex,
    values: readonly IndexValue[],
  ): Promise<Found | undefined> {
    await this.#connection.turn()
    const row = this.#connection.run(() => this.#rows.find(owner, index, values))
    return row && toItem(row)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const [owner, key] = [after?.owner ?? '', after?.key ?? LEAST_KEYS[this.key]]
    const rows = this.#connection.run(() => this.#sql.entries.rows(owner, key))
    return rows.map((row) => ({ owner: String(row[0]), key: toKey(row[1]), text: String(row[2]) }))
  }

  /** Writes in the next transaction. @returns the result of `write`, when it is on disk */
  #write<Value>(owner: string, write: () => Value): Promise<Value> {
    return this.#connection.write(() => {
      this.#pages.delete(owner)
      return write()
    })
  }

  #readChunk(chunk: Chunk): Rows {
    const { rows, last, hasMore } = this.#connection.run(() => this.#rows.readChunk(chunk))
    return { text: rows.map(toText).join(','), count: rows.length, last, hasMore }
  }

  #find(owner: string, key: Key): string | undefined {
    const row = this.#sql.find.get(owner, key)
    return row && String(row[0])
  }
}

function toText(row: ArrayRow): string {
  return String(row[0])
}

function toItem(row: ArrayRow): Found {
  return { key: toKey(row[1]), text: toText(row) }
}
