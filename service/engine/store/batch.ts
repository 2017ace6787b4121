import { StoreBusy } from '../errors.ts'

/** An item of a batch, with the functions that settle its caller's promise. */
export interface Batched<Item, Value> {
  readonly item: Item
  /** When it must be settled, on the clock of `performance.now()`. */
  readonly end: number
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/** How items are gathered. */
export interface BatchOptions<Item> {
  /** The most weight of one batch. A batch has at least one item. */
  readonly max: number
  /** The weight of an item, from 1; 1 if absent. */
  readonly weigh?: (item: Item) => number
  /** Which items share a batch as one, for example those of one caller. Shares take turns; each keeps its own order. */
  readonly shareOf?: (item: Item) => string
  /** The most weight that one share has of a batch, but always one item; `max` if absent. */
  readonly maxShare?: number
  /** How many batches may be under way at a time; 1 if absent. */
  readonly parallel?: number
  /** Whether an item that arrives by itself begins at once, instead of at the end of the turn. */
  readonly eager?: boolean
  /** Milliseconds until an item must be settled. One that has waited for nearly all of it is refused. */
  readonly timeout?: number
}

/** The part of its time that an item needs when its batch begins. */
const LEAST_TIME = 1 / 8

/** Gathers items into batches. Items share a batch if they arrive in one turn of the event loop, or while others run. */
export class Batcher<Item, Value> {
  readonly #run: (batch: readonly Batched<Item, Value>[]) => unknown
  readonly #options: BatchOptions<Item>
  /** The waiting items of each share. The share that was served last is the last one. */
  readonly #shares = new Map<string, Batched<Item, Value>[]>()
  #waiting = 0
  #running = 0
  #isScheduled = false
  /** How many items were added in this turn of the event loop; whether it was one in the last turn with items. */
  #added = 0
  #isQuiet = true
  #idle: PromiseWithResolvers<undefined> | undefined
  #refusing: NodeJS.Timeout | undefined

  /**
   * @param run handles a batch and settles its items. The batch is under way until `run` returns. If `run` fails, the
   * items that are not settled are rejected.
   */
  constructor(run: (batch: readonly Batched<Item, Value>[]) => unknown, options: BatchOptions<Item>) {
    this.#run = run
    this.#options = options
  }

  /**
   * Adds an item to a batch.
   * @param end when it must be settled; after `timeout` if absent
   * @returns the value that `run` resolves it with
   * @throws {StoreBusy} if its batch does not begin in time
   */
  add(item: Item, end?: number): Promise<Value> {
    const { shareOf, eager, timeout } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const share = shareOf?.(item) ?? ''
    const latest = end ?? (timeout === undefined ? Infinity : performance.now() + timeout)
    const batched = { item, end: latest, resolve, reject }
    const others = this.#shares.get(share)
    if (others === undefined) this.#shares.set(share, [batched])
    else others.push(batched)
    this.#waiting += 1
    this.#added += 1
    const isFirst = this.#isQuiet && this.#added === 1 && this.#running === 0
    if (isFirst && eager === true) void this.#start()
    this.#schedule()
    if (timeout !== undefined)
      this.#refusing ??= setTimeout(() => this.#refuse(timeout), (timeout * LEAST_TIME) / 2).unref()
    return promise
  }

  /** How many items wait for their batch to begin. */
  get waiting(): number {
    return this.#waiting
  }

  /** Waits until all items that were added are handled. */
  idle(): Promise<undefined> {
    if (this.#running === 0 && this.#waiting === 0) return Promise.resolve(undefined)
    this.#idle ??= Promise.withResolvers<undefined>()
    return this.#idle.promise
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      if (this.#added > 0) this.#isQuiet = this.#added === 1
      this.#added = 0
      if (this.#waiting > 0 && this.#running < (this.#options.parallel ?? 1)) void this.#start()
    })
  }

  async #start(): Promise<void> {
    this.#running += 1
    const batch = this.#take()
    if (this.#waiting > 0) this.#schedule() // the next batch may run at the same time
    try {
      if (batch.length > 0) await this.#run(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running -= 1
    if (this.#waiting > 0) this.#schedule()
    if (this.#running > 0 || this.#waiting > 0) return
    this.#idle?.resolve(undefined)
    this.#idle = undefined
  }

  /** Refuses, from time to time, the items that have waited for too long. */
  #refuse(timeout: number): void {
    this.#refusing = undefined
    const latest = performance.now() + timeout * LEAST_TIME
    for (const [share, items] of this.#shares) {
      const { late = [], rest = [] } = Object.groupBy(items, ({ end }) => (end < latest ? 'late' : 'rest'))
      for (const { reject } of late) reject(new StoreBusy('too many requests wait'))
      this.#keep(share, late.length, rest)
    }
    if (this.#waiting > 0) this.#refusing = setTimeout(() => this.#refuse(timeout), (timeout * LEAST_TIME) / 2).unref()
  }

  #keep(share: string, gone: number, rest: Batched<Item, Value>[]): void {
    this.#waiting -= gone
    if (rest.length > 0) this.#shares.set(share, rest)
    else this.#shares.delete(share)
  }

  /** Takes the next batch: what fits of each share, in turn. Refuses what is too late. */
  #take(): Batched<Item, Value>[] {
    const { max, maxShare = max, weigh, timeout } = this.#options
    const latest = timeout === undefined ? -Infinity : performance.now() + timeout * LEAST_TIME
    const batch: Batched<Item, Value>[] = []
    let weight = 0
    for (const [share, items] of [...this.#shares]) {
      let shareWeight = 0
      let count = 0
      for (const each of items) {
        const own = each.end < latest ? 0 : (weigh?.(each.item) ?? 1)
        if (batch.length > 0 && (weight + own > max || (shareWeight > 0 && shareWeight + own > maxShare))) break
        if (own === 0) each.reject(new StoreBusy('too many requests wait'))
        else batch.push(each)
        weight += own
        shareWeight += own
        count += 1
      }
      if (count > 0) {
        this.#shares.delete(share) // it goes behind the others
        this.#keep(share, count, items.slice(count))
      }
      if (weight >= max) break
    }
    return batch
  }
}
