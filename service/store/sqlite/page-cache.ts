import { LRUCache } from 'lru-cache'
import { JsonText } from '../../http/json.ts'
import type { Page } from '../store.ts'

/** The most characters in the cache. */
const MAX_CACHE_SIZE = 16_000_000
/** Milliseconds until a page is read again: somebody may have edited the file by hand. */
const CACHE_TTL = 1000

/** Caches pages until something is written. Only for a file that no other process writes plants to. */
export class PageCache {
  // `ttlResolution: 0` saves a timer in each millisecond.
  readonly #pages = new LRUCache<string, Page>({ maxSize: MAX_CACHE_SIZE, ttl: CACHE_TTL, ttlResolution: 0 })
  #version = 0

  /**
   * Gets a page from the cache, or else from `read`. Caches it if it is completely in memory.
   * @param version increases with each write; the pages of an older version are dropped
   */
  get(version: number, key: string, read: () => Promise<Page>): Page | Promise<Page> {
    if (version !== this.#version) this.#pages.clear()
    this.#version = version
    return this.#pages.get(key) ?? this.#read(version, key, read)
  }

  async #read(version: number, key: string, read: () => Promise<Page>): Promise<Page> {
    const page = await read()
    const { plants } = page
    const isCurrent = version === this.#version
    if (isCurrent && plants instanceof JsonText) this.#pages.set(key, page, { size: plants.text.length })
    return page
  }
}
