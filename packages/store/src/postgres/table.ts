// The table of a collection on PostgreSQL.
import { randomUUID } from 'node:crypto'
import { CHUNK_LENGTH } from '../core/lists.ts'
import type { Batched } from '../core/batch.ts'
import { ACCESS_TOKENS, HttpError, type Key, type KeyType } from '@plant-store/engine/for-store'
import {
  type Entry,
  INT64_MAX,
  INT64_MIN,
  type Chunk,
  type Found,
  type FoundRows,
  type Order,
  type Position,
  type Range,
  type Rows,
  type Table,
} from '../core/database.ts'
import { idOf, timeLeft, toCells } from './cells.ts'
import { isKeyTooLong } from './dialect.ts'
import { callsOf, type Cells } from './pipeline.ts'
import { isLocked, isOfStatement } from './retries.ts'
import { gather, type Gatherer } from './owner-batchers.ts'
import type { Pool } from './pool.ts'
import type { TableInfo } from './create-tables.ts'
import { statements } from './sql.ts'
import { NotDone, Writes } from './writes.ts'

/** The most bytes returned by the statements of a batch. */
const MAX_LENGTH = 16 * CHUNK_LENGTH
/** The most of these bytes for one owner. */
const MAX_OWNER_LENGTH = 4 * CHUNK_LENGTH
/** The approximate number of bytes of a row of a list. */
const ROW_LENGTH = 1024
/** The most bytes of an item found by its key: it may be as long as a request. */
const FOUND_LENGTH = 16_384

const TOO_LONG = 'The owner and the key are together too long for the database'
/** A delete may fail this often because others create the item meanwhile. */
const MAX_DELETES = 3
/** So many that the owners of a ping are probably on different nodes. */
const PING_OWNERS = 8

interface Find {
  readonly owner: string
  readonly key: Key
}

/** A chunk with its least possible key in the place of `after`; null if no key is left. */
type Read = Omit<Chunk, 'after' | 'order'> & { readonly from: Key | null }

/**
 * Who keeps each owner on one of several nodes: nobody, the server, or a pooler in front of several
 * servers. With nodes, each batch has one owner. A pooler gets each statement by itself.
 */
export type Sharding = 'none' | 'server' | 'pooler'

export class PostgresTable implements Table {
  readonly name: string
  readonly key: KeyType
  readonly #pool: Pool
  readonly sql: ReturnType<typeof statements>
  readonly #pingOwners: readonly string[]
  /** A table on all nodes is read from any, and can't be written while one is lost. */
  readonly #isOnAllNodes: boolean
  readonly #writes: Writes
  /** Simultaneous look-ups share a statement. */
  readonly #finds: Gatherer<Find, string | undefined>
  /** Simultaneous chunks share a statement. */
  readonly #reads: Gatherer<Read, Rows>

