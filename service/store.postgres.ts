import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { reasonOf, StartupError } from './config.ts'
import { BATCH, Lists, MOST_SNAPSHOTS, type ReadPage, type Snapshot } from './store.list.ts'
import { Connections, isFinal, type Query } from './store.postgres.connections.ts'
import { prepareSchema } from './store.postgres.schema.ts'
import { fromPlant, fromToken, idOf, type Row, toEntry, toPage, toPlant, toToken } from './store.rows.ts'
import {
  type Entry,
  type Limits,
  type Page,
  type Plant,
  type Store,
  type StoredToken,
  StoreUnavailable,
} from './store.ts'

/** Milliseconds that a service waits at its start for a server that starts, too. */
const PATIENCE = 10_000

/** Milliseconds that a statement which upgrades the schema may take. */
const UPGRADE_TIMEOUT = 600_000

/** Milliseconds that the server keeps the snapshot of a list whose next batch is not asked for. */
const IDLE_LIST = 300_000

/** The statement for each kind of write. A conflicting plant is written as it is: that locks it, and so it is read. */
const WRITES = {
  create: `INSERT INTO plants (owner, id, plant) SELECT * FROM $given
    ON CONFLICT (owner, id) DO UPDATE SET plant = plants.plant RETURNING owner, id, plant`,
  update: `UPDATE plants SET plant = given.plant FROM $given
    WHERE plants.owner = given.owner AND plants.id = given.id RETURNING plants.owner, plants.id, plants.plant`,
  delete: `DELETE FROM plants USING $given
    WHERE plants.owner = given.owner AND plants.id = given.id RETURNING plants.owner, plants.id, plants.plant`,
}

type Kind = keyof typeof WRITES

/** A write that waits for its commit. Its answer is the row that it wrote or deleted, if there is one. */
interface Write {
  readonly kind: Kind
  readonly owner: string
  readonly id: bigint
  readonly text: string | undefined
  /** When it is too late to begin with it. */
  readonly end: number
  readonly resolve: (row: Row | undefined) => void
  readonly reject: (error: unknown) => void
}

/** A store on PostgreSQL, for any number of processes. */
export class PostgresStore implements Store {
  readonly #connections: Connections
  readonly #timeout: number
  readonly #lists: Lists
  #waiting: Write[] = []
  #writing: Promise<void> | undefined

  private constructor(connections: Connections, timeout: number) {
    this.#connections = connections
    this.#timeout = timeout
    this.#lists = new Lists(
      pages((text, values) => connections.read(text, values)),
      () => openSnapshot(connections),
    )
  }

  /**
   * @param url as libpq has it: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, limits: Limits): Promise<PostgresStore> {
    const { host, pathname } = new URL(url)
    let connections: Connections | undefined
    try {
      const opened = new Connections(url, limits, MOST_SNAPSHOTS)
      connections = opened
      const query: Query = (text, values) => opened.write(text, values)
      const change = (text: string) => opened.writeApart(text, UPGRADE_TIMEOUT)
      await patiently(() => prepareSchema(query, change))
      return new PostgresStore(opened, limits.DATABASE_TIMEOUT * 1000)
    } catch (error) {
      await connections?.end()
      throw new StartupError(`DATABASE_URL postgres://${host}${pathname}: ${reasonOf(error)}`, { cause: error })
    }
  }

  async create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    return toPlant(await this.#write('create', owner, id, plant))
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    const read = 'SELECT plant FROM plants WHERE owner = $1 AND id = $2'
    const [row] = await this.#connections.read(read, [owner, id])
    return row && toPlant(row)
  }

  async update(owner: string, id: bigint, plant: Plant): Promise<boolean> {
    return (await this.#write('update', owner, id, plant)) !== undefined
  }

  async delete(owner: string, id: bigint): Promise<boolean> {
    return (await this.#write('delete', owner, id)) !== undefined
  }

  list(owner: string, after?: bigint, limit?: number): Promise<Page> {
    return this.#lists.list(owner, after, limit)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const rows = await this.#connections.read(
      `SELECT owner, id, plant FROM plants WHERE $1::text IS NULL OR (owner, id) > ($1, $2::int8)
        ORDER BY owner, id LIMIT $3`,
      [after?.owner, after?.id, BATCH],
    )
    return rows.map(toEntry)
  }

  async addToken(token: StoredToken): Promise<void> {
    const add = 'INSERT INTO tokens (id, caller, created, expires, digest) VALUES ($1, $2, $3, $4, $5)'
    await this.#connections.write(add, fromToken(token))
  }

  async findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    const read = 'SELECT id, caller, created, expires, digest FROM tokens WHERE digest = $1'
    const [row] = await this.#connections.read(read, [digest])
    return row && toToken(row)
  }

  async listTokens(): Promise<StoredToken[]> {
    const read = 'SELECT id, caller, created, expires, digest FROM tokens ORDER BY created, id'
    return (await this.#connections.read(read)).map(toToken)
  }

  async deleteToken(id: string): Promise<boolean> {
    return (await this.#connections.write('DELETE FROM tokens WHERE id = $1 RETURNING id', [id])).length > 0
  }

  async isEmpty(): Promise<boolean> {
    const read = 'SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1'
    return (await this.#connections.read(read)).length === 0
  }

  async close(): Promise<void> {
    await this.#writing
    await this.#connections.end()
  }

  // Group commit: the writes that arrive in one turn of the event loop, or while others are committed, share a commit.
  #write(kind: Kind, owner: string, id: bigint, plant?: Plant): Promise<Row | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<Row | undefined>()
    const text = plant && fromPlant(plant)
    this.#waiting.push({ kind, owner, id, text, end: performance.now() + this.#timeout, resolve, reject })
    this.#writing ??= this.#commitAll()
    return promise
  }

  async #commitAll(): Promise<void> {
    await nextTurn()
    while (this.#waiting.length > 0) {
      const batch = this.#take()
      if (batch.length > 0) await this.#commit(batch)
    }
    this.#writing = undefined
  }

  /** Takes the next writes: of those to one plant the first alone, for in one statement they have no order. */
  #take(): Write[] {
    const batch = new Map<string, Write>()
    const others: Write[] = []
    const latest = performance.now() + this.#timeout / 2
    for (const write of this.#waiting) {
      const key = `${write.owner} ${write.id}`
      if (write.end < latest) write.reject(new StoreUnavailable('too many writes wait'))
      else if (batch.has(key) || batch.size === BATCH) others.push(write)
      else batch.set(key, write)
    }
    this.#waiting = others
    // In one order on all replicas: otherwise they would wait for each other.
    return [...batch].sort(([one], [two]) => (one < two ? -1 : 1)).map(([, write]) => write)
  }

  async #commit(batch: Write[]): Promise<void> {
    const { text, values } = statementFor(batch)
    const timeout = Math.min(...batch.map(({ end }) => end)) - performance.now()
    try {
      const rows = await this.#connections.write(text, values, timeout)
      const byKey = new Map(rows.map((row) => [`${String(row['owner'])} ${String(row['id'])}`, row]))
      for (const { owner, id, resolve } of batch) resolve(byKey.get(`${owner} ${id}`))
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      // One of them can't be stored, or the engine does not take different kinds in one statement.
      else for (const write of batch) await this.#commit([write])
    }
  }
}

