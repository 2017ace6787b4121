import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable } from '../../engine/errors.ts'
import type { Query } from './pool.ts'
import { ACCESS_TOKENS, type Collections, type KeyType, TOKENS_OWNER } from '../../engine/store.ts'
import { otherKeys } from '../database.ts'
import { errorCode } from './errors.ts'

/** A table of a collection: its columns in the order owner, key and item. */
export interface TableInfo {
  readonly name: string
  readonly type: KeyType
  readonly columns: readonly [owner: string, key: string, item: string]
}

/** Columns of the table in which the version before kept access tokens. */
const OLD_COLUMNS = ['digest', 'caller', 'created', 'expires', 'scopes']
/** Writes the old tokens as auth/access-tokens.ts of the engine does, to the letter: `copy` compares texts. */
const TAKE_OVER = `
  INSERT INTO "${ACCESS_TOKENS}"
  SELECT '${TOKENS_OWNER}', left(encode(digest, 'hex'), 16),
    '{"digest":"' || encode(digest, 'hex') || '","caller":' || to_json(caller)::text
    || ',"created":' || created::text || coalesce(',"expires":' || expires::text, '')
    || ',"scopes":' || to_json(coalesce(scopes, ''))::text || '}'
  FROM tokens`
/** Error codes if another process makes the same change at the same time: the object exists now. */
const RACES = /^(23505|42P07|42710|XX000|40P01)$/
/** Error codes if another attempt to connect can't help: the credentials are wrong, or there is no such database. */
const REFUSALS = /^(28|3D)/
/** Milliseconds to wait for a server that is starting. */
const TIMEOUT = 10_000

/**
 * Creates the tables that the database lacks. Several processes may call this at the same time. Waits for a
 * server that is starting. A table that the program before could not use needs another name: in a rolling update, that
 * program works beside this one.
 * @returns the tables of the collections
 * @throws {StoreUnavailable}
 * @throws {Error} for a database that this program can't work with
 */
export async function prepareSchema(query: Query, collections: Collections): Promise<TableInfo[]> {
  for (const begun = performance.now(); ;) {
    try {
      return await upgrade(query, collections)
    } catch (error) {
      const code = errorCode(error)
      const isTemporary =
        RACES.test(code) || (error instanceof StoreUnavailable && !REFUSALS.test(code))
      if (!isTemporary || performance.now() - begun > TIMEOUT) throw error
      await delay(Math.random() * 250)
    }
  }
}

/** Each statement is safe to run twice, also at the same time, so a process that ends midway leaves nothing to undo. */
async function upgrade(query: Query, collections: Collections): Promise<TableInfo[]> {
  const asked = await query(
    `SELECT current_setting('server_encoding') AS encoding, version() AS product`,
  )
  const { encoding, product } = asked.rows[0] ?? {}
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${String(encoding)} and must be UTF8`)
  // Compared by bytes. CockroachDB compares all texts so, and refuses this collation.
  const text = String(product).includes('Cockroach') ? 'TEXT' : 'TEXT COLLATE "C"'
  const wanted = new Map<string, string>()
  // An item is JSON, in the form that it is answered in; not JSONB, which changes it.
  for (const [name, { key }] of Object.entries(collections)) {
    const type = key === 'text' ? text : 'BIGINT'
    wanted.set(
      name,
      `owner ${text} NOT NULL, key ${type} NOT NULL, item TEXT NOT NULL, PRIMARY KEY (owner, key)`,
    )
  }
  const existing = await readColumns(query, ['tokens', ...wanted.keys()])
  const oldColumns = existing.get('tokens')?.columns ?? []
  const hasOldTokens = OLD_COLUMNS.every((name) => oldColumns.includes(name))
  for (const [name, columns] of wanted) {
    if (existing.has(name)) continue
    if (name === ACCESS_TOKENS && hasOldTokens)
      // One transaction: the tokens are copied once, by who makes the table. A token that is revoked later stays so.
      await query(`CREATE TABLE "${name}" (${columns}); ${TAKE_OVER}`)
    else await query(`CREATE TABLE IF NOT EXISTS "${name}" (${columns})`)
  }
  return Object.entries(collections).map(([name, { key: type }]) => {
    // The columns of a table that an earlier version made have other names, in the same order.
    const { columns = [], types = [] } = existing.get(name) ?? {}
    if (types.length > 0 && types[1] !== (type === 'int64' ? 'bigint' : 'text'))
      throw new Error(otherKeys(name, type))
    const [owner = 'owner', key = 'key', item = 'item'] = columns.map((column) => `"${column}"`)
    return { name, type, columns: [owner, key, item] }
  })
}

/** The columns of those tables that exist, in their order, with their types. */
async function readColumns(query: Query, tables: readonly string[]) {
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
