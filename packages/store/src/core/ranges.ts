// Reads a range as values while they are taken, and counts one: in steps, between which others have
// their turn.
import { boundsOf, FIRST_CHUNK, MAX_ROWS } from './lists.ts'
import type { Chunk, Database, Found, FoundRows, Position, Range, Table } from './database.ts'

type Reads = Pick<Database, 'reads' | 'timeout'>

/** Reads all rows of a range. No read stays open between its chunks. */
export async function* readEntries(
  { reads }: Reads,
  table: Pick<Table, 'readItems'>,
  range: Pick<Chunk, 'owner' | 'order'>,
): AsyncGenerator<Found, undefined> {
  let after: Position | undefined
  let bounds = boundsOf(Infinity)
  for (;;) {
    const chunk = { ...range, ...bounds, after }
    const read = (deadline: number) => table.readItems(chunk, deadline)
    const rows = (await reads.add({ owner: range.owner, rows: chunk.most, read })) as FoundRows // the queue settles a chunk with the result of `read`
    yield* rows.items
    if (!rows.hasMore || rows.last === undefined) return
    after = rows.last
    bounds = boundsOf(Infinity, { count: rows.items.length, length: lengthOf(rows) })
  }
}

function lengthOf({ items }: FoundRows): number {
  return items.reduce((length, { text }) => length + text.length, 0)
}

/** Counts the rows of a range, at most `count`. */
export class Counter {
  readonly #reads: Database['reads']
  readonly #timeout: number
  readonly #table: Pick<Table, 'count' | 'skip'>

  constructor({ reads, timeout }: Reads, table: Pick<Table, 'count' | 'skip'>) {
    this.#reads = reads
    this.#timeout = timeout
    this.#table = table
  }

  async count({ count: most, ...range }: Omit<Range, 'after'>): Promise<number> {
    if (most <= FIRST_CHUNK.most)
      return this.#table.count(
        { ...range, after: undefined, count: most },
        performance.now() + this.#timeout,
      )
    let counted = 0
    let after: Position | undefined
    for (;;) {
      const count = Math.min(most - counted, MAX_ROWS)
      const step = { ...range, after, count }
      const rows = await this.#inTurn(step, (deadline) => this.#table.count(step, deadline))
      counted += rows
      if (rows < count || counted === most) return counted
      after = await this.#inTurn(step, (deadline) => this.#table.skip(step, deadline))
      if (after === undefined) return counted // others have deleted rows of it
    }
  }

  async #inTurn<Value>(
    { owner, count }: Range,
    read: (deadline: number) => Promise<Value>,
  ): Promise<Value> {
    return (await this.#reads.add({ owner, rows: count, read })) as Value // the queue settles a chunk with the result of `read`
  }
}
