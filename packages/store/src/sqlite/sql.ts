// The SQL statements for the table of a collection.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import { columnsOf } from './table-definition.ts'

/** In rows. */
const MAX_ENTRIES = 500

/** A row is an array, because an object would cost more. */
export type ArrayRow = Readonly<Record<number, SQLOutputValue>>

export function prepareStatements(db: DatabaseSync, name: string) {
  const [owner, key, item] = columnsOf(db, name).map((column) => `"${column}"`)
  const prepare = (text: string) => new Statement(db, text)
  const ofOwner = `FROM "${name}" WHERE ${owner} = ?`
  return {
    create: prepare(`INSERT INTO "${name}" VALUES (?, ?, ?) ON CONFLICT DO NOTHING`),
    find: prepare(`SELECT ${item} ${ofOwner} AND ${key} = ?`),
    update: prepare(`UPDATE "${name}" SET ${item} = ? WHERE ${owner} = ? AND ${key} = ?`),
    delete: prepare(`DELETE ${ofOwner} AND ${key} = ?`),
    // `+?` is a bare value to the planner: with `LIMIT ?`, SQLite would plan a statement anew for
    // each number.
    read: prepare(`SELECT ${item}, ${key} ${ofOwner} AND ${key} > ? AND ${key} <= ?
      ORDER BY ${key} LIMIT +?`),
    skip: prepare(`SELECT ${key} ${ofOwner} AND ${key} > ? ORDER BY ${key} LIMIT 1 OFFSET +?`),
    entries: prepare(`SELECT ${owner}, ${key}, ${item} FROM "${name}"
      WHERE (${owner}, ${key}) > (?, ?) ORDER BY ${owner}, ${key} LIMIT ${MAX_ENTRIES}`),
  }
}

/**
 * A statement, prepared once. `createTagStore()` of node:sqlite would prepare it, too. But in Node
 * 24 its statements stay open when the database is closed, and keep the file, the log and a
 * transaction open.
 */
class Statement {
  readonly #statement

  constructor(db: DatabaseSync, text: string) {
    this.#statement = db.prepare(text)
    this.#statement.setReturnArrays(true)
  }

  rows(...values: SQLInputValue[]): readonly ArrayRow[] {
    return this.#statement.all(...values)
  }

  get(...values: SQLInputValue[]): ArrayRow | undefined {
    return this.#statement.get(...values)
  }

  /** @returns whether a row was written */
  write(...values: SQLInputValue[]): boolean {
    return this.#statement.run(...values).changes === 1n
  }
}
