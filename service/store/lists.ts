import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { JsonText } from '../http/json.ts'
import { type Page, type Plant } from './store.ts'
import { StoreUnavailable } from '../errors.ts'

/** How many plants are read at once. A list of up to MAX_AT_ONCE is read at once, too. */
export const BATCH = 500
const MAX_AT_ONCE: Size = { plants: 10_000, bytes: 1_000_000 }
/** Longer lists are read in batches from a snapshot: so many at a time, and so many of one owner. */
export const MAX_SNAPSHOTS = 16
const MAX_SNAPSHOTS_OF_OWNER = 8
/** Milliseconds that a long list waits for others to end. */
const SNAPSHOT_WAIT_TIMEOUT = 2000
/** Milliseconds after which a snapshot is closed if its next batch is not asked for. */
export const SNAPSHOT_IDLE_TIMEOUT = 300_000
/** How many plants are skipped at once to find the end of a long page. */
const STEP = 5000

/** Reads at most `most` plants of an owner after an id, or from the first; `last` if there are more. */
export type ReadPage = (owner: string, after: bigint | undefined, most: number) => Promise<ShortPage>

/** Counts the plants of an owner after an id, or from the first, up to `most`, and the bytes of their JSON. */
export type Measure = (owner: string, after: bigint | undefined, most: number) => Promise<Size>

/** A number of plants, and the bytes of their JSON. */
export interface Size {
  readonly plants: number
  readonly bytes: number
}

/** A page that is in memory as a whole. */
export interface ShortPage extends Page {
  readonly plants: JsonText<Plant[]>
}

/** Reads the plants of one moment. */
export interface Snapshot {
  readonly page: ReadPage
  /** The id of the plant `count` places after an id, or from the first; undefined if there are fewer. */
  readonly offset: (owner: string, after: bigint | undefined, count: number) => Promise<bigint | undefined>
  readonly close: () => Promise<void>
}

/** How an engine reads lists. */
export interface Reads {
  readonly page: ReadPage
  readonly measure: Measure
  readonly openSnapshot: () => Promise<Snapshot>
  /** Whether a new snapshot must wait until those that are open have ended; never if absent. */
  readonly mustWait?: () => boolean
}

/** A long list that is being read. */
interface LongList {
  readonly owner: string
  /** Closes the snapshot. May be repeated. */
  readonly end: () => Promise<void>
}

/** Lists as `Store.list` promises them, for every engine. Long lists are read in batches, to bound the memory they take. */
export class Lists {
  readonly #reads: Reads
  readonly #open = new Set<LongList>()

  constructor(reads: Reads) {
    this.#reads = reads
  }

  /** How many snapshots are open. */
  get snapshots(): number {
    return this.#open.size
  }

  async list(owner: string, after?: bigint, limit = Infinity): Promise<Page> {
    const page = await this.#reads.page(owner, after, Math.min(limit, BATCH))
    if (page.last === undefined || limit <= BATCH) return page
    const most = Math.min(limit, MAX_AT_ONCE.plants)
    const { plants: count, bytes } = await this.#reads.measure(owner, after, most + 1)
    if (bytes <= MAX_AT_ONCE.bytes && (count <= most || limit === most)) {
      const whole = await this.#reads.page(owner, after, most)
      if (whole.last === undefined || limit === most) return whole
    }
    const end: { last?: bigint } = {}
    const plants = this.#batches(owner, after, limit, end)
    await plants.next()
    return { plants, ...end }
  }

  /** Closes all snapshots. Their readers get an error instead of the next batch. */
  async endSnapshots(): Promise<void> {
    await Promise.all([...this.#open].map((list) => list.end()))
  }

  /**
   * Reads the plants of a page in batches. The first batch is empty: when it arrives, the snapshot is open. The snapshot
   * closes when the generator ends.
   * @param end is given the id of the last plant, if there are more after it
   */
  async *#batches(owner: string, after: bigint | undefined, limit: number, end: { last?: bigint }) {
    let snapshot: Snapshot | undefined
    let idle: NodeJS.Timeout | undefined
    const open = this.#open
    const list: LongList = {
      owner,
      end: async () => {
        if (open.delete(list)) await snapshot?.close()
      },
    }
    await this.#add(list)
    try {
      snapshot = await this.#reads.openSnapshot()
      const last = limit === Infinity ? undefined : await findLast(snapshot, owner, after, limit)
      if (last !== undefined) end.last = last
      let plants = new JsonText<Plant[]>('[]')
      for (let from = after, left = limit; ;) {
        idle = setTimeout(() => void list.end(), SNAPSHOT_IDLE_TIMEOUT).unref()
        yield plants
        clearTimeout(idle)
        if (left <= 0) return
        if (!open.has(list)) throw new StoreUnavailable('the list was read too slowly')
        const page = await snapshot.page(owner, from, Math.min(left, BATCH))
        plants = page.plants
        from = page.last
        left = from === undefined ? 0 : left - BATCH
        await nextTurn()
      }
    } finally {
      clearTimeout(idle)
      await list.end()
    }
  }

  /** Waits until there is room for another long list. @throws {StoreUnavailable} if there is none in time */
  async #add(list: LongList): Promise<void> {
    const latest = performance.now() + SNAPSHOT_WAIT_TIMEOUT
    while (this.#mustWait(list)) {
      if (performance.now() > latest) throw new StoreUnavailable('too many long lists at once')
      await delay(10)
    }
    this.#open.add(list)
  }

  #mustWait({ owner }: LongList): boolean {
    const ofOwner = [...this.#open].filter((list) => list.owner === owner).length
    if (this.#open.size >= MAX_SNAPSHOTS || ofOwner >= MAX_SNAPSHOTS_OF_OWNER) return true
    return this.#open.size > 0 && this.#reads.mustWait?.() === true
  }
}

/** Finds the id of the last plant of a page, if there are more after it. Skips in steps, so that others get their turn. */
async function findLast(snapshot: Snapshot, owner: string, after: bigint | undefined, limit: number) {
  let last = after
  for (let left = limit; left > 0; left -= STEP) {
    last = await snapshot.offset(owner, last, Math.min(left, STEP))
    if (last === undefined) return undefined
    await nextTurn()
  }
  return (await snapshot.offset(owner, last, 1)) === undefined ? undefined : last
}
