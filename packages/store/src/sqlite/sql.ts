// The SQL statements for the table of a collection.
import type { DatabaseSync, SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Key } from '@plant-store/engine/for-store'
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
    // Only for this key: a value that a unique index has already is an error.
    create: prepare(
      `INSERT INTO "${name}" VALUES (?, ?, ?) ON CONFLICT (${owner}, ${key}) DO NOTHING`,
    ),
    find: prepare(`SELECT ${item} ${ofOwner} AND ${key} = ?`),
    update: prepare(`UPDATE "${name}" SET ${item} = ? WHERE ${owner} = ? AND ${key} = ?`),
    delete: prepare(`DELETE ${ofOwner} AND ${key} = ?`),
    entries: prepare(`SELECT ${owner}, ${key}, ${item} FROM "${name}"
      WHERE (${owner}, ${key}) > (?, ?) ORDER BY ${owner}, ${key} LIMIT ${MAX_ENTRIES}`),
  }
}

/**
 * A statement, prepared once. `createTagStore()` of node:sqlite would prepare it, too. But in Node
 * 24 its statements stay open when the database is closed, and keep the file, the log and a
 * transaction open.
 */
export class Statement {
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

/** A key as it is read. */
export function toKey(value: SQLOutputValue | undefined): Key {
  return typeof value === 'bigint' ? value : String(value)
}
