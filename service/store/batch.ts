/** An item of a batch, with the functions that settle its caller's promise. */
export interface Batched<Item, Value> {
  readonly item: Item
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
}

/** How items are gathered. */
export interface BatchOptions<Item> {
  /** The most items of one batch. */
  readonly max: number
  /** How many batches may be under way at a time; 1 if absent. */
  readonly parallel?: number
  /** Whether an item that arrives by itself begins at once, instead of at the end of the turn. */
  readonly eager?: boolean
  /** Items with the same key go into different batches, in the order of their arrival. Only without `parallel`. */
  readonly getKey?: (item: Item) => string
}

/** Gathers items into batches. Items share a batch if they arrive in one turn of the event loop, or while others run. */
export class Batcher<Item, Value> {
  readonly #run: (batch: readonly Batched<Item, Value>[]) => unknown
  readonly #options: BatchOptions<Item>
  #waiting: Batched<Item, Value>[] = []
  #running = 0
  #isScheduled = false
  /** How many items were added in this turn of the event loop; whether it was one in the last turn with items. */
  #added = 0
  #isQuiet = true
  #idle: PromiseWithResolvers<undefined> | undefined

  /**
   * @param run handles a batch and settles its items. The batch is under way until `run` returns. If `run` fails, the
   * items that are not settled are rejected.
   */
  constructor(run: (batch: readonly Batched<Item, Value>[]) => unknown, options: BatchOptions<Item>) {
    this.#run = run
    this.#options = options
  }

  /** Adds an item to a batch. @returns the value that `run` resolves it with */
  add(item: Item): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#waiting.push({ item, resolve, reject })
    this.#added += 1
    const isFirst = this.#isQuiet && this.#added === 1 && this.#running === 0
    if (isFirst && this.#options.eager === true) void this.#start()
    this.#schedule()
    return promise
  }

  /** How many items wait for their batch to begin. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Waits until all items that were added are handled. */
  idle(): Promise<undefined> {
    if (this.#running === 0 && this.#waiting.length === 0) return Promise.resolve(undefined)
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
      if (this.#waiting.length > 0 && this.#running < (this.#options.parallel ?? 1)) void this.#start()
    })
  }

  async #start(): Promise<void> {
    this.#running += 1
    const batch = this.#take()
    if (this.#waiting.length > 0) this.#schedule() // the next batch may run at the same time
    try {
      await this.#run(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running -= 1
    if (this.#waiting.length > 0) this.#schedule()
    if (this.#running > 0 || this.#waiting.length > 0) return
    this.#idle?.resolve(undefined)
    this.#idle = undefined
  }

  #take(): Batched<Item, Value>[] {
    const { max, getKey } = this.#options
    if (getKey === undefined) return this.#waiting.splice(0, max)
    const batch = new Map<string, Batched<Item, Value>>()
    const rest: Batched<Item, Value>[] = []
    for (const each of this.#waiting) {
      const key = getKey(each.item)
      if (batch.size === max || batch.has(key)) rest.push(each)
      else batch.set(key, each)
    }
    this.#waiting = rest
    return [...batch.values()]
  }
}
