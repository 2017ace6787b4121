import { DatabaseSync } from 'node:sqlite'
import type { ShortPage, Snapshot } from './store.list.ts'
import { idOf, toPage } from './store.rows.ts'
import { available } from './store.sqlite.errors.ts'
import { BUSY_TIMEOUT } from './store.sqlite.open.ts'

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
  #isClearDue = false

  constructor(read: ReadNow) {
    this.#read = read
  }

  get(owner: string, after: bigint | undefined, most: number): ShortPage {
    const key = `${after} ${most}`
    const known = this.#kept.get(owner)?.get(key)
    if (known !== undefined) return known
    const page = this.#read(owner, after, most)
    this.#characters += page.plants.text.length
    if (this.#characters > MOST) this.#empty()
    // Somebody may have edited the file by hand.
    if (!this.#isClearDue) setTimeout(() => this.#clear(), AGE).unref()
    this.#isClearDue = true
    const pages = this.#kept.get(owner) ?? new Map<string, ShortPage>()
    this.#kept.set(owner, pages.set(key, page))
    return page
  }

  /** Drops what was read for an owner. */
  drop(owner: string): void {
    this.#kept.delete(owner)
  }

  #clear(): void {
    this.#isClearDue = false
    this.#empty()
  }

  #empty(): void {
    this.#kept.clear()
    this.#characters = 0
  }
}

/** What reads pages on a connection. */
export function reader(db: DatabaseSync): ReadNow {
  const rows = db.prepare('SELECT plant, id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')
  rows.setReturnArrays(true)
  return (owner, after, most) =>
    toPage(
      available(() => rows.all(owner, after ?? -Infinity, most + 1)),
      most,
    )
}

/** A snapshot is a connection of its own, whose transaction sees one moment: that of its first read. */
export function openSnapshot(file: string): Snapshot {
  const db = available(() => new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: BUSY_TIMEOUT }))
  try {
    available(() => db.exec('BEGIN; SELECT 1 FROM plants LIMIT 1'))
  } catch (error) {
    db.close()
    throw error
  }
  const sql = db.createTagStore()
  const read = reader(db)
  return {
    page: async (owner, after, most) => read(owner, after, most),
    skip: async (owner, after, count) => {
      const from = after ?? -Infinity
      const row = available(
        () => sql.get`SELECT id FROM plants WHERE owner = ${owner} AND id > ${from}
          ORDER BY id LIMIT 1 OFFSET ${count - 1}`,
      )
      return row && idOf(row)
    },
    close: async () => db.close(),
  }
}
