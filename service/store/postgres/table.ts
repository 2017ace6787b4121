import { STEP_LENGTH } from '../lists.ts'
import { type Batched, Batcher } from '../batch.ts'
import { type Key, type KeyType } from '../../engine/store.ts'
import { type Entry, INT64_MAX, INT64_MIN, type Rows, type Step, type Table } from '../database.ts'
import { StoreUnavailable } from '../../engine/errors.ts'
import type { Pool } from './pool.ts'
import type { TableInfo } from './schema.ts'
import { statements } from './sql.ts'

const MAX_WRITES = 500 // of a commit
const CHARACTERS_OF_WRITE = 2048 // a write counts once more for each of so many characters
const MAX_LENGTH = 16 * STEP_LENGTH // bytes that one statement may return
const MAX_OWNER_LENGTH = 4 * STEP_LENGTH // bytes of them for one owner
const ROW_LENGTH = 1024 // bytes of a row of a list, about
const FOUND_LENGTH = 16_384 // bytes of an item that is found by its key: it may be as long as a request

/** A write that waits for its commit. */
interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly owner: string
  readonly key: Key
  /** The item; nothing to delete one. */
  readonly text: string
  /** An update is done only if this is stored. */
  readonly before: string
  readonly change?: (text: string) => string | undefined
}

/** Each resolves to the item that is stored or was deleted; undefined if an update was not done, or nothing was deleted. */
type BatchedWrite = Batched<Write, string | undefined>

const weightOf = ({ text }: Write) => 1 + Math.floor(text.length / CHARACTERS_OF_WRITE)
const idOf = ({ owner, key }: { owner?: unknown; key?: unknown }) =>
  `${String(owner)}\0${String(key)}`

/** A step. Instead of `after` it has the least key that its first row may have; null if no key is left. */
type BatchedStep = Batched<Omit<Step, 'after'> & { readonly from: Key | null }, Rows>

const STEP = ['owner', 'from', 'most', 'length', 'end'] as const

/** The table of a collection on PostgreSQL. */
export class PostgresTable implements Table {
  readonly key: KeyType
  /** How many commits there were, and how many writes were in them. */
  readonly figures = { commits: 0, writes: 0 }
  readonly #pool: Pool
  readonly #name: string
  readonly #sql: ReturnType<typeof statements>
  /** Group commit: the writes that arrive together, or while others are committed, share a commit for each kind. */
  readonly #writes: Batcher<Write, string | undefined>
  /** One statement reads all steps that are requested at the same time. */
  readonly #steps: Batcher<BatchedStep['item'], Rows>
  /** The updates of a batch of `#writes`, when their new items are known. */
  readonly #updates: Batcher<Write, string | undefined>

