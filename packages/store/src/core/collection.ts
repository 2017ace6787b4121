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
} from '@plant-store/engine/for-store'
import { StoredItemAt } from './change.ts'
import { fromCursor, toCursor } from './cursor.ts'
import { BY_KEY, type Database, positionOf, type Table, tableOf } from './database.ts'
import { canExist, isKey, isOwner, KEY_BOUND, OWNER_BOUND } from './keys.ts'
import { readList } from './lists.ts'

export class StoredCollection<Item, K extends Key> implements Collection<Item, K> {
  readonly #database: Database
  readonly #name: string
  readonly #table: Table
  readonly #parse: (text: string) => Item
  readonly #write: (item: Item) => string

  /** @throws {Error} if the database has no such collection */
  constructor(database: Database, name: string, { parse, write = exactJson }: ItemFormat<Item>) {
    this.#database = database
    this.#name = name
    this.#table = tableOf(database.tables, name)
    this.#parse = parse
    this.#write = write
  }

  async create(owner: string, key: K, item: Item): Promise<Item> {
    if (!isKey(key)) throw new HttpError(400, KEY_BOUND)
    if (!isOwner(owner)) throw new HttpError(400, OWNER_BOUND)
    const text = this.#toText(item)
    const stored = await this.#table.create(owner, key, text)
    return stored === text ? item : this.#parse(stored)
  }

  async find(owner: string, key: K): Promise<Item | undefined> {
    if (!canExist(owner, key)) return undefined
    return this.#toItem(await this.#table.find(owner, key))
  }

  async update(
    owner: string,
    key: K,
    change: (item: Item) => Item | undefined,
  ): Promise<Item | undefined> {
    if (!canExist(owner, key)) return undefined
    const changed = (text: string) => {
      const item = change(this.#parse(text))
      return item === undefined ? undefined : this.#toText(item)
    }
    return this.#toItem(await this.#table.update(owner, key, changed))
  }

  at(key: K): ItemAt<Item> {
    const place = { table: this.#name, key }
    return new StoredItemAt(this.#database, place, { parse: this.#parse, write: this.#write })
  }

  async delete(owner: string, key: K): Promise<boolean> {
    return canExist(owner, key) && this.#table.delete(owner, key)
  }

  async list(owner: string, { limit, cursor }: PageRequest = {}): Promise<Page<Item>> {
    const after = cursor === undefined ? undefined : fromCursor(this.#table.key, cursor)
    if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0))
      throw new HttpError(400, 'A limit is an integer from 0')
    if (limit === 0 || !isOwner(owner)) return { items: new JsonText('[]') }
    const position = positionOf(after)
    const request = { owner, order: BY_KEY, after: position, limit: limit ?? Infinity }
    const { items, last } = await readList(this.#database, this.#table, request)
    return last === undefined ? { items } : { items, next: toCursor(last.key) }
  }

  #toText(item: Item): string {
    // A promise is refused as an item. Nobody else handles its rejection, which would end the
    // process.
    if (item instanceof Promise) item.catch(() => undefined)
    return this.#write(item)
  }

  #toItem(text: string | undefined): Item | undefined {
    return text === undefined ? undefined : this.#parse(text)
  }
}
