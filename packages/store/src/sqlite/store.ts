import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { Batcher, type Batched } from '../core/batch.ts'
import { makeReadQueue } from '../core/lists.ts'
import { finalMessage, isTemporary } from './result-codes.ts'
import { IN_MEMORY, type OpenFile, openInMemory, openSqlite } from './file.ts'
import { openTable } from './table.ts'
import { POLL_INTERVAL } from './watch.ts'
import {
  type StoreEvents,
  type StoreOptions,
  type StoreStats,
  StoreUnavailable,
} from '@plant-store/engine/for-store'
import type { Database, Table } from '../core/database.ts'

/** The number of writes between two checkpoints, which copy the log into the file. */
const CHECKPOINT_INTERVAL = 500
/** Bytes of the log above which it is truncated after a checkpoint. */
const MAX_LOG_BYTES = 64 << 20
/** Milliseconds for a chunk of a long list, its wait included: a caller may ask for more lists than can be read in time. */
const CHUNK_TIMEOUT = 4000
/** The rows that chunks of long lists may read in one turn of the event loop, in less than a millisecond. */
const MAX_ROWS_AT_ONCE = 500
/** Milliseconds that the version of the data is not read again. */
const VERSION_TTL = 100
const OF_ONE_TURN = { maxCost: Infinity, isEager: true }

