import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Entry, Key, KeyType, Rows, Step, Table } from '../store.ts'

/** How a table uses the connection of the store. */
export interface Access {
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
/** How much longer than the one before a query of a step may be, in rows. */
const GROWTH = 8
const ENTRIES = 500

/** A row is an array, because an object would cost more. */
type ArrayRow = Readonly<Record<number, SQLOutputValue>>

/** Creates the table of a collection, if there is none. */
export function createTable(db: DatabaseSync, name: string, key: KeyType): void {
  db.exec(`CREATE TABLE IF NOT EXISTS "${name}" (
    owner TEXT NOT NULL,
    key ${key === 'int64' ? 'INTEGER' : 'TEXT'} NOT NULL,
    item TEXT NOT NULL, -- as JSON, the form that it is answered in
    PRIMARY KEY (owner, key)
  ) WITHOUT ROWID, STRICT`)
}

/**
 * Opens the table of a collection.
 *
 * Statements are prepared one by one. `createTagStore()` of node:sqlite would do so by itself. But in Node 24 its statements
 * stay open when the database is closed, and keep the file, the log and a transaction open.
 */
export function openTable({ db, run, write, turn }: Access, name: string, type: KeyType): Table {
  // The columns of a table that an earlier version made have other names, in the same order.
  const info = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(name)
  const [owner, key, item] = info.map((column) => `"${String(column['name'])}"`)
  const prepare = (text: string) => {
    const statement = db.prepare(text)
    statement.setReturnArrays(true)
    return {
      all: (...values: SQLInputValue[]): readonly ArrayRow[] => statement.all(...values),
      get: (...values: SQLInputValue[]): ArrayRow | undefined => statement.get(...values),
      changes: (...values: SQLInputValue[]) => statement.run(...values).changes === 1n,
    }
  }
  const of = `FROM "${name}" WHERE ${owner} = ?`
  const sql = {
    create: prepare(`INSERT INTO "${name}" VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    find: prepare(`SELECT ${item} ${of} AND ${key} = ?`),
    update: prepare(`UPDATE "${name}" SET ${item} = ? WHERE ${owner} = ? AND ${key} = ?`),
    delete: prepare(`DELETE ${of} AND ${key} = ?`),
    read: prepare(`SELECT ${item}, ${key} ${of} AND ${key} > ? AND ${key} <= ? ORDER BY ${key} LIMIT ?`),
    skip: prepare(`SELECT ${key} ${of} AND ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET ?`),
    entries: prepare(`SELECT ${owner}, ${key}, ${item} FROM "${name}" WHERE (${owner}, ${key}) > (?, ?)
      ORDER BY ${owner}, ${key} LIMIT ${ENTRIES}`),
  }
  const toKey = (value: SQLOutputValue | undefined): Key => (typeof value === 'bigint' ? value : String(value))
  const least = type === 'int64' ? -Infinity : ''
  const greatest = new Uint8Array() // a BLOB comes after all numbers and texts
  const find = (of: string, key: Key) => sql.find.get(of, key)?.[0]

  return {
    key: type,
    create: (of, key, text) => write(() => (sql.create.changes(of, key, text) ? text : String(find(of, key)))),
    async find(of, key) {
      await turn()
      const text = run(() => find(of, key))
      return text === undefined ? undefined : String(text)
    },
    update: (of, key, change) =>
      write(() => {
        const found = find(of, key)
        if (found === undefined) return undefined
        const text = change(String(found))
        if (text !== undefined) sql.update.changes(text, of, key)
        return text ?? String(found)
      }),
    delete: (of, key) => write(() => sql.delete.changes(of, key)),
    async read(step) {
      await turn()
      return run(() => readStep(step))
    },
    async skip(of, after, count) {
      const row = run(() => sql.skip.get(of, after ?? least, count - 1))
      return row && toKey(row[0])
    },
    async entries(after): Promise<Entry[]> {
      const rows = run(() => sql.entries.all(after?.owner ?? '', after?.key ?? least))
      return rows.map((row) => ({ owner: String(row[0]), key: toKey(row[1]), text: String(row[2]) }))
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
      size = Math.ceil(Math.max(1, Math.min(size * GROWTH, ((length - read) * texts.length) / read)))
    }
    return { text: texts.join(','), count: texts.length, last, hasMore }
  }
}
