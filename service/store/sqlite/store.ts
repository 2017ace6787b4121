import type { DatabaseSync } from 'node:sqlite'
import { Batcher, type Batched } from '../batch.ts'
import { runSteps } from '../lists.ts'
import { finalMessage, isTemporary } from './errors.ts'
import { type OpenFile, openSqlite } from './file.ts'
import { openTable } from './table.ts'
import { LOOK_INTERVAL } from './watch.ts'
import type { Figures, Monitor, StoreOptions } from '../../engine/store.ts'
import type { Database, Table } from '../database.ts'
import { StoreUnavailable } from '../../engine/errors.ts'

/** The number of writes between two checkpoints, which copy the log into the file. */
const CHECKPOINT_INTERVAL = 500
/** Bytes of the log above which it is truncated after a checkpoint. */
const MAX_LOG_BYTES = 64 << 20
/** Milliseconds for a step of a long list, with its wait: a caller may ask for more lists than there is time for. */
const STEP_TIMEOUT = 4000
/** The rows that steps of long lists may read in one turn of the event loop, in less than a millisecond. */
const MAX_ROWS_AT_ONCE = 500
const BATCHES = { max: Infinity, eager: true }

/** The embedded store, on SQLite. Only one service may use it. */
export class SqliteStore implements Database {
  readonly tables: ReadonlyMap<string, Table>
  readonly timeout = STEP_TIMEOUT
  readonly steps = runSteps(MAX_ROWS_AT_ONCE, 1, STEP_TIMEOUT)
  readonly #file: OpenFile
  readonly #db: DatabaseSync
  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync. A write
  // that arrives by itself does not wait for the end of the turn.
  readonly #batcher = new Batcher<() => unknown, unknown>((batch) => this.#commit(batch), BATCHES)
  // The reads of one turn run one after the other: each then costs half of what it costs between other work.
  readonly #reads = new Batcher<undefined, undefined>(
    (all) => all.map(({ resolve }) => resolve(undefined)),
    BATCHES,
  )
  readonly #onFailure: Monitor['onFailure'] | undefined
  readonly #looking: NodeJS.Timeout | undefined
  /** Why the store can't be used any more. */
  #failure: unknown
  #commits = 0
  #writes = 0
  #writesAtCheckpoint = 0

  /** @throws {StartupError} */
  constructor(file: string, { collections, isExclusive, settings, monitor }: StoreOptions) {
    this.#file = openSqlite(file, collections, isExclusive)
    const { db } = this.#file
    const path = String(db.location())
    this.#db = db
    this.#onFailure = monitor?.onFailure
    const run = this.#run.bind(this)
    const access = {
      db,
      run,
      write: this.#write.bind(this),
      turn: () => this.#reads.add(undefined),
    }
    this.tables = new Map(
      Object.entries(collections).map(([name, { key }]) => [name, openTable(access, name, key)]),
    )
    // In production a new file usually means that a volume is missing.
    if (this.#file.isNew)
      monitor?.log[settings.NODE_ENV === 'production' ? 'warn' : 'info'](
        { file: path },
        'new database',
      )
    if (monitor !== undefined)
      this.#looking = setInterval(() => this.#look(), LOOK_INTERVAL).unref()
  }

  async ping(): Promise<void> {
    this.#look()
    this.#firstRows()
  }

  figures(): Figures {
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
    await Promise.all([this.#batcher.idle(), this.#reads.idle()])
    clearInterval(this.#looking)
    this.#look()
    this.#file.close()
  }

  /** Ends the use of the store if something happened to its files. What only the log has is saved, if that is possible. */
  #look(): void {
    const fault = this.#db.isOpen ? this.#file.files.findFault() : undefined
    if (fault === undefined) return
    this.#file.close()
    this.#fail(fault, new Error(fault))
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
    return this.#batcher.add(write) as Promise<Value> // as #commit resolves it
  }

  #commit(batch: readonly Batched<() => unknown, unknown>[]): void {
    // A statement without a transaction commits by itself, and costs less.
    const isOne = batch.length === 1
    const written: (() => void)[] = []
    try {
      if (!isOne) this.#run(() => this.#db.exec('BEGIN IMMEDIATE'))
      for (const { item, resolve, reject } of batch) {
        try {
          const value = this.#run(item)
          written.push(() => resolve(value))
        } catch (error) {
          // SQLite undoes only this statement. The others continue, unless the fault ended the transaction.
          if (!this.#isInTransaction()) throw error
          reject(error)
        }
      }
      if (!isOne) this.#run(() => this.#db.exec('COMMIT'))
    } catch (error) {
      if (this.#isInTransaction()) this.#db.exec('ROLLBACK')
      throw error
    }
    for (const resolve of written) resolve()
    this.#commits += 1
    this.#writes += batch.length
    if (this.#writes - this.#writesAtCheckpoint < CHECKPOINT_INTERVAL) return
    this.#writesAtCheckpoint = this.#writes
    this.#checkpoint()
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
