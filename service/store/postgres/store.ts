import { makeReadQueue } from '../lists.ts'
import { Pool } from './pool.ts'
import { prepareSchema, type Schema } from './create-tables.ts'
import { PostgresTable } from './table.ts'
import type { StoreOptions, StoreStats } from '../../engine/store.ts'
import type { Database } from '../database.ts'
import { reasonOf, StartupError } from '../../engine/errors.ts'

/** The shared store, on PostgreSQL. Any number of processes may use it. */
export class PostgresStore implements Database {
  readonly tables: ReadonlyMap<string, PostgresTable>
  readonly timeout: number
  readonly reads
  readonly #pool: Pool

  private constructor(pool: Pool, { tables, isCitus }: Schema) {
    this.timeout = pool.timeout
    // Half of the connections stay free for short reads.
    const parallel = Math.ceil(pool.parallelReads / 2)
    this.reads = makeReadQueue({ maxRows: 1, parallel, timeout: pool.timeout })
    this.#pool = pool
    const isSharded = pool.isSharded || isCitus
    this.tables = new Map(
      tables.map((table) => [table.name, new PostgresTable(pool, table, isSharded)]),
    )
  }

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, { collections, settings }: StoreOptions): Promise<PostgresStore> {
    const { host, pathname } = new URL(url)
    try {
      const pool = new Pool(url, settings)
      const schema = await prepareSchema(pool.write, collections).catch(async (error: unknown) => {
        await pool.end()
        throw error
      })
      return new PostgresStore(pool, schema)
    } catch (error) {
      throw new StartupError(`DATABASE_URL postgres://${host}${pathname}: ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }

  async ping(): Promise<void> {
    await this.isEmpty() // it reads each table
  }

  /** PostgreSQL does not tell. */
  dataVersion(): undefined {
    return undefined
  }

  stats(): StoreStats {
    const total = { commits: 0, writes: 0, waiting: 0 }
    for (const { stats, waiting } of this.tables.values()) {
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
    await Promise.all([...this.tables.values()].map((table) => table.idle()))
    await this.#pool.end()
  }
}
