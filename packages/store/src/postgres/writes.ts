// Group commit. The rules:
//
// 1. Writes share a transaction for each kind if they arrive together, or while others are
// committed.
// 2. If the server refuses a statement of it, the others are done without it.
// 3. If somebody else locks a row of an owner, the owner waits in a separate queue until its write
// has succeeded.
import { type Key, StoreUnavailable } from '@plant-store/engine/for-store'
import { type Batched, Batcher } from '../core/batch.ts'
import { HeldOwners, pause } from './held-owners.ts'
import { gather, type Gatherer } from './owner-batchers.ts'
import { callsOf, type Cells } from './pipeline.ts'
import { idOf, timeLeft, toCells } from './cells.ts'
import type { Pool } from './pool.ts'
import { isHeldUp, isOfStatement } from './retries.ts'
import type { statements } from './sql.ts'

/** The most writes of a commit. */
const MAX_WRITES = 500
/** So many characters of an item cost as much as one more write. */
const CHARACTERS_OF_WRITE = 2048
/** An update may fail this often though its row has not changed meanwhile. */
const MAX_UNCHANGED = 3

export interface Write {
  readonly kind: 'create' | 'update' | 'delete'
  readonly owner: string
  readonly key: Key
  /** The item; empty to delete one. */
  readonly text: string
  /** The item to update. If another item is stored, the update is not done. */
  readonly before: string
  readonly change?: (text: string) => string | undefined
}

/**
 * A write resolves to the item now stored or deleted; undefined if an update was not done, or no
 * item was deleted.
 */
type BatchedWrite = Batched<Write, string | undefined>

/** Why a transaction was not done. @param culprit the refused write, if known */
interface Refusal {
  readonly error: unknown
  readonly culprit: BatchedWrite | undefined
}

/**
 * A write without an effect: for example, it was swallowed by a trigger, a rule or a policy of the
 * table.
 */
export class NotDone extends StoreUnavailable {
  constructor(verb: 'stored' | 'updated' | 'deleted', table: string) {
    super(`the database has not ${verb} a row of ${table}: has it a trigger, a rule or a policy?`)
  }
}

/** How to do writes of one kind. */
interface Round {
  readonly kind: Write['kind']
  readonly refuse: (write: BatchedWrite, error: unknown) => void
  /** Whether the write refused first has been left out. */
  readonly isRest?: boolean
}

interface WritesOptions {
  readonly table: string
  readonly pool: Pick<Pool, 'writeEach' | 'parallelWrites' | 'timeout'>
  readonly sql: ReturnType<typeof statements>
  /** Whether a transaction must have one owner. */
  readonly isSharded: boolean
  /** Whether a transaction may have several statements. */
  readonly isTogether: boolean
  readonly find: (owner: string, key: Key, deadline: number) => Promise<string | undefined>
}

export class Writes {
  /** The number of commits, and of the writes in them. */
  readonly stats = { commits: 0, writes: 0 }
  readonly #options: WritesOptions
  readonly #shared: Gatherer<Write, string | undefined>
  /** The updates of a batch of `#shared`, when their new items are known. */
  readonly #updates: Gatherer<Write, string | undefined>
  readonly #heldOwners = new HeldOwners()
  /** The writes of owners who are held up, one by one. They take half of the connections. */
  readonly #held: Batcher<Write, string | undefined>

