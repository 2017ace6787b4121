import { type Batched, Batcher } from '../batch.ts'
import type { Key } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { Query } from './pool.ts'
import type { Columns } from './schema.ts'

/** The most writes of a commit, and the characters that count as one of them. */
export const MAX_WRITES = 500
const CHARACTERS_OF_WRITE = 2048

/** How a table uses the connections of the store. */
export interface Access {
  readonly read: Query
  readonly write: Query
  /** How many reads may run at a time. */
  readonly parallel: number
  /** Milliseconds for an operation. */
  readonly timeout: number
  /** Called after each commit, with its number of writes. */
  readonly onCommit: (writes: number) => void
}

/** A write that waits for its commit. */
interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly owner: string
  readonly key: Key
  /** The item; nothing to delete one. */
  readonly text: string
  /** An update is done only if this is stored. */
  readonly before: string
}

/** Each resolves to the item that is stored or was deleted; undefined if an update was not done, or nothing was deleted. */
type Item = Batched<Write, string | undefined>

const idOf = ({ owner, key }: Pick<Write, 'owner' | 'key'>) => `${owner}\0${key}`

/** Group commit: the writes of one kind that arrive together, or while others are committed, share a commit. */
export class Writes extends Batcher<Write, string | undefined> {
  readonly #access: Access
  readonly #columns: Columns
  readonly #sql: ReturnType<typeof statements>

  constructor(access: Access, columns: Columns) {
    // Writes to the same item go into different batches: in one statement they would have no order.
    super((batch) => this.#commit(batch), {
      max: MAX_WRITES,
      weigh: ({ text, before }) => 1 + Math.floor((text.length + before.length) / CHARACTERS_OF_WRITE),
      shareOf: idOf,
      maxShare: 1,
      timeout: access.timeout,
    })
    this.#access = access
    this.#columns = columns
    this.#sql = statements(columns)
  }

  async #commit(batch: readonly Item[]): Promise<void> {
    // All replicas write in the same order: otherwise they could deadlock.
    const sorted = batch.toSorted((one, two) => (idOf(one.item) < idOf(two.item) ? -1 : 1))
    const byKind = Map.groupBy(sorted, ({ item }) => item.kind)
    await Promise.all([...byKind].map(([kind, writes]) => this.#write(kind, writes)))
  }

  async #write(kind: Write['kind'], batch: readonly Item[]): Promise<void> {
    try {
      const columns = (['owner', 'key', 'text', 'before'] as const).map((name) => batch.map(({ item }) => item[name]))
      const name = `${this.#columns.name}_${kind}`
      const { rows } = await this.#access.write(this.#sql[kind], columns, name, timeLeft(batch))
      const stored = new Map(rows.map(({ owner, key, item }) => [`${String(owner)}\0${String(key)}`, String(item)]))
      for (const { item, resolve } of batch) resolve(stored.get(idOf(item)))
      this.#access.onCommit(batch.length)
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      else for (const write of batch) await this.#write(kind, [write]) // one of them can't be stored: find it
    }
  }
}

/** Milliseconds until the first item of a batch must be settled. */
export function timeLeft(batch: readonly { readonly end: number }[]): number {
  return Math.min(...batch.map(({ end }) => end)) - performance.now()
}

/** Each returns a row for each item that it wrote or deleted. */
function statements({ name, type, columns: [owner, key, item] }: Columns) {
  const arrays = `$1::text[], $2::${type === 'text' ? 'text' : 'int8'}[], $3::text[], $4::text[]`
  const given = `unnest(${arrays}) AS given (owner, key, item, before)`
  const isGiven = `stored.${owner} = given.owner AND stored.${key} = given.key`
  const returned = `RETURNING stored.${owner} AS owner, stored.${key} AS key, stored.${item} AS item`
  return {
    // If an item exists, it is updated to itself: that locks the row and returns it.
    create: `INSERT INTO "${name}" AS stored SELECT owner, key, item FROM ${given}
      ON CONFLICT (${owner}, ${key}) DO UPDATE SET ${item} = stored.${item} ${returned}`,
    update: `UPDATE "${name}" AS stored SET ${item} = given.item FROM ${given}
      WHERE ${isGiven} AND stored.${item} = given.before ${returned}`,
    delete: `DELETE FROM "${name}" AS stored USING ${given} WHERE ${isGiven} ${returned}`,
  }
}
