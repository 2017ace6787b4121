import { DatabaseSync, type SQLOutputValue, type StatementSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BUSY_TIMEOUT, openSqlite, type SqliteFile } from './store.sqlite.open.ts'
import { type Page, type Plant, type Store, type StoredToken, StoreUnavailable } from './store.ts'

const INSERT = 'INSERT INTO plants (owner, id, plant) VALUES (?, ?, ?) ON CONFLICT DO NOTHING'
const SELECT = 'SELECT plant FROM plants WHERE owner = ? AND id = ?'
const DELETE = 'DELETE FROM plants WHERE owner = ? AND id = ?'
const LIST = 'SELECT id, plant FROM plants WHERE owner = ? AND id >= ? ORDER BY id LIMIT ?'
const SKIP = 'SELECT id FROM plants WHERE owner = ? AND id >= ? ORDER BY id LIMIT 1 OFFSET ?'
const ADD_TOKEN = 'INSERT INTO tokens (id, caller, created, expires, digest) VALUES (?, ?, ?, ?, ?)'
const FIND_TOKEN = 'SELECT id, caller, created, expires FROM tokens WHERE digest = ?'
const LIST_TOKENS = 'SELECT id, caller, created, expires FROM tokens ORDER BY created, id'
const DELETE_TOKEN = 'DELETE FROM tokens WHERE id = ?'
const IS_EMPTY = 'SELECT NOT EXISTS (SELECT 1 FROM plants) AND NOT EXISTS (SELECT 1 FROM tokens) AS empty'

/** A list of more plants than this is read in batches. */
const BATCH = 500

/** So many plants are skipped in one turn of the event loop. */
const STRIDE = 10_000

const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

/** Primary result codes that say "not now" (https://sqlite.org/rescode.html): BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN. */
const UNAVAILABLE = new Set([5, 6, 8, 10, 13, 14])

/** A write that waits for the commit of its batch. */
interface Write {
  readonly run: () => void
  readonly committed: () => void
  readonly failed: (error: unknown) => void
}

/**
 * Opens the embedded store.
 * @param sole whether to become the one process that owns the file
 * @throws {StartupError}
 */
export function openSqliteStore(file: string, sole: boolean): Store {
  return new SqliteStore(file, openSqlite(file, sole))
}

class SqliteStore implements Store {
  readonly #file: string
  readonly #db: DatabaseSync
  readonly #lock: DatabaseSync | undefined
  readonly #insert: StatementSync
  readonly #select: StatementSync
  readonly #delete: StatementSync
  readonly #list: StatementSync
  readonly #findToken: StatementSync
  #batch: Write[] = []

  constructor(file: string, { db, lock }: SqliteFile) {
    this.#file = file
    this.#db = db
    this.#lock = lock
    this.#insert = db.prepare(INSERT)
    this.#select = db.prepare(SELECT)
    this.#delete = db.prepare(DELETE)
    this.#list = exact(db, LIST)
    this.#findToken = db.prepare(FIND_TOKEN)
  }

