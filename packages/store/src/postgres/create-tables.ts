// Creates the tables of collections, also beside other replicas, and finds the columns of existing
// ones.
import { setTimeout as delay } from 'node:timers/promises'
import {
  ACCESS_TOKENS,
  type KeyType,
  StoreUnavailable,
  TOKENS_OWNER,
} from '@plant-store/engine/for-store'
import { type Dialect, distribute, putOnAllNodes } from './dialect.ts'
import { indexInfo, type IndexInfo } from './indexes.ts'
import type { Pool, Query } from './pool.ts'
import { otherKeys, type TableDefinitions } from '../core/database.ts'
import { errorCode } from './retries.ts'

/** A table of a collection: its columns in the order owner, key and item. */
export interface TableInfo {
  readonly name: string
  readonly type: KeyType
  readonly columns: readonly [owner: string, key: string, item: string]
  readonly indexes: readonly IndexInfo[]
}

/** The previous version's table of access tokens, and its columns. */
const OLD_TOKENS = 'tokens'
const OLD_COLUMNS = ['digest', 'caller', 'created', 'expires', 'scopes']
/**
 * Writes the old tokens exactly as auth/access-tokens.ts of the engine does: `copy` compares
 * strings.
 */
const TAKE_OVER = `
  INSERT INTO "${ACCESS_TOKENS}"
  SELECT '${TOKENS_OWNER}', left(encode(digest, 'hex'), 16),
    '{"digest":"' || encode(digest, 'hex') || '","caller":' || to_json(caller)::text
    || ',"created":' || created::text || coalesce(',"expires":' || expires::text, '')
    || ',"scopes":' || to_json(coalesce(scopes, ''))::text || '}'
  FROM ${OLD_TOKENS}`
/**
 * Error codes if another process makes the same change at the same time: the object exists now, or
 * the table is distributed now (42P16).
 */
const RACES = /^(23505|42P07|42710|XX000|40P01|42P16)$/
/**
 * Error codes if another attempt can't help: wrong credentials, no such database, no permission.
 */
const REFUSALS = /^(28|3D|42501)/
/** Milliseconds to wait for a starting server. */
const START_TIMEOUT = 10_000
/**
 * Milliseconds to wait for other processes making the same tables: on several nodes a table takes
 * seconds.
 */
const RACE_TIMEOUT = 60_000

/** Whether another process has made the same change at the same time. @param code of the error */
export function isRace(code: string): boolean {
  return RACES.test(code)
}

/** Whether another attempt can't help. @param code of the error */
export function isRefusal(code: string): boolean {
  return REFUSALS.test(code)
}

type SchemaPool = Pick<Pool, 'write' | 'dialect'>

/**
 * Creates missing tables. Several processes may call this at the same time. Waits for a starting
 * server. A table unusable for the previous version needs another name: in a rolling update, both
 * versions run.
 * @throws {StoreUnavailable}
 * @throws {Error} for an unusable database
 */
export async function prepareSchema(
  pool: SchemaPool,
  collections: TableDefinitions,
): Promise<TableInfo[]> {
  for (const begun = performance.now(); ;) {
    try {
      return await createTables(pool, collections)
    } catch (error) {
      const code = errorCode(error)
      const isStarting = error instanceof StoreUnavailable && !isRefusal(code)
      const time = isRace(code) ? RACE_TIMEOUT : START_TIMEOUT
      if (!(isStarting || isRace(code)) || performance.now() - begun > time) throw error
      await delay(Math.random() * 250)
    }
  }
}

/**
 * Each statement is safe to run twice, also at the same time, so a process killed midway leaves
 * nothing to undo.
 */
async function createTables(pool: SchemaPool, collections: TableDefinitions): Promise<TableInfo[]> {
  const query = pool.write
  await assertUtf8(query)
  const { dialect } = pool
  const existing = await readColumns(query, [OLD_TOKENS, ...Object.keys(collections)])
  const oldColumns = existing.get(OLD_TOKENS)?.columns ?? []
  const hasOldTokens = OLD_COLUMNS.every((name) => oldColumns.includes(name))
  const tables: TableInfo[] = []
  for (const [name, { key, indexes = [] }] of Object.entries(collections)) {
    const existingTable = existing.get(name)
    const columns = columnsOf(name, key, existingTable)
    const table = { name, type: key, columns }
    const infos = indexes.map((index) => indexInfo(dialect, table, index))
    if (existingTable === undefined) {
      const takeOver = name === ACCESS_TOKENS && hasOldTokens
      const texts = [
        createTable(dialect, name, key, takeOver),
        ...infos.map(({ createNow }) => createNow),
      ]
      await query(`${dialect.beforeTable}${texts.join('; ')}`, [], RACE_TIMEOUT)
    }
    if (dialect.isDistributed) await place(query, name, existingTable?.columns[0])
    tables.push({ ...table, indexes: infos })
  }
  return tables
}

/** Tokens have one owner: on one node, its loss would refuse the callers of every node. */
async function place(query: Query, name: string, owner = 'owner'): Promise<void> {
  const table = `"${name}"`
  const call = name === ACCESS_TOKENS ? putOnAllNodes(table) : distribute(table, owner)
  await query(...call, RACE_TIMEOUT)
}

/** @throws {Error} for a database in another encoding than UTF-8 */
async function assertUtf8(query: Query): Promise<void> {
  const { rows } = await query(`SELECT current_setting('server_encoding') AS encoding`)
  const encoding = String(rows[0]?.['encoding'])
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${encoding} and must be UTF8`)
}

/**
 * The statement for creating a table. An item is a JSON string, which answers send unchanged. JSONB
 * would change it.
 */
function createTable(
  { stringType }: Dialect,
  name: string,
  key: KeyType,
  takeOver: boolean,
): string {
  const keyType = key === 'text' ? stringType : 'BIGINT'
  const columns = `owner ${stringType} NOT NULL, key ${keyType} NOT NULL, item TEXT NOT NULL, PRIMARY KEY (owner, key)`
  // One transaction: only the process that makes the table copies the tokens. A token revoked later
  // stays revoked.
  if (takeOver) return `CREATE TABLE "${name}" (${columns}); ${TAKE_OVER}`
  return `CREATE TABLE IF NOT EXISTS "${name}" (${columns})`
}

/** The columns of an existing table in their order. Earlier versions gave them other names. */
function columnsOf(name: string, type: KeyType, table: Columns | undefined): TableInfo['columns'] {
  if (table === undefined) return ['"owner"', '"key"', '"item"']
  const [, keyType] = table.types
  if (keyType !== (type === 'int64' ? 'bigint' : 'text')) throw new Error(otherKeys(name, type))
  const [owner = '', key = '', item = ''] = table.columns.map((column) => `"${column}"`)
  return [owner, key, item]
}

interface Columns {
  readonly columns: readonly string[]
  readonly types: readonly string[]
}

async function readColumns(
  query: Query,
  tables: readonly string[],
): Promise<ReadonlyMap<string, Columns>> {
  const { rows } = await query(
    `SELECT table_name AS name, array_agg(column_name::text ORDER BY ordinal_position) AS columns,
        array_agg(data_type::text ORDER BY ordinal_position) AS types
      FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ANY ($1::text[]) GROUP BY 1`,
    [tables],
  )
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  return new Map(
    rows.map(({ name, columns, types }) => [
      String(name),
      { columns: texts(columns), types: texts(types) },
    ]),
  )
}
