// The table of a collection on PostgreSQL.
import { randomUUID } from 'node:crypto'
import {
  ACCESS_TOKENS,
  HttpError,
  type IndexValue,
  type Key,
  type KeyType,
  type StoredIndex,
} from '@plant-store/engine/for-store'
import {
  type Chunk,
  type Entry,
  type Found,
  type FoundRows,
  INT64_MAX,
  INT64_MIN,
  type Position,
  type Range,
  type Rows,
  type Table,
} from '../core/database.ts'
import { toCells } from './cells.ts'
import type { TableInfo } from './create-tables.ts'
import { isEntryTooLong } from './dialect.ts'
import { callsOf } from './pipeline.ts'
import type { Pool } from './pool.ts'
import { Reads } from './reads.ts'
import { statements } from './sql.ts'
import { Uniqueness } from './uniqueness.ts'
import { NotDone, type Write, Writes } from './writes.ts'

const TOO_LONG =
  'The owner, the key and the values of an index are together too long for the database'
/** A delete may fail this often because others create the item meanwhile. */
const MAX_DELETES = 3
/** So many that the owners of a ping are probably on different nodes. */
const PING_OWNERS = 8

/**
 * Who keeps each owner on one of several nodes: nobody, the server, or a pooler in front of several
 * servers. With nodes, each batch has one owner. A pooler gets each statement by itself.
 */
export type Sharding = 'none' | 'server' | 'pooler'

export class PostgresTable implements Table {
  readonly name: string
  readonly key: KeyType
  readonly indexes: readonly StoredIndex[]
  readonly #pool: Pool
  readonly sql: ReturnType<typeof statements>
  readonly #uniqueness: Uniqueness
  readonly #pingOwners: readonly string[]
  /** A table on all nodes is read from any, and can't be written while one is lost. */
  readonly #isOnAllNodes: boolean
  readonly #writes: Writes
  readonly #reads: Reads

  constructor(pool: Pool, info: TableInfo, sharding: Sharding) {
    const isSharded = sharding !== 'none'
    const isTogether = sharding !== 'pooler'
    this.name = info.name
    this.key = info.type
    this.indexes = info.indexes.map(({ index }) => index)
    this.#pool = pool
    this.sql = statements(info)
    this.#uniqueness = new Uniqueness(info)
    // Pings of replicas must not wait for each other.
    const pings = Array.from({ length: isSharded ? PING_OWNERS : 1 })
    this.#pingOwners = pings.map(() => `#ping#${randomUUID()}`)
    this.#isOnAllNodes = sharding === 'server' && info.name === ACCESS_TOKENS
    this.#reads = new Reads({ pool, table: info, sql: this.sql, isSharded, isTogether })
    this.#writes = new Writes({
      table: info.name,
      pool,
      sql: this.sql,
      isSharded,
      isTogether,
      find: (owner, key, deadline) => this.find(owner, key, deadline),
    })
  }

  async create(owner: string, key: Key, text: string): Promise<string> {
    const write = { kind: 'create', owner, key, text, before: '' } as const
    const stored = await this.#write(write)
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
    const write = { kind: 'update', owner, key, text: '', before: '', change } as const
    return this.#write(write)
  }

  /** Whether a write frees a value of a unique index: see `Uniqueness`. */
  frees(before: string | undefined, after: string | undefined): boolean {
    return this.#uniqueness.frees(before, after)
  }

  /** Whether an update gives an item other values of a unique index: see `Uniqueness`. */
  moves(before: string, after: string): boolean {
    return this.#uniqueness.moves(before, after)
  }

  /** The error for the caller of a write that the server has refused. */
  toRefusal(error: unknown): unknown {
    if (isEntryTooLong(error)) return new HttpError(400, TOO_LONG)
    return this.#uniqueness.toNotUnique(error)
  }

  find(owner: string, key: Key, deadline?: number): Promise<string | undefined> {
    return this.#reads.find(owner, key, deadline)
  }

  findBy(
    owner: string,
    index: StoredIndex,
    values: readonly IndexValue[],
  ): Promise<Found | undefined> {
    return this.#reads.findBy(owner, index, values)
  }

  read(chunk: Chunk, deadline: number): Promise<Rows> {
    return this.#reads.read(chunk, deadline)
  }

  readItems(chunk: Chunk, deadline: number): Promise<FoundRows> {
    return this.#reads.readItems(chunk, deadline)
  }

  skip(range: Range, deadline: number): Promise<Position | undefined> {
    return this.#reads.skip(range, deadline)
  }

  count(range: Range, deadline: number): Promise<number> {
    return this.#reads.count(range, deadline)
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
    return this.#writes.waiting + this.#reads.waiting
  }

  idle(): Promise<unknown> {
    return this.#writes.idle()
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

  #write(write: Write): Promise<string | undefined> {
    return this.#writes.add(write).catch((error: unknown) => {
      throw this.toRefusal(error)
    })
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }
}