  constructor(pool: Pool, info: TableInfo) {
    this.key = info.type
    this.#pool = pool
    this.#name = info.name
    this.#sql = statements(info)
    const { parallelReads: parallel, timeout } = pool
    this.#writes = new Batcher<Write, string | undefined>((batch) => this.#commit(batch), {
      max: MAX_WRITES,
      weigh: weightOf,
      // Writes to the same item go into different batches: in one statement they would have no order.
      shareOf: idOf,
      maxShare: 1,
      timeout,
    })
    this.#updates = new Batcher((batch) => this.#write('update', batch), {
      max: MAX_WRITES,
      weigh: weightOf,
    })
    this.#steps = new Batcher((batch) => runApart(batch, (steps) => this.#readTogether(steps)), {
      max: MAX_LENGTH,
      shareOf: ({ owner }) => owner,
      weigh: ({ from, most, length, end }) =>
        from === end ? FOUND_LENGTH : Math.min(length, most * ROW_LENGTH),
      maxShare: MAX_OWNER_LENGTH,
      parallel,
      timeout,
    })
  }

  async create(owner: string, key: Key, text: string): Promise<string> {
    return (await this.#writes.add({ kind: 'create', owner, key, text, before: '' })) ?? text
  }

  async delete(owner: string, key: Key): Promise<boolean> {
    return (
      (await this.#writes.add({ kind: 'delete', owner, key, text: '', before: '' })) !== undefined
    )
  }

  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined> {
    return this.#writes.add({ kind: 'update', owner, key, text: '', before: '', change })
  }

  async find(owner: string, key: Key, deadline?: number): Promise<string | undefined> {
    const { text, count } = await this.#steps.add(
      { owner, from: key, most: 1, length: STEP_LENGTH, end: key },
      deadline,
    )
    return count === 0 ? undefined : text
  }

  read({ after, ...step }: Step, deadline: number): Promise<Rows> {
    return this.#steps.add({ ...step, from: this.#from(after) }, deadline)
  }

  async skip(
    owner: string,
    after: Key | undefined,
    count: number,
    deadline: number,
  ): Promise<Key | undefined> {
    const values = [owner, this.#from(after), count - 1]
    const { rows } = await this.#pool.read(
      this.#sql.skip,
      values,
      `${this.#name}_skip`,
      deadline - performance.now(),
    )
    return rows[0] && this.#toKey(rows[0]['key'])
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { rows } = await this.#pool.read(this.#sql.entries, [
      after?.owner ?? '',
      this.#from(after?.key),
    ])
    return rows.map(({ owner, key, item }) => ({
      owner: String(owner),
      key: this.#toKey(key),
      text: String(item),
    }))
  }

  /** How many operations wait for a statement to be sent. */
  get waiting(): number {
    return this.#writes.waiting + this.#steps.waiting
  }

  /** Waits until all writes are done. */
  idle(): Promise<undefined> {
    return this.#writes.idle()
  }

  async #commit(batch: readonly BatchedWrite[]): Promise<void> {
    const {
      create = [],
      update = [],
      delete: deletes = [],
    } = Object.groupBy(batch, ({ item }) => item.kind)
    const updates = update.map((each) => this.#update(each).then(each.resolve, each.reject))
    await Promise.all([this.#write('create', create), this.#write('delete', deletes), ...updates])
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
    const sorted = batch.toSorted((one, two) => (idOf(one.item) < idOf(two.item) ? -1 : 1))
    const columns = (['owner', 'key', 'text', 'before'] as const).map((name) =>
      sorted.map(({ item }) => item[name]),
    )
    const { rows } = await this.#pool.write(
      this.#sql[kind],
      columns,
      `${this.#name}_${kind}`,
      timeLeft(batch),
    )
    const stored = new Map(rows.map((row) => [idOf(row), String(row['item'])]))
    for (const { item, resolve } of batch) resolve(stored.get(idOf(item)))
    this.figures.commits += 1
    this.figures.writes += batch.length
  }

  /** Reads each step once, whoever asks for it. */
  async #readTogether(batch: readonly BatchedStep[]): Promise<void> {
    // NUL separates the values, because PostgreSQL has no text that contains it.
    const idOfStep = ({ item }: BatchedStep) => STEP.map((name) => item[name] ?? '').join('\0')
    const steps = [...Map.groupBy(batch, idOfStep).values()]
    const columns = STEP.map((name) => steps.map(([step]) => step?.item[name] ?? null))
    const { rows } = await this.#pool.read(
      this.#sql.steps,
      columns,
      `${this.#name}_steps`,
      timeLeft(batch),
    )
    for (const { n, text, count, last, more } of rows) {
      const read = { text: String(text), count: Number(count), hasMore: more === true }
      const isEmpty = read.count === 0
      for (const { resolve } of steps[Number(n) - 1] ?? [])
        resolve(isEmpty ? read : { ...read, last: this.#toKey(last) })
    }
  }

  /** The least key after another one, or of all keys. No text has U+0000: what follows a text begins with U+0001. */
  #from(after: Key | undefined): Key | null {
    if (typeof after === 'string') return `${after}\u0001`
    if (after === undefined) return this.key === 'text' ? '' : INT64_MIN
    return after === INT64_MAX ? null : after + 1n
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }
}

/**
 * Runs a batch as one statement. If the database refuses it, each item is tried by itself: one caller's arguments fail nobody
 * else's operation.
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
