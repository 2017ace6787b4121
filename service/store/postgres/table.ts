import { CHUNK_LENGTH } from '../lists.ts'
import { type Batched, Batcher, type BatchOptions } from '../batch.ts'
import { ACCESS_TOKENS, type Key, type KeyType } from '../../engine/store.ts'
import { type Entry, INT64_MAX, INT64_MIN, type Chunk, type Rows, type Table } from '../database.ts'
import { HttpError, StoreUnavailable } from '../../engine/errors.ts'
import type { Cells } from './pipeline.ts'
import { errorCode } from './retries.ts'
import { OwnerBatchers } from './owner-batchers.ts'
import type { Pool } from './pool.ts'
import type { TableInfo } from './create-tables.ts'
import { statements } from './sql.ts'

/** The most writes of a commit. */
const MAX_WRITES = 500
/** The characters of an item that cost as much as one more write. */
const CHARACTERS_OF_WRITE = 2048
/** The most bytes that the statements of a batch may return. */
const MAX_LENGTH = 16 * CHUNK_LENGTH
/** The most of these bytes for one owner. */
const MAX_OWNER_LENGTH = 4 * CHUNK_LENGTH
/** The approximate number of bytes of a row of a list. */
const ROW_LENGTH = 1024
/** The most bytes of an item that is found by its key: it may be as long as a request. */
const FOUND_LENGTH = 16_384

/** The code of the server's error if a row of an index is too long: Aurora DSQL takes 1 KiB for owner and key together. */
const TOO_LARGE = /^54000$/
const TOO_LONG = 'The owner and the key are together too long for the database'
/** Owners that are probably on different nodes. */
const PING_OWNERS = ['', '1', '2', '3', '4', '5', '6', '7']

/** A write that waits for its commit. */
interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly owner: string
  readonly key: Key
  /** The item; nothing to delete one. */
  readonly text: string
  /** The item that an update replaces. If another item is stored, the update is not done. */
  readonly before: string
  readonly change?: (text: string) => string | undefined
}

/** A write resolves to the item that is stored or was deleted; undefined if an update was not done, or no item was deleted. */
type BatchedWrite = Batched<Write, string | undefined>

/** An item to find. */
interface Find {
  readonly owner: string
  readonly key: Key
}

/** A chunk with the least key that its first row may have, in the place of `after`; null if no key is left. */
type Read = Omit<Chunk, 'after'> & { readonly from: Key | null }

/**
 * Who keeps each owner on one of several nodes: nobody, the server, or a pooler before several servers. What is sent together has
 * one owner where there are nodes. A pooler gets each statement by itself.
 */
export type Sharding = 'none' | 'server' | 'pooler'

/** Gathers operations: of all owners, or of each. */
type Gatherer<Item, Value> = Pick<Batcher<Item, Value>, 'add' | 'waiting'> & {
  idle(): Promise<unknown>
}

function gather<Item extends { readonly owner: string }, Value>(
  isSharded: boolean,
  run: (batch: readonly Batched<Item, Value>[]) => Promise<void>,
  options: BatchOptions<Item>,
): Gatherer<Item, Value> {
  const make = () => new Batcher(run, options)
  return isSharded ? new OwnerBatchers(make) : make()
}

/** The table of a collection on PostgreSQL. */
export class PostgresTable implements Table {
  readonly name: string
  readonly key: KeyType
  /** The number of commits, and of the writes in them. */
  readonly stats = { commits: 0, writes: 0 }
  readonly #pool: Pool
  readonly #sql: ReturnType<typeof statements>
  readonly #pingOwners: readonly string[]
  /** A table that is on each node is read from any, and can't be written while one is lost. */
  readonly #isOnAllNodes: boolean
  /** Group commit: the writes that arrive together, or while others are committed, share a commit for each kind. */
  readonly #writes: Gatherer<Write, string | undefined>
  /** Items that are looked up at the same time are found together. */
  readonly #finds: Gatherer<Find, string | undefined>
  /** Chunks that are requested at the same time are read together. */
  readonly #reads: Gatherer<Read, Rows>
  /** The updates of a batch of `#writes`, when their new items are known. */
  readonly #updates: Gatherer<Write, string | undefined>

