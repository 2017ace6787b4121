import { runSteps } from '../lists.ts'
import { Pool } from './pool.ts'
import { prepareSchema } from './schema.ts'
import { PostgresTable } from './table.ts'
import type { Figures, StoreOptions } from '../../engine/store.ts'
import type { Database } from '../database.ts'
import { reasonOf, StartupError } from '../../engine/errors.ts'

/** The shared store, on PostgreSQL. Any number of processes may use it. */
export class PostgresStore implements Database {
  readonly tables: ReadonlyMap<string, PostgresTable>
  readonly timeout: number
  readonly steps
  readonly #pool: Pool

  private constructor(pool: Pool, tables: Awaited<ReturnType<typeof prepareSchema>>) {
    this.timeout = pool.timeout
    this.steps = runSteps(1, Math.ceil(pool.parallelReads / 2), pool.timeout)
    this.#pool = pool
    this.tables = new Map(tables.map((each) => [each.name, new PostgresTable(pool, each)]))
  }

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, { collections, settings }: StoreOptions): Promise<PostgresStore> {
    const { host, pathname } = new URL(url)
    try {
      const pool = new Pool(url, settings)
      const tables = await prepareSchema(pool.write, collections).catch(async (error: unknown) => {
        await pool.end()
        throw error
      })
      return new PostgresStore(pool, tables)
    } catch (error) {
      throw new StartupError(`DATABASE_URL postgres://${host}${pathname}: ${reasonOf(error)}`, {
        cause: error,
      })
    }
  }

  async ping(): Promise<void> {
    await this.isEmpty() // it reads each table
  }

  figures(): Figures {
    const tables = [...this.tables.values()]
    const sum = (figure: (table: PostgresTable) => number) =>
      tables.reduce((total, each) => total + figure(each), 0)
    const pool = this.#pool.figures
    return {
      commits: sum(({ figures }) => figures.commits),
      writes: sum(({ figures }) => figures.writes),
      pool: { ...pool, waiting: pool.waiting + sum(({ waiting }) => waiting) },
    }
  }

  async isEmpty(): Promise<boolean> {
    const reads = [...this.tables.keys()].map((name) => `(SELECT 1 FROM "${name}" LIMIT 1)`)
    return (await this.#pool.read(reads.join(' UNION ALL '))).rows.length === 0
  }

  async close(): Promise<void> {
    await Promise.all([...this.tables.values()].map((table) => table.idle()))
    await this.#pool.end()
  }
}
