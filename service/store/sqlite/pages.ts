import { DatabaseSync } from 'node:sqlite'
import { LRUCache } from 'lru-cache'
import type { ShortPage, Size, Snapshot } from '../lists.ts'
import { toId, toPage } from '../rows.ts'
import type { SqlRunner } from './errors.ts'
import { SERVICE_BUSY_TIMEOUT } from './file.ts'
import { Statements } from './statements.ts'

/** Reads at once what there is of at most `most` plants of an owner after an id, or from the first. */
export type ReadNow<Value> = (owner: string, after: bigint | undefined, most: number) => Value

/** The most characters in a cache. */
const MAX_CACHE_SIZE = 16_000_000
/** Milliseconds until a page is read again: somebody may have edited the file by hand. */
const CACHE_TTL = 1000

/** What was read of one owner, by what was asked for. */
interface Pages<Value> {
  readonly values: Map<string, Value>
  size: number
}

/** A cache of what was read, until its owner writes. For a file to which no other process writes plants. */
export class PageCache<Value> {
  readonly #read: ReadNow<Value>
  readonly #sizeOf: (value: Value) => number
  readonly #owners = new LRUCache<string, Pages<Value>>({ maxSize: MAX_CACHE_SIZE })

  /** @param sizeOf the characters that a value takes, from 1 */
  constructor(read: ReadNow<Value>, sizeOf: (value: Value) => number) {
    this.#read = read
    this.#sizeOf = sizeOf
  }

  get(owner: string, after: bigint | undefined, most: number): Value {
    const key = `${after} ${most}`
    const pages = this.#owners.get(owner) ?? { values: new Map<string, Value>(), size: 0 }
    const known = pages.values.get(key)
    if (known !== undefined) return known
    const value = this.#read(owner, after, most)
    pages.values.set(key, value)
    pages.size += this.#sizeOf(value)
    // All pages of an owner are as old as the first of them. A size changes only with another value.
    const ttl = this.#owners.getRemainingTTL(owner) || CACHE_TTL
    this.#owners.delete(owner)
    this.#owners.set(owner, pages, { size: pages.size, ttl })
    return value
  }

  /** Drops what was read of an owner. */
  drop(owner: string): void {
    this.#owners.delete(owner)
  }
}

/** What reads pages on a connection. */
export function reader(db: DatabaseSync, sql: SqlRunner): ReadNow<ShortPage> {
  const rows = db.prepare('SELECT plant, id FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?')
  rows.setReturnArrays(true)
  return (owner, after, most) =>
    toPage(
      sql.run(() => rows.all(owner, after ?? -Infinity, most + 1)),
      most,
    )
}

/** What measures pages on a connection. */
export function measurer(db: DatabaseSync, sql: SqlRunner): ReadNow<Size> {
  const row = db.prepare(`SELECT count(*) AS plants, total(octet_length(plant)) AS bytes FROM
    (SELECT plant FROM plants WHERE owner = ? AND id > ? ORDER BY id LIMIT ?)`)
  return (owner, after, most) => {
    const { plants, bytes } = sql.run(() => row.get(owner, after ?? -Infinity, most)) ?? {}
    return { plants: Number(plants), bytes: Number(bytes) }
  }
}

/** A snapshot is a connection of its own, whose transaction sees one moment: that of its first read. */
export function openSnapshot(file: string, sql: SqlRunner): Snapshot {
  const db = sql.run(() => new DatabaseSync(file, { readOnly: true, readBigInts: true, timeout: SERVICE_BUSY_TIMEOUT }))
  try {
    sql.run(() => db.exec('BEGIN; SELECT 1 FROM plants LIMIT 1'))
  } catch (error) {
    db.close()
    throw error
  }
  const read = reader(db, sql)
  const statements = new Statements(db, sql)
  return {
    page: async (owner, after, most) => read(owner, after, most),
    offset: async (owner, after, count) => {
      const from = after ?? -Infinity
      const row = statements.get`SELECT id FROM plants WHERE owner = ${owner} AND id > ${from}
          ORDER BY id LIMIT 1 OFFSET ${count - 1}`
      return row && toId(row)
    },
    close: async () => db.close(),
  }
}
