// Keeps the operations of each owner in batches of their own, for databases that shard by owner.
import { type Batched, Batcher, type BatchOptions } from '../core/batch.ts'

/** Gathers operations: of all owners, or of each. */
export type Gatherer<Item, Value> = Pick<Batcher<Item, Value>, 'add' | 'waiting'> & {
  idle(): Promise<unknown>
}

/** @param isSharded whether each batch must have one owner */
export function gather<Item extends { readonly owner: string }, Value>(
  isSharded: boolean,
  run: (batch: readonly Batched<Item, Value>[]) => Promise<unknown>,
  options: BatchOptions<Item>,
): Gatherer<Item, Value> {
  const make = () => new Batcher(run, options)
  return isSharded ? new OwnerBatchers(make) : make()
}

/**
 * Batchers, one for each owner with operations under way. An owner whose node is lost holds up no
 * other one.
 */
export class OwnerBatchers<Item extends { readonly owner: string }, Value> {
  readonly #make: () => Batcher<Item, Value>
  readonly #batchers = new Map<string, Batcher<Item, Value>>()

  constructor(make: () => Batcher<Item, Value>) {
    this.#make = make
  }

  /** Adds an item to the batcher of its owner. @param until as for a `Batcher` */
  add(item: Item, until?: number): Promise<Value> {
    const batcher = this.#batchers.get(item.owner) ?? this.#open(item.owner)
    return batcher.add(item, until)
  }

  /** The items whose batch has not begun. */
  get waiting(): number {
    return this.#batchers.values().reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /** Waits until all added items are handled. */
  async idle(): Promise<void> {
    await Promise.all(this.#batchers.values().map((batcher) => batcher.idle()))
  }

  #open(owner: string): Batcher<Item, Value> {
    const batcher = this.#make()
    this.#batchers.set(owner, batcher)
    setImmediate(() => void this.#closeWhenIdle(owner, batcher)) // after the first item was added
    return batcher
  }

  async #closeWhenIdle(owner: string, batcher: Batcher<Item, Value>): Promise<void> {
    while (!batcher.isIdle) await batcher.idle()
    this.#batchers.delete(owner)
  }
}
