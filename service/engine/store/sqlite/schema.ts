import type { DatabaseSync } from 'node:sqlite'
import type { Collections } from '../store.ts'
import { createTable } from './table.ts'

/** The version of the schema, which `user_version` of a file tells. */
export const VERSION = 2
// Marks a database of this program (https://sqlite.org/pragma.html#pragma_application_id).
const APPLICATION_ID = 0x706c6e74

/**
 * Creates what an empty file lacks, and the tables of new collections, in the transaction that is open.
 * @returns the version before; 0 for an empty file
 * @throws {Error} as {@link readVersion} does
 */
export function prepareSchema(db: DatabaseSync, collections: Collections): number {
  const version = readVersion(db)
  if (version === 0) {
    db.exec(`CREATE TABLE tokens (
      id TEXT NOT NULL PRIMARY KEY,
      digest BLOB NOT NULL UNIQUE,
      caller TEXT NOT NULL,
      created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
      expires INTEGER,
      scopes TEXT
    ) WITHOUT ROWID, STRICT;
    PRAGMA user_version = ${VERSION};
    PRAGMA application_id = ${APPLICATION_ID}`)
  }
  for (const [name, { key }] of Object.entries(collections)) createTable(db, name, key)
  return version
}

/**
 * The version of the schema; 0 for an empty file.
 * @throws {Error} if the database belongs to another program, or to another version of this one
 */
export function readVersion(db: DatabaseSync): number {
  const read = `SELECT user_version AS version, application_id AS id, (SELECT count(*) FROM sqlite_schema) AS objects
    FROM pragma_application_id, pragma_user_version`
  const [version, id, objects] = Object.values(db.prepare(read).get() ?? {}).map(Number)
  if (version === 0 && id === 0 && objects === 0) return 0
  if (id !== APPLICATION_ID) throw new Error('it is a database of another program')
  if (version === VERSION) return VERSION
  throw new Error(
    `its schema is version ${version}, and this program knows ${VERSION}: another version wrote it`,
  )
}
