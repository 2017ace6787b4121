import { DatabaseSync, type SQLOutputValue, type SQLTagStore } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BUSY_TIMEOUT, openSqlite, primaryCode } from './store.sqlite.open.ts'
import { type Page, type Plant, type Store, type StoredToken, StoreUnavailable } from './store.ts'

/** A list of more plants than this is read in batches, on a connection of its own; of those so many may be open. */
const BATCH = 500
const MOST_SNAPSHOTS = 16

/** Primary result codes that say "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const UNAVAILABLE = new Set<number | undefined>([5, 6, 8, 10, 13, 14])

/** The embedded store. */
export class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #lock: DatabaseSync | undefined
  readonly #sql: SQLTagStore
  /** Writes that wait for their commit: `run` executes one, and gives what to call when it is committed. */
  readonly #batch: { run: () => () => void; reject: (error: unknown) => void }[] = []
  #snapshots = 0

  /**
   * @param sole whether to become the one process that owns the file
   * @throws {StartupError}
   */
  constructor(file: string, sole: boolean) {
    const { db, lock } = openSqlite(file, sole)
    this.#db = db
    this.#lock = lock
    this.#sql = db.createTagStore()
  }

  create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    const text = fromPlant(plant)
    return this.#write(() =>
      toPlant(
        this.#sql.get`INSERT INTO plants (owner, id, plant) VALUES (${owner}, ${id}, ${text})
          ON CONFLICT DO NOTHING RETURNING plant` ?? this.#row(owner, id),
      ),
    )
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    const row = available(() => this.#row(owner, id))
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

  async list(owner: string, after: bigint | number = -Infinity, limit = Infinity): Promise<Page> {
    const page = pageAfter(this.#sql, owner, after, Math.min(limit, BATCH))
    if (page.last === undefined || limit <= BATCH) return page
    const end: { last?: bigint } = {}
    const plants = this.#snapshot(owner, after, limit, end)
    await plants.next()
    return { plants, ...end }
  }

  async addToken({ id, caller, created, expires }: StoredToken, digest: Uint8Array): Promise<void> {
    await this.#write(
      () => this.#sql.run`INSERT INTO tokens (id, caller, created, expires, digest)
        VALUES (${id}, ${caller}, ${created.getTime()}, ${expires?.getTime() ?? null}, ${digest})`,
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

  async isEmpty(): Promise<boolean> {
    return available(() => this.#sql.get`SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1`) === undefined
  }

  async close(): Promise<void> {
    this.#commit()
    for (const each of [this.#db, this.#lock]) each?.[Symbol.dispose]() // unlike close(), safe to repeat
  }

  #row(owner: string, id: bigint): Row | undefined {
    return this.#sql.get`SELECT plant FROM plants WHERE owner = ${owner} AND id = ${id}`
  }

  /**
   * The plants of a page in batches, on a connection whose transaction sees one moment. The first batch is empty:
   * with it the connection is open, and closes when the generator ends.
   * @param end gets the id of the last plant, if there are more after it
   */
  async *#snapshot(owner: string, after: bigint | number, limit: number, end: { last?: bigint }) {
    if (this.#snapshots === MOST_SNAPSHOTS) throw new StoreUnavailable('too many long lists at once')
    const file = String(this.#db.location())
    const db = available(() => new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: BUSY_TIMEOUT }))
    this.#snapshots += 1
    try {
      // The moment is that of the first read in a transaction.
      available(() => db.exec('BEGIN; SELECT 1 FROM plants LIMIT 1'))
      const sql = db.createTagStore()
      if (limit !== Infinity) {
        const [last, next] = available(
          () => sql.all`SELECT id FROM plants WHERE owner = ${owner} AND id > ${after}
            ORDER BY id LIMIT 2 OFFSET ${limit - 1}`,
        )
        if (next !== undefined) end.last = idOf(last)
      }
      yield []
      for (let left = limit, from: bigint | number | undefined = after; left > 0 && from !== undefined; left -= BATCH) {
        const { plants, last } = pageAfter(sql, owner, from, Math.min(left, BATCH))
        yield plants
        from = last
        await nextTurn()
      }
    } finally {
      this.#snapshots -= 1
      db.close()
    }
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
      for (const each of settle) each()
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      for (const { reject } of batch) reject(error)
    }
  }
}

type Row = Record<string, SQLOutputValue>

/** At most so many plants after an id. */
function pageAfter(sql: SQLTagStore, owner: string, after: bigint | number, most: number) {
  const rows = available(
    () => sql.all`SELECT id, plant FROM plants WHERE owner = ${owner} AND id > ${after} ORDER BY id LIMIT ${most + 1}`,
  )
  const plants = rows.slice(0, most).map(toPlant)
  return rows.length > most ? { plants, last: idOf(rows[most - 1]) } : { plants }
}

/** Runs SQL. @throws {StoreUnavailable} for what may go better later */
function available<Value>(run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    // When the process ends, the store is closed to requests that have taken too long.
    const isClosed = error instanceof Error && 'code' in error && error.code === 'ERR_INVALID_STATE'
    if (!isClosed && !UNAVAILABLE.has(primaryCode(error))) throw error
    throw new StoreUnavailable(String(error), { cause: error })
  }
}

const fromPlant = ({ name, tag }: Plant) => JSON.stringify({ name, tag })
const toPlant = (row: Row | undefined) => JSON.parse(String(row?.['plant'])) as Plant // as create wrote it
const idOf = (row: Row | undefined) => BigInt(String(row?.['id']))

function toToken({ id, caller, created, expires }: Row): StoredToken {
  const end = expires === null ? {} : { expires: new Date(Number(expires)) }
  return { id: String(id), caller: String(caller), created: new Date(Number(created)), ...end }
}