  constructor(pool: Pool, info: TableInfo, sharding: Sharding) {
    const isSharded = sharding !== 'none'
    const isTogether = sharding !== 'pooler'
    this.name = info.name
    this.key = info.type
    this.#pool = pool
    this.#sql = statements(info)
    this.#pingOwners = isSharded ? PING_OWNERS : ['']
    this.#isOnAllNodes = sharding === 'server' && info.name === ACCESS_TOKENS
    const { parallelReads: parallel, timeout } = pool
    const ofWrites = { maxCost: isTogether ? MAX_WRITES : 1, costOf: costOfWrite }
    const maxCost = isTogether ? MAX_LENGTH : 1
    const ofReads = { maxCost, maxCostOfFlow: MAX_OWNER_LENGTH, parallel, timeout }
    this.#writes = gather<Write, string | undefined>(isSharded, (batch) => this.#commit(batch), {
      ...ofWrites,
      // Writes to the same item go into different batches: the kinds of writes of a batch have no order.
      flowOf: idOf,
      maxCostOfFlow: 1,
      timeout,
    })
    this.#updates = gather(isSharded, (batch) => this.#write('update', batch), ofWrites)
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
      throw TOO_LARGE.test(errorCode(error)) ? new HttpError(400, TOO_LONG) : error
    })
    return stored ?? text
  }

  async delete(owner: string, key: Key): Promise<boolean> {
    const deleted = await this.#writes.add({ kind: 'delete', owner, key, text: '', before: '' })
    return deleted !== undefined
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

  read({ after, ...chunk }: Chunk, deadline: number): Promise<Rows> {
    return this.#reads.add({ ...chunk, from: this.#leastAfter(after) }, deadline)
  }

  async skip(
    owner: string,
    after: Key | undefined,
    count: number,
    deadline: number,
  ): Promise<Key | undefined> {
    const parameters = [toCells([owner, this.#leastAfter(after), count - 1])]
    const timeout = deadline - performance.now()
    const [rows = []] = await this.#pool.readEach(this.#sql.skip, parameters, timeout)
    return rows[0] && this.#toKey(rows[0][0])
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const values = [after?.owner ?? '', this.#leastAfter(after?.key)]
    const { rows } = await this.#pool.read(this.#sql.entries, values)
    return rows.map(({ owner, key, item }) => ({
      owner: String(owner),
      key: this.#toKey(key),
      text: String(item),
    }))
  }

  /** Sends a write for some owner. @throws {Error} if it could be done for none: a node that is lost has some owners */
  async ping(): Promise<void> {
    const pings = this.#isOnAllNodes
      ? [this.find('', 'ping')]
      : this.#pingOwners.map((owner) => this.#ping(owner))
    await Promise.any(pings).catch(() => pings[0]) // one error says it for all
  }

  /** Sends a write that changes nothing, because no item is an empty text. It waits for no standby. */
  #ping(owner: string): Promise<unknown> {
    const parameters = [toCells([owner, this.#leastAfter(undefined), '', ''])]
    return this.#pool.readEach(this.#sql.update, parameters, this.#pool.timeout)
  }

  /** How many operations wait for a statement to be sent. */
  get waiting(): number {
    return this.#writes.waiting + this.#finds.waiting + this.#reads.waiting
  }

  /** Waits until all writes are done. */
  idle(): Promise<unknown> {
    return this.#writes.idle()
  }

  async #commit(batch: readonly BatchedWrite[]): Promise<void> {
    const writes = Object.groupBy(batch, ({ item }) => item.kind)
    const updates = (writes.update ?? []).map((write) =>
      this.#update(write).then(write.resolve, write.reject),
    )
    await Promise.all([
      this.#write('create', writes.create ?? []),
      this.#write('delete', writes.delete ?? []),
      ...updates,
    ])
  }

  async #update({ item, deadline }: BatchedWrite): Promise<string | undefined> {
    for (;;) {
      const before = await this.find(item.owner, item.key, deadline)
      const text = before === undefined ? undefined : item.change?.(before)
      if (before === undefined || text === undefined) return before
      const stored = await this.#updates.add({ ...item, text, before }, deadline)
      if (stored !== undefined) return stored // otherwise another process was faster: try again
    }
  }

  async #write(kind: Write['kind'], batch: readonly BatchedWrite[]): Promise<void> {
    if (batch.length > 0) await runApart(batch, (writes) => this.#writeTogether(kind, writes))
  }

  async #writeTogether(kind: Write['kind'], batch: readonly BatchedWrite[]): Promise<void> {
    // All replicas write in the same order: otherwise they could deadlock.
    const sorted = batch.toSorted((left, right) => (idOf(left.item) < idOf(right.item) ? -1 : 1))
    const parameters = sorted.map(({ item }) => toCells(PARAMETERS[kind](item)))
    const results = await this.#pool.writeEach(this.#sql[kind], parameters, timeLeft(batch))
    for (const [at, { resolve }] of sorted.entries()) resolve(results[at]?.[0]?.[0] ?? undefined)
    this.stats.commits += 1
    this.stats.writes += batch.length
  }

  /** Looks an item up once, however many requests ask for it. */
  async #findTogether(batch: readonly Batched<Find, string | undefined>[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => idOf(item)).values()]
    const parameters = groups.map(([first]) => toCells([first?.item.owner, first?.item.key]))
    const results = await this.#pool.readEach(this.#sql.find, parameters, timeLeft(batch))
    for (const [at, group] of groups.entries()) {
      const text = results[at]?.[0]?.[0] ?? undefined
      for (const { resolve } of group) resolve(text)
    }
  }

  /** Reads a chunk once, however many requests ask for it. */
  async #readTogether(batch: readonly Batched<Read, Rows>[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => chunkCells(item).join('\0')).values()]
    const parameters = groups.map(([first]) => (first === undefined ? [] : chunkCells(first.item)))
    const results = await this.#pool.readEach(this.#sql.chunk, parameters, timeLeft(batch))
    for (const [at, group] of groups.entries()) {
      const chunk = this.#toRows(results[at]?.[0] ?? [])
      for (const { resolve } of group) resolve(chunk)
    }
  }

  #toRows([text, count, last, read]: Cells): Rows {
    const rows = { text: String(text), count: Number(count), hasMore: Number(read) > Number(count) }
    return rows.count === 0 ? rows : { ...rows, last: this.#toKey(last) }
  }

  /** The least key after another one, or of all keys. No text has U+0000: the least text after a text has U+0001 behind it. */
  #leastAfter(after: Key | undefined): Key | null {
    if (typeof after === 'string') return `${after}\u0001`
    if (after === undefined) return this.key === 'text' ? '' : INT64_MIN
    return after === INT64_MAX ? null : after + 1n
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }
}

