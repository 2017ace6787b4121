// Changes of several items. The rules:
//
// 1. Changes that arrive together, or while others are committed, are one transaction. Each sees the items that the changes
//    before it leave.
// 2. Their items are read in one moment. The transaction locks each item as it was read, and is committed if all still are.
//    Otherwise another process was faster, and the changes are decided again.
// 3. If the server refuses a statement, the other changes are done without its change.
// 4. An owner whose row somebody else holds waits in a queue of its own, until its change has succeeded.
// 5. A change that frees a value of a unique index is a transaction of its own: in a shared one, a change before it could
//    take the value.
import { Batcher } from '../core/batch.ts'
import { timeLeft } from './cells.ts'
import {
  type BatchedChange,
  type Change,
  decideAll,
  isSame,
  type Items,
  type Row,
  rowsOf,
  stepOf,
  stepsOf,
} from './change-steps.ts'
import { HeldOwners, pause } from './held-owners.ts'
import { gather, type Gatherer } from './owner-batchers.ts'
import { type Cells, type Step, toCalls } from './pipeline.ts'
import type { Pool } from './pool.ts'
import { isHeldUp, isOfStatement } from './retries.ts'
import type { Sharding } from './table.ts'
import { NotDone, withoutFirst } from './writes.ts'

/** The most items of the changes of a transaction. */
const MAX_ITEMS = 500
/** How often a transaction may fail though its items have not changed meanwhile. */
const MAX_UNCHANGED = 3

/** Why a transaction was not done. @param id of the row whose statement was refused, if one was */
class Refused extends Error {
  readonly id: string | undefined

  constructor(error: unknown, id: string | undefined) {
    super('a transaction was refused', { cause: error })
    this.id = id
  }
}

/** The changes of a store. */
export class Changes {
  /** The number of commits, and of the changes in them. */
  readonly stats = { commits: 0, writes: 0 }
  readonly #pool: Pool
  readonly #isApart: boolean
  readonly #shared: Gatherer<Change, undefined>
  readonly #heldOwners = new HeldOwners()
  /** The changes of owners who are held up, one by one. */
  readonly #held: Batcher<Change, undefined>

