import { statSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseSync, SQLTagStore } from 'node:sqlite'
import { BATCH, Lists } from '../lists.ts'
import { fromPlant, fromToken, type Row, toEntry, toPlant, toToken } from '../rows.ts'
import { available } from './errors.ts'
import { openSqlite } from './file.ts'
import { Kept, measurer, openSnapshot, reader } from './pages.ts'
import { type Entry, type Figures, type Page, type Plant, type Store, type StoredToken } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** After so many writes the log is emptied into the file. */
const CHECKPOINT = 500

/** The embedded store. */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #lock: DatabaseSync | undefined
  readonly #sql: SQLTagStore
  /** What is kept of an owner's plants. */
  readonly #kept: readonly Pick<Kept<never>, 'drop'>[]
  readonly #lists: Lists
  /** Writes that wait for their commit: `run` executes one, and gives what to call when it is committed. */
  readonly #batch: { run: () => () => void; reject: (error: unknown) => void }[] = []
  readonly #wal: string
  #commits = 0
  #writes = 0
  /** Of these so many are not only in the log. */
  #checkpointed = 0

  /**
   * @param sole whether to become the one process that owns the file
   * @throws {StartupError}
   */
  constructor(file: string, sole: boolean) {
    const { db, lock } = openSqlite(file, sole)
    this.#db = db
    this.#lock = lock
    this.#sql = db.createTagStore()
    this.#wal = `${db.location()}-wal`
    const pages = new Kept(reader(db), ({ plants }) => plants.text.length)
    const sizes = new Kept(measurer(db), () => 50) // hardly anything, but not nothing: their number is bounded, too
    this.#kept = [pages, sizes]
    this.#lists = new Lists(
      async (owner, after, most) => {
        // The lists of one turn are answered together, as writes are: to wake their clients one by one costs more.
        await nextTurn()
        return available(() => pages.get(owner, after, most))
      },
      async (owner, after, most) => sizes.get(owner, after, most),
      async () => openSnapshot(String(db.location())),
    )
  }

  create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    const text = fromPlant(plant)
    return this.#write(() => {
      this.#forget(owner)
      const { changes } = this.#sql.run`INSERT INTO plants (owner, id, plant) VALUES (${owner}, ${id}, ${text})
        ON CONFLICT DO NOTHING`
      return changes === 1n ? plant : toPlant(this.#row(owner, id))
    })
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    const row = available(() => this.#row(owner, id))
    return row && toPlant(row)
  }

  update(owner: string, id: bigint, plant: Plant): Promise<boolean> {
    const text = fromPlant(plant)
    return this.#write(() => {
      this.#forget(owner)
      return this.#sql.run`UPDATE plants SET plant = ${text} WHERE owner = ${owner} AND id = ${id}`.changes === 1n
    })
  }

  delete(owner: string, id: bigint): Promise<boolean> {
    return this.#write(() => {
      this.#forget(owner)
      return this.#sql.run`DELETE FROM plants WHERE owner = ${owner} AND id = ${id}`.changes === 1n
    })
  }

  list(owner: string, after?: bigint, limit?: number): Promise<Page> {
    return this.#lists.list(owner, after, limit)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { owner, id } = after ?? { owner: '', id: -Infinity }
    return available(
      () => this.#sql.all`SELECT owner, id, plant FROM plants WHERE (owner, id) > (${owner}, ${id})
        ORDER BY owner, id LIMIT ${BATCH}`,
    ).map(toEntry)
  }

  async addToken(token: StoredToken): Promise<void> {
    const [id, caller, created, expires, digest, scopes] = fromToken(token)
    await this.#write(
      () => this.#sql.run`INSERT INTO tokens (id, caller, created, expires, digest, scopes)
        VALUES (${id}, ${caller}, ${created}, ${expires}, ${digest}, ${scopes})`,
    )
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    const row = available(() => this.#sql.get`SELECT * FROM tokens WHERE digest = ${digest}`)
    return row && toToken(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    return available(() => this.#sql.all`SELECT * FROM tokens ORDER BY created, id`).map(toToken)
  }

  deleteToken(id: string): Promise<boolean> {
    return this.#write(() => this.#sql.run`DELETE FROM tokens WHERE id = ${id}`.changes === 1n)
  }

  async ping(): Promise<void> {
    available(() => this.#sql.get`SELECT 1 FROM plants LIMIT 1`)
  }

  figures(): Figures {
    const walBytes = statSync(this.#wal, { throwIfNoEntry: false })?.size ?? 0
    return { commits: this.#commits, writes: this.#writes, walBytes }
  }

  async isEmpty(): Promise<boolean> {
    return available(() => this.#sql.get`SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1`) === undefined
  }

  async close(): Promise<void> {
    this.#commit()
    for (const each of [this.#db, this.#lock]) each?.[Symbol.dispose]() // unlike close(), safe to repeat
  }

  #forget(owner: string): void {
    for (const kept of this.#kept) kept.drop(owner)
  }

  #row(owner: string, id: bigint): Row | undefined {
    return this.#sql.get`SELECT plant FROM plants WHERE owner = ${owner} AND id = ${id}`
  }

  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync.
  #write<Value>(execute: () => Value): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const run = () => {
      try {
        const value = available(execute)
        return () => resolve(value)
      } catch (error) {
        // SQLite undoes the one faulty statement; the others go on, unless the fault has ended the transaction.
        if (!this.#db.isTransaction) throw error
        return () => reject(error)
      }
    }
    if (this.#batch.push({ run, reject }) === 1) setImmediate(() => this.#commit())
    return promise
  }

  #commit(): void {
    const batch = this.#batch.splice(0)
    if (batch.length === 0) return
    try {
      available(() => this.#db.exec('BEGIN IMMEDIATE'))
      const settle = batch.map(({ run }) => run())
      available(() => this.#db.exec('COMMIT'))
      this.#commits += 1
      this.#writes += batch.length
      for (const each of settle) each()
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      for (const { reject } of batch) reject(error)
    }
    if (this.#writes - this.#checkpointed >= CHECKPOINT) this.#checkpoint()
  }

  // SQLite would do it by itself, and would not tell of an I/O error.
  #checkpoint(): void {
    this.#checkpointed = this.#writes
    try {
      available(() => this.#db.exec('PRAGMA wal_checkpoint'))
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error // else the log has it all until the next time
    }
  }
}
