// The table of a collection on SQLite.
import type { SQLOutputValue } from 'node:sqlite'
import type { Key, KeyType } from '@plant-store/engine/for-store'
import {
  type Chunk,
  type Entry,
  type Found,
  type FoundRows,
  type Order,
  type Position,
  positionOf,
  type Range,
  type Rows,
  type Table,
} from '../core/database.ts'
import type { Connection } from './connection.ts'
import { PageCache } from './page-cache.ts'
import { prepareStatements } from './sql.ts'

/**
 * The rows of the first query of a chunk. The next query reads as many as fit, by the length of
 * these rows.
 */
const FIRST_ROWS = 20
/** Each query of a chunk reads at most this many times the rows of the previous one. */
const GROWTH = 8
/** A BLOB comes after all numbers and strings. */
const GREATEST_KEY = new Uint8Array()

/** A row with its item before and after a change; null to delete the row. */
interface Replacement {
  readonly owner: string
  readonly key: Key
  readonly before: string | undefined
  readonly after: string | null
}

export class SqliteTable implements Table {
  readonly key: KeyType
  readonly #connection: Connection
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #pages: PageCache
  readonly #leastKey: number | string

  constructor(connection: Connection, name: string, type: KeyType) {
    this.key = type
    this.#connection = connection
    this.#sql = prepareStatements(connection.db, name)
    this.#pages = new PageCache(() => connection.dataVersion())
    this.#leastKey = type === 'int64' ? -Infinity : ''
  }

  create(owner: string, key: Key, text: string): Promise<string> {
    return this.#write(owner, () => {
      const isNew = this.#sql.create.write(owner, key, text)
      return isNew ? text : String(this.#find(owner, key))
    })
  }

  async find(owner: string, key: Key): Promise<string | undefined> {
    await this.#connection.turn()
    return this.#connection.run(() => this.#find(owner, key))
  }

  update(
    owner: string,
    key: Key,
    change: (text: string) => string | undefined,
  ): Promise<string | undefined> {
    return this.#write(owner, () => {
      const stored = this.#find(owner, key)
      const text = stored === undefined ? undefined : change(stored)
      if (text === undefined) return stored
      this.#sql.update.write(text, owner, key)
      return text
    })
  }

  delete(owner: string, key: Key): Promise<boolean> {
    return this.#write(owner, () => this.#sql.delete.write(owner, key))
  }

  /** The stored item, for a change under way. */
  findNow(owner: string, key: Key): string | undefined {
    return this.#find(owner, key)
  }

  /** Writes a row of a change under way. */
  replace({ owner, key, before, after }: Replacement): void {
    this.#pages.delete(owner)
    if (after === null) this.#sql.delete.write(owner, key)
    else if (before === undefined) this.#sql.create.write(owner, key, after)
    else this.#sql.update.write(after, owner, key)
  }

  async read(chunk: Chunk): Promise<Rows> {
    assertByKey(chunk.order)
    // Even for a cached page: answers sent one after the other cost a sixth less.
    await this.#connection.turn()
    const page = this.#pages.get(chunk)
    if (page) return page
    const rows = this.#connection.run(() => this.#readChunk(chunk))
    this.#pages.set(chunk, rows)
    return rows
  }

  async readItems(_chunk: Chunk): Promise<FoundRows> {
    throw new Error(NOT_YET)
  }

  async skip({ owner, order, after, count }: Range): Promise<Position | undefined> {
    assertByKey(order)
    const from = after?.key ?? this.#leastKey
    const row = this.#connection.run(() => this.#sql.skip.get(owner, from, count - 1))
    return row && { values: [], key: toKey(row[0]) }
  }

  async count(_range: Range): Promise<number> {
    throw new Error(NOT_YET)
  }

  async findBy(): Promise<Found | undefined> {
    throw new Error(NOT_YET)
  }

  async entries(after?: Entry): Promise<Entry[]> {
    const [owner, key] = [after?.owner ?? '', after?.key ?? this.#leastKey]
    const rows = this.#connection.run(() => this.#sql.entries.rows(owner, key))
    return rows.map((row) => ({ owner: String(row[0]), key: toKey(row[1]), text: String(row[2]) }))
  }

  /** Writes in the next transaction. @returns the result of `write`, when it is on disk */
  #write<Value>(owner: string, write: () => Value): Promise<Value> {
    return this.#connection.write(() => {
      this.#pages.delete(owner)
      return write()
    })
  }

  #find(owner: string, key: Key): string | undefined {
    const row = this.#sql.find.get(owner, key)
    return row && String(row[0])
  }

  /** Reads a chunk with several queries. They see one moment: nothing is written between them. */
  #readChunk({ owner, after, most, length, end }: Chunk): Rows {
    const to = end === undefined ? GREATEST_KEY : end.key
    const texts: string[] = []
    let last = after?.key
    let characters = 0
    let hasMore = true
    let size = FIRST_ROWS
    while (hasMore && characters < length && texts.length < most) {
      const wanted = Math.min(size, most - texts.length)
      const from = last ?? this.#leastKey
      const rows = this.#sql.read.rows(owner, from, to, wanted + 1)
      hasMore = rows.length > wanted
      for (const row of rows.slice(0, wanted)) {
        if (characters >= length) {
          hasMore = true
          break
        }
        const text = String(row[0])
        texts.push(text)
        characters += text.length
        last = toKey(row[1])
      }
      const fitting = ((length - characters) * texts.length) / characters
      size = Math.ceil(Math.max(1, Math.min(size * GROWTH, fitting)))
    }
    return { text: texts.join(','), count: texts.length, last: positionOf(last), hasMore }
  }
}

const NOT_YET = 'the store has no such order yet'

function assertByKey({ index, isDescending }: Order): void {
  if (index !== undefined || isDescending) throw new Error(NOT_YET)
}

function toKey(value: SQLOutputValue | undefined): Key {
  return typeof value === 'bigint' ? value : String(value)
}
