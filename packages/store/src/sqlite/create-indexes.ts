// Makes the indexes of a file: those that are new, and drops those without a name in the product.
import type { DatabaseSync } from 'node:sqlite'
import type { StoredIndex } from '@plant-store/engine/for-store'
import { duplicates, type TableDefinitions } from '../core/database.ts'
import { conditionOf, defineIndex, expressionOf, type IndexedTable } from './index-definition.ts'
import { brokenIndex } from './result-codes.ts'
import { columnsOf } from './table-definition.ts'

interface WantedIndex {
  readonly table: IndexedTable
  readonly index: StoredIndex
}

/**
 * Makes the indexes of the collections, and drops all others, in the open transaction. An index
 * with another definition is another one.
 * @throws {Error} naming two items that a unique index can't have both
 */
export function updateIndexes(db: DatabaseSync, collections: TableDefinitions): void {
  const wanted = new Map<string, WantedIndex>()
  for (const [name, { indexes = [] }] of Object.entries(collections)) {
    const table = { name, columns: columnsOf(db, name) }
    for (const index of indexes) wanted.set(defineIndex(table, index), { table, index })
  }
  for (const { name, sql } of storedIndexes(db)) {
    if (!wanted.delete(sql)) db.exec(`DROP INDEX "${name.replaceAll('"', '""')}"`)
  }
  for (const [sql, { table, index }] of wanted) createIndex(db, sql, table, index)
}

/** The indexes in a file, without those of primary keys. The store made all of them. */
function storedIndexes(db: DatabaseSync): { name: string; sql: string }[] {
  const rows = db
    .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")
    .all()
  return rows.map(({ name, sql }) => ({ name: String(name), sql: String(sql) }))
}

function createIndex(db: DatabaseSync, sql: string, table: IndexedTable, index: StoredIndex): void {
  try {
    db.exec(sql)
  } catch (error) {
    if (brokenIndex(error) === undefined) throw error
    throw new Error(describeDuplicates(db, table, index), { cause: error })
  }
}

function describeDuplicates(db: DatabaseSync, table: IndexedTable, index: StoredIndex): string {
  const { name, columns } = table
  const [owner, key] = columns
  const expressions = index.properties.map((property) => expressionOf(columns, property))
  const row = db
    .prepare(
      `SELECT ${owner}, min(${key}), max(${key}) FROM "${name}" WHERE ${conditionOf(expressions)}
        GROUP BY ${[owner, ...expressions].join(', ')} HAVING count(*) > 1 LIMIT 1`,
    )
    .get()
  const [ofOwner, first, last] = Object.values(row ?? {}).map(String)
  return duplicates(name, index.name, `${ofOwner}`, [`${first}`, `${last}`])
}
