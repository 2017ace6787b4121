// Gathers items into batches, and refuses items waiting too long.
import { StoreBusy } from '@plant-store/engine/for-store'
import { FairQueue, type Queued } from './fair-queue.ts'

/** An item of a batch, with the functions to settle its caller's promise. */
export interface Batched<Item, Value> extends Queued {
  readonly item: Item
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
  /** Refuses the item if its batch does not begin in time. */
  timer?: NodeJS.Timeout
}

export interface BatchOptions<Item> {
  /** A batch may cost more only with a single item. */
  readonly maxCost: number
  /** From 1; 1 if absent. */
  readonly costOf?: (item: Item) => number
  /**
   * The flow of an item, for example its caller. Flows take turns. Within a flow, the earliest
   * deadline goes first.
   */
  readonly flowOf?: (item: Item) => string
  /** `maxCost` if absent. A flow may cost more only with a single item. */
  readonly maxCostOfFlow?: number
  /** How many batches may be under way at a time; 1 if absent. */
  readonly parallel?: number
  /**
   * Whether an item arriving alone begins at once, instead of at the end of the turn of the event
   * loop.
   */
  readonly isEager?: boolean
  /**
   * Adaptive LIFO: whether an item with three quarters of its time left goes before older ones of
   * its flow.
   */
  readonly isFreshFirst?: boolean
  /**
   * Milliseconds until an item must be settled. After nearly all of them in the queue, it is
   * refused.
   */
  readonly timeout?: number
}

/** The least part of its time for an item to begin. */
const LEAST_TIME = 1 / 8
/** The least part of its time for an item to count as fresh. */
const FRESH_TIME = 3 / 4
/** One error for all: in a flood, making stacks would cost too much. */
const TOO_MANY = new StoreBusy('too many requests wait')

/**
 * Gathers items into batches. Items share a batch if they arrive in one turn of the event loop, or
 * while others run.
 */
export class Batcher<Item, Value> {
  readonly #run: (batch: readonly Batched<Item, Value>[]) => unknown
  readonly #options: BatchOptions<Item>
  readonly #queue = new FairQueue<Batched<Item, Value>>()
  #running = 0
  #isScheduled = false
  #added = 0
  /** Whether at most one item was added in the last turn with items. */
  #isQuiet = true
  #idle: PromiseWithResolvers<undefined> | undefined

  /**
   * @param run handles a batch and settles its items. The batch is under way until `run` returns.
   * If `run` fails, its unsettled items are rejected.
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
   * @param until the deadline of the item, on the clock of `performance.now()`; after `timeout` if
   * absent
   * @returns the value with which `run` resolves the item
   * @throws {StoreBusy} if the batch of the item does not begin in time
   * @throws the error of `costOf` or `flowOf` for the item
   */
  add(item: Item, until?: number): Promise<Value> {
    const { flowOf, costOf, timeout = Infinity } = this.#options
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    const flow = flowOf?.(item) ?? ''
    const cost = costOf?.(item) ?? 1 // before the item is queued, so that an error of `costOf` rejects only this item
    const deadline = until ?? performance.now() + timeout
    const batched: Batched<Item, Value> = { item, cost, deadline, resolve, reject }
    const isAlone = this.#isAlone
    this.#arrive()
    if (isAlone) void this.#start([batched])
    else this.#enqueue(flow, batched)
    return promise
  }

  /**
   * Adds an item that only waits for others, and has nothing to run. @returns undefined if it need
   * not wait
   */
  addUnlessAlone(item: Item): Promise<Value> | undefined {
    if (!this.#isAlone) return this.add(item)
    this.#arrive()
    return undefined
  }

  /** The items whose batch has not begun. */
  get waiting(): number {
    return this.#queue.length
  }

  /** Whether an item of a flow waits for its batch to begin. */
  isAwaited(flow: string): boolean {
    return this.#queue.has(flow)
  }

  get isIdle(): boolean {
    return this.#running === 0 && this.#queue.isEmpty
  }

  /** Waits until all added items are handled. */
  idle(): Promise<undefined> {
    if (this.isIdle) return Promise.resolve(undefined)
    this.#idle ??= Promise.withResolvers<undefined>()
    return this.#idle.promise
  }

  /** Whether an item added now may begin at once, because no other item waits or runs. */
  get #isAlone(): boolean {
    const isEager = this.#options.isEager === true
    return isEager && this.#isQuiet && !this.#isScheduled && this.#running === 0
  }

  #arrive(): void {
    this.#added += 1
    this.#schedule()
  }

  #enqueue(flow: string, batched: Batched<Item, Value>): void {
    const { timeout } = this.#options
    if (timeout !== undefined) {
      const left = batched.deadline - timeout * LEAST_TIME - performance.now()
      if (left <= 0) {
        batched.reject(TOO_MANY)
        return
      }
      batched.timer = setTimeout(() => this.#refuse(flow, batched), left).unref()
    }
    this.#queue.add(flow, batched)
  }

  #refuse(flow: string, late: Batched<Item, Value>): void {
    this.#queue.remove(flow, late)
    late.reject(TOO_MANY)
  }

  /** Begins batches at the end of this turn of the event loop. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isScheduled = false
    this.#isQuiet = this.#added <= 1
    this.#added = 0
    const { parallel = 1 } = this.#options
    while (!this.#queue.isEmpty && this.#running < parallel) void this.#start(this.#take())
    if (this.#running > 0) return
    this.#idle?.resolve(undefined)
    this.#idle = undefined
  }

  #take(): Batched<Item, Value>[] {
    const { maxCost, maxCostOfFlow = maxCost, timeout = 0, isFreshFirst } = this.#options
    const freshAfter = isFreshFirst === true ? performance.now() + timeout * FRESH_TIME : Infinity
    const batch = this.#queue.take({ maxCost, maxCostOfFlow, freshAfter })
    for (const { timer } of batch) clearTimeout(timer)
    return batch
  }

  async #start(batch: readonly Batched<Item, Value>[]): Promise<void> {
    this.#running += 1
    try {
      await this.#run(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running -= 1
    if (!this.#queue.isEmpty || this.#idle !== undefined) this.#schedule()
  }
}