function costOfWrite({ text }: Write): number {
  return 1 + Math.floor(text.length / CHARACTERS_OF_WRITE)
}

/** Tells items apart. NUL separates the values, because PostgreSQL has no text that contains it. */
function idOf({ owner, key }: { owner?: unknown; key?: unknown }): string {
  return `${String(owner)}\0${String(key)}`
}

/** The parameters of the statements that write. */
const PARAMETERS: Readonly<Record<Write['kind'], (write: Write) => Key[]>> = {
  create: ({ owner, key, text }) => [owner, key, text],
  update: ({ owner, key, text, before }) => [owner, key, text, before],
  delete: ({ owner, key }) => [owner, key],
}

/** The parameters of the statement that reads a chunk. */
function chunkCells({ owner, from, most, length, end }: Read): Cells {
  return toCells([owner, from, most + 1, length, end])
}

function toCells(values: readonly (Key | number | null | undefined)[]): Cells {
  return values.map((value) => (value === undefined || value === null ? null : String(value)))
}

/**
 * Runs a batch as one transaction. If the database refuses it, the items are tried one by one: the arguments of one
 * caller fail no operation of another.
 * @param run settles the items, or fails before it has settled one
 */
async function runApart<Item, Value>(
  batch: readonly Batched<Item, Value>[],
  run: (batch: readonly Batched<Item, Value>[]) => Promise<void>,
): Promise<void> {
  try {
    await run(batch)
  } catch (error) {
    const isRefused = !(error instanceof StoreUnavailable)
    if (isRefused && batch.length > 1) for (const item of batch) await runApart([item], run)
    else for (const { reject } of batch) reject(error)
  }
}

/** Milliseconds until the first item of a batch must be settled. */
function timeLeft(batch: readonly { readonly deadline: number }[]): number {
  return Math.min(...batch.map(({ deadline }) => deadline)) - performance.now()
}
