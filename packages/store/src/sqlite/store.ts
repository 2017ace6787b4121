// The embedded store, on SQLite.
import {
  type Collection,
  type ItemFormat,
  type Key,
  type StoreStats,
} from '@plant-store/engine/for-store'
import { StoredCollection } from '../core/collection.ts'
import { countItems } from '../core/counts.ts'
import {
  type Database,
  type DatabaseOptions,
  type Decide,
  type Place,
  tableOf,
} from '../core/database.ts'
import { makeReadQueue } from '../core/lists.ts'
import { Connection } from './connection.ts'
import { IN_MEMORY, type OpenFile, openInMemory, openSqlite } from './file.ts'
import { SqliteTable } from './table.ts'
import { POLL_INTERVAL } from './watch.ts'

/**
 * Milliseconds for a chunk of a long list, its wait included: a caller may ask for more lists than
 * can be read in time.
 */
const CHUNK_TIMEOUT = 4000
/** The rows of long lists to read in one turn of the event loop, in less than a millisecond. */
const MAX_ROWS_AT_ONCE = 500

/** The embedded store, on SQLite. Only one service may use it. */
export class SqliteStore implements Database {
  readonly tables: ReadonlyMap<string, SqliteTable>
  readonly timeout = CHUNK_TIMEOUT
  readonly reads = makeReadQueue({
    maxRows: MAX_ROWS_AT_ONCE,
    parallel: 1,
    timeout: CHUNK_TIMEOUT,
  })
  readonly #connection: Connection
  readonly #files: OpenFile['files']
  readonly #polling: NodeJS.Timeout | undefined

  /** @throws {StartupError} */
  constructor(path: string, { collections, isExclusive, settings, events }: DatabaseOptions) {
    const file =
      path === IN_MEMORY ? openInMemory(collections) : openSqlite(path, collections, isExclusive)
    const connection = new Connection(file, events?.onFailure)
    const tables = Object.entries(collections).map(
      ([name, options]) => [name, new SqliteTable(connection, name, options)] as const,
    )
    this.tables = new Map(tables)
    this.#connection = connection
    this.#files = file.files
    if (events === undefined) return
    // In production a new file usually means a missing volume.
    const level = settings.NODE_ENV === 'production' ? 'warn' : 'info'
    if (file.isNew) events.log[level]({ file: file.db.location() }, 'new database')
    this.#polling = setInterval(() => connection.checkFiles(), POLL_INTERVAL).unref()
  }

  collection<Item, K extends Key, Indexes>(
    name: string,
    format: ItemFormat<Item>,
  ): Collection<Item, K, Indexes> {
    return new StoredCollection<Item, K, Indexes>(this, name, format)
  }

  change(owner: string, places: readonly Place[], decide: Decide): Promise<void> {
    const rows = places.map(({ table, key }) => ({ table: tableOf(this.tables, table), key }))
    return this.#connection.writeTogether(() => {
      const before = rows.map(({ table, key }) => table.findNow(owner, key))
      const texts = decide(before) ?? []
      const writes = rows.flatMap(({ table, key }, at) => {
        const after = texts[at]
        return after === undefined ? [] : [{ table, owner, key, before: before[at], after }]
      })
      for (const write of writes) write.table.makeRoom(write)
      for (const write of writes) write.table.put(write)
    })
  }

  counts(): Promise<Readonly<Record<string, number>>> {
    return countItems(this)
  }

  async ping(): Promise<void> {
    this.#connection.checkFiles()
    this.#firstRows()
  }

  dataVersion(): number {
    return this.#connection.dataVersion()
  }

  stats(): StoreStats {
    return { ...this.#connection.stats, walBytes: this.#files.logBytes }
  }

  async isEmpty(): Promise<boolean> {
    return this.#firstRows().every((row) => row === undefined)
  }

  #firstRows() {
    const { db } = this.#connection
    const reads = [...this.tables.keys()].map((name) => `SELECT 1 FROM "${name}" LIMIT 1`)
    return this.#connection.run(() => reads.map((sql) => db.prepare(sql).get()))
  }

  async close(): Promise<void> {
    clearInterval(this.#polling)
    await this.#connection.close()
  }
}
