import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import { type Key, type KeyType } from '../../engine/store.ts'
import { type Entry, otherKeys, type Rows, type Step, type Table } from '../database.ts'

/** How a table uses the connection of the store. */
interface Access {
  readonly db: DatabaseSync
  /** Runs SQL, and translates its errors. @throws {StoreUnavailable} */
  readonly run: <Value>(sql: () => Value) => Value
  /** Runs SQL in the next transaction, which other writes share. @returns its value when the transaction is on disk */
  readonly write: <Value>(sql: () => Value) => Promise<Value>
  /** Waits until it is the turn of reads: those of one turn run one after the other, which is faster. */
  readonly turn: () => Promise<unknown>
}

/** The rows of the first query of a step. The next one reads as many as fit, by the length of these. */
const FIRST_ROWS = 20
/** How many times as many rows as the query before it the next query of a step may read. */
const GROWTH = 8
const ENTRIES = 500 // rows of all owners, at most
const MAX_PAGES = 10_000 // owners whose last page is cached
const MAX_PAGES_LENGTH = 16 << 20 // characters of all these pages
const MAX_PAGE_LENGTH = 8192 // characters of one page
const OVERHEAD = 500 // what a cached page takes beside its text, in characters
/** Milliseconds that a page is cached: another program may write to the file. */
const PAGE_TTL = 1000

const isSame = (one: Step, other: Step) =>
  one.after === other.after &&
  one.most === other.most &&
  one.length === other.length &&
  one.end === other.end

const COLUMNS = ['owner', 'key', 'item']
/** The types of keys in SQL. */
const TYPES: Readonly<Record<KeyType, string>> = { int64: 'INTEGER', text: 'TEXT' }

/** A row is an array, because an object would cost more. */
type ArrayRow = Readonly<Record<number, SQLOutputValue>>

/** Creates the table of a collection, if there is none. @throws {Error} if there is one with keys of another type */
export function createTable(db: DatabaseSync, name: string, key: KeyType): void {
  const type = TYPES[key]
  const [, found = { type }] = db
    .prepare('SELECT type FROM pragma_table_info(?) ORDER BY cid')
    .all(name)
  if (found['type'] !== type) throw new Error(otherKeys(name, key))
  db.exec(define(name, type, COLUMNS).replace('TABLE', 'TABLE IF NOT EXISTS'))
}

/** The definitions that the table of a collection may have, with the names that its columns have. */
export function tableDefinitions(db: DatabaseSync, name: string): string[] {
  const columns = columnsOf(db, name)
  return Object.values(TYPES).map((type) => define(name, type, columns))
}

function define(name: string, type: string, [owner, key, item]: readonly string[]): string {
  return `CREATE TABLE "${name}" (
    ${owner} TEXT NOT NULL,
    ${key} ${type} NOT NULL,
    ${item} TEXT NOT NULL, -- as JSON, the form that it is answered in
    PRIMARY KEY (${owner}, ${key})
  ) WITHOUT ROWID, STRICT`
}

/** The columns of a table that an earlier version made have other names, in the same order. */
function columnsOf(db: DatabaseSync, name: string): string[] {
  const info = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(name)
  return info.map((column) => String(column['name']))
}

/**
 * Opens the table of a collection.
 *
 * Statements are prepared one by one. `createTagStore()` of node:sqlite would do so by itself. But in Node 24 its statements
 * stay open when the database is closed, and keep the file, the log and a transaction open.
 */
export function openTable({ db, run, write, turn }: Access, name: string, type: KeyType): Table {
  const [ownerColumn, keyColumn, itemColumn] = columnsOf(db, name).map((column) => `"${column}"`)
  const prepare = (text: string) => {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return {
      all: (...values: SQLInputValue[]): readonly ArrayRow[] => statement.all(...values),
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
    read: prepare(`SELECT ${itemColumn}, ${keyColumn} ${ofOwner} AND ${keyColumn} > ? AND ${keyColumn} <= ?
      ORDER BY ${keyColumn} LIMIT ?`),
    skip: prepare(
      `SELECT ${keyColumn} ${ofOwner} AND ${keyColumn} > ? ORDER BY ${keyColumn} LIMIT 1 OFFSET ?`,
    ),
    entries: prepare(`SELECT ${ownerColumn}, ${keyColumn}, ${itemColumn} FROM "${name}"
      WHERE (${ownerColumn}, ${keyColumn}) > (?, ?) ORDER BY ${ownerColumn}, ${keyColumn} LIMIT ${ENTRIES}`),
  }
  const toKey = (value: SQLOutputValue | undefined): Key =>
    typeof value === 'bigint' ? value : String(value)
  const least = type === 'int64' ? -Infinity : ''
  const greatest = new Uint8Array() // a BLOB comes after all numbers and texts
  const find = (owner: string, key: Key) => sql.find.get(owner, key)?.[0]
  // Callers poll: the last page of each is cached until one of their items is written.
  const pages = new LRUCache<string, { readonly step: Step; readonly rows: Rows }>({
    max: MAX_PAGES,
    ttl: PAGE_TTL,
    ttlResolution: 50,
    maxSize: MAX_PAGES_LENGTH,
    maxEntrySize: MAX_PAGE_LENGTH,
    sizeCalculation: ({ rows }, owner) => rows.text.length + owner.length + OVERHEAD,
  })
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
        const found = find(owner, key)
        if (found === undefined) return undefined
        const text = toNew(String(found))
        if (text !== undefined) sql.update.changes(text, owner, key)
        return text ?? String(found)
      }),
    delete: (owner, key) => change(owner, () => sql.delete.changes(owner, key)),
    async read(step) {
      await turn()
      const page = pages.get(step.owner)
      if (page && isSame(page.step, step)) return run(() => page.rows)
      const rows = run(() => readStep(step))
      pages.set(step.owner, { step, rows })
      return rows
    },
    async skip(owner, after, count) {
      const row = run(() => sql.skip.get(owner, after ?? least, count - 1))
      return row && toKey(row[0])
    },
    async entries(after): Promise<Entry[]> {
      const rows = run(() => sql.entries.all(after?.owner ?? '', after?.key ?? least))
      return rows.map((row) => ({
        owner: String(row[0]),
        key: toKey(row[1]),
        text: String(row[2]),
      }))
    },
  }

  /** Reads a step with several queries. They see one moment: nothing is written between them. */
  function readStep({ owner, after, most, length, end }: Step): Rows {
    const texts: string[] = []
    let last = after
    let [read, hasMore] = [0, true]
    for (let size = FIRST_ROWS; hasMore && read < length && texts.length < most;) {
      const wanted = Math.min(size, most - texts.length)
      const rows = sql.read.all(owner, last ?? least, end ?? greatest, wanted + 1)
      hasMore = rows.length > wanted
      for (const row of hasMore ? rows.slice(0, wanted) : rows) {
        hasMore ||= read >= length
        if (read >= length) break
        const text = String(row[0])
        texts.push(text)
        read += text.length
        last = toKey(row[1])
      }
      size = Math.ceil(
        Math.max(1, Math.min(size * GROWTH, ((length - read) * texts.length) / read)),
      )
    }
    return { text: texts.join(','), count: texts.length, last, hasMore }
  }
}
