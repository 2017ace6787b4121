import type { DatabaseSync } from 'node:sqlite'
import type { Collections } from '../store.ts'
import { createTable } from './table.ts'

/** Each entry upgrades the table of tokens by one version. `user_version` of a file tells how many were applied to it. */
export const SCHEMA: readonly string[] = [
  `CREATE TABLE tokens (
     id TEXT NOT NULL PRIMARY KEY,
     digest BLOB NOT NULL UNIQUE,
     caller TEXT NOT NULL,
     created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
     expires INTEGER
   ) WITHOUT ROWID, STRICT`,
  'ALTER TABLE tokens ADD COLUMN scopes TEXT',
]

// Marks a database of this program (https://sqlite.org/pragma.html#pragma_application_id).
const APPLICATION_ID = 0x706c6e74

/**
 * Upgrades the schema to the newest version, and creates the tables of collections, in the transaction that is open.
 * @returns the version before; 0 for an empty file
 * @throws {Error} as {@link readVersion} does
 */
export function upgrade(db: DatabaseSync, collections: Collections, schema = SCHEMA): number {
  const version = readVersion(db, schema)
  const mark = `PRAGMA user_version = ${schema.length}; PRAGMA application_id = ${APPLICATION_ID}`
  if (version < schema.length) db.exec([...schema.slice(version), mark].join(';'))
  for (const [name, { key }] of Object.entries(collections)) createTable(db, name, key)
  return version
}

/**
 * The version of the schema; 0 for an empty file.
 * @throws {Error} if the database belongs to another program, or to a newer version of this one
 */
export function readVersion(db: DatabaseSync, schema = SCHEMA): number {
  const objects = '(SELECT count(*) FROM sqlite_schema)'
  const identity = `SELECT user_version, application_id = ${APPLICATION_ID}
      OR (application_id, user_version, ${objects}) = (0, 0, 0) AS ours
    FROM pragma_application_id, pragma_user_version`
  const { user_version, ours } = db.prepare(identity).get() ?? {}
  const version = Number(user_version)
  if (Number(ours) !== 1) throw new Error('it is a database of another program')
  if (version > schema.length) {
    throw new Error(`its schema is version ${version} and this program knows ${schema.length}: a newer one wrote it`)
  }
  return version
}
