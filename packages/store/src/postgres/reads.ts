// The reads of a table. Simultaneous ones share a packet, and equal ones a statement.
import type { IndexValue, Key, StoredIndex } from '@plant-store/engine/for-store'
import type { Batched } from '../core/batch.ts'
import type { Chunk, Found, FoundRows, Position, Range, Rows } from '../core/database.ts'
import { CHUNK_LENGTH } from '../core/lists.ts'
import { timeLeft, toCells } from './cells.ts'
import type { TableInfo } from './create-tables.ts'
import { gather, type Gatherer } from './owner-batchers.ts'
import { type Cells, type Step, toCalls } from './pipeline.ts'
import type { Pool } from './pool.ts'
import { isLocked, isOfStatement } from './retries.ts'
import { Scans } from './scans.ts'
import type { statements } from './sql.ts'

/** The most bytes returned by the statements of a batch. */
const MAX_LENGTH = 16 * CHUNK_LENGTH
/** The most of these bytes for one owner. */
const MAX_OWNER_LENGTH = 4 * CHUNK_LENGTH
/** The approximate number of bytes of a row of a list. */
const ROW_LENGTH = 1024
/** The most bytes of an item found by its key: it may be as long as a request. */
const FOUND_LENGTH = 16_384

/** A statement that reads rows of an owner, and the most bytes it probably returns. */
interface Read {
  readonly owner: string
  readonly step: Step
  readonly length: number
}

type BatchedRead = Batched<Read, readonly Cells[]>

interface ReadsOptions {
  readonly pool: Pool
  readonly table: TableInfo
  readonly sql: ReturnType<typeof statements>
  /** Whether a batch must have one owner. */
  readonly isSharded: boolean
  /** Whether a batch may have several statements. */
  readonly isTogether: boolean
}

export class Reads {
  readonly #pool: Pool
  readonly #sql: ReturnType<typeof statements>
  readonly #scans: Scans
  readonly #finds: Gatherer<Read, readonly Cells[]>
  /** Lists wait for one another, and no find waits for them. */
  readonly #lists: Gatherer<Read, readonly Cells[]>

  constructor({ pool, table, sql, isSharded, isTogether }: ReadsOptions) {
    this.#pool = pool
    this.#sql = sql
    this.#scans = new Scans(table)
    const { parallelReads: parallel, timeout } = pool
    const run = (batch: readonly BatchedRead[]) => this.#readTogether(batch)
    const open = () =>
      gather<Read, readonly Cells[]>(isSharded, (batch) => runApart(batch, run), {
        maxCost: isTogether ? MAX_LENGTH : 1,
        maxCostOfFlow: MAX_OWNER_LENGTH,
        costOf: ({ length }) => length,
        flowOf: ({ owner }) => owner,
        parallel,
        timeout,
      })
    this.#finds = open()
    this.#lists = open()
  }

  async find(owner: string, key: Key, deadline?: number): Promise<string | undefined> {
    const step = { statement: this.#sql.find, values: toCells([owner, key]) }
    const [row] = await this.#finds.add({ owner, step, length: FOUND_LENGTH }, deadline)
    return row?.[0] ?? undefined
  }

  async findBy(
    owner: string,
    index: StoredIndex,
    values: readonly IndexValue[],
  ): Promise<Found | undefined> {
    const step = this.#scans.findBy(owner, index, values)
    const [row] = await this.#finds.add({ owner, step, length: FOUND_LENGTH })
    return row && { key: this.#scans.toKey(row[0]), text: String(row[1]) }
  }

  async read(chunk: Chunk, deadline: number): Promise<Rows> {
    const [row = []] = await this.#readChunk(chunk, this.#scans.chunk(chunk), deadline)
    const [text, count, read, ...last] = row
    const rows = { text: String(text), count: Number(count), hasMore: Number(read) > Number(count) }
    return rows.count === 0 ? rows : { ...rows, last: this.#scans.position(chunk.order, last) }
  }

  async readItems(chunk: Chunk, deadline: number): Promise<FoundRows> {
    const rows = await this.#readChunk(chunk, this.#scans.items(chunk), deadline)
    const fitting = rows.filter(([text]) => text !== null)
    const items = fitting.map(([text, ...place]) => ({
      key: this.#scans.toKey(place.at(-1)),
      text: String(text),
    }))
    const [, ...last] = fitting.at(-1) ?? []
    const result = { items, hasMore: rows.length > items.length }
    if (items.length === 0) return result
    return { ...result, last: this.#scans.position(chunk.order, last) }
  }

  async skip(range: Range, deadline: number): Promise<Position | undefined> {
    const [row] = await this.#readAlone(this.#scans.skip(range), deadline)
    return row && this.#scans.position(range.order, row)
  }

  async count(range: Range, deadline: number): Promise<number> {
    const [row = []] = await this.#readAlone(this.#scans.count(range), deadline)
    return Number(row[0])
  }

  /** The reads whose statement is not sent yet. */
  get waiting(): number {
    return this.#finds.waiting + this.#lists.waiting
  }

  #readChunk(chunk: Chunk, step: Step, deadline: number): Promise<readonly Cells[]> {
    const { owner, most, length } = chunk
    const read = { owner, step, length: Math.min(length, most * ROW_LENGTH) }
    return this.#lists.add(read, deadline)
  }

  async #readAlone(step: Step, deadline: number): Promise<readonly Cells[]> {
    const timeout = deadline - performance.now()
    const [rows = []] = await this.#pool.readEach(toCalls([step]), timeout)
    return rows
  }

  /** Runs a statement once, however many requests ask for its rows. */
  async #readTogether(batch: readonly BatchedRead[]): Promise<void> {
    const groups = [...Map.groupBy(batch, ({ item }) => idOfStep(item.step)).values()]
    const steps = groups.flatMap(([first]) => (first === undefined ? [] : [first.item.step]))
    const results = await this.#pool.readEach(toCalls(steps), timeLeft(batch))
    for (const [at, group] of groups.entries())
      for (const { resolve } of group) resolve(results[at] ?? [])
  }
}

/** Tells statements with their parameters apart. No string in PostgreSQL contains NUL. */
function idOfStep({ statement, values }: Step): string {
  return [statement.name, ...values].join('\0')
}

/**
 * Runs a batch as one transaction. If the database refuses it, the items are tried one by one: the
 * arguments of one caller fail no operation of another.
 * @param run settles the items, or fails before it has settled one
 */
async function runApart(
  batch: readonly BatchedRead[],
  run: (batch: readonly BatchedRead[]) => Promise<void>,
): Promise<void> {
  try {
    await run(batch)
  } catch (error) {
    const isApart = isOfStatement(error) && !isLocked(error) // others would wait for the same lock
    if (isApart && batch.length > 1) for (const item of batch) await runApart([item], run)
    else for (const { reject } of batch) reject(error)
  }
}
