import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { type Key, type KeyType } from '@plant-store/engine/for-store'
import { type Chunk, type Entry, type Rows, type Table } from '../core/database.ts'
import { columnsOf } from './table-definition.ts'

/** How a table uses the connection of the store. */
interface Access {
  readonly db: DatabaseSync
  /** Runs SQL, and translates its errors. @throws {StoreUnavailable} */
  readonly run: <Value>(sql: () => Value) => Value
  /** Runs SQL in the next transaction, which other writes share. @returns its value when the transaction is on disk */
  readonly write: <Value>(sql: () => Value) => Promise<Value>
  /** Waits for the next group of reads; undefined for a read by itself. See store.ts. */
  readonly turn: () => Promise<unknown> | undefined
  /** A number that changes when another program has written: see engine/src/store.ts. */
  readonly dataVersion: () => number
}

/** The rows of the first query of a chunk. The next query reads as many as fit, by the length of these rows. */
const FIRST_ROWS = 20
/** The most times by which a query of a chunk may have more rows than the query before it. */
const GROWTH = 8
/** The most rows that `entries` returns. */
const MAX_ENTRIES = 500
/** The most owners whose last page is cached. */
const MAX_PAGES = 10_000
/** The most characters of all these pages. */
const MAX_PAGES_LENGTH = 16 << 20
/** The most characters of one page. */
const MAX_PAGE_LENGTH = 8192
/** The memory of a cached page beside its text, in characters. */
const PAGE_OVERHEAD = 500

/** Whether two chunks of an owner have the same bounds. */
function isSame(left: Chunk, right: Chunk): boolean {
  const isSameRange = left.after === right.after && left.end === right.end
  return isSameRange && left.most === right.most && left.length === right.length
}

/** A row is an array, because an object would cost more. */
type ArrayRow = Readonly<Record<number, SQLOutputValue>>

/**
 * Opens the table of a collection.
 *
 * Statements are prepared by hand. `createTagStore()` of node:sqlite would prepare them. But in Node 24 its statements stay
 * open when the database is closed, and keep the file, the log and a transaction open.
 */
export function openTable(
  { db, run, write, turn, dataVersion }: Access,
  name: string,
  type: KeyType,
): Table {
  const [ownerColumn, keyColumn, itemColumn] = columnsOf(db, name).map((column) => `"${column}"`)
  const prepare = (text: string) => {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return {
      rows: (...values: SQLInputValue[]): readonly ArrayRow[] => statement.all(...values),
      get: (...values: SQLInputValue[]): ArrayRow | undefined => statement.get(...values),
      changes: (...values: SQLInputValue[]) => statement.run(...values).changes === 1n,
    }
  }
  const ofOwner = `FROM "${name}" WHERE ${ownerColumn} = ?`
  const sql = {
    create: prepare(`INSERT INTO "${name}" VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    find: prepare(`SELECT ${itemColumn} ${ofOwner} AND ${keyColumn} = ?`),
    update: prepare(
      `UPDATE "${name}" SET ${itemColumn} = ? WHERE ${ownerColumn} = ? AND ${keyColumn} = ?`,
    ),
    delete: prepare(`DELETE ${ofOwner} AND ${keyColumn} = ?`),
    // `+?` is a bare value to the planner: with `LIMIT ?`, SQLite would plan a statement anew for each number.
    read: prepare(`SELECT ${itemColumn}, ${keyColumn} ${ofOwner} AND ${keyColumn} > ? AND ${keyColumn} <= ?
      ORDER BY ${keyColumn} LIMIT +?`),
    skip: prepare(
      `SELECT ${keyColumn} ${ofOwner} AND ${keyColumn} > ? ORDER BY ${keyColumn} LIMIT 1 OFFSET +?`,
    ),
    entries: prepare(`SELECT ${ownerColumn}, ${keyColumn}, ${itemColumn} FROM "${name}"
      WHERE (${ownerColumn}, ${keyColumn}) > (?, ?) ORDER BY ${ownerColumn}, ${keyColumn} LIMIT ${MAX_ENTRIES}`),
  }
  const toKey = (value: SQLOutputValue | undefined): Key =>
    typeof value === 'bigint' ? value : String(value)
  const least = type === 'int64' ? -Infinity : ''
  const greatest = new Uint8Array() // a BLOB comes after all numbers and texts
  const find = (owner: string, key: Key) => sql.find.get(owner, key)?.[0]
  // Callers poll: the last page of each is cached until one of their items is written, or another program writes.
  const pages = new LRUCache<string, { readonly chunk: Chunk; readonly rows: Rows }>({
    max: MAX_PAGES,
    maxSize: MAX_PAGES_LENGTH,
    maxEntrySize: MAX_PAGE_LENGTH,
    sizeCalculation: ({ rows }, owner) => rows.text.length + owner.length + PAGE_OVERHEAD,
  })
  let version = dataVersion()
  const pageOf = (chunk: Chunk): Rows | undefined => {
    const current = dataVersion()
    if (current !== version) pages.clear()
    version = current
    const page = pages.get(chunk.owner)
    return page && isSame(page.chunk, chunk) ? page.rows : undefined
  }
  const change = <Value>(owner: string, sql: () => Value) =>
    write(() => {
      pages.delete(owner)
      return sql()
    })

  return {
    key: type,
    create: (owner, key, text) =>
      change(owner, () => (sql.create.changes(owner, key, text) ? text : String(find(owner, key)))),
    async find(owner, key) {
      await turn()
      const text = run(() => find(owner, key))
      return text === undefined ? undefined : String(text)
    },
    update: (owner, key, toNew) =>
      change(owner, () => {
        const stored = find(owner, key)
        if (stored === undefined) return undefined
        const text = toNew(String(stored))
        if (text === undefined) return String(stored)
        sql.update.changes(text, owner, key)
        return text
      }),
    delete: (owner, key) => change(owner, () => sql.delete.changes(owner, key)),
    async read(chunk) {
      // For a cached page, too: answers that are sent one after the other cost a sixth less.
      await turn()
      const page = pageOf(chunk)
      if (page) return page
      const rows = run(() => readChunk(chunk))
      pages.set(chunk.owner, { chunk, rows })
      return rows
    },
    async skip(owner, after, count) {
      const row = run(() => sql.skip.get(owner, after ?? least, count - 1))
      return row && toKey(row[0])
    },
    async entries(after): Promise<Entry[]> {
      const rows = run(() => sql.entries.rows(after?.owner ?? '', after?.key ?? least))
      return rows.map((row) => ({
        owner: String(row[0]),
        key: toKey(row[1]),
        text: String(row[2]),
      }))
    },
  }

  /** Reads a chunk with several queries. They see one moment: nothing is written between them. */
  function readChunk({ owner, after, most, length, end }: Chunk): Rows {
    const texts: string[] = []
    let last = after
    let characters = 0
    let hasMore = true
    let size = FIRST_ROWS
    while (hasMore && characters < length && texts.length < most) {
      const wanted = Math.min(size, most - texts.length)
      const rows = sql.read.rows(owner, last ?? least, end ?? greatest, wanted + 1)
      hasMore = rows.length > wanted
      for (const row of rows.slice(0, wanted)) {
        if (characters >= length) {
          hasMore = true
          break
        }
        const text = String(row[0])
        texts.push(text)
        characters += text.length
        last = toKey(row[1])
      }
      const fitting = ((length - characters) * texts.length) / characters
      size = Math.ceil(Math.max(1, Math.min(size * GROWTH, fitting)))
    }
    return { text: texts.join(','), count: texts.length, last, hasMore }
  }
}
