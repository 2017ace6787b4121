import { type Batched, Batcher } from '../batch.ts'
import { BATCH_SIZE } from '../lists.ts'
import type { Connections } from './connections.ts'
import { type Figures, type Plant } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'

/** Writes one plant. The number of rows tells whether it did. */
const WRITE_ONE = {
  create: 'INSERT INTO plants (owner, id, plant) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
  update: 'UPDATE plants SET plant = $3 WHERE owner = $1 AND id = $2',
  delete: 'DELETE FROM plants WHERE owner = $1 AND id = $2',
}

const GIVEN = 'unnest($1::text[], $2::int8[], $3::text[]) AS given (owner, id, plant)'
const IS_GIVEN = 'plants.owner = given.owner AND plants.id = given.id'

/**
 * Writes many plants, and returns a row for each plant that it wrote or deleted. If a plant to create exists, it is updated
 * to itself: that locks the row and returns it.
 */
const WRITE_MANY = {
  create: `INSERT INTO plants (owner, id, plant) SELECT * FROM ${GIVEN}
    ON CONFLICT (owner, id) DO UPDATE SET plant = plants.plant RETURNING owner, id, plant`,
  update: `UPDATE plants SET plant = given.plant FROM ${GIVEN} WHERE ${IS_GIVEN} RETURNING plants.owner, plants.id`,
  delete: `DELETE FROM plants USING ${GIVEN} WHERE ${IS_GIVEN} RETURNING plants.owner, plants.id`,
}

type Kind = keyof typeof WRITE_ONE

/** A write that waits for its commit. */
interface Write {
  readonly kind: Kind
  readonly owner: string
  readonly id: bigint
  /** The owner and the id. */
  readonly key: string
  readonly text: string | undefined
  /** The time at which it fails, on the clock of `performance.now()`. */
  readonly end: number
}

/** The plant that is stored now, or was deleted. */
type Written = Readonly<{ plant?: unknown }>

/** Each write resolves to undefined if there was no plant to write. */
type Item = Batched<Write, Written | undefined>

/** Group commit: the writes of one kind that arrive together, or while others are committed, share a commit. */
export class Writes {
  readonly #connections: Connections
  readonly #timeout: number
  readonly #batches: Batcher<Write, Written | undefined>
  #commits = 0
  #written = 0

  /** @param timeout milliseconds for each write */
  constructor(connections: Connections, timeout: number) {
    this.#connections = connections
    this.#timeout = timeout
    // Writes to the same plant go into different batches: in one statement they would have no order.
    this.#batches = new Batcher((batch) => this.#commit(batch), { max: BATCH_SIZE, getKey: ({ key }) => key })
  }

  /** Writes one plant. @returns undefined if there was none to write */
  add(kind: Kind, owner: string, id: bigint, plant?: Plant): Promise<Written | undefined> {
    const end = performance.now() + this.#timeout
    return this.#batches.add({ kind, owner, id, key: `${owner} ${id}`, text: plant && JSON.stringify(plant), end })
  }

  /** How many commits and writes there were, and how many writes wait for a commit. */
  get figures(): Pick<Figures, 'commits' | 'writes'> & { readonly waiting: number } {
    return { commits: this.#commits, writes: this.#written, waiting: this.#batches.waiting }
  }

  /** Waits until all writes are done. */
  idle(): Promise<unknown> {
    return this.#batches.idle()
  }

  async #commit(batch: readonly Item[]): Promise<void> {
    // Refuse a write that has less than an eighth of its time left: its commit may take as long.
    const latest = performance.now() + this.#timeout / 8
    const inTime = batch.filter(({ item, reject }) => {
      if (item.end < latest) reject(new StoreUnavailable('too many writes wait'))
      return item.end >= latest
    })
    // All replicas write in the same order: otherwise they could deadlock.
    inTime.sort((one, two) => (one.item.key < two.item.key ? -1 : 1))
    const byKind = Map.groupBy(inTime, ({ item }) => item.kind)
    await Promise.all([...byKind].map(([kind, writes]) => this.#write(kind, writes)))
  }

  async #write(kind: Kind, batch: readonly Item[]): Promise<void> {
    try {
      const [first] = batch
      if (first === undefined || batch.length > 1 || !(await this.#writeOne(first))) await this.#writeMany(kind, batch)
      this.#commits += 1
      this.#written += batch.length
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      else for (const write of batch) await this.#write(kind, [write]) // one of them can't be stored: find it
    }
  }

  /** @returns false if there is another plant with the id of the plant to create */
  async #writeOne({ item: { kind, owner, id, text, end }, resolve }: Item): Promise<boolean> {
    const values = kind === 'delete' ? [owner, id] : [owner, id, text]
    const { rowCount } = await this.#connections.write(WRITE_ONE[kind], values, kind, end - performance.now())
    if (kind === 'create' && rowCount === 0) return false
    resolve(rowCount === 0 ? undefined : { plant: text })
    return true
  }

  async #writeMany(kind: Kind, batch: readonly Item[]): Promise<void> {
    const columns = (['owner', 'id', 'text'] as const).map((name) => batch.map(({ item }) => item[name]))
    const end = Math.min(...batch.map(({ item }) => item.end))
    const { rows } = await this.#connections.write(WRITE_MANY[kind], columns, undefined, end - performance.now())
    const byKey = new Map(rows.map((row) => [`${String(row['owner'])} ${String(row['id'])}`, row]))
    for (const { item, resolve } of batch) resolve(byKey.get(item.key))
  }
}
