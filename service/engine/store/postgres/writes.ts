import { type Batched, Batcher } from '../batch.ts'
import type { Key } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { Access, Columns } from './access.ts'

/** The most writes of a commit, and the characters that count as one of them. */
export const MAX_WRITES = 500
export const CHARACTERS_OF_WRITE = 2048

type Kind = 'create' | 'delete'

/** A write that waits for its commit. */
interface Write {
  readonly kind: Kind
  readonly owner: string
  readonly key: Key
  /** The owner and the key. */
  readonly id: string
  readonly text: string
}

/** Each write resolves to the item that is stored or was deleted; undefined if it was created, or there was none to delete. */
type Item = Batched<Write, string | undefined>

/** Group commit: the writes of one kind that arrive together, or while others are committed, share a commit. */
export class Writes {
  readonly #access: Access
  readonly #table: string
  readonly #sql: ReturnType<typeof statements>
  readonly #batches: Batcher<Write, string | undefined>

  constructor(access: Access, columns: Columns) {
    this.#access = access
    this.#table = columns.name
    this.#sql = statements(columns)
    // Writes to the same item go into different batches: in one statement they would have no order.
    this.#batches = new Batcher((batch) => this.#commit(batch), {
      max: MAX_WRITES,
      weigh: ({ text }) => 1 + Math.floor(text.length / CHARACTERS_OF_WRITE),
      shareOf: ({ id }) => id,
      maxShare: 1,
      timeout: access.timeout,
    })
  }

  /** Writes one item. */
  add(kind: Kind, owner: string, key: Key, text: string): Promise<string | undefined> {
    return this.#batches.add({ kind, owner, key, id: `${owner}\0${key}`, text })
  }

  /** How many writes wait for a commit. */
  get waiting(): number {
    return this.#batches.waiting
  }

  /** Waits until all writes are done. */
  idle(): Promise<unknown> {
    return this.#batches.idle()
  }

  async #commit(batch: readonly Item[]): Promise<void> {
    // All replicas write in the same order: otherwise they could deadlock.
    const sorted = batch.toSorted((one, two) => (one.item.id < two.item.id ? -1 : 1))
    const byKind = Map.groupBy(sorted, ({ item }) => item.kind)
    await Promise.all([...byKind].map(([kind, writes]) => this.#write(kind, writes)))
  }

  async #write(kind: Kind, batch: readonly Item[]): Promise<void> {
    try {
      const [first] = batch
      if (first === undefined || batch.length > 1 || !(await this.#writeOne(first))) await this.#writeMany(kind, batch)
      this.#access.onCommit(batch.length)
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      else for (const write of batch) await this.#write(kind, [write]) // one of them can't be stored: find it
    }
  }

  /** @returns false if there is another item under the key of the item to create */
  async #writeOne({ item: { kind, owner, key, text }, end, resolve }: Item): Promise<boolean> {
    const values = kind === 'delete' ? [owner, key] : [owner, key, text]
    const name = `${this.#table}_${kind}`
    const { rowCount } = await this.#access.write(this.#sql.one[kind], values, name, end - performance.now())
    if (kind === 'create' && rowCount === 0) return false
    resolve(kind === 'delete' && rowCount === 1 ? '' : undefined)
    return true
  }

  async #writeMany(kind: Kind, batch: readonly Item[]): Promise<void> {
    const columns = (['owner', 'key', 'text'] as const).map((name) => batch.map(({ item }) => item[name]))
    const end = Math.min(...batch.map((each) => each.end))
    const { rows } = await this.#access.write(this.#sql.many[kind], columns, undefined, end - performance.now())
    const byId = new Map(rows.map((row) => [`${String(row['owner'])}\0${String(row['key'])}`, String(row['item'])]))
    for (const { item, resolve } of batch) resolve(byId.get(item.id))
  }
}

/**
 * One writes one item: the number of rows tells whether it did. Many returns a row for each item that it wrote or deleted.
 * If an item to create exists, it is updated to itself: that locks the row and returns it.
 */
function statements({ name, type, columns: [owner, key, item] }: Columns) {
  const given = `unnest($1::text[], $2::${type === 'text' ? 'text' : 'int8'}[], $3::text[]) AS given (owner, key, item)`
  const returned = `RETURNING stored.${owner} AS owner, stored.${key} AS key, stored.${item} AS item`
  return {
    one: {
      create: `INSERT INTO "${name}" VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
      delete: `DELETE FROM "${name}" WHERE ${owner} = $1 AND ${key} = $2`,
    },
    many: {
      create: `INSERT INTO "${name}" AS stored SELECT * FROM ${given}
        ON CONFLICT (${owner}, ${key}) DO UPDATE SET ${item} = stored.${item} ${returned}`,
      delete: `DELETE FROM "${name}" AS stored USING ${given}
        WHERE stored.${owner} = given.owner AND stored.${key} = given.key ${returned}`,
    },
  }
}
