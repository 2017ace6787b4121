import { type Batched, Batcher } from '../batch.ts'
import { BATCH_SIZE, Lists, MAX_SNAPSHOTS, SNAPSHOT_IDLE_TIMEOUT, type Snapshot } from '../lists.ts'
import { Connections } from './connections.ts'
import { prepareSchema } from './schema.ts'
import { firstAfter, Pages } from './pages.ts'
import { Writes } from './writes.ts'
import { fromToken, toId, toEntry, toPlant, toToken } from '../rows.ts'
import type { Entry, Figures, Limits, Page, Plant, Store, StoredToken } from '../store.ts'
import { reasonOf, StartupError } from '../../errors.ts'

/** The shared store, on PostgreSQL. Any number of processes may use it. */
export class PostgresStore implements Store {
  readonly #connections: Connections
  readonly #writes: Writes
  readonly #pages: Pages
  readonly #lists: Lists
  /** One statement reads all tokens that are requested at the same time, by their digests. */
  readonly #tokens: Batcher<Uint8Array, StoredToken | undefined>
  #requests = 0

  private constructor(connections: Connections, timeout: number) {
    this.#connections = connections
    this.#writes = new Writes(connections, timeout)
    this.#pages = new Pages(connections.read, connections.parallelReads)
    this.#lists = new Lists({
      page: (owner, after, most) => this.#pages.get(owner, after, most),
      measure: (owner, after, most) => this.#measure(owner, after, most),
      openSnapshot: () => openSnapshot(connections),
      getRequests: () => this.#requests,
    })
    const options = { max: BATCH_SIZE, eager: true, parallel: connections.parallelReads }
    this.#tokens = new Batcher((batch) => this.#findTokens(batch), options)
  }

  /**
   * @param url in libpq's format: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS
   * @throws {StartupError}
   */
  static async open(url: string, limits: Limits): Promise<PostgresStore> {
    const { host, pathname } = new URL(url)
    try {
      const connections = new Connections(url, limits, MAX_SNAPSHOTS)
      await prepareSchema(connections.write).catch(async (error: unknown) => {
        await connections.end()
        throw error
      })
      return new PostgresStore(connections, limits.DATABASE_TIMEOUT * 1000)
    } catch (error) {
      throw new StartupError(`DATABASE_URL postgres://${host}${pathname}: ${reasonOf(error)}`, { cause: error })
    }
  }

  async create(owner: string, id: bigint, plant: Plant): Promise<Plant> {
    return toPlant(await this.#write('create', owner, id, plant))
  }

  async find(owner: string, id: bigint): Promise<Plant | undefined> {
    this.#requests += 1
    const read = 'SELECT plant FROM plants WHERE owner = $1 AND id = $2'
    return (await this.#connections.read(read, [owner, id], 'find')).rows.map(toPlant)[0]
  }

  async update(owner: string, id: bigint, plant: Plant): Promise<boolean> {
    return (await this.#write('update', owner, id, plant)) !== undefined
  }

  async delete(owner: string, id: bigint): Promise<boolean> {
    return (await this.#write('delete', owner, id)) !== undefined
  }

  list(owner: string, after?: bigint, limit?: number): Promise<Page> {
    this.#requests += 1
    return this.#lists.list(owner, after, limit)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { rows } = await this.#connections.read(
      'SELECT owner, id, plant FROM plants WHERE (owner, id) >= ($1, $2) ORDER BY owner, id LIMIT $3',
      [after?.owner ?? '', firstAfter(after?.id), BATCH_SIZE],
    )
    return rows.map(toEntry)
  }

  async addToken(token: StoredToken): Promise<void> {
    const add = 'INSERT INTO tokens (id, caller, created, expires, digest, scopes) VALUES ($1, $2, $3, $4, $5, $6)'
    await this.#connections.write(add, [...fromToken(token)])
  }

  findToken(digest: Uint8Array): Promise<StoredToken | undefined> {
    return this.#tokens.add(digest)
  }

  async listTokens(): Promise<StoredToken[]> {
    const read = 'SELECT id, caller, created, expires, digest, scopes FROM tokens ORDER BY created, id'
    return (await this.#connections.read(read)).rows.map(toToken)
  }

  async deleteToken(id: string): Promise<boolean> {
    return (await this.#connections.write('DELETE FROM tokens WHERE id = $1', [id])).rowCount === 1
  }

  #write(...write: Parameters<Writes['add']>): ReturnType<Writes['add']> {
    this.#requests += 1
    return this.#writes.add(...write)
  }

  async #measure(owner: string, after: bigint | undefined, most: number) {
    const read = `SELECT count(*) AS plants, coalesce(sum(octet_length(plant)), 0) AS bytes FROM
      (SELECT plant FROM plants WHERE owner = $1 AND id >= $2 ORDER BY id LIMIT $3) AS found`
    const [row] = (await this.#connections.read(read, [owner, firstAfter(after), most], 'measure')).rows
    return { plants: Number(row?.['plants']), bytes: Number(row?.['bytes']) }
  }

  async #findTokens(batch: readonly Batched<Uint8Array, StoredToken | undefined>[]): Promise<void> {
    const read = 'SELECT id, caller, created, expires, digest, scopes FROM tokens WHERE digest = ANY ($1::bytea[])'
    const { rows } = await this.#connections.read(read, [batch.map(({ item }) => item)], 'tokens')
    const byDigest = new Map(rows.map(toToken).map((token) => [keyOf(token.digest), token]))
    for (const { item, resolve } of batch) resolve(byDigest.get(keyOf(item)))
  }

  async ping(): Promise<void> {
    await this.#connections.read('SELECT 1 FROM plants LIMIT 1')
  }

  figures(): Figures {
    const { commits, writes, waiting: waitingWrites } = this.#writes.figures
    const waiting = waitingWrites + this.#pages.waiting + this.#tokens.waiting
    return { commits, writes, pool: { ...this.#connections.figures, waiting } }
  }

  async isEmpty(): Promise<boolean> {
    const read = 'SELECT 1 FROM plants UNION ALL SELECT 1 FROM tokens LIMIT 1'
    return (await this.#connections.read(read)).rows.length === 0
  }

  async close(): Promise<void> {
    await this.#writes.idle()
    await this.#connections.end()
  }
}

const keyOf = (digest: Uint8Array) => Buffer.from(digest).toString('latin1')

/** Opens a snapshot: a transaction that sees the plants as they are at its first read. */
async function openSnapshot(connections: Connections): Promise<Snapshot> {
  const { query, end } = await connections.begin(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL idle_in_transaction_session_timeout = ${SNAPSHOT_IDLE_TIMEOUT};
    SELECT 1 FROM plants LIMIT 1`)
  const pages = new Pages(query)
  return {
    page: (owner, after, most) => pages.get(owner, after, most),
    offset: async (owner, after, count) => {
      const text = 'SELECT id FROM plants WHERE owner = $1 AND id >= $2 ORDER BY id LIMIT 1 OFFSET $3'
      return (await query(text, [owner, firstAfter(after), count - 1], 'offset')).rows.map(toId)[0]
    },
    close: end,
  }
}
