import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { JsonText } from '../http/json.ts'
import { type Page, type Plant } from './store.ts'
import { StoreUnavailable } from '../errors.ts'

/** Up to so many plants are read at once, and more if they are short. */
export const BATCH = 500
const MOST_AT_ONCE: Size = { plants: 10_000, bytes: 1_000_000 }
/** Longer lists are read in batches, from a snapshot; of those so many may be open, and so many of one owner. */
export const MOST_SNAPSHOTS = 16
export const MOST_OF_ONE = 8
/** Milliseconds that a list waits for others to end. */
const PATIENCE = 2000
/** How far is looked ahead at once. */
const STEP = 5000

/** At most `most` plants of an owner after an id, or from the first; `last` if there are more. */
export type ReadPage = (owner: string, after: bigint | undefined, most: number) => Promise<ShortPage>

/** How many plants of an owner there are after an id, up to `most` of them, and the length of all their JSON. */
export type Measure = (owner: string, after: bigint | undefined, most: number) => Promise<Size>

/** How many plants, and the length of their JSON. */
export interface Size {
  readonly plants: number
  readonly bytes: number
}

/** A page in one piece. */
export interface ShortPage extends Page {
  readonly plants: JsonText<Plant[]>
}

/** Reads the plants of one moment. */
export interface Snapshot {
  readonly page: ReadPage
  /** The id that is so many places after an id, if there are so many. */
  readonly offset: (owner: string, after: bigint | undefined, count: number) => Promise<bigint | undefined>
  readonly close: () => Promise<void>
}

/** Lists as the interface `Store` promises them, in the memory of one batch; the same for every kind of store. */
export class Lists {
  readonly #page: ReadPage
  readonly #measure: Measure
  readonly #openSnapshot: () => Promise<Snapshot>
  /** The owners of the snapshots that are open. */
  readonly #open: string[] = []

  constructor(page: ReadPage, measure: Measure, openSnapshot: () => Promise<Snapshot>) {
    this.#page = page
    this.#measure = measure
    this.#openSnapshot = openSnapshot
  }

  async list(owner: string, after?: bigint, limit = Infinity): Promise<Page> {
    const page = await this.#page(owner, after, Math.min(limit, BATCH))
    if (page.last === undefined || limit <= BATCH) return page
    const most = Math.min(limit, MOST_AT_ONCE.plants)
    const { plants: count, bytes } = await this.#measure(owner, after, most + 1)
    if (bytes <= MOST_AT_ONCE.bytes && (count <= most || limit === most)) {
      const whole = await this.#page(owner, after, most)
      if (whole.last === undefined || limit === most) return whole
    }
    const end: { last?: bigint } = {}
    const plants = this.#batches(owner, after, limit, end)
    await plants.next()
    return { plants, ...end }
  }

  /**
   * The plants of a page in batches. The first batch is empty: with it the snapshot is open, and closes when the
   * generator ends.
   * @param end gets the id of the last plant, if there are more after it
   */
  async *#batches(owner: string, after: bigint | undefined, limit: number, end: { last?: bigint }) {
    const latest = performance.now() + PATIENCE
    while (this.#isFull(owner)) {
      if (performance.now() > latest) throw new StoreUnavailable('too many long lists at once')
      await delay(10)
    }
    this.#open.push(owner)
    let snapshot: Snapshot | undefined
    try {
      snapshot = await this.#openSnapshot()
      const last = limit === Infinity ? undefined : await lastOf(snapshot, owner, after, limit)
      if (last !== undefined) end.last = last
      yield new JsonText<Plant[]>('[]')
      for (let left = limit, from = after; left > 0; left -= BATCH) {
        const { plants, last } = await snapshot.page(owner, from, Math.min(left, BATCH))
        yield plants
        if (last === undefined) break
        from = last
        await nextTurn()
      }
    } finally {
      this.#open.splice(this.#open.indexOf(owner), 1)
      await snapshot?.close()
    }
  }

  #isFull(owner: string): boolean {
    return this.#open.length === MOST_SNAPSHOTS || this.#open.filter((each) => each === owner).length === MOST_OF_ONE
  }
}

/** The id of the last plant of a page, if there are more after it. Looked for in steps, for others to get their turn. */
async function lastOf(snapshot: Snapshot, owner: string, after: bigint | undefined, limit: number) {
  let last = after
  for (let left = limit; left > 0; left -= STEP) {
    last = await snapshot.offset(owner, last, Math.min(left, STEP))
    if (last === undefined) return undefined
    await nextTurn()
  }
  return (await snapshot.offset(owner, last, 1)) === undefined ? undefined : last
}