  constructor(options: WritesOptions) {
    const { pool, isSharded, isTogether } = options
    const { timeout } = pool
    const maxCost = isTogether ? MAX_WRITES : 1
    this.#options = options
    this.#shared = gather<Write, string | undefined>(isSharded, (batch) => this.#commit(batch), {
      maxCost,
      costOf: costOfWrite,
      // Writes to the same item go into different batches: the kinds of writes of a batch have no
      // order.
      flowOf: idOf,
      maxCostOfFlow: 1,
      timeout,
    })
    const update = (batch: readonly BatchedWrite[]) =>
      this.#write(batch, { kind: 'update', refuse: ({ reject }, error) => reject(error) })
    this.#updates = gather(isSharded, update, { maxCost, costOf: costOfWrite })
    this.#held = new Batcher((batch) => Promise.all(batch.map((write) => this.#writeHeld(write))), {
      maxCost: 1,
      flowOf: ({ owner }) => owner,
      parallel: Math.max(1, Math.floor(pool.parallelWrites / 2)),
      timeout,
    })
  }

  /** Adds a write to a batch. @param until as for a `Batcher` */
  add(write: Write, until?: number): Promise<string | undefined> {
    return this.#shared.add(write, until)
  }

  /** The writes whose batch has not begun. */
  get waiting(): number {
    return this.#shared.waiting + this.#held.waiting
  }

  async idle(): Promise<void> {
    await this.#shared.idle()
    await this.#held.idle()
  }

  /**
   * Commits a batch. The writes of owners who are held up go to their queue, and nobody waits for
   * them.
   */
  async #commit(batch: readonly BatchedWrite[]): Promise<void> {
    const [held, free] = partition(batch, ({ item }) => this.#heldOwners.has(item.owner))
    for (const write of held) this.#hold(write)
    const writes = Object.groupBy(free, ({ item }) => item.kind)
    const refuse = (write: BatchedWrite, error: unknown) => this.#refuse(write, error)
    const share = (write: Write, deadline: number) => this.#updates.add(write, deadline)
    const updates = (writes.update ?? []).map((write) =>
      this.#update(write, share).then(write.resolve, (error: unknown) => refuse(write, error)),
    )
    await Promise.all([
      this.#write(writes.create ?? [], { kind: 'create', refuse }),
      this.#write(writes.delete ?? [], { kind: 'delete', refuse }),
      ...updates,
    ])
  }

  /**
   * @param store writes the new item, and resolves to undefined if the stored item is not `before`
   */
  async #update(
    { item, deadline }: Pick<BatchedWrite, 'item' | 'deadline'>,
    store: (write: Write, deadline: number) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    let last: string | undefined
    let unchanged = 0
    for (;;) {
      const before = await this.#options.find(item.owner, item.key, deadline)
      const text = before === undefined ? undefined : item.change?.(before)
      if (before === undefined || text === undefined) return before
      unchanged = before === last ? unchanged + 1 : 0
      if (unchanged === MAX_UNCHANGED) throw new NotDone('updated', this.#options.table)
      const stored = await store({ ...item, text, before }, deadline)
      if (stored !== undefined) return stored // otherwise another process was faster: try again
      last = before
    }
  }

  /** Writes together. Rules 2 and 3. */
  async #write(batch: readonly BatchedWrite[], round: Round): Promise<void> {
    const refusal = batch.length > 0 ? await this.#tryTogether(round.kind, batch) : undefined
    if (refusal !== undefined) await this.#writeRest(batch, refusal, round)
  }

  /** Writes the rest of a batch after a refusal. */
  async #writeRest(batch: readonly BatchedWrite[], refusal: Refusal, round: Round): Promise<void> {
    const { error, culprit } = refusal
    if (culprit !== undefined && isHeldUp(error)) {
      const [held, others] = partition(batch, ({ item }) => item.owner === culprit.item.owner)
      this.#heldOwners.add(culprit.item)
      for (const write of held) round.refuse(write, error)
      await this.#write(others, round)
      return
    }
    if (batch.length === 1 || !isOfStatement(error)) {
      for (const write of batch) round.refuse(write, error)
      return
    }
    const parts =
      round.isRest === true ? batch.map((write) => [write]) : withoutFirst(batch, culprit)
    for (const part of parts) await this.#write(part, { ...round, isRest: true })
  }

  /** Writes in one transaction, and settles the writes. @returns why it was not done */
  async #tryTogether(
    kind: Write['kind'],
    batch: readonly BatchedWrite[],
  ): Promise<Refusal | undefined> {
    const { pool, sql } = this.#options
    // All replicas write in the same order: otherwise they could deadlock.
    const sorted = batch.toSorted((left, right) => (idOf(left.item) < idOf(right.item) ? -1 : 1))
    const calls = callsOf(
      sql[kind],
      sorted.map(({ item }) => toCells(PARAMETERS[kind](item))),
    )
    try {
      const results = await pool.writeEach(calls, timeLeft(batch))
      for (const [at, write] of sorted.entries()) this.#settle(write, results[at] ?? [])
    } catch (error) {
      return { error, culprit: sorted[calls.done] }
    }
    this.stats.commits += 1
    this.stats.writes += batch.length
    return undefined
  }

  /** Settles a committed write. @param rows returned by its statement */
  #settle({ item, resolve, reject }: BatchedWrite, rows: readonly Cells[]): void {
    const isSwallowed = item.kind === 'create' && rows.length === 0
    if (isSwallowed) reject(new NotDone('stored', this.#options.table))
    else resolve(rows[0]?.[0] ?? undefined)
  }

  #refuse(write: BatchedWrite, error: unknown): void {
    const isEarly = timeLeft([write]) > this.#options.pool.timeout / 2
    if (isEarly && isHeldUp(error)) this.#hold(write)
    else write.reject(error)
  }

  /** Moves a write to the queue of its owner, who is held up. */
  #hold({ item, deadline, resolve, reject }: BatchedWrite): void {
    void this.#held.add(item, deadline).then(resolve, reject)
  }

  async #writeHeld(write: BatchedWrite): Promise<void> {
    try {
      const stored = await this.#writeAlone(write)
      this.#heldOwners.release(write.item)
      write.resolve(stored)
    } catch (error) {
      this.#refuse(write, error)
      if (!isHeldUp(error)) return
      this.#heldOwners.add(write.item)
      await pause(this.#options.pool)
    }
  }

  #writeAlone({ item, deadline }: BatchedWrite): Promise<string | undefined> {
    const store = async (write: Write) => {
      const { promise, resolve, reject } = Promise.withResolvers<string | undefined>()
      const batched = { item: write, cost: 1, deadline, resolve, reject }
      const refusal = await this.#tryTogether(write.kind, [batched])
      if (refusal !== undefined) throw refusal.error
      return promise
    }
    return item.kind === 'update' ? this.#update({ item, deadline }, store) : store(item)
  }
}

/** The others together, then the write refused first; one by one if it is not known. */
export function withoutFirst<Item>(
  batch: readonly Item[],
  first: Item | undefined,
): (readonly Item[])[] {
  if (first === undefined) return batch.map((item) => [item])
  return [batch.filter((item) => item !== first), [first]]
}

function partition<Item>(items: readonly Item[], has: (item: Item) => boolean): [Item[], Item[]] {
  return [items.filter(has), items.filter((item) => !has(item))]
}

function costOfWrite({ text }: Write): number {
  return 1 + Math.floor(text.length / CHARACTERS_OF_WRITE)
}

const PARAMETERS: Readonly<Record<Write['kind'], (write: Write) => Key[]>> = {
  create: ({ owner, key, text }) => [owner, key, text],
  update: ({ owner, key, text, before }) => [owner, key, text, before],
  delete: ({ owner, key }) => [owner, key],
}
