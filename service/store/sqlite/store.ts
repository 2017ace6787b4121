import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { Batcher, type Batched } from '../batch.ts'
import { BATCH_SIZE, Lists } from '../lists.ts'
import { fromPlant, fromToken, type Row, toEntry, toPlant, toToken } from '../rows.ts'
import { startCheck } from './check.ts'
import { type OpenFile, openSqlite } from './file.ts'
import { PageCache } from './page-cache.ts'
import { measurer, openSnapshot, reader } from './pages.ts'
import { SqlRunner, Statements } from './statements.ts'
import type { Entry, Figures, Limits, Monitor, Page, Plant, Store, StoredToken } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** The number of writes between two checkpoints, which copy the log into the file. */
const CHECKPOINT_INTERVAL = 500
/** Bytes of the log: above the first, a new snapshot waits for the open ones; above the second, they are closed. */
const MAX_LOG_BYTES = 64 << 20
const MAX_LOG_BYTES_WITH_SNAPSHOTS = 256 << 20

/** The embedded store, on SQLite. Only one service may use it. */
export class SqliteStore implements Store {
  readonly #file: OpenFile
  readonly #db: DatabaseSync
  readonly #runner: SqlRunner
  readonly #sql: Statements
  readonly #cache = new PageCache()
  readonly #lists: Lists
  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync. A write
  // that arrives by itself does not wait for the end of the turn.
  readonly #batcher = new Batcher<() => void, undefined>((batch) => this.#commit(batch), { max: Infinity, eager: true })
  readonly #wal: string
  readonly #endCheck: (() => Promise<void>) | undefined
  #isSound: boolean | undefined
  #commits = 0
  #writes = 0
  /** How many of these writes came before the last checkpoint. */
  #checkpointed = 0

