/** An item of a batch, and how its caller is answered. */
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
  /** Of the items with one key each batch has one at most, in the order of their arrival. Only without `parallel`. */
  readonly keyOf?: (item: Item) => string
}

/** Gathers the items that arrive in one turn of the event loop, or while there is no room for another batch. */
export class Batcher<Item, Value> {
  readonly #run: (batch: readonly Batched<Item, Value>[]) => unknown
  readonly #options: BatchOptions<Item>
  #waiting: Batched<Item, Value>[] = []
  #running = 0
  #isScheduled = false
  #idle: PromiseWithResolvers<undefined> | undefined

  /**
   * @param run handles a batch and answers its items. If it throws or rejects, those not answered yet are rejected.
   * A batch is under way until what it returns is settled.
   */
  constructor(run: (batch: readonly Batched<Item, Value>[]) => unknown, options: BatchOptions<Item>) {
    this.#run = run
    this.#options = options
  }

  /** Adds an item to a batch. @returns what `run` answers it */
  add(item: Item): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.#waiting.push({ item, resolve, reject })
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
    const { parallel = 1 } = this.#options
    if (this.#isScheduled || this.#waiting.length === 0 || this.#running >= parallel) return
    this.#isScheduled = true
    setImmediate(this.#start)
  }

  readonly #start = async (): Promise<void> => {
    this.#isScheduled = false
    this.#running += 1
    const batch = this.#take()
    this.#schedule() // what is left may begin beside it
    try {
      await this.#run(batch)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
    this.#running -= 1
    this.#schedule()
    if (this.#running > 0 || this.#waiting.length > 0) return
    this.#idle?.resolve(undefined)
    this.#idle = undefined
  }

  #take(): Batched<Item, Value>[] {
    const { max, keyOf } = this.#options
    if (keyOf === undefined) return this.#waiting.splice(0, max)
    const batch = new Map<string, Batched<Item, Value>>()
    const rest: Batched<Item, Value>[] = []
    for (const each of this.#waiting) {
      const key = keyOf(each.item)
      if (batch.size === max || batch.has(key)) rest.push(each)
      else batch.set(key, each)
    }
    this.#waiting = rest
    return [...batch.values()]
  }
}
