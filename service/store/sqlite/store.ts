import type { DatabaseSync } from 'node:sqlite'
import { Batcher, type Batched } from '../batch.ts'
import { BATCH_SIZE, Lists } from '../lists.ts'
import { fromToken, toEntry, toPlant, toToken } from '../rows.ts'
import { startCheck } from './check.ts'
import { finalMessage, isTemporary } from './errors.ts'
import { type OpenFile, openSqlite } from './file.ts'
import { PageCache } from './page-cache.ts'
import { openSnapshot, pageMeasurer, pageReader, type Run } from './pages.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { WriteAheadLog } from './wal.ts'
import type { Entry, Figures, Limits, Monitor, Page, Plant, Store, StoredToken } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** The number of writes between two checkpoints, which copy the log into the file. */
const CHECKPOINT_INTERVAL = 500
const BATCHES = { max: Infinity, eager: true }

/** Runs one statement that writes. @returns whether it changed a row */
type Write = () => boolean

/** The embedded store, on SQLite. Only one service may use it. */
export class SqliteStore implements Store {
  readonly #file: OpenFile
  readonly #db: DatabaseSync
  readonly #sql: Statements
  readonly #cache = new PageCache()
  readonly #lists: Lists
  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync. A write
  // that arrives by itself does not wait for the end of the turn.
  readonly #batcher = new Batcher<Write, boolean>((batch) => this.#commit(batch), BATCHES)
  // The reads of one turn run one after the other: each then costs half of what it costs between other work.
  readonly #reads = new Batcher<undefined, undefined>((all) => all.map(({ resolve }) => resolve(undefined)), BATCHES)
  readonly #wal: WriteAheadLog
  readonly #endCheck: (() => Promise<void>) | undefined
  readonly #onFailure: Monitor['onFailure'] | undefined
  /** Why the store can't be used any more. */
  #failure: unknown
  #isSound: boolean | undefined
  #requests = 0
  /** Increases before each commit, whether it succeeds or not. */
  #version = 0
  #commits = 0
  #writes = 0
  #writesSinceCheckpoint = 0

  /**
   * @param exclusive whether to lock the file for this process
   * @throws {StartupError}
   */
  constructor(file: string, exclusive: boolean, { NODE_ENV }: Limits, monitor?: Monitor) {
    this.#file = openSqlite(file, exclusive)
    const { db } = this.#file
    const path = String(db.location())
    this.#db = db
    this.#sql = prepareStatements(db)
    this.#onFailure = monitor?.onFailure
    if (monitor !== undefined) {
      // In production a new file usually means that a volume is missing.
      if (this.#file.isNew) monitor.log[NODE_ENV === 'production' ? 'warn' : 'info']({ file: path }, 'new database')
      this.#endCheck = startCheck(path, monitor.log, (faults) => this.#checked(faults, monitor.log))
    }
    const run: Run = (sql) => this.#run(sql)
    this.#wal = new WriteAheadLog(path, db, run)
    this.#lists = new Lists({
      page: pageReader(db, run),
      measure: pageMeasurer(db, run),
      openSnapshot: async () => {
        if (this.#wal.isLong) this.#wal.checkpoint(this.#lists)
        return openSnapshot(path, run)
      },
      mustWait: () => this.#wal.isLong,
      getRequests: () => this.#requests,
    })
  }

  async create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    const text = JSON.stringify(plant)
    let stored = plant
    await this.#write(() => {
      const isNew = this.#sql.create.run(owner, id, text).changes === 1n
      if (!isNew) stored = toPlant(this.#sql.find.get(owner, id))
      return isNew
    })
    return stored
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    this.#requests += 1
    const row = this.#run(() => this.#sql.find.get(owner, id))
    return row && toPlant(row)
  }

  update(owner: string, id: bigint, plant: Plant): Promise<boolean> {
    const text = JSON.stringify(plant)
    return this.#write(() => this.#sql.update.run(text, owner, id).changes === 1n)
  }

  delete(owner: string, id: bigint): Promise<boolean> {
    return this.#write(() => this.#sql.delete.run(owner, id).changes === 1n)
  }

  async list(owner: string, after?: bigint, limit?: number): Promise<Page> {
    this.#requests += 1
    await this.#reads.add(undefined)
    const read = () => this.#lists.list(owner, after, limit)
    return this.#run(() => this.#cache.get(this.#version, `${owner} ${after} ${limit}`, read))
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { owner, id } = after ?? { owner: '', id: -Infinity }
    return this.#run(() => this.#sql.entries.all(owner, id, BATCH_SIZE)).map(toEntry)
  }

  async addToken(token: StoredToken): Promise<void> {
    await this.#write(() => this.#sql.addToken.run(...fromToken(token)).changes === 1n)
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    await this.#reads.add(undefined)
    const row = this.#run(() => this.#sql.findToken.get(digest))
    return row && toToken(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    return this.#run(() => this.#sql.listTokens.all()).map(toToken)
  }

  deleteToken(id: string): Promise<boolean> {
    return this.#write(() => this.#sql.deleteToken.run(id).changes === 1n)
  }

  async ping(): Promise<void> {
    const isInPlace = this.#file.isInPlace()
    if (!isInPlace) throw this.#fail('the file was removed or replaced', new Error(`not at ${this.#db.location()}`))
    this.#run(() => this.#db.exec('SELECT 1 FROM plants LIMIT 1'))
  }

  figures(): Figures {
    return { commits: this.#commits, writes: this.#writes, walBytes: this.#wal.bytes, isSound: this.#isSound }
  }

  async isEmpty(): Promise<boolean> {
    return this.#run(() => this.#sql.first.get()) === undefined
  }

  async close(): Promise<void> {
    await this.#endCheck?.()
    await Promise.all([this.#batcher.idle(), this.#reads.idle()])
    for (const each of [this.#db, this.#file.lock]) each?.[Symbol.dispose]() // unlike close(), safe to repeat
  }

  #checked(faults: readonly string[], log: Monitor['log']): void {
    this.#isSound = faults.length === 0
    // The process stays up, so that an operator sees the reason: a restart would not help.
    if (!this.#isSound) this.#failure ??= new Error('the database is corrupt')
    log[this.#isSound ? 'info' : 'error']({ faults }, `the database is ${this.#isSound ? 'sound' : 'corrupt'}`)
  }

  /** Runs SQL. @throws {StoreUnavailable} for a temporary error, for a final one, and for every call after that */
  #run<Value>(sql: () => Value): Value {
    if (this.#failure !== undefined) throw new StoreUnavailable('the store has failed', { cause: this.#failure })
    try {
      return sql()
    } catch (error) {
      const message = finalMessage(error, this.#db)
      if (message !== undefined) throw this.#fail(message, error)
      throw isTemporary(error) ? new StoreUnavailable(String(error), { cause: error }) : error
    }
  }

  /** Reports a final error, and refuses every later call. */
  #fail(message: string, error: unknown): StoreUnavailable {
    if (this.#failure === undefined) this.#onFailure?.(message, error)
    this.#failure ??= error
    return new StoreUnavailable(message, { cause: error })
  }

  #write(write: Write): Promise<boolean> {
    this.#requests += 1
    return this.#batcher.add(write)
  }

  #commit(batch: readonly Batched<Write, boolean>[]): void {
    this.#version += 1
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
    this.#writesSinceCheckpoint += batch.length
    if (this.#writesSinceCheckpoint < CHECKPOINT_INTERVAL) return
    this.#writesSinceCheckpoint = 0
    this.#wal.checkpoint(this.#lists)
  }

  #isInTransaction(): boolean {
    return this.#db.isOpen && this.#db.isTransaction
  }
}