  constructor(pool: Pool, sharding: Sharding) {
    const { timeout } = pool
    this.#pool = pool
    this.#isApart = sharding === 'pooler'
    const maxCost = this.#isApart ? 1 : MAX_ITEMS
    const costOf = ({ rows }: Change) => rows.length
    this.#shared = gather<Change, undefined>(
      sharding !== 'none',
      (batch) => this.#runShared(batch),
      { maxCost, costOf, flowOf: ({ owner }) => owner, timeout },
    )
    this.#held = new Batcher((batch) => Promise.all(batch.map((change) => this.#runHeld(change))), {
      maxCost: 1,
      flowOf: ({ owner }) => owner,
      parallel: Math.max(1, Math.floor(pool.parallelWrites / 2)),
      timeout,
    })
  }

  async add(change: Change): Promise<void> {
    await this.#shared.add(change)
  }

  /** How many changes wait for their transaction. */
  get waiting(): number {
    return this.#shared.waiting + this.#held.waiting
  }

  /** Waits until all changes are done. */
  async idle(): Promise<void> {
    await this.#shared.idle()
    await this.#held.idle()
  }

  async #runShared(batch: readonly BatchedChange[]): Promise<void> {
    const isHeld = ({ item }: BatchedChange) => this.#heldOwners.has(item.owner)
    for (const change of batch.filter(isHeld)) this.#hold(change)
    await this.#runApart(batch.filter((change) => !isHeld(change)))
  }

  /**
   * Runs changes together. Rules 3 and 4.
   * @param isRest whether the change refused first has been left out
   */
  async #runApart(batch: readonly BatchedChange[], isRest = false): Promise<void> {
    if (batch.length === 0) return
    try {
      await this.#run(batch)
    } catch (error) {
      if (error instanceof Refused) await this.#runRest(batch, error, isRest)
      else for (const { reject } of batch) reject(error)
    }
  }

  /** Runs what can be done of a batch after a refusal. */
  async #runRest(
    batch: readonly BatchedChange[],
    { cause, id }: Refused,
    isRest: boolean,
  ): Promise<void> {
    const culprit = batch.find(({ item }) => item.rows.some((row) => row.id === id))
    if (culprit !== undefined && isHeldUp(cause)) {
      await this.#runWithout(culprit.item.owner, batch, cause)
      return
    }
    const isOfOne = isOfStatement(cause) || cause instanceof NotDone
    if (!isOfOne || batch.length === 1) {
      for (const change of batch) this.#refuse(change, cause)
      return
    }
    const parts = withoutFirst(batch, isRest ? undefined : culprit)
    for (const part of parts) await this.#runApart(part, true)
  }

  /** Runs the changes of others, when an owner is held up. */
  async #runWithout(held: string, batch: readonly BatchedChange[], reason: unknown): Promise<void> {
    this.#heldOwners.add({ owner: held, key: undefined })
    for (const change of batch) if (change.item.owner === held) this.#refuse(change, reason)
    await this.#runApart(batch.filter(({ item }) => item.owner !== held))
  }

  /** Runs changes until they are committed, and settles them. Rule 2. @throws {Refused} */
  async #run(batch: readonly BatchedChange[]): Promise<void> {
    let last: Items | undefined
    let unchanged = 0
    for (;;) {
      const before = await this.#read(batch)
      unchanged = last !== undefined && isSame(before, last) ? unchanged + 1 : 0
      if (unchanged === MAX_UNCHANGED)
        throw new Refused(new NotDone('updated', tableNames(batch)), undefined)
      const { after, decided, freeing } = decideAll(batch, before)
      const changes = decided.map(({ change }) => change)
      if (isSame(before, after) || (await this.#write(changes, before, after))) {
        for (const { settle } of decided) settle()
        for (const change of freeing) await this.#runApart([change])
        return
      }
      last = before // another process was faster
    }
  }

  /** Reads all items of changes in one moment. */
  async #read(batch: readonly BatchedChange[]): Promise<Items> {
    const rows = rowsOf(batch)
    const steps = rows.map(({ owner, row: { table, key } }) => stepOf(table.sql.find, [owner, key]))
    const results = await this.#try(rows, steps, (calls) =>
      this.#pool.readTogether(calls, timeLeft(batch), this.#isApart),
    )
    return new Map(rows.map(({ row }, at) => [row.id, results[at]?.[0]?.[0] ?? undefined]))
  }

  /** Writes the new items. @returns false if an item is not as it was read */
  async #write(batch: readonly BatchedChange[], before: Items, after: Items): Promise<boolean> {
    const steps = rowsOf(batch)
      .flatMap((owned) => stepsOf(owned, before, after))
      .toSorted((left, right) => Number(left.isAdd) - Number(right.isAdd))
    const ids = steps.map(({ id }) => ({ row: { id } }))
    const options = { isApart: this.#isApart, isGood: isComplete }
    const results = await this.#try(ids, steps, (calls) =>
      this.#pool.writeTogether(calls, timeLeft(batch), options),
    )
    if (!isComplete(results)) return false
    this.stats.commits += 1
    this.stats.writes += batch.length
    return true
  }

  /** @throws {Refused} naming the row of the statement that has failed */
  async #try(
    rows: readonly { readonly row: Pick<Row, 'id'> }[],
    steps: readonly Step[],
    run: (calls: ReturnType<typeof toCalls>) => Promise<Cells[][]>,
  ): Promise<Cells[][]> {
    const calls = toCalls(steps)
    try {
      return await run(calls)
    } catch (error) {
      throw new Refused(error, rows[calls.done]?.row.id)
    }
  }

  #refuse(change: BatchedChange, error: unknown): void {
    const isEarly = timeLeft([change]) > this.#pool.timeout / 2
    if (isEarly && isHeldUp(error)) this.#hold(change)
    else change.reject(error)
  }

  /** Moves a change to the queue of its owner, who is held up. */
  #hold({ item, deadline, resolve, reject }: BatchedChange): void {
    void this.#held.add(item, deadline).then(resolve, reject)
  }

  async #runHeld(change: BatchedChange): Promise<void> {
    const { owner } = change.item
    try {
      await this.#run([change])
      this.#heldOwners.release({ owner, key: undefined })
    } catch (error) {
      const reason = error instanceof Refused ? error.cause : error
      this.#refuse(change, reason)
      if (!isHeldUp(reason)) return
      this.#heldOwners.add({ owner, key: undefined })
      await pause(this.#pool)
    }
  }
}

/** Whether each statement has returned a row. */
function isComplete(results: readonly (readonly Cells[])[]): boolean {
  return results.every((rows) => rows.length === 1)
}

function tableNames(batch: readonly BatchedChange[]): string {
  const names = batch.flatMap(({ item }) => item.rows.map(({ table }) => table.name))
  return [...new Set(names)].join(' or ')
}
