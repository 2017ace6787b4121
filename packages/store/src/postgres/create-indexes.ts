// Makes the missing indexes of existing tables, beside other replicas that write.
import { setTimeout as delay } from 'node:timers/promises'
import { reasonOf, type StoreEvents, StoreUnavailable } from '@plant-store/engine/for-store'
import { duplicates } from '../core/database.ts'
import { isRace, isRefusal, type TableInfo } from './create-tables.ts'
import { areIn, type IndexInfo } from './indexes.ts'
import type { Pool } from './pool.ts'
import { errorCode, isLocked } from './retries.ts'

/** Milliseconds between two looks at an index that another process makes. */
const POLL = 250
/** The most attempts to make an index. */
const MAX_TRIES = 10
/** Milliseconds to look for two items that break a unique index. */
const SEARCH_TIMEOUT = 600_000
/** Items break a unique index, or another process has made the same index. */
const NOT_UNIQUE = '23505'
/** Another process has dropped the index. */
const GONE = '42704'

type IndexPool = Pick<Pool, 'read' | 'write' | 'runLong'>
type Log = StoreEvents['log'] | undefined

/** An index, and the table that it is of. */
interface TableIndex {
  readonly table: TableInfo
  readonly info: IndexInfo
}

/**
 * Makes the missing indexes, and waits for those that another process makes. An index left invalid
 * by a process that was killed is made anew. Several processes may call this at the same time.
 * @throws {Error} for items that break a unique index, and if an index can't be made
 */
export async function prepareIndexes(
  pool: IndexPool,
  tables: readonly TableInfo[],
  log: Log,
): Promise<void> {
  for (const missing of await findMissing(pool, tables)) await prepareIndex(pool, missing, log)
}

/** @throws {StoreUnavailable} naming an index that is missing or invalid */
export async function assertIndexes(
  pool: Pick<Pool, 'read'>,
  tables: readonly TableInfo[],
): Promise<void> {
  const [missing] = await findMissing(pool, tables)
  if (missing !== undefined)
    throw new StoreUnavailable(`${describe(missing)} is missing or invalid`)
}

async function findMissing(
  { read }: Pick<Pool, 'read'>,
  tables: readonly TableInfo[],
): Promise<TableIndex[]> {
  const indexes = tables.flatMap((table) => table.indexes.map((info) => ({ table, info })))
  if (indexes.length === 0) return []
  const names = indexes.map(({ info }) => info.name)
  const { rows } = await read(
    `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      JOIN pg_namespace ON pg_namespace.oid = relnamespace
      WHERE nspname = current_schema() AND relname = ANY ($1::text[]) AND indisvalid`,
    [names],
  )
  const valid = new Set(rows.map(({ name }) => name))
  return indexes.filter(({ info }) => !valid.has(info.name))
}

/** Makes an index, or waits until another process has made it. */
async function prepareIndex(pool: IndexPool, missing: TableIndex, log: Log): Promise<void> {
  const table = { ...missing.table, indexes: [missing.info] }
  for (let tries = 1; (await findMissing(pool, [table])).length > 0;) {
    try {
      await makeIndex(pool, missing, log)
    } catch (error) {
      const isMaking = isLocked(error)
      const canRetry = isMaking || (tries < MAX_TRIES && (await isTemporary(pool, missing, error)))
      if (!canRetry) throw notMade(missing, error)
      if (!isMaking) tries += 1
      await delay(POLL + Math.random() * POLL * tries)
    }
  }
}

async function makeIndex(pool: IndexPool, missing: TableIndex, log: Log): Promise<void> {
  const { info, table } = missing
  await dropInvalid(pool, info)
  log?.info({ table: table.name, index: info.index.name }, 'making an index')
  await pool.runLong(info.create)
}

/** Drops an index left by a process that was killed. It would refuse writes, but find nothing. */
async function dropInvalid(pool: IndexPool, info: IndexInfo): Promise<void> {
  await pool.write(info.putAside)
  await pool.runLong(info.drop)
}

/** @throws {Error} for items that break the index */
async function isTemporary(pool: IndexPool, missing: TableIndex, error: unknown): Promise<boolean> {
  const code = errorCode(error)
  if (code === NOT_UNIQUE) {
    await dropInvalid(pool, missing.info)
    await assertUnique(pool, missing)
    return true // another process has made it, or the items are gone
  }
  const isUnavailable = error instanceof StoreUnavailable && !isRefusal(code)
  return isRace(code) || code === GONE || isUnavailable
}

/** @throws {Error} naming two items that break a unique index */
async function assertUnique({ read }: IndexPool, { table, info }: TableIndex): Promise<void> {
  const [owner, key] = table.columns
  const { rows } = await read(
    `SELECT ${owner} AS owner, min(${key}) AS first, max(${key}) AS last FROM "${table.name}"
      WHERE ${areIn(info.columns)} GROUP BY ${[owner, ...info.columns].join(', ')}
      HAVING count(*) > 1 LIMIT 1`,
    [],
    SEARCH_TIMEOUT,
  )
  const [row] = rows
  if (row === undefined) return
  const keys = [String(row['first']), String(row['last'])] as const
  throw new Error(duplicates(table.name, info.index.name, String(row['owner']), keys))
}

function notMade(missing: TableIndex, error: unknown): Error {
  const words = `${describe(missing)} can't be made: ${reasonOf(error)}`
  return new Error(`${words}. Run it by hand: ${missing.info.create}`, { cause: error })
}

function describe({ table, info }: TableIndex): string {
  return `the index ${info.index.name} of ${table.name}`
}
