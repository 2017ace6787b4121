import { LRUCache } from 'lru-cache'
import { JsonText } from '../../http/json.ts'
import type { Page } from '../store.ts'

/** The most characters in the cache. */
const MAX_CACHE_SIZE = 16_000_000
/** Milliseconds until a page is read again: somebody may have edited the file by hand. */
const CACHE_TTL = 1000

/** Caches pages until something is written. Only for a file that no other process writes plants to. */
export class PageCache {
  readonly #pages = new LRUCache<string, Page>({ maxSize: MAX_CACHE_SIZE, ttl: CACHE_TTL })
  #clears = 0

  /** Gets a page from the cache, or else from `read`. Caches it if it is completely in memory. */
  get(key: string, read: () => Promise<Page>): Page | Promise<Page> {
    return this.#pages.get(key) ?? this.#read(key, read)
  }

  async #read(key: string, read: () => Promise<Page>): Promise<Page> {
    const clears = this.#clears
    const page = await read()
    const { plants } = page
    const isCurrent = clears === this.#clears // nothing was written meanwhile
    if (isCurrent && plants instanceof JsonText) this.#pages.set(key, page, { size: plants.text.length })
    return page
  }

  clear(): void {
    this.#clears += 1
    if (this.#pages.size > 0) this.#pages.clear()
  }
}
