import { StoreBusy } from '../engine/errors.ts'

/** An item of a batch, with the functions that settle its caller's promise. */
export interface Batched<Item, Value> {
  readonly item: Item
  readonly weight: number
  /** When it must be settled, on the clock of `performance.now()`. */
  readonly deadline: number
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
  /** Refuses it if its batch does not begin in time. */
  timer?: NodeJS.Timeout
}

/** How items are gathered. */
export interface BatchOptions<Item> {
  /** The most weight of one batch. A batch has at least one item. */
  readonly max: number
  /** The weight of an item, from 1; 1 if absent. */
  readonly weigh?: (item: Item) => number
  /** The share that an item belongs to, for example that of its caller. Shares take turns; each is in the order of deadlines. */
  readonly shareOf?: (item: Item) => string
  /** The most weight of one share in a batch; `max` if absent. A share has at least one item. */
  readonly maxShare?: number
  /** How many batches may be under way at a time; 1 if absent. */
  readonly parallel?: number
  /** Whether an item that arrives by itself begins at once, instead of at the end of the turn. */
  readonly eager?: boolean
  /** Whether an item with three quarters of its time left goes before older ones of its share: in a flood, those would be late anyway. */
  readonly freshFirst?: boolean
  /** Milliseconds until an item must be settled. One that has waited for nearly all of it is refused. */
  readonly timeout?: number
}

/** The parts of its time that an item must have left to begin, and to count as fresh. */
const [LEAST_TIME, FRESH] = [1 / 8, 3 / 4]
const TOO_MANY = new StoreBusy('too many requests wait') // one for all: in a flood its stack would cost too much

/** Gathers items into batches. Items share a batch if they arrive in one turn of the event loop, or while others run. */
export class Batcher<Item, Value> {
  readonly #run: (batch: readonly Batched<Item, Value>[]) => unknown
  readonly #options: BatchOptions<Item>
  /** The waiting items of each share, by their deadlines. The share that was served last is the last one. */
  readonly #shares = new Map<string, Batched<Item, Value>[]>()
  #running = 0
  #isScheduled = false
  /** How many items were added in this turn of the event loop. */
  #added = 0
  /** Whether at most one item was added in the last turn with items. */
  #isQuiet = true
  #idle: PromiseWithResolvers<undefined> | undefined
  /** Whether an item of a share waits for its batch to begin. */
  readonly isAwaited = (share: string) => this.#shares.has(share)

  /**
   * @param run handles a batch and settles its items. The batch is under way until `run` returns. If `run` fails, the
   * items that are not settled are rejected.
   */
  constructor(
    run: (batch: readonly Batched<Item, Value>[]) => unknown,
    options: BatchOptions<Item>,
  ) {
    this.#run = run
    this.#options = options
  }

  /**
   * Adds an item to a batch.
   * @param until when it must be settled, on the clock of `performance.now()`; after `timeout` if absent
   * @returns the value that `run` resolves it with
   * @throws {StoreBusy} if its batch does not begin in time
   * @throws what `weigh` or `shareOf` throws for it
   */
  add(item: Item, until?: number): Promise<Value> {
    const { shareOf, weigh, eager, timeout } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const share = shareOf?.(item) ?? ''
    const deadline = until ?? (timeout === undefined ? Infinity : performance.now() + timeout)
    const weight = weigh?.(item) ?? 1 // here, so that what it throws concerns this item only
    const waiting: Batched<Item, Value> = { item, weight, deadline, resolve, reject }
    const isFirst = eager === true && this.#isQuiet && !this.#isScheduled && this.#running === 0 // nothing else waits
    if (timeout !== undefined && !isFirst) {
      const left = deadline - timeout * LEAST_TIME - performance.now()
      if (left <= 0) return Promise.reject(TOO_MANY)
      waiting.timer = setTimeout(() => this.#refuse(share, waiting), left).unref()
    }
    this.#added += 1
    const others = this.#shares.get(share)
    if (isFirst) void this.#start([waiting])
    else if (others === undefined) this.#shares.set(share, [waiting])
    else others.splice(firstAfter(others, deadline), 0, waiting)
    this.#schedule()
    return promise
  }

  /** How many items wait for their batch to begin. */
  get waiting(): number {
    return [...this.#shares.values()].reduce((sum, { length }) => sum + length, 0)
  }

  /** Waits until all items that were added are handled. */
  idle(): Promise<undefined> {
    if (this.#running === 0 && this.#shares.size === 0) return Promise.resolve(undefined)
    this.#idle ??= Promise.withResolvers<undefined>()
    return this.#idle.promise
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#isQuiet = this.#added <= 1
      this.#added = 0
      while (this.#shares.size > 0 && this.#running < (this.#options.parallel ?? 1))
        void this.#start()
      if (this.#running > 0) return
      this.#idle?.resolve(undefined)
      this.#idle = undefined
    })
  }

  async #start(batch = this.#take()): Promise<void> {
    this.#running += 1
    try {
      await this.#run(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running -= 1
    if (this.#shares.size > 0 || this.#idle !== undefined) this.#schedule()
  }

  #refuse(share: string, late: Batched<Item, Value>): void {
    const items = this.#shares.get(share) ?? []
    items.splice(items.indexOf(late), 1)
    if (items.length === 0) this.#shares.delete(share)
    late.reject(TOO_MANY)
  }

  /** Takes the next batch: of each share in turn, as many items as fit. */
  #take(): Batched<Item, Value>[] {
    const { max, maxShare = max, timeout = 0, freshFirst } = this.#options
    const least = performance.now() + timeout * FRESH
    const batch: Batched<Item, Value>[] = []
    let weight = 0
    for (const [share, items] of [...this.#shares]) {
      let [count, weightOfShare] = [0, 0]
      const from = freshFirst ? firstAfter(items, least) % items.length : 0 // if none is fresh, the oldest is first
      for (let each = items[from]; each !== undefined; each = items[from + count]) {
        const fits =
          weight + each.weight <= max && (count === 0 || weightOfShare + each.weight <= maxShare)
        if (!fits && batch.length > 0) break
        clearTimeout(each.timer)
        batch.push(each)
        count += 1
        weight += each.weight
        weightOfShare += each.weight
      }
      if (items.splice(from, count).length > 0) this.#shares.delete(share) // it goes behind the others
      if (items.length > 0) this.#shares.set(share, items)
      if (weight >= max) break
    }
    return batch
  }
}

/** The place of the first item with a later deadline, by halves: in a flood, thousands wait. */
function firstAfter(items: readonly { readonly deadline: number }[], time: number): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((items[middle]?.deadline ?? 0) > time) to = middle
    else from = middle + 1
  }
  return from
}
