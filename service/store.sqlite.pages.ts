import type { ShortPage } from './store.list.ts'

/** Reads a page, as `ReadPage` does, but at once. */
export type ReadNow = (owner: string, after: bigint | undefined, most: number) => ShortPage

/** The most characters of JSON that are kept, and milliseconds after which all of them are dropped. */
const MOST = 16_000_000
const AGE = 1000

/** Keeps the pages that were read until their owner writes. For a file to which no other process writes plants. */
export class Pages {
  readonly #read: ReadNow
  readonly #kept = new Map<string, Map<string, ShortPage>>()
  #characters = 0

  constructor(read: ReadNow) {
    this.#read = read
  }

  get(owner: string, after: bigint | undefined, most: number): ShortPage {
    const key = `${after} ${most}`
    const known = this.#kept.get(owner)?.get(key)
    if (known !== undefined) return known
    const page = this.#read(owner, after, most)
    this.#characters += page.plants.text.length
    if (this.#characters > MOST) this.#clear()
    // Somebody may have edited the file by hand.
    if (this.#kept.size === 0) setTimeout(() => this.#clear(), AGE).unref()
    const pages = this.#kept.get(owner) ?? new Map<string, ShortPage>()
    this.#kept.set(owner, pages.set(key, page))
    return page
  }

  /** Drops what was read for an owner. */
  drop(owner: string): void {
    this.#kept.delete(owner)
  }

  #clear(): void {
    this.#kept.clear()
    this.#characters = 0
  }
}
