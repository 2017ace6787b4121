// Creates the tables of a file, and refuses a file with anything not made by the store.
import type { DatabaseSync } from 'node:sqlite'
import { ACCESS_TOKENS, TOKENS_OWNER } from '@plant-store/engine/for-store'
import type { TableDefinitions } from '../core/database.ts'
import { isIndexDefinition, tableOfIndex } from './index-definition.ts'
import { columnsOf, createTable, tableDefinitions } from './table-definition.ts'

/** The version of the schema, kept in the file's `user_version`. */
export const VERSION = 3
/** The version with access tokens in another table. A start takes it over. */
const TOKENS_VERSION = 2
// Marks a database of this program (https://sqlite.org/pragma.html#pragma_application_id).
const APPLICATION_ID = 0x706c6e74

const OLD_TOKENS = `CREATE TABLE tokens (
  id TEXT NOT NULL PRIMARY KEY,
  digest BLOB NOT NULL UNIQUE,
  caller TEXT NOT NULL,
  created INTEGER NOT NULL, -- milliseconds since 1970, as is expires
  expires INTEGER,
  scopes TEXT
) WITHOUT ROWID, STRICT`
/** The index made by SQLite because digests are unique. */
const INDEX_OF_DIGESTS = 'sqlite_autoindex_tokens_2'
/**
 * Writes the old tokens exactly as auth/access-tokens.ts of the engine does: `copy` compares
 * strings.
 */
const TAKE_OVER = `
  INSERT INTO "${ACCESS_TOKENS}"
  SELECT '${TOKENS_OWNER}', substr(lower(hex(digest)), 1, 16),
    '{"digest":"' || lower(hex(digest)) || '","caller":' || json_quote(caller)
    || ',"created":' || created || coalesce(',"expires":' || expires, '')
    || ',"scopes":' || json_quote(coalesce(scopes, '')) || '}'
  FROM tokens;
  DROP TABLE tokens`
/**
 * The known tables of other programs, with their exact definitions. None of them changes which rows
 * SQLite finds: https://sqlite.org/fileformat.html#stat1tab for those of ANALYZE. All versions of
 * Litestream make the same two.
 */
const TABLES_OF_OTHERS: ReadonlyMap<string, string> = new Map([
  ['sqlite_stat1', 'CREATE TABLE sqlite_stat1(tbl,idx,stat)'],
  ['sqlite_stat4', 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)'],
  ['_litestream_seq', 'CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)'],
  ['_litestream_lock', 'CREATE TABLE _litestream_lock (id INTEGER)'],
])

/**
 * Creates the tables of new collections, and takes over a file of the previous version, in the open
 * transaction.
 * @returns the previous version of the schema; 0 for an empty file
 * @throws {Error} as {@link readVersion} does
 */
export function prepareSchema(db: DatabaseSync, collections: TableDefinitions): number {
  const version = readVersion(db)
  if (version === TOKENS_VERSION) {
    createTable(db, ACCESS_TOKENS, 'text')
    db.exec(TAKE_OVER)
  }
  if (version !== VERSION)
    db.exec(`PRAGMA user_version = ${VERSION}; PRAGMA application_id = ${APPLICATION_ID}`)
  for (const [name, { key }] of Object.entries(collections)) createTable(db, name, key)
  return version
}

/**
 * Whether a start must take over a file of the previous version. @throws {Error} as {@link
 * readVersion} does
 */
export function isOutdated(db: DatabaseSync): boolean {
  return readVersion(db) === TOKENS_VERSION
}

/**
 * The version of the schema; 0 for an empty file.
 * @throws {Error} if the database belongs to another program, or to an unknown version, or has
 * anything not made by the store: a trigger could show the items of one caller to another
 */