/** One statement for writes to different plants. It gives a row for each plant that was written or deleted. */
function statementFor(batch: readonly Write[]) {
  const values: unknown[] = []
  const statements = Object.entries(WRITES).flatMap(([kind, statement]) => {
    const writes = batch.filter((write) => write.kind === kind)
    if (writes.length === 0) return []
    const at = values.length
    values.push(
      writes.map(({ owner }) => owner),
      writes.map(({ id }) => id),
      writes.map(({ text }) => text),
    )
    const given = `unnest($${at + 1}::text[], $${at + 2}::int8[], $${at + 3}::text[]) AS given (owner, id, plant)`
    return { kind, statement: statement.replace('$given', given) }
  })
  const [first, ...more] = statements
  if (more.length === 0) return { text: first?.statement ?? '', values }
  const parts = statements.map(({ kind, statement }) => `${kind}d AS (${statement})`)
  const rows = statements.map(({ kind }) => `SELECT owner, id, plant FROM ${kind}d`)
  return { text: `WITH ${parts.join(', ')} ${rows.join(' UNION ALL ')}`, values }
}

function pages(query: Query): ReadPage {
  const text = `SELECT id, plant FROM plants WHERE owner = $1 AND ($2::int8 IS NULL OR id > $2) ORDER BY id LIMIT $3`
  return async (owner, after, most) => {
    const rows = await query(text, [owner, after, most + 1])
    return toPage(
      rows.map(({ plant, id }) => [plant, id]),
      most,
    )
  }
}

/** A snapshot is a transaction that sees one moment: that of its first read. It needs no session, but a connection. */
async function openSnapshot(connections: Connections): Promise<Snapshot> {
  const { query, close } = await connections.session(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = ${IDLE_LIST};
    SELECT 1 FROM plants LIMIT 1`)
  return {
    page: pages(query),
    lastOf: async (owner, after, limit) => {
      const text = `SELECT id FROM plants WHERE owner = $1 AND ($2::int8 IS NULL OR id > $2)
        ORDER BY id LIMIT 2 OFFSET $3`
      const [last, next] = await query(text, [owner, after, limit - 1])
      return last && next && idOf(last)
    },
    close: async () => {
      // If this fails the connection is given up, and the server ends the transaction.
      await query('COMMIT').catch(() => undefined)
      close()
    },
  }
}

/** Waits for a server that starts at the same time, or is being restarted. */
async function patiently(run: () => Promise<void>): Promise<void> {
  for (const end = performance.now() + PATIENCE; ;) {
    try {
      await run()
      return
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || isFinal(error) || performance.now() > end) throw error
      await delay(250)
    }
  }
}
