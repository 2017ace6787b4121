import { DatabaseSync } from 'node:sqlite'
import type { ShortPage, Size, Snapshot } from '../lists.ts'
import { idOf, toPage } from '../rows.ts'
import { available } from './errors.ts'
import { BUSY_TIMEOUT } from './file.ts'

/** Reads at once what there is of at most `most` plants of an owner after an id, or from the first. */
export type ReadNow<Value> = (owner: string, after: bigint | undefined, most: number) => Value

/** The most characters that are kept, and milliseconds after which all of them are dropped. */
const MOST = 16_000_000
const AGE = 1000

/** Keeps what was read until its owner writes. For a file to which no other process writes plants. */
export class Kept<Value> {
  readonly #read: ReadNow<Value>
  readonly #lengthOf: (value: Value) => number
  readonly #kept = new Map<string, Map<string, Value>>()
  #characters = 0
  #isClearDue = false

  /** @param lengthOf the characters that a value takes */
  constructor(read: ReadNow<Value>, lengthOf: (value: Value) => number) {
    this.#read = read
    this.#lengthOf = lengthOf
  }

  get(owner: string, after: bigint | undefined, most: number): Value {
    const key = `${after} ${most}`
    const known = this.#kept.get(owner)?.get(key)
    if (known !== undefined) return known
    const value = this.#read(owner, after, most)
    this.#characters += this.#lengthOf(value)
    if (this.#characters > MOST) this.#empty()
    // Somebody may have edited the file by hand.
    if (!this.#isClearDue) setTimeout(() => this.#clear(), AGE).unref()
    this.#isClearDue = true
    const values = this.#kept.get(owner) ?? new Map<string, Value>()
    this.#kept.set(owner, values.set(key, value))
    return value
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
export function reader(db: DatabaseSync): ReadNow<ShortPage> {
  const rows = db.prepare('SELECT plant, id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')
  rows.setReturnArrays(true)
  return (owner, after, most) =>
    toPage(
      available(() => rows.all(owner, after ?? -Infinity, most + 1)),
      most,
    )
}

/** What measures pages on a connection. */
export function measurer(db: DatabaseSync): ReadNow<Size> {
  const row = db.prepare(`SELECT count(*) AS plants, total(octet_length(plant)) AS bytes FROM
    (SELECT plant FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?)`)
  return (owner, after, most) => {
    const { plants, bytes } = available(() => row.get(owner, after ?? -Infinity, most)) ?? {}
    return { plants: Number(plants), bytes: Number(bytes) }
  }
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
    offset: async (owner, after, count) => {
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