  /**
   * @param exclusive whether to lock the file for this process
   * @throws {StartupError}
   */
  constructor(file: string, exclusive: boolean, { NODE_ENV }: Limits, monitor?: Monitor) {
    this.#file = openSqlite(file, exclusive)
    const { db } = this.#file
    const runner = new SqlRunner(db, monitor?.onFailure)
    const path = String(db.location())
    this.#sql = new Statements(db, runner)
    if (monitor !== undefined) {
      // In production a new file usually means that a volume is missing.
      if (this.#file.isNew) monitor.log[NODE_ENV === 'production' ? 'warn' : 'info']({ file: path }, 'new database')
      this.#endCheck = startCheck(path, monitor.log, (faults) => this.#checked(faults, monitor.log))
    }
    this.#db = db
    this.#runner = runner
    this.#wal = `${path}-wal`
    this.#lists = new Lists({
      page: reader(db, runner),
      measure: measurer(this.#sql),
      openSnapshot: async () => {
        if (this.#logBytes() > MAX_LOG_BYTES) this.#checkpoint()
        return openSnapshot(path, runner)
      },
      mustWait: () => this.#logBytes() > MAX_LOG_BYTES,
    })
  }

  create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    const text = fromPlant(plant)
    return this.#write(() => {
      const { changes } = this.#sql.run`INSERT INTO plants (owner, id, plant) VALUES (${owner}, ${id}, ${text})
        ON CONFLICT DO NOTHING`
      return changes === 1n ? plant : toPlant(this.#row(owner, id))
    })
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    this.#lists.countRequest()
    const row = this.#row(owner, id)
    return row && toPlant(row)
  }

  update(owner: string, id: bigint, plant: Plant): Promise<boolean> {
    const text = fromPlant(plant)
    return this.#write(
      () => this.#sql.run`UPDATE plants SET plant = ${text} WHERE owner = ${owner} AND id = ${id}`.changes === 1n,
    )
  }

  delete(owner: string, id: bigint): Promise<boolean> {
    return this.#write(() => this.#sql.run`DELETE FROM plants WHERE owner = ${owner} AND id = ${id}`.changes === 1n)
  }

  async list(owner: string, after?: bigint, limit?: number): Promise<Page> {
    this.#lists.countRequest()
    const read = () => this.#lists.list(owner, after, limit)
    return this.#runner.run(() => this.#cache.get(`${owner} ${after} ${limit}`, read))
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { owner, id } = after ?? { owner: '', id: -Infinity }
    return this.#sql.all`SELECT owner, id, plant FROM plants WHERE (owner, id) > (${owner}, ${id})
        ORDER BY owner, id LIMIT ${BATCH_SIZE}`.map(toEntry)
  }

  async addToken(token: StoredToken): Promise<void> {
    const [id, caller, created, expires, digest, scopes] = fromToken(token)
    await this.#write(
      () => this.#sql.run`INSERT INTO tokens (id, caller, created, expires, digest, scopes)
        VALUES (${id}, ${caller}, ${created}, ${expires}, ${digest}, ${scopes})`,
    )
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    const row = this.#sql.get`SELECT * FROM tokens WHERE digest = ${digest}`
    return row && toToken(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    return this.#sql.all`SELECT * FROM tokens ORDER BY created, id`.map(toToken)
  }

  deleteToken(id: string): Promise<boolean> {
    return this.#write(() => this.#sql.run`DELETE FROM tokens WHERE id = ${id}`.changes === 1n)
  }

  async ping(): Promise<void> {
    const isInPlace = this.#file.isInPlace()
    if (!isInPlace) this.#runner.fail('the file was removed or replaced', new Error(`not at ${this.#db.location()}`))
    this.#runner.run(() => this.#db.exec('SELECT 1 FROM plants LIMIT 1'))
  }

  figures(): Figures {
    return { commits: this.#commits, writes: this.#writes, walBytes: this.#logBytes(), isSound: this.#isSound }
  }

  async isEmpty(): Promise<boolean> {
    return this.#sql.get`SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1` === undefined
  }

  async close(): Promise<void> {
    await this.#endCheck?.()
    await this.#batcher.idle()
    for (const each of [this.#db, this.#file.lock]) each?.[Symbol.dispose]() // unlike close(), safe to repeat
  }

  #checked(faults: readonly string[], log: Monitor['log']): void {
    this.#isSound = faults.length === 0
    // The process stays up, so that an operator sees the reason: a restart would not help.
    if (!this.#isSound) this.#runner.refuse(new Error('the database is corrupt'))
    log[this.#isSound ? 'info' : 'error']({ faults }, `the database is ${this.#isSound ? 'sound' : 'corrupt'}`)
  }

  #row(owner: string, id: bigint): Row | undefined {
    return this.#sql.get`SELECT plant FROM plants WHERE owner = ${owner} AND id = ${id}`
  }

  /** @param execute runs one statement */
  async #write<Value>(execute: () => Value): Promise<Value> {
    this.#lists.countRequest()
    let result: () => Value = () => {
      throw new Error('the statement was not run')
    }
    await this.#batcher.add(() => {
      try {
        const value = execute()
        result = () => value
      } catch (error) {
        // SQLite undoes only this statement. The others continue, unless the fault ended the transaction.
        if (!this.#isInTransaction()) throw error
        result = () => {
          throw error
        }
      }
    })
    return result()
  }

  #commit(batch: readonly Batched<() => void, undefined>[]): void {
    this.#cache.clear()
    // A statement without a transaction commits by itself, and costs less.
    const isOne = batch.length === 1
    try {
      if (!isOne) this.#runner.run(() => this.#db.exec('BEGIN IMMEDIATE'))
      for (const { item } of batch) item()
      if (!isOne) this.#runner.run(() => this.#db.exec('COMMIT'))
    } catch (error) {
      if (this.#isInTransaction()) this.#db.exec('ROLLBACK')
      throw error
    }
    for (const { resolve } of batch) resolve(undefined)
    this.#commits += 1
    this.#writes += batch.length
    if (this.#writes - this.#checkpointed >= CHECKPOINT_INTERVAL) this.#checkpoint()
  }

  #isInTransaction(): boolean {
    return this.#db.isOpen && this.#db.isTransaction
  }

  // SQLite's automatic checkpoints hide I/O errors.
  #checkpoint(): void {
    this.#checkpointed = this.#writes
    if (this.#logBytes() > MAX_LOG_BYTES_WITH_SNAPSHOTS) void this.#lists.endSnapshots()
    try {
      const { log, checkpointed } = this.#sql.get`PRAGMA wal_checkpoint` ?? {}
      // If a reader in another process still uses the log, it is truncated later.
      if (log !== checkpointed || this.#lists.snapshots > 0 || this.#logBytes() <= MAX_LOG_BYTES) return
      this.#runner.run(() => this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // StoreUnavailable: the next checkpoint tries again
    }
  }

  #logBytes(): number {
    return statSync(this.#wal, { throwIfNoEntry: false })?.size ?? 0
  }
}
