import {
  type Collection,
  exactJson,
  HttpError,
  JsonText,
  type Key,
  type KeyType,
  MAX_OWNER_BYTES,
} from '@plant-store/engine/for-store'
import { readList } from './lists.ts'
import { INT64_MAX, INT64_MIN, type Database } from './database.ts'

/** PostgreSQL has no index entries of more than 2704 bytes, and an entry holds the owner, too. */
const MAX_KEY_BYTES = 1024

/**
 * Makes the collection that is kept in a table.
 * @param name of the collection
 * @param parse reads an item that the collection has written, with each int64 as a `bigint`
 * @param write makes JSON of an item. The caller of the collection gets its error for an item that must not be stored
 * @throws {Error} if the store has no such collection
 */
export function makeCollection<Item, K extends Key = bigint>(
  store: Database,
  name: string,
  parse: (text: string) => Item,
  write: (item: Item) => string = exactJson,
): Collection<Item, K> {
  const table = store.tables.get(name)
  if (table === undefined) throw new Error(`the store has no collection ${name}`)
  const toText = (item: Item) => {
    // A promise is refused as an item. Nobody else handles its rejection, which would end the process.
    if (item instanceof Promise) item.catch(() => undefined)
    return write(item)
  }
  const toItem = (text: string | undefined) => (text === undefined ? undefined : parse(text))
  return {
    async create(owner, key, item) {
      if (!isStorable(key))
        throw new HttpError(400, `A key has 1 to ${MAX_KEY_BYTES} bytes, and no NUL`)
      if (!isOwner(owner))
        throw new HttpError(400, `An owner has at most ${MAX_OWNER_BYTES} bytes, and no NUL`)
      const text = toText(item)
      const stored = await table.create(owner, key, text)
      return stored === text ? item : parse(stored)
    },
    async find(owner, key) {
      return toItem(canExist(owner, key) ? await table.find(owner, key) : undefined)
    },
    async update(owner, key, change) {
      if (!canExist(owner, key)) return undefined
      const changed = (text: string) => {
        const item = change(parse(text))
        return item === undefined ? undefined : toText(item)
      }
      return toItem(await table.update(owner, key, changed))
    },
    async delete(owner, key) {
      return canExist(owner, key) && table.delete(owner, key)
    },
    async list(owner, { limit, cursor } = {}) {
      const after = cursor === undefined ? undefined : fromCursor(table.key, cursor)
      if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0))
        throw new HttpError(400, 'A limit is an integer from 0')
      if (limit === 0 || !isOwner(owner)) return { items: new JsonText('[]') }
      const request = { owner, after, limit: limit ?? Infinity }
      const { items, last } = await readList(store, table, request)
      return last === undefined ? { items } : { items, next: toCursor(last) }
    },
  }
}

/** Whether an item can be stored under an owner and a key. Under any other, there is no item to find. */
function canExist(owner: string, key: Key): boolean {
  return isOwner(owner) && isStorable(key)
}

/** The empty owner is valid: callers without credentials have it, where the contract allows them. */
function isOwner(owner: string): boolean {
  return isText(owner, MAX_OWNER_BYTES)
}

function isStorable(key: Key): boolean {
  if (typeof key === 'bigint') return key >= INT64_MIN && key <= INT64_MAX
  return key !== '' && isText(key, MAX_KEY_BYTES)
}

/** Whether both databases can store a text, and find it again. */
function isText(text: string, maxBytes: number): boolean {
  return Buffer.byteLength(text) <= maxBytes && !text.includes('\0') && text.isWellFormed()
}

/** A cursor is the key after which a page begins, in base64url (RFC 4648, section 5): 8 bytes of an int64, or UTF-8. */
function toCursor(key: Key): string {
  const bytes = typeof key === 'string' ? Buffer.from(key) : Buffer.allocUnsafe(8) // from a pool, which is faster than new memory
  if (typeof key === 'bigint') bytes.writeBigInt64BE(key)
  return bytes.toString('base64url')
}

function fromCursor(type: KeyType, cursor: string): Key {
  const bytes = Buffer.from(cursor, 'base64url')
  const isLong = bytes.length === 8
  const number = isLong ? bytes.readBigInt64BE() : ''
  const key = type === 'text' ? bytes.toString() : number
  // base64url has several spellings of the same bytes. `toCursor` writes only one of them.
  if (!isStorable(key) || toCursor(key) !== cursor)
    throw new HttpError(400, 'No page has given this cursor')
  return key
}
