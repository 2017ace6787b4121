import { runSteps } from '../lists.ts'
import { Pool } from './pool.ts'
import { prepareSchema } from './schema.ts'
import { PostgresTable } from './table.ts'
import { fromToken, toToken } from '../tokens.ts'
import type { Stored, Figures, Limits, Store, StoredToken } from '../store.ts'
import { reasonOf, StartupError } from '../../errors.ts'

/** The shared store, on PostgreSQL. Any number of processes may use it. */
export class PostgresStore implements Store {
  readonly tables: ReadonlyMap<string, PostgresTable>
  readonly timeout: number
  readonly steps
  readonly #pool: Pool
  #commits = 0
  #written = 0

  private constructor(pool: Pool, tables: Awaited<ReturnType<typeof prepareSchema>>, timeout: number) {
    const { read, write, parallelReads: parallel } = pool
    this.timeout = timeout
    this.steps = runSteps(Math.ceil(parallel / 2), timeout)
    this.#pool = pool
    const onCommit = (writes: number) => {
      this.#commits += 1
      this.#written += writes
    }
    const access = { read, write, parallel, timeout, onCommit }
    this.tables = new Map(tables.map((each) => [each.name, new PostgresTable(access, each)]))
  }

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, product: Stored, limits: Limits): Promise<PostgresStore> {
    const { host, pathname } = new URL(url)
    try {
      const pool = new Pool(url, limits)
      const tables = await prepareSchema(pool.write, product).catch(async (error: unknown) => {
        await pool.end()
        throw error
      })
      return new PostgresStore(pool, tables, limits.DATABASE_TIMEOUT * 1000)
    } catch (error) {
      throw new StartupError(`DATABASE_URL postgres://${host}${pathname}: ${reasonOf(error)}`, { cause: error })
    }
  }

  async addToken(token: StoredToken): Promise<void> {
    const add = 'INSERT INTO tokens (id, caller, created, expires, digest, scopes) VALUES ($1, $2, $3, $4, $5, $6)'
    await this.#pool.write(add, [...fromToken(token)])
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    const { rows } = await this.#pool.read('SELECT * FROM tokens WHERE digest = $1', [digest], 'tokens')
    return rows[0] && toToken(rows[0])
  }

  async listTokens(): Promise<StoredToken[]> {
    const read = 'SELECT * FROM tokens ORDER BY created, id'
    return (await this.#pool.read(read)).rows.map(toToken)
  }

  async deleteToken(id: string): Promise<boolean> {
    return (await this.#pool.write('DELETE FROM tokens WHERE id = $1', [id])).rowCount === 1
  }

  async ping(): Promise<void> {
    await this.#firstRows()
  }

  figures(): Figures {
    const waiting = [...this.tables.values()].reduce((sum, each) => sum + each.waiting, 0)
    const { figures } = this.#pool
    const pool = { ...figures, waiting: figures.waiting + waiting }
    return { commits: this.#commits, writes: this.#written, pool }
  }

  async isEmpty(): Promise<boolean> {
    return (await this.#firstRows()).rows.length === 0
  }

  /** Reads a row of each table, if it has one. */
  #firstRows() {
    const reads = ['tokens', ...this.tables.keys()].map((name) => `(SELECT 1 FROM "${name}" LIMIT 1)`)
    return this.#pool.read(reads.join(' UNION ALL '))
  }

  async close(): Promise<void> {
    await Promise.all([...this.tables.values()].map((table) => table.idle()))
    await this.#pool.end()
  }
}
