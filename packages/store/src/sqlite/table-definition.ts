// Defines the table of a collection: owner, key and item.
import type { DatabaseSync } from 'node:sqlite'
import type { KeyType } from '@plant-store/engine/for-store'
import { otherKeys } from '../core/database.ts'

/** The names of the columns. */
export type Columns = readonly [owner: string, key: string, item: string]

const COLUMNS: Columns = ['owner', 'key', 'item']
const TYPES: Readonly<Record<KeyType, string>> = { int64: 'INTEGER', text: 'TEXT' }

/**
 * Creates the table of a collection, if there is none. @throws {Error} if there is one with keys of
 * another type
 */
export function createTable(db: DatabaseSync, name: string, key: KeyType): void {
  const type = TYPES[key]
  const columns = db.prepare('SELECT type FROM pragma_table_info(?) ORDER BY cid').all(name)
  const [, keyColumn] = columns
  if (keyColumn !== undefined && keyColumn['type'] !== type) throw new Error(otherKeys(name, key))
  db.exec(define(name, type, COLUMNS).replace('TABLE', 'TABLE IF NOT EXISTS'))
}

/** The valid definitions for the table of a collection, with the present names of its columns. */
export function tableDefinitions(db: DatabaseSync, name: string): string[] {
  const columns = columnsOf(db, name)
  return Object.values(TYPES).map((type) => define(name, type, columns))
}

function define(name: string, type: string, [owner, key, item]: Columns): string {
  return `CREATE TABLE "${name}" (
    ${owner} TEXT NOT NULL,
    ${key} ${type} NOT NULL,
    ${item} TEXT NOT NULL, -- as JSON, the form that it is answered in
    PRIMARY KEY (${owner}, ${key})
  ) WITHOUT ROWID, STRICT`
}

/** The columns of a table. Earlier versions gave them other names. */
export function columnsOf(db: DatabaseSync, name: string): Columns {
  const info = db.prepare('SELECT name FROM pragma_table_info(?) ORDER BY cid').all(name)
  const [owner = '', key = '', item = ''] = info.map((column) => String(column['name']))
  return [owner, key, item]
}
