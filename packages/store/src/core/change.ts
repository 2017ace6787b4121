// A change of several items: from items and their names to rows of a database, and back.
import { HttpError, type ItemAt, removed, Written } from '@plant-store/engine/for-store'
import type { Database, Place } from './database.ts'
import { canExist, isOwner, KEY_BOUND, OWNER_BOUND } from './keys.ts'

/** Items by the names that a change gives them. */
type Items = Readonly<Record<string, unknown>>

/** The item under a key of a collection. */
export class StoredItemAt<Item> implements ItemAt<Item> {
  declare readonly item?: Item
  readonly database: Database
  readonly place: Place
  readonly parse: (text: string) => Item
  readonly #write: (item: Item) => string

  constructor(
    database: Database,
    place: Place,
    { parse, write }: Pick<StoredItemAt<Item>, 'parse'> & { write: (item: Item) => string },
  ) {
    this.database = database
    this.place = place
    this.parse = parse
    this.#write = write
  }

  changeTogether(
    owner: string,
    items: Readonly<Record<string, ItemAt<unknown>>>,
    decide: (stored: Items) => unknown,
  ): Promise<unknown> {
    return new Change(this.database, owner, items).run(decide)
  }

  /** @throws {Error} for an invalid item */
  toText(item: unknown): string {
    return this.#write(item as Item) // it checks the item by its schema
  }
}

/** An item, and its name. */
interface Named {
  readonly name: string
  readonly at: StoredItemAt<unknown>
}

class Change {
  readonly #database: Database
  readonly #owner: string
  readonly #storable: Named[] = []
  /** The names of items whose owner or key can't be stored: they are never there. */
  readonly #unstorable = new Set<string>()

  /** @throws {Error} for an item of another store, and for an item with two names */
  constructor(database: Database, owner: string, items: Readonly<Record<string, ItemAt<unknown>>>) {
    this.#database = database
    this.#owner = owner
    const places = new Set<string>()
    for (const [name, at] of Object.entries(items)) {
      if (!(at instanceof StoredItemAt) || at.database !== database)
        throw new Error(`${name} is no item of this store`)
      const { table, key } = at.place
      const place = `${table} ${key}`
      if (places.has(place)) throw new Error(`${name} is an item with another name, too`)
      places.add(place)
      if (canExist(owner, key)) this.#storable.push({ name, at })
      else this.#unstorable.add(name)
    }
  }

  async run(decide: (stored: Items) => unknown): Promise<unknown> {
    let answer: unknown
    const decideTexts = (texts: readonly (string | undefined)[]) => {
      const returned = decide(this.#parse(texts))
      refusePromise(returned)
      const isWritten = returned instanceof Written
      answer = isWritten ? returned.answer : returned
      const items: unknown = isWritten ? returned.items : undefined
      return items === undefined ? undefined : this.#toTexts(items as Items)
    }
    const places = this.#storable.map(({ at }) => at.place)
    if (places.length === 0) decideTexts([])
    else await this.#database.change(this.#owner, places, decideTexts)
    return answer
  }

  #parse(texts: readonly (string | undefined)[]): Items {
    const items = this.#storable.map(({ name, at }, index) => {
      const text = texts[index]
      return [name, text === undefined ? undefined : at.parse(text)] as const
    })
    return Object.fromEntries(items)
  }

  /** @throws {Error} for an invalid item, and for a name that the change has not */
  #toTexts(items: Items): (string | null | undefined)[] {
    const rest = new Map(Object.entries(items))
    const texts = this.#storable.map(({ name, at }) => {
      const item = rest.get(name)
      rest.delete(name)
      if (item === undefined) return undefined
      refusePromise(item)
      return item === removed ? null : at.toText(item)
    })
    for (const [name, item] of rest) this.#refuse(name, item)
    return texts
  }

  #refuse(name: string, item: unknown): void {
    if (!this.#unstorable.has(name)) throw new Error(`${name} is no item of this change`)
    if (item === undefined || item === removed) return
    throw new HttpError(400, isOwner(this.#owner) ? KEY_BOUND : OWNER_BOUND)
  }
}

/** Nobody handles the rejection of a refused promise, and it would end the process. */
function refusePromise(value: unknown): void {
  if (!(value instanceof Promise)) return
  value.catch(() => undefined)
  throw new Error('the function of a change returned a promise: await it before the change')
}
