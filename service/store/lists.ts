import { setTimeout as delay } from 'node:timers/promises'
import { JsonText } from '../http/json.ts'
import { type Page, type Plant } from './store.ts'
import { Turns } from './turns.ts'
import { StoreUnavailable } from '../errors.ts'

/** The most plants of one batch. A list up to MAX_AT_ONCE is not read in batches, but with one query. */
export const BATCH_SIZE = 500
/** Characters of a batch, about: the batch before tells how long plants are. Others wait while it is read and written. */
const BATCH_LENGTH = 65_536
/** How much longer than the one before a batch may be, in plants. */
const BATCH_GROWTH = 4
const MAX_AT_ONCE: Size = { plants: 10_000, bytes: 1_000_000 }
/** Longer lists are read from snapshots. The most snapshots that may be open: in total, and for one owner. */
export const MAX_SNAPSHOTS = 16
const MAX_SNAPSHOTS_OF_OWNER = 8
/** Milliseconds that a long list waits until others end. */
const SNAPSHOT_WAIT_TIMEOUT = 2000
/** Milliseconds after which a snapshot is closed if nobody reads its next batch. */
export const SNAPSHOT_IDLE_TIMEOUT = 300_000
/** How many plants one query skips to find the end of a long page. */
const STEP = 5000

/** Reads at most `most` plants of an owner, after an id or from the first. The page has `last` if there are more. */
export type ReadPage = (owner: string, after: bigint | undefined, most: number) => Promise<ShortPage>

/** Counts the plants of an owner after an id, or from the first, up to `most`, and the bytes of their JSON. */
export type Measure = (owner: string, after: bigint | undefined, most: number) => Promise<Size>

/** A number of plants, and the bytes of their JSON. */
export interface Size {
  readonly plants: number
  readonly bytes: number
}

/** A page that is completely in memory. */
export interface ShortPage extends Page {
  readonly plants: JsonText<Plant[]>
}

/** Reads the plants as they were at one moment. */
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
  /** Whether a new snapshot must wait until the open ones are closed. If absent, it never waits. */
  readonly mustWait?: () => boolean
  /** How many requests of any kind have come. Long lists make way for them. */
  readonly getRequests: () => number
}

/** A long list that is being read. */
interface LongList {
  readonly owner: string
  /** Shared by all long lists of the owner. */
  readonly turns: Turns
  /** Absent while it is being opened. */
  snapshot?: Snapshot
  /** Closes the snapshot. May be called again. */
  readonly end: () => Promise<void>
}

/** Implements `Store.list` for every engine. Reads long lists in batches, to bound their memory. */
export class Lists {
  readonly #reads: Reads
  readonly #open = new Set<LongList>()

  constructor(reads: Reads) {
    this.#reads = reads
  }

  /** How many snapshots are open. */
  get snapshots(): number {
    return this.#withSnapshot().length
  }

  async list(owner: string, after?: bigint, limit = Infinity): Promise<Page> {
    const page = await this.#reads.page(owner, after, Math.min(limit, BATCH_SIZE))
    if (page.last === undefined || limit <= BATCH_SIZE) return page
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
    await Promise.all(this.#withSnapshot().map((list) => list.end()))
  }

  #withSnapshot(): LongList[] {
    return [...this.#open].filter(({ snapshot }) => snapshot !== undefined)
  }

  /**
   * Reads the plants of a page in batches. The first batch is empty: when it arrives, the snapshot is open. The snapshot
   * closes when the generator ends.
   * @param end gets the id of the last plant, if there are more after it
   */
  async *#batches(owner: string, after: bigint | undefined, limit: number, end: { last?: bigint }) {
    let idle: NodeJS.Timeout | undefined
    const list = await this.#add(owner)
    const { turns } = list
    try {
      const snapshot = (list.snapshot = await this.#reads.openSnapshot())
      const last = limit === Infinity ? undefined : await findLast(turns, snapshot, owner, after, limit)
      if (last !== undefined) end.last = last
      let plants = new JsonText<Plant[]>('[]')
      for (let from = after, left = limit, size = BATCH_GROWTH; ;) {
        idle = setTimeout(() => void list.end(), SNAPSHOT_IDLE_TIMEOUT).unref()
        yield plants
        clearTimeout(idle)
        if (left <= 0) return
        const page = await turns.run(async () => {
          if (!this.#open.has(list)) throw new StoreUnavailable('the list was read too slowly')
          return snapshot.page(owner, from, Math.min(left, size))
        })
        plants = page.plants
        from = page.last
        left = from === undefined ? 0 : left - size
        const fitting = (size * BATCH_LENGTH) / plants.text.length
        size = Math.ceil(Math.min(BATCH_SIZE, size * BATCH_GROWTH, fitting))
      }
    } finally {
      clearTimeout(idle)
      await list.end()
    }
  }

  /** Adds a long list when there is room for it. @throws {StoreUnavailable} after SNAPSHOT_WAIT_TIMEOUT */
  async #add(owner: string): Promise<LongList> {
    const latest = performance.now() + SNAPSHOT_WAIT_TIMEOUT
    while (this.#mustWait(owner)) {
      if (performance.now() > latest) throw new StoreUnavailable('too many long lists at once')
      await delay(10)
    }
    const list: LongList = {
      owner,
      turns: this.#ofOwner(owner)[0]?.turns ?? new Turns(this.#reads.getRequests),
      end: async () => {
        if (this.#open.delete(list)) await list.snapshot?.close()
      },
    }
    this.#open.add(list)
    return list
  }

  #ofOwner(owner: string): LongList[] {
    return [...this.#open].filter((list) => list.owner === owner)
  }

  #mustWait(owner: string): boolean {
    if (this.#open.size >= MAX_SNAPSHOTS || this.#ofOwner(owner).length >= MAX_SNAPSHOTS_OF_OWNER) return true
    return this.#open.size > 0 && this.#reads.mustWait?.() === true
  }
}

/** Finds the id of the last plant of a page, if there are more after it. */
async function findLast(turns: Turns, snapshot: Snapshot, owner: string, after: bigint | undefined, limit: number) {
  let last = after
  for (let left = limit; left > 0; left -= STEP) {
    last = await turns.run(() => snapshot.offset(owner, last, Math.min(left, STEP)))
    if (last === undefined) return undefined
  }
  return (await snapshot.offset(owner, last, 1)) === undefined ? undefined : last
}
