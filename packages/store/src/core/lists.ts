// Reads lists of any length in chunks: one chunk is in memory, and between two of them others have
// their turn.
import { JsonText, StoreBusy } from '@plant-store/engine/for-store'
import { type Batched, Batcher } from './batch.ts'
import {
  type Chunk,
  type ChunkRead,
  type Database,
  isSamePosition,
  type Order,
  type Position,
  type Rows,
  type Table,
} from './database.ts'

/**
 * The approximate number of characters of a chunk. While a chunk is read and written, other
 * requests wait.
 */
export const CHUNK_LENGTH = 65_536
export const MAX_ROWS = 5000
/** Short, because the first chunk of a list waits for no turn. */
export const FIRST_CHUNK = { most: 64, length: 8192 }

/** A list: its items as JSON, and the last position of the page, if more items follow it. */
interface List {
  readonly items: JsonText<never[]> | AsyncIterable<JsonText<never[]>>
  readonly last?: Position
}

interface ReadQueueOptions {
  /** The most rows of a batch, all chunks together; a single chunk may have more. */
  readonly maxRows: number
  /** How many batches may run at a time. */
  readonly parallel: number
  /** Milliseconds for a chunk. */
  readonly timeout: number
}

/**
 * Makes the queue for the chunks of long lists. Owners take turns, so no owner waits for the whole
 * list of another.
 */
export function makeReadQueue({ maxRows, parallel, timeout }: ReadQueueOptions): Database['reads'] {
  return new Batcher(readTogether, {
    maxCost: maxRows,
    costOf: ({ rows }: ChunkRead) => rows,
    flowOf: ({ owner }: ChunkRead) => owner,
    parallel,
    timeout,
    isFreshFirst: true,
  })
}

function readTogether(batch: readonly Batched<ChunkRead, unknown>[]): Promise<unknown> {
  const reads = batch.map(({ item, deadline, resolve, reject }) =>
    item.read(deadline).then(resolve, reject),
  )
  return Promise.all(reads)
}

export interface ListRequest {
  readonly owner: string
  readonly order: Order
  /** The last position before the list; absent: it begins with the first row. */
  readonly after: Position | undefined
  /** The most rows; Infinity for all. */
  readonly limit: number
}

type Reads = Pick<Database, 'reads' | 'timeout'>
type ReadTable = Pick<Table, 'read' | 'skip'>

/**
 * Lists rows in an order. A list of one chunk shows one moment. A longer one is read while it
 * is sent, and no read stays open between its chunks.
 */
export async function readList(
  database: Reads,
  table: ReadTable,
  request: ListRequest,
): Promise<List> {
  const reader = new ListReader(database, table, request)
  return (await reader.readShort()) ?? (await reader.readLong())
}

class ListReader {
  readonly #reads: Database['reads']
  readonly #table: ReadTable
  readonly #request: ListRequest
  /** For all reads before the answer begins. */
  readonly #deadline: number

  constructor({ reads, timeout }: Reads, table: ReadTable, request: ListRequest) {
    this.#reads = reads
    this.#table = table
    this.#request = request
    this.#deadline = performance.now() + timeout
  }

  /** Reads a list short enough for the first chunk. @returns undefined if it may be longer */
  async readShort(): Promise<List | undefined> {
    const { limit, ...range } = this.#request
    const most = Math.min(limit, FIRST_CHUNK.most)
    // If this owner already waits for long lists, queue this one, too: a refused list must not have
    // cost a read.
    if (limit > most && this.#reads.isAwaited(range.owner)) return undefined
    const rows = await this.#table.read({ ...FIRST_CHUNK, ...range, most }, this.#deadline)
    return this.#isWhole(rows) ? toList(rows) : undefined
  }

  /** Reads the beginning of a list in its turn, and the rest of it while it is sent. */
  async readLong(): Promise<List> {
    const { limit, ...range } = this.#request
    const rows = await this.#readInTurn({ ...range, ...boundsOf(limit) }, this.#deadline)
    if (this.#isWhole(rows)) return toList(rows)
    const end = limit === Infinity ? undefined : await this.#findEnd(rows)
    const items = this.#sendChunks(rows, end)
    return end === undefined ? { items } : { items, last: end }
  }

  #isWhole({ hasMore, count }: Rows): boolean {
    return !hasMore || count === this.#request.limit
  }

  /** Finds the last position of the page, if more rows follow it. */
  async #findEnd(first: Rows): Promise<Position | undefined> {
    const { owner, order, limit } = this.#request
    let last = first.last
    let left = limit - first.count
    while (left > 0) {
      const rows = Math.min(left, MAX_ROWS)
      last = await this.#skipInTurn(last, rows)
      if (last === undefined) return undefined
      left -= rows
    }
    const next = await this.#table.skip({ owner, order, after: last, count: 1 }, this.#deadline)
    return next === undefined ? undefined : last
  }

  /** @param end the last position of the page, if more rows follow it */
  async *#sendChunks(first: Rows, end: Position | undefined): AsyncGenerator<JsonText<never[]>> {
    const { owner, order, limit } = this.#request
    let rows = first
    let left = limit - rows.count
    for (;;) {
      if (left < 0) throw new StoreBusy('items were added to the page while it was read')
      yield new JsonText(`[${rows.text}]`)
      const after = rows.last
      if (!rows.hasMore || after === undefined || isSamePosition(after, end)) return
      const { count, text } = rows
      const bounds = boundsOf(left + 1, { count, length: text.length })
      rows = await this.#readInTurn({ owner, order, after, end, ...bounds })
      left -= rows.count
    }
  }

  /**
   * Reads a chunk when its owner has a turn. @param until the deadline; within the usual time if
   * absent
   */
  async #readInTurn(chunk: Chunk, until?: number): Promise<Rows> {
    const { owner, most } = chunk
    const read = (deadline: number) => this.#table.read(chunk, deadline)
    const rows = await this.#reads.add({ owner, rows: most, read }, until)
    return rows as Rows // the queue settles a chunk with the result of `read`
  }

  async #skipInTurn(after: Position | undefined, rows: number): Promise<Position | undefined> {
    const { owner, order } = this.#request
    const deadline = this.#deadline
    const read = () => this.#table.skip({ owner, order, after, count: rows }, deadline)
    const position = await this.#reads.add({ owner, rows, read }, deadline)
    return position as Position | undefined // the queue settles a chunk with the result of `read`
  }
}

/**
 * The bounds of a chunk of at most `limit` rows. @param before the number and the length of the
 * rows of the previous chunk: the next rows are probably as long
 */
export function boundsOf(
  limit: number,
  before?: { readonly count: number; readonly length: number },
): Pick<Chunk, 'most' | 'length'> {
  const fitting =
    before === undefined ? MAX_ROWS : Math.ceil((2 * CHUNK_LENGTH * before.count) / before.length)
  return { most: Math.min(limit, MAX_ROWS, fitting), length: CHUNK_LENGTH }
}

function toList({ text, last, hasMore }: Rows): List {
  const items = new JsonText<never[]>(`[${text}]`)
  return hasMore && last !== undefined ? { items, last } : { items }
}
