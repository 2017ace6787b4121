import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable } from '../../errors.ts'
import type { Query } from './pool.ts'
import type { Collections, KeyType, Stored } from '../store.ts'
import { errorCode, isFinal } from './errors.ts'

/** A table of a collection: its columns in the order owner, key and item. */
export interface Columns {
  readonly name: string
  readonly type: KeyType
  readonly columns: readonly [owner: string, key: string, item: string]
}

/**
 * The version of the schema. A program refuses a database that asks for a newer one: raise it when older programs could not
 * work beside this one. In a rolling update these are the programs of the version before.
 */
export const VERSION = 3

/** The columns of access tokens; `$text` is a text type compared by bytes. A new one may be NULL: older programs go on. */
const TOKENS = {
  id: '$text NOT NULL PRIMARY KEY',
  digest: 'BYTEA NOT NULL UNIQUE',
  caller: 'TEXT NOT NULL',
  created: 'BIGINT NOT NULL', // milliseconds since 1970, as is expires
  expires: 'BIGINT',
  scopes: 'TEXT',
}

/** Error codes if another process makes the same change at the same time: the object exists, or is locked. */
const RACES = new Set(['23505', '42P07', '42701', '42710', 'XX000', '40P01', '55P03'])
/** Milliseconds for an upgrade, and for each of its statements. */
const UPGRADE_TIMEOUT = 600_000
/** Milliseconds to wait for a server that is starting. */
const START_TIMEOUT = 10_000

/**
 * Creates the tables and columns that the database lacks. Several processes may call this at the same time. Waits for a
 * server that is starting.
 * @returns the tables of the collections
 * @throws {StoreUnavailable}
 * @throws {Error} for a database that this program can't work with
 */
export async function prepareSchema(query: Query, { collections, tokenPrefix }: Stored): Promise<Columns[]> {
  for (const begun = performance.now(); ;) {
    try {
      return await upgrade(query, `${tokenPrefix}_store`, collections)
    } catch (error) {
      const isTemporary = error instanceof StoreUnavailable && !isFinal(error)
      const timeout = RACES.has(errorCode(error)) ? UPGRADE_TIMEOUT : isTemporary ? START_TIMEOUT : 0
      if (performance.now() - begun > timeout) throw error
      await delay(Math.random() * 250)
    }
  }
}

/** Each statement is safe to run twice, also at the same time, so a process that ends midway leaves nothing to undo. */
async function upgrade(query: Query, versions: string, collections: Collections): Promise<Columns[]> {
  const asked = await query(`SELECT current_setting('server_encoding') AS encoding, version() AS engine`)
  const { encoding, engine } = asked.rows[0] ?? {}
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${String(encoding)} and must be UTF8`)
  // CockroachDB compares all texts byte by byte, and refuses this collation.
  const text = String(engine).includes('Cockroach') ? 'TEXT' : 'TEXT COLLATE "C"'
  const run = (statement: string) => query(statement.replaceAll('$text', text), [], undefined, UPGRADE_TIMEOUT)
  const version = await readVersion(query, versions)
  const existing = await readColumns(query, ['tokens', ...Object.keys(collections)])

  const tokens = existing.get('tokens')
  const missing = Object.entries(TOKENS).filter(([column]) => tokens?.includes(column) !== true)
  if (tokens === undefined)
    await run(`CREATE TABLE IF NOT EXISTS tokens (${missing.map((each) => each.join(' ')).join()})`)
  else for (const [column, type] of missing) await run(`ALTER TABLE tokens ADD COLUMN IF NOT EXISTS ${column} ${type}`)
  const tables = Object.entries(collections).map(([name, { key: type }]): Columns => {
    // The columns of a table that an earlier version made have other names, in the same order.
    const [owner = 'owner', key = 'key', item = 'item'] = existing.get(name)?.map((column) => `"${column}"`) ?? []
    return { name, type, columns: [owner, key, item] }
  })
  for (const { name, type } of tables.filter(({ name }) => !existing.has(name))) {
    await run(`CREATE TABLE IF NOT EXISTS "${name}" (
      owner $text NOT NULL,
      key ${type === 'text' ? '$text' : 'BIGINT'} NOT NULL,
      item TEXT NOT NULL, -- as JSON, the form that it is answered in; not JSONB, which changes it
      PRIMARY KEY (owner, key)
    )`)
  }
  if (version >= VERSION) return tables
  // One row: the version of the schema, and the oldest version of the program that can work with it: at first, this one.
  if (version === 0) {
    await run(`CREATE TABLE IF NOT EXISTS ${versions} (
      one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, oldest INTEGER NOT NULL)`)
  }
  await run(`INSERT INTO ${versions} AS known (one, version, oldest) VALUES (1, ${VERSION}, ${VERSION})
    ON CONFLICT (one) DO UPDATE SET version = GREATEST(known.version, ${VERSION})`)
  return tables
}

/** The columns of those tables that exist, in their order. */
async function readColumns(query: Query, tables: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await query(
    `SELECT table_name AS name, array_agg(column_name::text ORDER BY ordinal_position) AS columns
      FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ANY ($1::text[]) GROUP BY 1`,
    [tables],
  )
  return new Map(rows.map(({ name, columns }) => [String(name), Array.isArray(columns) ? columns.map(String) : []]))
}

/** Reads the version of the schema; 0 if there is none. @throws {Error} if the program is too old for it */
async function readVersion(query: Query, table: string): Promise<number> {
  const { rows } = await query(`SELECT version, oldest FROM ${table}`).catch((error: unknown) => {
    if (errorCode(error) === '42P01') return { rows: [] } // there is no such table yet
    throw error
  })
  const { version = 0, oldest = 0 } = rows[0] ?? {}
  if (Number(oldest) <= VERSION) return Number(version)
  throw new Error(`its schema is version ${Number(version)}, and this program knows ${VERSION}: it is too old`)
}