export function readVersion(db: DatabaseSync): number {
  const read = 'SELECT user_version, application_id FROM pragma_user_version, pragma_application_id'
  const [version, id] = Object.values(db.prepare(read).get() ?? {}).map(Number)
  const objects = readSchema(db)
  const isEmpty = version === 0 && id === 0 && objects.every(isOfOthers)
  if (!isEmpty && id !== APPLICATION_ID) throw new Error('it is a database of another program')
  assertUtf8(db)
  if (isEmpty) return 0
  if (version !== VERSION && version !== TOKENS_VERSION) {
    throw new Error(
      `its schema is version ${version}, and this program knows ${VERSION}: another version wrote it`,
    )
  }
  for (const object of objects) assertKnown(db, object, version)
  return version
}

/** Keys are ordered by their bytes. @throws {Error} */
function assertUtf8(db: DatabaseSync): void {
  const encoding = db.prepare('PRAGMA encoding').get()?.['encoding']
  if (encoding !== 'UTF-8') throw new Error('its strings are not in UTF-8')
}

/** The names of the tables made by the store in a file, those of collections first. */
export function storedTables(db: DatabaseSync): string[] {
  const sql = `SELECT type, name, sql FROM sqlite_schema WHERE type = 'table'
    ORDER BY name IN ('${ACCESS_TOKENS}', 'tokens'), name`
  const tables = db.prepare(sql).all().map(toSchemaObject)
  return tables.filter((table) => !isOfOthers(table)).map(({ name }) => name)
}

interface SchemaObject {
  readonly type: string
  readonly name: string
  /** Its definition; `null` for an index made by SQLite. */
  readonly sql: unknown
}

function readSchema(db: DatabaseSync): SchemaObject[] {
  return db.prepare('SELECT type, name, sql FROM sqlite_schema').all().map(toSchemaObject)
}

function toSchemaObject({ type, name, sql }: Record<string, unknown>): SchemaObject {
  return { type: String(type), name: String(name), sql }
}

/** Whether this is a known, harmless table of another program. */
function isOfOthers({ name, sql }: SchemaObject): boolean {
  return TABLES_OF_OTHERS.has(name) && sql === TABLES_OF_OTHERS.get(name)
}

/**
 * Refuses unknown objects, except harmless ones of other programs. @throws {Error} naming the
 * object
 */
function assertKnown(db: DatabaseSync, object: SchemaObject, version: number): void {
  const { type, name, sql } = object
  if (isOfOthers(object)) return
  if (version === TOKENS_VERSION && isOldTokensTable(name, sql)) return
  const isOwn = type === 'index' ? isOwnIndex(db, sql) : isOwnTable(db, name, sql)
  if (!isOwn) throw new Error(`its ${type} ${name} is not made by this program`)
}

function isOwnTable(db: DatabaseSync, name: string, sql: unknown): boolean {
  return tableDefinitions(db, name).some((definition) => isSameLayout(definition, sql))
}

/** Whether this may be an index of a collection, in this version of the product or another. */
function isOwnIndex(db: DatabaseSync, sql: unknown): boolean {
  const table = tableOfIndex(String(sql))
  return table !== undefined && isIndexDefinition(String(sql), columnsOf(db, table))
}

/** Whether this is the table of tokens of the previous version, or its index. */
function isOldTokensTable(name: string, sql: unknown): boolean {
  if (name === INDEX_OF_DIGESTS) return sql === null
  return name === 'tokens' && isSameLayout(OLD_TOKENS, sql)
}

function isSameLayout(definition: string, sql: unknown): boolean {
  return withoutLayout(definition) === withoutLayout(String(sql))
}

/**
 * A definition without comments, without quotes around the name of its table, and without needless
 * spaces. No definition of the store has a string. If another program hides `--` in a string, its
 * quotes stay, and the definition differs.
 */
function withoutLayout(sql: string): string {
  return sql
    .replaceAll(/--.*/g, '')
    .replaceAll(/[ \t\r\n\f]+/g, ' ')
    .replace(/^CREATE TABLE "(\w+)"/, 'CREATE TABLE $1')
    .replaceAll(/ ?([(),]) ?/g, '$1')
}
