import { STEP_LENGTH } from '../lists.ts'
import { type Batched, Batcher } from '../batch.ts'
import type { Row } from '../tokens.ts'
import { type Entry, INT64_MAX, INT64_MIN, type Key, type KeyType, type Rows, type Step, type Table } from '../store.ts'
import { StoreUnavailable } from '../../errors.ts'
import type { Pool } from './pool.ts'
import type { Columns } from './schema.ts'
import { statements } from './sql.ts'

/** The most writes of a commit, and the characters that count as one of them. */
const MAX_WRITES = 500
const CHARACTERS_OF_WRITE = 2048
/** Bytes that one statement may return, and the part of one owner. */
const MAX_LENGTH = 16 * STEP_LENGTH
const MAX_OWNER_LENGTH = 4 * STEP_LENGTH
/** Bytes of a row of a list, about, and of an item that is found: it may be as long as a request. */
const ROW_LENGTH = 1024
const FOUND_LENGTH = 16_384

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
type BatchedWrite = Batched<Write, string | undefined>

const idOf = ({ owner, key }: { owner?: unknown; key?: unknown }) => `${String(owner)}\0${String(key)}`

/** A step with the key of its first row, or one before it; null if no key is left. */
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
  /** The last update of each item. Updates of one item take turns, so that none overtakes another in this process. */
  readonly #updates = new Map<string, Promise<unknown>>()

  constructor(pool: Pool, columns: Columns) {
    this.key = columns.type
    this.#pool = pool
    this.#name = columns.name
    this.#sql = statements(columns)
    const { parallelReads: parallel, timeout } = pool
    this.#writes = new Batcher<Write, string | undefined>((batch) => this.#commit(batch), {
      max: MAX_WRITES,
      weigh: ({ text }) => 1 + Math.floor(text.length / CHARACTERS_OF_WRITE),
      // Writes to the same item go into different batches: in one statement they would have no order.
      shareOf: idOf,
      maxShare: 1,
      timeout,
    })
    this.#steps = new Batcher((batch) => this.#read(batch), {
      max: MAX_LENGTH,
      shareOf: ({ owner }) => owner,
      weigh: ({ from, most, length, end }) => (from === end ? FOUND_LENGTH : Math.min(length, most * ROW_LENGTH)),
      maxShare: MAX_OWNER_LENGTH,
      parallel,
      timeout,
    })
  }

  async create(owner: string, key: Key, text: string): Promise<string> {
    return (await this.#writes.add({ kind: 'create', owner, key, text, before: '' })) ?? text
  }

  async delete(owner: string, key: Key): Promise<boolean> {
    return (await this.#writes.add({ kind: 'delete', owner, key, text: '', before: '' })) !== undefined
  }

  async update(owner: string, key: Key, change: (text: string) => string | undefined): Promise<string | undefined> {
    const end = performance.now() + this.#pool.timeout
    const id = idOf({ owner, key })
    const updated = Promise.resolve(this.#updates.get(id)).then(async () => {
      for (;;) {
        const before = await this.find(owner, key, end)
        const text = before === undefined ? undefined : change(before)
        if (before === undefined || text === undefined) return before
        const stored = await this.#writes.add({ kind: 'update', owner, key, text, before }, end)
        if (stored !== undefined) return stored // otherwise another process has overtaken it
      }
    })
    const settled = Promise.allSettled([updated])
    this.#updates.set(id, settled)
    await settled
    if (this.#updates.get(id) === settled) this.#updates.delete(id)
    return updated
  }

  async find(owner: string, key: Key, latest?: number): Promise<string | undefined> {
    const { text, count } = await this.#steps.add({ owner, from: key, most: 1, length: STEP_LENGTH, end: key }, latest)
    return count === 0 ? undefined : text
  }

  read({ after, ...step }: Step, latest: number): Promise<Rows> {
    return this.#steps.add({ ...step, from: this.#from(after) }, latest)
  }

  async skip(owner: string, after: Key | undefined, count: number, latest: number): Promise<Key | undefined> {
    const values = [owner, this.#from(after), count - 1]
    const { rows } = await this.#pool.read(this.#sql.skip, values, `${this.#name}_skip`, latest - performance.now())
    return rows[0] && this.#toKey(rows[0]['key'])
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const { rows } = await this.#pool.read(this.#sql.entries, [after?.owner ?? '', this.#from(after?.key)])
    return rows.map(({ owner, key, item }) => ({ owner: String(owner), key: this.#toKey(key), text: String(item) }))
  }

  /** How many operations wait for a statement to be sent. */
  get waiting(): number {
    return this.#writes.waiting + this.#steps.waiting
  }

  /** Waits until all writes are done. */
  async idle(): Promise<void> {
    await Promise.all(this.#updates.values())
    await this.#writes.idle()
  }

  async #commit(batch: readonly BatchedWrite[]): Promise<void> {
    const { create = [], update = [], delete: deletes = [] } = Object.groupBy(batch, ({ item }) => item.kind)
    await Promise.all([this.#write('create', create), this.#write('update', update), this.#write('delete', deletes)])
  }

  async #write(kind: Write['kind'], batch: readonly BatchedWrite[]): Promise<void> {
    if (batch.length === 0) return
    try {
      // All replicas write in the same order: otherwise they could deadlock.
      const sorted = batch.toSorted((one, two) => (idOf(one.item) < idOf(two.item) ? -1 : 1))
      const columns = (['owner', 'key', 'text', 'before'] as const).map((name) => sorted.map(({ item }) => item[name]))
      const { rows } = await this.#pool.write(this.#sql[kind], columns, `${this.#name}_${kind}`, timeLeft(batch))
      const stored = new Map(rows.map((row) => [idOf(row), String(row['item'])]))
      for (const { item, resolve } of batch) resolve(stored.get(idOf(item)))
      this.figures.commits += 1
      this.figures.writes += batch.length
    } catch (error) {
      if (error instanceof StoreUnavailable || batch.length === 1) for (const { reject } of batch) reject(error)
      else for (const write of batch) await this.#write(kind, [write]) // one of them can't be stored: find it
    }
  }

  /** Reads each step once, whoever asks for it. */
  async #read(batch: readonly BatchedStep[]): Promise<void> {
    const valuesOf = (step: BatchedStep['item']) => STEP.map((name) => step[name] ?? null)
    // NUL separates the values, because PostgreSQL has no text that contains it.
    const steps = [...Map.groupBy(batch, ({ item }) => valuesOf(item).join('\0')).values()]
    const asked = steps.map(([step]) => (step ? valuesOf(step.item) : []))
    const time = timeLeft(batch)
    const columns = STEP.map((_, column) => asked.map((each) => each[column]))
    const { rows } = await (asked.length === 1
      ? this.#pool.read(this.#sql.step, asked[0], `${this.#name}_step`, time) // it costs the server a fifth less
      : this.#pool.read(this.#sql.steps, columns, `${this.#name}_steps`, time))
    for (const { n = 1, ...row } of rows) {
      const read = this.#toRows(row)
      for (const { resolve } of steps[Number(n) - 1] ?? []) resolve(read)
    }
  }

  /** The first key after another, or of all: no text has U+0000, so U+0001 begins what follows. */
  #from(after: Key | undefined): Key | null {
    if (typeof after === 'string') return `${after}\u0001`
    if (after === undefined) return this.key === 'text' ? '' : INT64_MIN
    return after === INT64_MAX ? null : after + 1n
  }

  #toKey(value: unknown): Key {
    return this.key === 'text' ? String(value) : BigInt(String(value))
  }

  #toRows({ text, count, last, more }: Row): Rows {
    const rows = { text: typeof text === 'string' ? text : '', count: Number(count), hasMore: more === true }
    return rows.count === 0 ? rows : { ...rows, last: this.#toKey(last) }
  }
}

/** Milliseconds until the first item of a batch must be settled. */
function timeLeft(batch: readonly { readonly end: number }[]): number {
  return Math.min(...batch.map(({ end }) => end)) - performance.now()
}
