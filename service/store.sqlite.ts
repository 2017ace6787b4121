import { DatabaseSync, type SQLOutputValue, type SQLTagStore } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BUSY_TIMEOUT, openSqlite, primaryCode } from './store.sqlite.open.ts'
import { type Page, type Plant, type Store, type StoredToken, StoreUnavailable } from './store.ts'

/** A list of more plants than this is read in batches, on a connection of its own. */
const BATCH = 500

/** So many of those connections may be open at once. */
const MOST_SNAPSHOTS = 16

/** Primary result codes that say "not now": BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const UNAVAILABLE = new Set<number | undefined>([5, 6, 8, 10, 13, 14])

/** A write that waits for the commit of its batch. */
interface Write {
  /** Executes it. @returns what to call when it is committed */
  readonly run: () => () => void
  readonly failed: (error: unknown) => void
}

/**
 * Opens the embedded store.
 * @param sole whether to become the one process that owns the file
 * @throws {StartupError}
 */
export function openSqliteStore(file: string, sole: boolean): Store {
  return new SqliteStore(openSqlite(file, sole))
}

class SqliteStore implements Store {
  readonly #db: DatabaseSync
  readonly #lock: DatabaseSync | undefined
  readonly #sql: SQLTagStore
  #batch: Write[] = []
  #snapshots = 0

  constructor({ db, lock }: ReturnType<typeof openSqlite>) {
    this.#db = db
    this.#lock = lock
    this.#sql = db.createTagStore()
  }

  create(owner: string, id: bigint, { name, tag }: Plant): Promise<Plant> {
    const plant = JSON.stringify({ name, tag })
    return this.#write((sql) =>
      toPlant(
        sql.get`INSERT INTO plants (owner, id, plant) VALUES (${owner}, ${id}, ${plant})
          ON CONFLICT DO NOTHING RETURNING plant` ??
          sql.get`SELECT plant FROM plants WHERE owner = ${owner} AND id = ${id}`,
      ),
    )
  }

  delete(owner: string, id: bigint): Promise<boolean> {
    return this.#write((sql) => sql.run`DELETE FROM plants WHERE owner = ${owner} AND id = ${id}`.changes === 1n)
  }

  async list(owner: string, after: bigint | number = -Infinity, limit = Infinity): Promise<Page> {
    const most = Math.min(limit, BATCH)
    const rows = plantsAfter(this.#sql, owner, after, most + 1)
    if (rows.length <= most) return { plants: rows.map(toPlant) }
    if (limit <= BATCH) return { plants: rows.slice(0, limit).map(toPlant), last: idOf(rows[limit - 1]) }
    const end: { last?: bigint } = {}
    const plants = this.#snapshot(owner, after, limit, end)
    await plants.next()
    return { plants, ...end }
  }

  async addToken({ id, caller, created, expires }: StoredToken, digest: Uint8Array): Promise<void> {
    await this.#write(
      (sql) => sql.run`INSERT INTO tokens (id, caller, created, expires, digest)
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
    return this.#write((sql) => sql.run`DELETE FROM tokens WHERE id = ${id}`.changes === 1n)
  }

  async isEmpty(): Promise<boolean> {
    return available(() => this.#sql.get`SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1`) === undefined
  }

  async close(): Promise<void> {
    this.#commit()
    this.#db.close()
    this.#lock?.close()
  }

  /**
   * A page that is read in batches, on a connection whose transaction sees one moment. The first batch is empty:
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
      for (let left = limit, rows; left > 0; left -= BATCH) {
        rows = plantsAfter(sql, owner, after, Math.min(left, BATCH))
        yield rows.map(toPlant)
        if (rows.length < BATCH) return
        after = idOf(rows.at(-1))
        await nextTurn()
      }
    } finally {
      this.#snapshots -= 1
      db.close()
    }
  }

  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync.
  #write<Value>(execute: (sql: SQLTagStore) => Value): Promise<Value> {
    return new Promise((resolve, failed) => {
      const run = () => {
        const value = execute(this.#sql)
        return () => resolve(value)
      }
      if (this.#batch.push({ run, failed }) === 1) setImmediate(() => this.#commit())
    })
  }

  #commit(batch = this.#batch.splice(0)): void {
    if (batch.length === 0) return
    try {
      const committed = available(() => {
        this.#db.exec('BEGIN IMMEDIATE')
        const each = batch.map(({ run }) => run())
        this.#db.exec('COMMIT')
        return each
      })
      for (const resolve of committed) resolve()
    } catch (error) {
      if (this.#db.isOpen && this.#db.isTransaction) this.#db.exec('ROLLBACK')
      // One faulty write must not take the others with it.
      if (batch.length > 1 && !(error instanceof StoreUnavailable)) for (const write of batch) this.#commit([write])
      else for (const { failed } of batch) failed(error)
    }
  }
}

type Row = Record<string, SQLOutputValue>

function plantsAfter(sql: SQLTagStore, owner: string, after: bigint | number, limit: number): Row[] {
  return available(
    () => sql.all`SELECT id, plant FROM plants WHERE owner = ${owner} AND id > ${after} ORDER BY id LIMIT ${limit}`,
  )
}

/** Runs SQL. @throws {StoreUnavailable} for what may go better later */
function available<Value>(run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    if (!UNAVAILABLE.has(primaryCode(error))) throw error
    throw new StoreUnavailable(String(error), { cause: error })
  }
}

function toPlant(row: Row | undefined): Plant {
  return JSON.parse(String(row?.['plant'])) as Plant // as create wrote it
}

function idOf(row: Row | undefined): bigint {
  return BigInt(String(row?.['id']))
}

function toToken({ id, caller, created, expires }: Row): StoredToken {
  return {
    id: String(id),
    caller: String(caller),
    created: new Date(Number(created)),
    ...(expires !== null && { expires: new Date(Number(expires)) }),
  }
}
