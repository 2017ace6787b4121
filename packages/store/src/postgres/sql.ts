// The SQL statements for the table of a collection.
import type { TableInfo } from './create-tables.ts'
import type { Statement } from './pipeline.ts'

/** In rows. */
const MAX_ENTRIES = 500

/**
 * Makes the statements of a table; scans.ts makes those for lists. Each has one owner as its first
 * parameter, so a database sharded by owner runs it on one node; only `entries` reads all owners.
 * They are plain enough for the parsers of poolers: see dialect.ts. A write returns the written or
 * deleted item.
 */
export function statements({ name, columns: [owner, key, item] }: TableInfo) {
  const named = (kind: string, text: string): Statement => ({ name: `${name}_${kind}`, text })
  const isKey = `${owner} = $1 AND ${key} = $2`
  return {
    /**
     * Parameters: owner, key, item. An existing item is updated to itself, which locks the row and
     * returns it.
     */
    create: named(
      'create',
      `INSERT INTO "${name}" (${owner}, ${key}, ${item}) VALUES ($1, $2, $3)
        ON CONFLICT (${owner}, ${key}) DO UPDATE SET ${item} = "${name}".${item} RETURNING ${item}`,
    ),
    /** Parameters: owner, key, item, the item before. */
    update: named(
      'update',
      `UPDATE "${name}" SET ${item} = $3 WHERE ${isKey} AND ${item} = $4 RETURNING ${item}`,
    ),
    /** Parameters: owner, key. */
    delete: named('delete', `DELETE FROM "${name}" WHERE ${isKey} RETURNING ${item}`),
    /** Parameters: owner, key, item. An existing item stays, and no row is returned. */
    add: named(
      'add',
      `INSERT INTO "${name}" (${owner}, ${key}, ${item}) VALUES ($1, $2, $3)
        ON CONFLICT (${owner}, ${key}) DO NOTHING RETURNING ${item}`,
    ),
    /** Parameters: owner, key, the item before. */
    remove: named(
      'remove',
      `DELETE FROM "${name}" WHERE ${isKey} AND ${item} = $3 RETURNING ${item}`,
    ),
    /** Locks a row, if it has this item. Parameters: owner, key, item. */
    keep: named('keep', `SELECT ${item} FROM "${name}" WHERE ${isKey} AND ${item} = $3 FOR SHARE`),
    /** Parameters: owner, key. */
    find: named('find', `SELECT ${item} FROM "${name}" WHERE ${isKey}`),
    /** Parameters: owner and key of the first row. */
    entries: `SELECT ${owner} AS owner, ${key} AS key, ${item} AS item FROM "${name}"
      WHERE (${owner}, ${key}) >= ($1, $2) ORDER BY ${owner}, ${key} LIMIT ${MAX_ENTRIES}`,
  }
}
