// A collection in a table: checks owners, keys and limits, and turns items into strings and back.
import {
  type Collection,
  exactJson,
  HttpError,
  type ItemAt,
  type ItemFormat,
  JsonText,
  type Key,
  type Page,
  type PageRequest,
  type StoredIndex,
  type Updated,
  Written,
} from '@plant-store/engine/for-store'
import { StoredItemAt } from './change.ts'
import { fromCursor, toCursor } from './cursor.ts'
import { type Database, type Found, type Table, tableOf } from './database.ts'
import { canExist, isKey, isOwner, KEY_BOUND, OWNER_BOUND } from './keys.ts'
import { indexedWriter } from './indexed-items.ts'
import { readList } from './lists.ts'
import { type AskedRange, toOrder, toUnique } from './order.ts'
import { Counter, readEntries } from './ranges.ts'

/** What the function of an update may return. */
type Decision<Item> = Item | Written<Item | undefined, unknown> | undefined

/** An item, and its key. */
interface KeyedItem<Item, K extends Key> {
  readonly key: K
  readonly item: Item
}

export class StoredCollection<Item, K extends Key, Indexes = unknown> implements Collection<
  Item,
  K,
  Indexes
> {
  readonly #database: Database
  readonly #name: string
  readonly #table: Table
  readonly #indexes: readonly StoredIndex[]
  readonly #parse: (text: string) => Item
  readonly #write: (item: Item) => string

  /** @throws {Error} if the database has no such collection */
  constructor(database: Database, name: string, { parse, write = exactJson }: ItemFormat<Item>) {
    this.#database = database
    this.#name = name
    this.#table = tableOf(database.tables, name)
    this.#indexes = this.#table.indexes
    this.#parse = parse
    this.#write = indexedWriter(this.#indexes, write)
  }

  async create(owner: string, key: K, item: Item): Promise<Item> {
    if (!isKey(key)) throw new HttpError(400, KEY_BOUND)
    if (!isOwner(owner)) throw new HttpError(400, OWNER_BOUND)
    const text = this.#toText(item)
    const stored = await this.#table.create(owner, key, text)
    return stored === text ? item : this.#parse(stored)
  }

  find(owner: string, key: K): Promise<Item | undefined>
  find(owner: string, values: AskedRange): Promise<KeyedItem<Item, K> | undefined>
  async find(
    owner: string,
    wanted: K | AskedRange,
  ): Promise<Item | KeyedItem<Item, K> | undefined> {
    if (typeof wanted === 'object') return this.#findBy(owner, wanted)
    if (!canExist(owner, wanted)) return undefined
    return this.#toItem(await this.#table.find(owner, wanted))
  }

  async #findBy(owner: string, wanted: AskedRange): Promise<KeyedItem<Item, K> | undefined> {
    const { index, values } = toUnique(this.#indexes, wanted)
    if (!isOwner(owner)) return undefined
    const row = await this.#table.findBy(owner, index, values)
    return row && this.#toKeyed(row)
  }

  update(owner: string, key: K, change: (item: Item) => Item | undefined): Promise<Item | undefined>
  update<Returned extends Decision<Item>>(
    owner: string,
    key: K,
    change: (item: Item) => Returned,
  ): Promise<Updated<Item, Returned> | undefined>
  async update(owner: string, key: K, change: (item: Item) => Decision<Item>): Promise<unknown> {
    if (!canExist(owner, key)) return undefined
    let written: Written<Item | undefined, unknown> | undefined
    const changed = (text: string) => {
      const returned = change(this.#parse(text))
      written = returned instanceof Written ? returned : undefined
      const item = returned instanceof Written ? returned.items : returned
      return item === undefined ? undefined : this.#toText(item)
    }
    const stored = await this.#table.update(owner, key, changed)
    return stored === undefined || written === undefined ? this.#toItem(stored) : written.answer
  }

  at(key: K): ItemAt<Item> {
    const place = { table: this.#name, key }
    return new StoredItemAt(this.#database, place, { parse: this.#parse, write: this.#write })
  }

  async delete(owner: string, key: K): Promise<boolean> {
    return canExist(owner, key) && this.#table.delete(owner, key)
  }

  async list(owner: string, request: PageRequest & AskedRange = {}): Promise<Page<Item>> {
    const { cursor } = request
    const limit = toLimit(request.limit)
    const order = toOrder(this.#indexes, request)
    const after = cursor === undefined ? undefined : fromCursor(this.#table.key, order, cursor)
    if (limit === 0 || !isOwner(owner)) return { items: new JsonText('[]') }
    const { items, last } = await readList(this.#database, this.#table, {
      owner,
      order,
      after,
      limit,
    })
    return last === undefined ? { items } : { items, next: toCursor(order, last) }
  }

  async count(owner: string, request: AskedRange & { readonly most: number }): Promise<number> {
    const { most } = request
    const order = toOrder(this.#indexes, request)
    if (!isCount(most)) throw new Error('most is an integer from 0')
    if (most === 0 || !isOwner(owner)) return 0
    return new Counter(this.#database, this.#table).count({ owner, order, count: most })
  }

  async *entries(
    owner: string,
    request: AskedRange = {},
  ): AsyncGenerator<KeyedItem<Item, K>, undefined> {
    const order = toOrder(this.#indexes, request)
    if (!isOwner(owner)) return
    for await (const row of readEntries(this.#database, this.#table, { owner, order }))
      yield this.#toKeyed(row)
  }

  #toText(item: Item): string {
    // A promise is refused as an item. Nobody else handles its rejection, which would end the
    // process.
    if (item instanceof Promise) item.catch(() => undefined)
    return this.#write(item)
  }

  #toKeyed({ key, text }: Found): KeyedItem<Item, K> {
    return { key: key as K, item: this.#parse(text) } // the table has keys of this type
  }

  #toItem(text: string | undefined): Item | undefined {
    return text === undefined ? undefined : this.#parse(text)
  }
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value >= 0
}

/** @throws {HttpError} 400 for another number than an integer from 0 */
function toLimit(limit: number | undefined): number {
  if (limit === undefined) return Infinity
  if (!isCount(limit)) throw new HttpError(400, 'A limit is an integer from 0')
  return limit
}
