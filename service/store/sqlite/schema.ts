import type { DatabaseSync } from 'node:sqlite'
import type { Collections } from '../../engine/store.ts'
import { createTable, tableDefinitions } from './table.ts'

/** The version of the schema, which `user_version` of a file tells. */
export const VERSION = 2
// Marks a database of this program (https://sqlite.org/pragma.html#pragma_application_id).
const APPLICATION_ID = 0x706c6e74

const TOKENS = `CREATE TABLE tokens (
  id TEXT NOT NULL PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
  expires INTEGER,
  scopes TEXT
) WITHOUT ROWID, STRICT`
/** The index that SQLite makes because digests are unique. */
const INDEX_OF_DIGESTS = 'sqlite_autoindex_tokens_2'

/**
 * Creates what an empty file lacks, and the tables of new collections, in the transaction that is open.
 * @returns the version before; 0 for an empty file
 * @throws {Error} as {@link readVersion} does
 */
export function prepareSchema(db: DatabaseSync, collections: Collections): number {
  const version = readVersion(db)
  if (version === 0) {
    db.exec(`${TOKENS};
    PRAGMA user_version = ${VERSION};
    PRAGMA application_id = ${APPLICATION_ID}`)
  }
  for (const [name, { key }] of Object.entries(collections)) createTable(db, name, key)
  return version
}

/**
 * The version of the schema; 0 for an empty file.
 * @throws {Error} if the database belongs to another program, or to another version of this one, or has what the store does
 * not make: a trigger could show one caller what another one adds
 */
export function readVersion(db: DatabaseSync): number {
  const read = `SELECT user_version AS version, application_id AS id, (SELECT count(*) FROM sqlite_schema) AS objects
    FROM pragma_application_id, pragma_user_version`
  const [version, id, objects] = Object.values(db.prepare(read).get() ?? {}).map(Number)
  if (version === 0 && id === 0 && objects === 0) return 0
  if (id !== APPLICATION_ID) throw new Error('it is a database of another program')
  if (version !== VERSION) {
    throw new Error(
      `its schema is version ${version}, and this program knows ${VERSION}: another version wrote it`,
    )
  }
  assertOwnSchema(db)
  return VERSION
}

/** Refuses a schema with anything but the tables and indexes that the store makes. @throws {Error} naming it */
function assertOwnSchema(db: DatabaseSync): void {
  const encoding = db.prepare('PRAGMA encoding').get()?.['encoding']
  if (encoding !== 'UTF-8') throw new Error('its texts are not in UTF-8') // the order of keys is that of their bytes
  for (const { type, name, sql } of db.prepare('SELECT type, name, sql FROM sqlite_schema').all()) {
    if (!isOwn(db, String(name), sql))
      throw new Error(`its ${String(type)} ${String(name)} is not one that this program makes`)
  }
}

/** Whether the store makes what has this name and this definition. */
function isOwn(db: DatabaseSync, name: string, sql: unknown): boolean {
  if (name === INDEX_OF_DIGESTS) return sql === null
  const definitions = name === 'tokens' ? [TOKENS] : tableDefinitions(db, name)
  return definitions.some((definition) => withoutLayout(definition) === withoutLayout(String(sql)))
}

/**
 * A definition without comments, quotes of its table's name, and spaces that say nothing. No definition of the store has a
 * text: where another one hides `--` in a text, the quotes of the text are left, and it differs.
 */
function withoutLayout(sql: string): string {
  return sql
    .replaceAll(/--.*/g, '')
    .replaceAll(/[ \t\r\n\f]+/g, ' ')
    .replace(/^CREATE TABLE "(\w+)"/, 'CREATE TABLE $1')
    .replaceAll(/ ?([(),]) ?/g, '$1')
}
