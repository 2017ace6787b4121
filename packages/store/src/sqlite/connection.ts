// The connection to the file: runs SQL, commits writes in groups, and reports a file that became
// unusable.
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { NotUnique, type StoreEvents, StoreUnavailable } from '@plant-store/engine/for-store'
import { type Batched, Batcher } from '../core/batch.ts'
import type { OpenFile } from './file.ts'
import { brokenIndex, finalMessage, isTemporary } from './result-codes.ts'

/** The number of writes between two checkpoints, which copy the log into the file. */
const CHECKPOINT_INTERVAL = 500
/** Bytes of the log above which it is truncated after a checkpoint. */
const MAX_LOG_BYTES = 64 << 20
/** Milliseconds for which the version of the data is not read again. */
const VERSION_TTL = 100
const OF_ONE_TURN = { maxCost: Infinity, isEager: true }

interface Write {
  readonly sql: () => unknown
  /** Whether it has several statements: all are done, or none. */
  readonly isSeveral: boolean
}

type BatchedWrite = Batched<Write, unknown>

export class Connection {
  readonly db: DatabaseSync
  /** The committed transactions, and the writes in them. */
  readonly stats = { commits: 0, writes: 0 }
  readonly #file: OpenFile
  readonly #onFailure: StoreEvents['onFailure'] | undefined
  // Group commit: the writes of one turn of the event loop share one transaction, and so one sync.
  // A write arriving alone does not wait for the end of the turn.
  readonly #writes = new Batcher<Write, unknown>((batch) => this.#commit(batch), OF_ONE_TURN)
  // The reads of one turn run one after the other. Between other work, each would cost twice as
  // much.
  readonly #reads = new Batcher<undefined, undefined>(beginAll, OF_ONE_TURN)
  #failure: unknown
  readonly #selectVersion: StatementSync
  #version = 0
  /** On the clock of `performance.now()`. */
  #versionRead = -Infinity
  #writesAtCheckpoint = 0

  constructor(file: OpenFile, onFailure: StoreEvents['onFailure'] | undefined) {
    this.db = file.db
    this.#file = file
    this.#onFailure = onFailure
    this.#selectVersion = file.db.prepare('PRAGMA data_version') // https://sqlite.org/pragma.html#pragma_data_version
  }