  constructor(pool: Pool, info: TableInfo, sharding: Sharding) {
    const isSharded = sharding !== 'none'
    const isTogether = sharding !== 'pooler'
    this.name = info.name
    this.key = info.type
    this.#pool = pool
    this.sql = statements(info)
    // Pings of replicas must not wait for each other.
    const pings = Array.from({ length: isSharded ? PING_OWNERS : 1 })
    this.#pingOwners = pings.map(() => `#ping#${randomUUID()}`)
    this.#isOnAllNodes = sharding === 'server' && info.name === ACCESS_TOKENS
    const { parallelReads: parallel, timeout } = pool
    const maxCost = isTogether ? MAX_LENGTH : 1
    const ofReads = { maxCost, maxCostOfFlow: MAX_OWNER_LENGTH, parallel, timeout }
    this.#writes = new Writes({
      table: info.name,
      pool,
      sql: this.sql,
      isSharded,
      isTogether,
      find: (owner, key, deadline) => this.find(owner, key, deadline),
    })
    const find = (batch: readonly Batched<Find, string | undefined>[]) => this.#findTogether(batch)
    this.#finds = gather<Find, string | undefined>(isSharded, (batch) => runApart(batch, find), {
      ...ofReads,
      costOf: () => FOUND_LENGTH,
      flowOf: ({ owner }) => owner,
    })
    const read = (batch: readonly Batched<Read, Rows>[]) => this.#readTogether(batch)
    this.#reads = gather<Read, Rows>(isSharded, (batch) => runApart(batch, read), {
      ...ofReads,
      costOf: ({ most, length }) => Math.min(length, most * ROW_LENGTH),
      flowOf: ({ owner }) => owner,
    })
  }

  async create(owner: string, key: Key, text: string): Promise<string> {
    const write = { kind: 'create', owner, key, text, before: '' } as const
    const stored = await this.#writes.add(write).catch((error: unknown) => {
      throw isKeyTooLong(error) ? new HttpError(400, TOO_LONG) : error
    })
    return stored ?? text
  }

  async delete(owner: string, key: Key): Promise<boolean> {
    const deadline = performance.now() + this.#pool.timeout
    const write = { kind: 'delete', owner, key, text: '', before: '' } as const
    for (let tries = 0; tries < MAX_DELETES; tries++) {
      const deleted = await this.#writes.add(write, deadline)
      if (deleted !== undefined) return true
      const isThere = (await this.find(owner, key, deadline)) !== undefined
      if (!isThere) return false
    }
    throw new NotDone('deleted', this.name)
  }

  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined> {
    return this.#writes.add({ kind: 'update', owner, key, text: '', before: '', change })
  }

  find(owner: string, key: Key, deadline?: number): Promise<string | undefined> {
    return this.#finds.add({ owner, key }, deadline)
  }

  async read({ after, order, ...chunk }: Chunk, deadline: number): Promise<Rows> {
    assertByKey(order)
    return this.#reads.add({ ...chunk, from: this.#leastAfter(after?.key) }, deadline)
  }

  async readItems(_chunk: Chunk): Promise<FoundRows> {
    throw new Error(NOT_YET)
  }

  async skip(
    { owner, order, after, count }: Range,
    deadline: number,
  ): Promise<Position | undefined> {
    assertByKey(order)
    const from = this.#leastAfter(after?.key)
    const calls = callsOf(this.sql.skip, [toCells([owner, from, count - 1])])
    const timeout = deadline - performance.now()
    const [rows = []] = await this.#pool.readEach(calls, timeout)
    return rows[0] && { values: [], key: this.#toKey(rows[0][0]) }
  }

  async count(_range: Range): Promise<number> {
    throw new Error(NOT_YET)
  }

  async findBy(): Promise<Found | undefined> {
    throw new Error(NOT_YET)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const values = [after?.owner ?? '', this.#leastAfter(after?.key)]
    const { rows } = await this.#pool.read(this.sql.entries, values)
    return rows.map(({ owner, key, item }) => ({
      owner: String(owner),
      key: this.#toKey(key),
      text: String(item),
    }))
  }

  /**
   * Tries a create for some owners. @throws {Error} if it works for none: a lost node has some of
   * the owners
   */
  async ping(): Promise<void> {
    const pings: Promise<unknown>[] = this.#isOnAllNodes
      ? [this.find('', 'ping')]
      : this.#pingOwners.map((owner) => this.#ping(owner))
    await Promise.any(pings).catch(() => pings[0]) // one error says it for all
  }

  /** Creates an item as a caller does, and undoes it. */
  async #ping(owner: string): Promise<void> {
    const key = this.key === 'text' ? 'ping' : 0n
    const calls = callsOf(this.sql.create, [toCells([owner, key, '{}'])])
    const [rows = []] = await this.#pool.tryEach(calls, this.#pool.timeout)
    if (rows.length === 0) throw new NotDone('stored', this.name)
  }

  get timeout(): number {
    return this.#pool.timeout
  }

  get stats(): Writes['stats'] {
    return this.#writes.stats
  }

  /** The operations whose statement is not sent yet. */
  get waiting(): number {
    return this.#writes.waiting + this.#finds.waiting + this.#reads.waiting
  }

  idle(): Promise<unknown> {
    return this.#writes.idle()
  }

  /** Looks an item up once, however many requests ask for it. */
  async #findTogether(batch: readonly Batched<Find, string | undefined>[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => idOf(item)).values()]
    const parameters = groups.map(([first]) => toCells([first?.item.owner, first?.item.key]))
    const results = await this.#pool.readEach(callsOf(this.sql.find, parameters), timeLeft(batch))
    for (const [at, group] of groups.entries()) {
      const text = results[at]?.[0]?.[0] ?? undefined
      for (const { resolve } of group) resolve(text)
    }
  }

  /** Reads a chunk once, however many requests ask for it. */
  async #readTogether(batch: readonly Batched<Read, Rows>[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => chunkCells(item).join('\0')).values()]
    const parameters = groups.map(([first]) => (first === undefined ? [] : chunkCells(first.item)))
    const results = await this.#pool.readEach(callsOf(this.sql.chunk, parameters), timeLeft(batch))
    for (const [at, group] of groups.entries()) {
      const chunk = this.#toRows(results[at]?.[0] ?? [])
      for (const { resolve } of group) resolve(chunk)
    }
  }

  #toRows([text, count, last, read]: Cells): Rows {
    const rows = { text: String(text), count: Number(count), hasMore: Number(read) > Number(count) }
    return rows.count === 0 ? rows : { ...rows, last: { values: [], key: this.#toKey(last) } }
  }

  /**
   * The least key after another one, or of all keys. No string has U+0000, so the least string
   * after another one adds U+0001.
   */
  #leastAfter(after: Key | undefined): Key | null {
    if (typeof after === 'string') return `${after}\u0001`
    if (after === undefined) return this.key === 'text' ? '' : INT64_MIN
    return after === INT64_MAX ? null : after + 1n
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }
}

const NOT_YET = 'the store has no such order yet'

function assertByKey({ index, isDescending }: Order): void {
  if (index !== undefined || isDescending) throw new Error(NOT_YET)
}

function chunkCells({ owner, from, most, length, end }: Read): Cells {
  return toCells([owner, from, most + 1, length, end?.key])
}

/**
 * Runs a batch as one transaction. If the database refuses it, the items are tried one by one: the
 * arguments of one caller fail no operation of another.
 * @param run settles the items, or fails before it has settled one
 */
async function runApart<Item, Value>(
  batch: readonly Batched<Item, Value>[],
  run: (batch: readonly Batched<Item, Value>[]) => Promise<void>,
): Promise<void> {
  try {
    await run(batch)
  } catch (error) {
    const isApart = isOfStatement(error) && !isLocked(error) // others would wait for the same lock
    if (isApart && batch.length > 1) for (const item of batch) await runApart([item], run)
    else for (const { reject } of batch) reject(error)
  }
}
