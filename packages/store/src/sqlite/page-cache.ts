// Caches the last page of each owner in a table: callers poll, and mostly for the same page.
import { LRUCache } from 'lru-cache'
import { type Chunk, isSameOrder, isSamePosition, type Rows } from '../core/database.ts'

const MAX_PAGES = 10_000
/** The most characters of all these pages. */
const MAX_LENGTH = 16 << 20
const MAX_PAGE_LENGTH = 8192
/** The memory of a cached page beside its rows, in characters. */
const PAGE_OVERHEAD = 500

interface Page {
  readonly chunk: Chunk
  readonly rows: Rows
}

/**
 * Pages by their owners. A page is gone when one of its owner's items is written, or another
 * program writes.
 */
export class PageCache {
  readonly #dataVersion: () => number
  readonly #pages = new LRUCache<string, Page>({
    max: MAX_PAGES,
    maxSize: MAX_LENGTH,
    maxEntrySize: MAX_PAGE_LENGTH,
    sizeCalculation: ({ rows }, owner) => rows.text.length + owner.length + PAGE_OVERHEAD,
  })
  #version: number

  /** @param dataVersion changes after another program has written: see engine/src/store.ts */
  constructor(dataVersion: () => number) {
    this.#dataVersion = dataVersion
    this.#version = dataVersion()
  }

  get(chunk: Chunk): Rows | undefined {
    const version = this.#dataVersion()
    if (version !== this.#version) this.#pages.clear()
    this.#version = version
    const page = this.#pages.get(chunk.owner)
    return page && isSame(page.chunk, chunk) ? page.rows : undefined
  }

  set(chunk: Chunk, rows: Rows): void {
    this.#pages.set(chunk.owner, { chunk, rows })
  }

  delete(owner: string): void {
    this.#pages.delete(owner)
  }
}

function isSame(left: Chunk, right: Chunk): boolean {
  if (left.most !== right.most || left.length !== right.length) return false
  const hasSameEnds = isSamePosition(left.after, right.after) && isSamePosition(left.end, right.end)
  return hasSameEnds && isSameOrder(left.order, right.order)
}