  /**
   * Runs SQL.
   * @throws {StoreUnavailable} for a temporary error, for a final one, and for every call after it
   * @throws {NotUnique} for a write that breaks a unique index
   */
  run<Value>(sql: () => Value): Value {
    if (this.#failure !== undefined)
      throw new StoreUnavailable('the store has failed', { cause: this.#failure })
    try {
      return sql()
    } catch (error) {
      const message = finalMessage(error)
      if (message !== undefined) throw this.#fail(message, error)
      const broken = brokenIndex(error)
      if (broken !== undefined) throw new NotUnique(broken.collection, broken.index)
      throw isTemporary(error) ? new StoreUnavailable(String(error), { cause: error }) : error
    }
  }

  /**
   * Runs SQL in the next transaction, shared with other writes. @returns its value, when it is on
   * disk
   */
  write<Value>(sql: () => Value): Promise<Value> {
    return this.#writes.add({ sql, isSeveral: false }) as Promise<Value> // resolved by #commit
  }

  /** As `write`, for SQL of several statements: all are done, or none. */
  writeTogether<Value>(sql: () => Value): Promise<Value> {
    return this.#writes.add({ sql, isSeveral: true }) as Promise<Value> // resolved by #commit
  }

  /** Waits for the next group of reads; undefined for a read by itself. */
  turn(): Promise<unknown> | undefined {
    return this.#reads.addUnlessAlone(undefined)
  }

  /** Changes after another program has written: see engine/src/store.ts. */
  dataVersion(): number {
    const now = performance.now()
    if (now - this.#versionRead < VERSION_TTL) return this.#version
    this.#versionRead = now
    this.#version = this.#readVersion()
    return this.#version
  }

  /**
   * Ends the use of the store if its files were moved or replaced. Writes that stand only in the
   * log are saved, if possible.
   */
  checkFiles(): void {
    const change = this.db.isOpen ? this.#file.files.findChange() : undefined
    if (change === undefined) return
    this.#file.close()
    this.#fail(change, new Error(change))
  }

  async close(): Promise<void> {
    await Promise.all([this.#writes.idle(), this.#reads.idle()])
    this.checkFiles()
    this.#file.close()
  }

  /** @returns NaN if it can't be read: the next statement then fails with the reason */
  #readVersion(): number {
    try {
      return this.run(() => Number(this.#selectVersion.get()?.['data_version']))
    } catch {
      return NaN
    }
  }

  /** Reports a final error, and refuses every later call. */
  #fail(message: string, error: unknown): StoreUnavailable {
    if (this.#failure === undefined) this.#onFailure?.(message, error)
    this.#failure ??= error
    return new StoreUnavailable('the store has failed', { cause: error })
  }

  #commit(batch: readonly BatchedWrite[]): void {
    // A statement without a transaction commits by itself, and costs less.
    const isTransaction = batch.length > 1 || batch.some(({ item }) => item.isSeveral)
    let settle: (() => void)[]
    try {
      if (isTransaction) this.run(() => this.db.exec('BEGIN IMMEDIATE'))
      settle = this.#runWrites(batch)
      if (isTransaction) this.run(() => this.db.exec('COMMIT'))
    } catch (error) {
      if (this.#isInTransaction) this.db.exec('ROLLBACK')
      throw error
    }
    for (const resolve of settle) resolve()
    this.stats.commits += 1
    this.stats.writes += batch.length
    this.#checkpointInTime()
  }

  /**
   * Runs the writes of a transaction. @returns functions to resolve the done writes, to be called
   * when they are on disk
   */
  #runWrites(batch: readonly BatchedWrite[]): (() => void)[] {
    const settle: (() => void)[] = []
    for (const { item, resolve, reject } of batch) {
      try {
        const value = item.isSeveral ? this.#runTogether(item.sql) : this.run(item.sql)
        settle.push(() => resolve(value))
      } catch (error) {
        // Only this write is undone. The others continue, unless the error ended the
        // transaction.
        if (!this.#isInTransaction) throw error
        reject(error)
      }
    }
    return settle
  }

  /** Runs several statements in the transaction. If one fails, all are undone. */
  #runTogether<Value>(sql: () => Value): Value {
    this.run(() => this.db.exec('SAVEPOINT together'))
    try {
      return this.run(sql)
    } catch (error) {
      if (this.#isInTransaction) this.db.exec('ROLLBACK TO together')
      throw error
    } finally {
      if (this.#isInTransaction) this.db.exec('RELEASE together')
    }
  }

  get #isInTransaction(): boolean {
    return this.db.isOpen && this.db.isTransaction
  }

  #checkpointInTime(): void {
    const { writes } = this.stats
    if (writes - this.#writesAtCheckpoint < CHECKPOINT_INTERVAL) return
    this.#writesAtCheckpoint = writes
    this.#checkpoint()
  }

  /**
   * Copies the log into the file, and truncates it if it is long. SQLite's automatic checkpoints
   * hide I/O errors.
   */
  #checkpoint(): void {
    const { files } = this.#file
    try {
      const { log, checkpointed } =
        this.run(() => this.db.prepare('PRAGMA wal_checkpoint').get()) ?? {}
      // If a reader in another process still uses the log, it is truncated later.
      if (log !== checkpointed || files.logBytes <= MAX_LOG_BYTES) return
      this.run(() => this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // StoreUnavailable: the next checkpoint tries again
    }
  }
}

function beginAll(batch: readonly Batched<undefined, undefined>[]): void {
  for (const { resolve } of batch) resolve(undefined)
}
