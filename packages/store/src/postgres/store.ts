// The shared store, on PostgreSQL.
import { randomUUID } from 'node:crypto'
import { makeReadQueue } from '../core/lists.ts'
import { placeOf } from './address.ts'
import { Pool } from './pool.ts'
import { assertIndexes, prepareIndexes } from './create-indexes.ts'
import { prepareSchema, type TableInfo } from './create-tables.ts'
import { PostgresTable, type Sharding } from './table.ts'
import { NotDone } from './writes.ts'
import {
  type Collection,
  type ItemFormat,
  type Key,
  reasonOf,
  StartupError,
  type StoreStats,
} from '@plant-store/engine/for-store'
import { StoredCollection } from '../core/collection.ts'
import { countItems } from '../core/counts.ts'
import {
  BY_KEY,
  type Database,
  type DatabaseOptions,
  type Decide,
  type Place,
  tableOf,
} from '../core/database.ts'
import { idOf } from './cells.ts'
import { Changes } from './changes.ts'

/** Any number of processes may use it. */
export class PostgresStore implements Database {
  readonly tables: ReadonlyMap<string, PostgresTable>
  readonly timeout: number
  readonly reads
  readonly #pool: Pool
  readonly #infos: readonly TableInfo[]
  readonly #changes: Changes

  private constructor(pool: Pool, { infos, tables, sharding }: OpenedTables) {
    this.timeout = pool.timeout
    // Half of the connections stay free for short reads.
    const parallel = Math.ceil(pool.parallelReads / 2)
    this.reads = makeReadQueue({ maxRows: 1, parallel, timeout: pool.timeout })
    this.#pool = pool
    this.#infos = infos
    this.#changes = new Changes(pool, sharding)
    this.tables = new Map(tables.map((table) => [table.name, table]))
  }

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, options: DatabaseOptions): Promise<PostgresStore> {
    try {
      const pool = new Pool(url, options.settings, options.events?.log)
      const opened = await openTables(pool, options).catch(async (error: unknown) => {
        await pool.end()
        throw error
      })
      return new PostgresStore(pool, opened)
    } catch (error) {
      throw new StartupError(`DATABASE_URL ${placeOf(url)}: ${reasonOf(error)}`, { cause: error })
    }
  }

  collection<Item, K extends Key, Indexes>(
    name: string,
    format: ItemFormat<Item>,
  ): Collection<Item, K, Indexes> {
    return new StoredCollection<Item, K, Indexes>(this, name, format)
  }

  change(owner: string, places: readonly Place[], decide: Decide): Promise<void> {
    const rows = places.map(({ table, key }) => ({
      id: `${table}\0${idOf({ owner, key })}`,
      table: tableOf(this.tables, table),
      key,
    }))
    return this.#changes.add({ owner, rows, decide }).catch((error: unknown) => {
      throw rows.reduce((refusal, { table }) => table.toRefusal(refusal), error)
    })
  }

  counts(): Promise<Readonly<Record<string, number>>> {
    return countItems(this)
  }

  async ping(): Promise<void> {
    const pings = [...this.tables.values()].map((table) => table.ping())
    try {
      await Promise.all([...pings, assertIndexes(this.#pool, this.#infos)])
    } finally {
      this.#pool.assertSupported() // it says more than the error of a ping
    }
  }

  /** PostgreSQL does not tell. */
  dataVersion(): undefined {
    return undefined
  }

  stats(): StoreStats {
    const total = { commits: 0, writes: 0, waiting: 0 }
    for (const { stats, waiting } of [...this.tables.values(), this.#changes]) {
      total.commits += stats.commits
      total.writes += stats.writes
      total.waiting += waiting
    }
    const { commits, writes } = total
    const pool = this.#pool.stats
    return { commits, writes, pool: { ...pool, waiting: pool.waiting + total.waiting } }
  }

  async isEmpty(): Promise<boolean> {
    const reads = [...this.tables.keys()].map((name) => `(SELECT 1 FROM "${name}" LIMIT 1)`)
    const { rows } = await this.#pool.read(reads.join(' UNION ALL '))
    return rows.length === 0
  }

  async close(): Promise<void> {
    await Promise.all([...this.tables.values(), this.#changes].map((writers) => writers.idle()))
    await this.#pool.end()
  }
}

interface OpenedTables {
  readonly infos: readonly TableInfo[]
  readonly tables: readonly PostgresTable[]
  readonly sharding: Sharding
}

/**
 * Makes the tables and their indexes. @throws {Error} if the server shards, and does not route
 * statements by owner
 */
async function openTables(
  pool: Pool,
  { collections, isExclusive, events }: DatabaseOptions,
): Promise<OpenedTables> {
  const infos = await prepareSchema(pool, collections)
  if (isExclusive) await prepareIndexes(pool, infos, events?.log) // a command beside a service makes none
  const pooler = pool.isSharded ? 'pooler' : 'none'
  const sharding = pool.dialect.isDistributed ? 'server' : pooler
  const tables = infos.map((table) => new PostgresTable(pool, table, sharding))
  if (sharding === 'pooler') await Promise.all(tables.map(assertRouted)) // a server routes, or fails
  return { infos, tables, sharding }
}

function isUnlessNotDone(error: unknown): false {
  if (error instanceof NotDone) return false
  throw error
}

/** Lists the items of an owner who has at most one. */
async function list(table: PostgresTable, owner: string): Promise<string> {
  const deadline = performance.now() + table.timeout
  const chunk = { owner, order: BY_KEY, after: undefined, most: 2, length: 1024 }
  const { text } = await table.read(chunk, deadline)
  return text
}

/**
 * Writes, finds, lists and removes rows of new owners: a pooler may send each statement to another
 * node.
 */
async function assertRouted(table: PostgresTable): Promise<void> {
  const key = table.key === 'text' ? 'check' : 0n
  for (const owner of [`#check#${randomUUID()}`, `#check#${randomUUID()}`]) {
    const text = JSON.stringify(owner)
    const isStored = await table.create(owner, key, text).then(() => true, isUnlessNotDone)
    const isBack = isStored && (await table.find(owner, key)) === text
    const isListed = isBack && (await list(table, owner)) === text
    const isDeleted = isListed && (await table.delete(owner, key))
    const isGone = isDeleted && (await list(table, owner)) === ''
    if (!isGone)
      throw new Error(
        `a row of ${table.name} was written, and did not come back: the server does not shard by owner`,
      )
  }
}
