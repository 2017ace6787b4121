// Fair queueing: waiting items in flows, which take turns
// (https://en.wikipedia.org/wiki/Fair_queuing).

export interface Queued {
  /** From 1. */
  readonly cost: number
  /** On the clock of `performance.now()`. */
  readonly deadline: number
}

export interface BatchBounds {
  /** A batch has at least one item, whatever it costs. */
  readonly maxCost: number
  /** A flow has at least one item in a batch, if it fits into the batch, whatever it costs. */
  readonly maxCostOfFlow: number
  /**
   * Items with a later deadline are fresh: the fresh ones of a flow go first. Infinity: in the
   * order of deadlines.
   */
  readonly freshAfter: number
}

/** The waiting items, by flows. The flow served last stands at the end. */
export class FairQueue<Item extends Queued> {
  readonly #flows = new Map<string, Flow<Item>>()

  get isEmpty(): boolean {
    return this.#flows.size === 0
  }

  get length(): number {
    let length = 0
    for (const flow of this.#flows.values()) length += flow.length
    return length
  }

  has(name: string): boolean {
    return this.#flows.has(name)
  }

  add(name: string, item: Item): void {
    const flow = this.#flows.get(name) ?? new Flow<Item>()
    flow.add(item)
    this.#flows.set(name, flow)
  }

  remove(name: string, item: Item): void {
    const flow = this.#flows.get(name)
    flow?.remove(item)
    if (flow?.length === 0) this.#flows.delete(name)
  }

  /** Takes the next batch: of each flow in turn, as many items as fit. */
  take({ maxCost, maxCostOfFlow, freshAfter }: BatchBounds): Item[] {
    const batch: Item[] = []
    let room = maxCost
    for (const [name, flow] of [...this.#flows]) {
      const isFirst = batch.length === 0
      const items = flow.take(isFirst, { maxCost: room, maxCostOfFlow, freshAfter })
      for (const item of items) {
        batch.push(item)
        room -= item.cost
      }
      if (items.length > 0) this.#moveBack(name, flow)
      if (room <= 0) break
    }
    return batch
  }

  /** Puts a served flow behind the others. */
  #moveBack(name: string, flow: Flow<Item>): void {
    this.#flows.delete(name)
    if (flow.length > 0) this.#flows.set(name, flow)
  }
}

/** The waiting items of one flow, for example of one caller, in the order of their deadlines. */
class Flow<Item extends Queued> {
  readonly #items: Item[] = []

  get length(): number {
    return this.#items.length
  }

  add(item: Item): void {
    this.#items.splice(this.#firstAfter(item.deadline), 0, item)
  }

  remove(item: Item): void {
    this.#items.splice(this.#items.indexOf(item), 1)
  }

  /**
   * Takes as many items as fit. @param isFirst whether the batch has no item yet: then the first
   * one always fits
   */
  take(isFirst: boolean, { maxCost, maxCostOfFlow, freshAfter }: BatchBounds): Item[] {
    const start = this.#startOf(freshAfter)
    let cost = 0
    let end = start
    // Items are moved only once, at the end: copying each would cost too much in a flood.
    for (let item = this.#items[start]; item !== undefined; item = this.#items[end]) {
      const isFirstOfFlow = end === start
      const fits = cost + item.cost <= maxCost
      const fitsFlow = isFirstOfFlow || cost + item.cost <= maxCostOfFlow
      const isAlwaysTaken = isFirst && isFirstOfFlow
      if (!isAlwaysTaken && !(fits && fitsFlow)) break
      cost += item.cost
      end += 1
    }
    return this.#items.splice(start, end - start)
  }

  /**
   * Adaptive LIFO: in a flood, older items would be late anyway. If no item is fresh, the oldest is
   * first.
   */
  #startOf(freshAfter: number): number {
    const start = this.#firstAfter(freshAfter)
    return start === this.#items.length ? 0 : start
  }

  /**
   * The index of the first item with a later deadline, by binary search: in a flood, thousands
   * wait.
   */
  #firstAfter(time: number): number {
    let from = 0
    let to = this.#items.length
    while (from < to) {
      const middle = Math.floor((from + to) / 2)
      const isLater = (this.#items[middle]?.deadline ?? 0) > time
      if (isLater) to = middle
      else from = middle + 1
    }
    return from
  }
}
