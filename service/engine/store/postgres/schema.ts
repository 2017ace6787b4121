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

/** An upgrade of the schema by one version. */
export interface Version {
  /**
   * The oldest version of the program that works with the upgraded schema. In a rolling update this is the previous
   * version: keep everything that it reads and writes until the next version.
   */
  readonly oldest: number
  /** They run one by one. Each must be safe to run twice, also at the same time or after later ones: `IF NOT EXISTS`. */
  readonly statements: readonly string[]
}

/** The versions of the schema, from 1. To change the table of tokens, add one. `$text` is a text type compared by bytes. */
export const VERSIONS: readonly Version[] = [
  {
    oldest: 1,
    statements: [
      `CREATE TABLE IF NOT EXISTS tokens (
        id $text NOT NULL PRIMARY KEY,
        digest BYTEA NOT NULL UNIQUE,
        caller TEXT NOT NULL,
        created BIGINT NOT NULL, -- milliseconds since 1970, as is expires
        expires BIGINT
      )`,
    ],
  },
  { oldest: 1, statements: ['ALTER TABLE tokens ADD COLUMN IF NOT EXISTS scopes TEXT'] },
  { oldest: 1, statements: [] }, // new tables of collections have columns that older programs do not know
]

/** One row: the version of the schema, and the oldest version of the program that can work with it: at first, this one. */
const versionTable = (name: string, known: number) => [
  `CREATE TABLE IF NOT EXISTS ${name} (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    oldest INTEGER NOT NULL
  )`,
  `INSERT INTO ${name} (one, version, oldest) VALUES (1, 0, ${known}) ON CONFLICT DO NOTHING`,
]

/** Error codes if another process makes the same change at the same time: the object exists, or is locked. */
const RACES = new Set(['23505', '42P07', '42701', '42710', 'XX000', '40P01', '55P03'])
/** Milliseconds for an upgrade, and for each of its statements. */
const UPGRADE_TIMEOUT = 600_000
/** Milliseconds to wait for a server that is starting. */
const START_TIMEOUT = 10_000

/**
 * Creates or upgrades the schema. Several processes may call this at the same time. Waits for a server that is starting.
 * @returns the tables of the collections
 * @throws {StoreUnavailable}
 * @throws {Error} for a database that this program can't work with
 */
export async function prepareSchema(
  query: Query,
  { collections, tokenPrefix }: Stored,
  versions = VERSIONS,
): Promise<Columns[]> {
  const table = `${tokenPrefix}_store`
  for (const begun = performance.now(); ;) {
    try {
      if (!(await upgrade(query, table, versions))) return await createTables(query, collections)
    } catch (error) {
      const isTemporary = error instanceof StoreUnavailable && !isFinal(error)
      const timeout = RACES.has(errorCode(error)) ? UPGRADE_TIMEOUT : isTemporary ? START_TIMEOUT : 0
      if (performance.now() - begun > timeout) throw error
      await delay(Math.random() * 250)
    }
  }
}

/** Upgrades the schema by one version. @returns whether there was one to upgrade to */
async function upgrade(query: Query, table: string, versions: readonly Version[]): Promise<boolean> {
  const { encoding } = (await query(`SELECT current_setting('server_encoding') AS encoding`)).rows[0] ?? {}
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${String(encoding)} and must be UTF8`)
  const current = await readVersion(query, table, versions.length)
  const next = versions[current ?? 0]
  if (next === undefined) return false
  if (current === undefined) for (const statement of versionTable(table, versions.length)) await query(statement)
  const text = await textType(query)
  for (const statement of next.statements) {
    await query(statement.replaceAll('$text', text), [], undefined, UPGRADE_TIMEOUT)
  }
  // Changes nothing if another process was faster.
  const count = `UPDATE ${table} SET version = version + 1, oldest = GREATEST(oldest, $1) WHERE version = $2`
  await query(count, [next.oldest, current ?? 0])
  return true
}

/** The type of a text that is compared byte by byte. CockroachDB does so always, and refuses this collation. */
async function textType(query: Query): Promise<string> {
  const [row] = (await query('SELECT version() AS version')).rows
  return String(row?.['version']).includes('Cockroach') ? 'TEXT' : 'TEXT COLLATE "C"'
}

/** Creates the tables of collections that do not exist. @returns all, with the names of their columns */
async function createTables(query: Query, collections: Collections): Promise<Columns[]> {
  const names = Object.keys(collections)
  const read = `SELECT table_name AS name, column_name AS column FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ANY ($1::text[]) ORDER BY ordinal_position`
  const byTable = Map.groupBy((await query(read, [names])).rows, (row) => row['name'])
  const missing = names.filter((name) => !byTable.has(name))
  const text = missing.length === 0 ? '' : await textType(query)
  for (const name of missing) {
    await query(`CREATE TABLE IF NOT EXISTS "${name}" (
      owner ${text} NOT NULL,
      key ${collections[name]?.key === 'text' ? text : 'BIGINT'} NOT NULL,
      item TEXT NOT NULL, -- as JSON, the form that it is answered in; not JSONB, which changes it
      PRIMARY KEY (owner, key)
    )`)
  }
  return Object.entries(collections).map(([name, { key: type }]) => {
    // The columns of a table that an earlier version made have other names, in the same order.
    const [owner = 'owner', key = 'key', item = 'item'] =
      byTable.get(name)?.map((row) => `"${String(row['column'])}"`) ?? []
    return { name, type, columns: [owner, key, item] }
  })
}

/** Reads the version of the schema; undefined if there is none. @throws {Error} if the program is too old for it */
async function readVersion(query: Query, table: string, known: number): Promise<number | undefined> {
  const { rows } = await query(`SELECT version, oldest FROM ${table}`).catch((error: unknown) => {
    if (errorCode(error) === '42P01') return { rows: [] } // there is no such table yet
    throw error
  })
  const [found] = rows
  if (Number(found?.['oldest']) > known) {
    throw new Error(
      `its schema is version ${Number(found?.['version'])}, and this program knows ${known}: it is too old`,
    )
  }
  return found && Number(found['version'])
}