/** The embedded store, on SQLite. Only one service may use it. */
export class SqliteStore implements Database {
  readonly tables: ReadonlyMap<string, Table>
  readonly timeout = CHUNK_TIMEOUT
  readonly reads = makeReadQueue({
    maxRows: MAX_ROWS_AT_ONCE,
    parallel: 1,
    timeout: CHUNK_TIMEOUT,
  })
  readonly #file: OpenFile
  readonly #db: DatabaseSync
  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync. A write
  // that arrives by itself does not wait for the end of the turn.
  readonly #groupCommit = new Batcher<() => unknown, unknown>(
    (batch) => this.#commit(batch),
    OF_ONE_TURN,
  )
  // The reads of one turn run one after the other. Between other work, each would cost twice as much.
  readonly #turns = new Batcher<undefined, undefined>(beginAll, OF_ONE_TURN)
  readonly #onFailure: StoreEvents['onFailure'] | undefined
  readonly #polling: NodeJS.Timeout | undefined
  /** The error after which the store can't be used any more. */
  #failure: unknown
  readonly #selectVersion: StatementSync
  #version = 0
  /** When the version was read, on the clock of `performance.now()`. */
  #versionRead = -Infinity
  #commits = 0
  #writes = 0
  #writesAtCheckpoint = 0

  /** @throws {StartupError} */
  constructor(file: string, { collections, isExclusive, settings, events }: StoreOptions) {
    this.#file =
      file === IN_MEMORY ? openInMemory(collections) : openSqlite(file, collections, isExclusive)
    const { db } = this.#file
    const path = String(db.location())
    this.#db = db
    this.#selectVersion = db.prepare('PRAGMA data_version') // https://sqlite.org/pragma.html#pragma_data_version
    this.#onFailure = events?.onFailure
    this.tables = this.#openTables(collections)
    // In production a new file usually means that a volume is missing.
    const level = settings.NODE_ENV === 'production' ? 'warn' : 'info'
    if (this.#file.isNew) events?.log[level]({ file: path }, 'new database')
    if (events !== undefined) this.#polling = setInterval(() => this.#poll(), POLL_INTERVAL).unref()
  }

  #openTables(collections: StoreOptions['collections']): Map<string, Table> {
    const access = {
      db: this.#db,
      run: this.#run.bind(this),
      write: this.#write.bind(this),
      turn: () => this.#turns.addUnlessAlone(undefined),
      dataVersion: this.dataVersion.bind(this),
    }
    const tables = new Map<string, Table>()
    for (const [name, { key }] of Object.entries(collections))
      tables.set(name, openTable(access, name, key))
    return tables
  }

  async ping(): Promise<void> {
    this.#poll()
    this.#firstRows()
  }

  dataVersion(): number {
    const now = performance.now()
    if (now - this.#versionRead < VERSION_TTL) return this.#version
    this.#versionRead = now
    this.#version = this.#readVersion()
    return this.#version
  }

  /** @returns NaN if it can't be read: the statement that follows then fails, and says why */
  #readVersion(): number {
    try {
      return this.#run(() => Number(this.#selectVersion.get()?.['data_version']))
    } catch {
      return NaN
    }
  }

  stats(): StoreStats {
    return { commits: this.#commits, writes: this.#writes, walBytes: this.#file.files.logBytes }
  }

  async isEmpty(): Promise<boolean> {
    return this.#firstRows().every((row) => row === undefined)
  }

  /** Reads a row of each table, if it has one. */
  #firstRows() {
    const reads = [...this.tables.keys()].map((name) => `SELECT 1 FROM "${name}" LIMIT 1`)
    return this.#run(() => reads.map((sql) => this.#db.prepare(sql).get()))
  }

  async close(): Promise<void> {
    await Promise.all([this.#groupCommit.idle(), this.#turns.idle()])
    clearInterval(this.#polling)
    this.#poll()
    this.#file.close()
  }

  /** Ends the use of the store if its files were moved or replaced. Writes that only the log has are saved, if possible. */
  #poll(): void {
    const change = this.#db.isOpen ? this.#file.files.findChange() : undefined
    if (change === undefined) return
    this.#file.close()
    this.#fail(change, new Error(change))
  }

  /** Runs SQL. @throws {StoreUnavailable} for a temporary error, for a final one, and for every call after that */
  #run<Value>(sql: () => Value): Value {
    if (this.#failure !== undefined)
      throw new StoreUnavailable('the store has failed', { cause: this.#failure })
    try {
      return sql()
    } catch (error) {
      const message = finalMessage(error)
      if (message !== undefined) throw this.#fail(message, error)
      throw isTemporary(error) ? new StoreUnavailable(String(error), { cause: error }) : error
    }
  }

  /** Reports a final error, and refuses every later call. */
  #fail(message: string, error: unknown): StoreUnavailable {
    if (this.#failure === undefined) this.#onFailure?.(message, error)
    this.#failure ??= error
    return new StoreUnavailable('the store has failed', { cause: error })
  }

  /** @returns what `write` returned, when it is on disk */
  #write<Value>(write: () => Value): Promise<Value> {
    return this.#groupCommit.add(write) as Promise<Value> // as #commit resolves it
  }

  #commit(batch: readonly Batched<() => unknown, unknown>[]): void {
    // A statement without a transaction commits by itself, and costs less.
    const isTransaction = batch.length > 1
    let settle: (() => void)[]
    try {
      if (isTransaction) this.#run(() => this.#db.exec('BEGIN IMMEDIATE'))
      settle = this.#runWrites(batch)
      if (isTransaction) this.#run(() => this.#db.exec('COMMIT'))
    } catch (error) {
      if (this.#isInTransaction()) this.#db.exec('ROLLBACK')
      throw error
    }
    for (const resolve of settle) resolve()
    this.#commits += 1
    this.#writes += batch.length
    if (this.#writes - this.#writesAtCheckpoint < CHECKPOINT_INTERVAL) return
    this.#writesAtCheckpoint = this.#writes
    this.#checkpoint()
  }

  /** Runs the writes of a transaction. @returns the functions that resolve the done writes, to call when they are on disk */
  #runWrites(batch: readonly Batched<() => unknown, unknown>[]): (() => void)[] {
    const settle: (() => void)[] = []
    for (const { item, resolve, reject } of batch) {
      try {
        const value = this.#run(item)
        settle.push(() => resolve(value))
      } catch (error) {
        // SQLite undoes only this statement. The others continue, unless the error ended the transaction.
        if (!this.#isInTransaction()) throw error
        reject(error)
      }
    }
    return settle
  }

  /** Copies the log into the file, and truncates it if it is long. SQLite's automatic checkpoints hide I/O errors. */
  #checkpoint(): void {
    const { files } = this.#file
    try {
      const { log, checkpointed } =
        this.#run(() => this.#db.prepare('PRAGMA wal_checkpoint').get()) ?? {}
      // If a reader in another process still uses the log, it is truncated later.
      if (log !== checkpointed || files.logBytes <= MAX_LOG_BYTES) return
      this.#run(() => this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // StoreUnavailable: the next checkpoint tries again
    }
  }

  #isInTransaction(): boolean {
    return this.#db.isOpen && this.#db.isTransaction
  }
}

function beginAll(batch: readonly Batched<undefined, undefined>[]): void {
  for (const { resolve } of batch) resolve(undefined)
}