  create(owner: string, id: bigint, { name, tag }: Plant): Promise<Plant> {
    const plant = JSON.stringify({ name, tag })
    return this.#write(() => {
      const { changes } = this.#insert.run(owner, id, plant)
      return toPlant(changes === 1 ? { plant } : this.#select.get(owner, id))
    })
  }

  delete(owner: string, id: bigint): Promise<boolean> {
    return this.#write(() => this.#delete.run(owner, id).changes === 1)
  }

  async list(owner: string, after?: bigint, limit = Number.POSITIVE_INFINITY): Promise<Page> {
    if (after === INT64_MAX) return { plants: [] }
    const from = after === undefined ? INT64_MIN : after + 1n
    const most = Math.min(limit, BATCH)
    const rows = available(() => this.#list.all(owner, from, most + 1))
    if (rows.length <= most) return { plants: rows.map(toPlant) }
    if (limit > BATCH) return longPage(this.#file, owner, from, limit)
    return { plants: rows.slice(0, limit).map(toPlant), last: idOf(rows[limit - 1]) }
  }

  async addToken({ id, caller, created, expires }: StoredToken, digest: Uint8Array): Promise<void> {
    const statement = this.#db.prepare(ADD_TOKEN)
    await this.#write(() => statement.run(id, caller, created.getTime(), expires?.getTime() ?? null, digest))
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    const row = available(() => this.#findToken.get(digest))
    return row && toToken(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    return available(() => this.#db.prepare(LIST_TOKENS).all()).map(toToken)
  }

  deleteToken(id: string): Promise<boolean> {
    const statement = this.#db.prepare(DELETE_TOKEN)
    return this.#write(() => statement.run(id).changes === 1)
  }

  async isEmpty(): Promise<boolean> {
    return available(() => this.#db.prepare(IS_EMPTY).get())?.['empty'] === 1
  }

  async close(): Promise<void> {
    this.#commit()
    this.#db.close()
    this.#lock?.close()
  }

  // Group commit: the writes that arrive in one turn of the event loop share one transaction, and so one sync.
  #write<Value>(run: () => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      if (this.#batch.length === 0) setImmediate(() => this.#commit())
      let value: Value
      this.#batch.push({
        run: () => {
          value = run()
        },
        committed: () => resolve(value),
        failed: reject,
      })
    })
  }

  #commit(): void {
    const batch = this.#batch
    this.#batch = []
    if (batch.length === 0) return
    try {
      available(() => {
        this.#db.exec('BEGIN IMMEDIATE')
        for (const { run } of batch) run()
        this.#db.exec('COMMIT')
      })
    } catch (error) {
      for (const { failed } of batch) failed(error)
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      return
    }
    for (const { committed } of batch) committed()
  }
}

/** A page of more than BATCH plants, read on a connection of its own, whose transaction sees one moment. */
async function longPage(file: string, owner: string, from: bigint, limit: number): Promise<Page> {
  let last: bigint | undefined
  const plants = (async function* () {
    const snapshot = available(() => new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT }))
    try {
      snapshot.exec('BEGIN')
      last = await lastOfPage(snapshot, owner, from, limit)
      yield []
      const list = exact(snapshot, LIST)
      for (let next = from, left = limit; left > 0; left -= BATCH) {
        const rows = list.all(owner, next, Math.min(left, BATCH))
        yield rows.map(toPlant)
        if (rows.length < BATCH || idOf(rows.at(-1)) === INT64_MAX) return
        next = idOf(rows.at(-1)) + 1n
        await nextTurn()
      }
    } finally {
      snapshot.close()
    }
  })()
  await plants.next()
  return { plants, ...(last !== undefined && { last }) }
}

/** The id of the last plant of a page, if there are more plants after it. */
async function lastOfPage(
  db: DatabaseSync,
  owner: string,
  from: bigint,
  limit: number,
): Promise<bigint | undefined> {
  if (limit === Number.POSITIVE_INFINITY) return undefined
  const skip = exact(db, SKIP)
  let id = from
  for (let left = limit - 1; left > 0; left -= STRIDE) {
    const row = skip.get(owner, id, Math.min(left, STRIDE))
    if (row === undefined) return undefined
    id = idOf(row)
    await nextTurn()
  }
  return skip.get(owner, id, 1) === undefined ? undefined : id
}

/** A statement that reads integers as `bigint`, not rounded. */
function exact(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql)
  statement.setReadBigInts(true)
  return statement
}

/** Runs SQL. @throws {StoreUnavailable} for what may go better later */
function available<Value>(run: () => Value): Value {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof Error && 'errcode' in error && UNAVAILABLE.has(Number(error.errcode) & 0xff)))
      throw error
    throw new StoreUnavailable(error.message, { cause: error })
  }
}

type Row = Record<string, SQLOutputValue>

function toPlant(row: Row | undefined): Plant {
  return JSON.parse(String(row?.['plant'])) as Plant // as create wrote it
}

function idOf(row: Row | undefined): bigint {
  const id = row?.['id']
  if (typeof id !== 'bigint') throw new TypeError('the row has no id')
  return id
}

function toToken({ id, caller, created, expires }: Row): StoredToken {
  return {
    id: String(id),
    caller: String(caller),
    created: new Date(Number(created)),
    ...(expires !== null && { expires: new Date(Number(expires)) }),
  }
}
