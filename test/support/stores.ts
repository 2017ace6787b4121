// Opens stores for tests, with two collections: plants by int64, and notes by text.
import { makeCollection } from '../../service/engine/store/collection.ts'
import { product } from '../../service/product.ts'
import { openStore } from '../../service/engine/store/open.ts'
import type { Collection, Store } from '../../service/engine/store/store.ts'
import type { components } from '../../service/contract.gen.ts'
import { parseJson } from '../../service/engine/http/json.ts'

export type Plant = components['schemas']['Plant']

/** An item of the second collection. Its count is an int64. */
export interface Note {
  readonly text: string
  readonly count: bigint
}

export const COLLECTIONS = { plants: { key: 'int64' }, notes: { key: 'text' } } as const

/** A store with its two collections. It is itself the collection of plants. */
export interface TestStore extends Store, Collection<Plant> {
  readonly notes: Collection<Note, string>
}

type Rest = Parameters<typeof openStore> extends [unknown, unknown, ...infer Others] ? Others : never

/** Opens a store as the service does. Takes what `openStore` takes, but the collections. */
export async function openTestStore(database: Parameters<typeof openStore>[0], ...rest: Rest): Promise<TestStore> {
  // The service that a test builds opens the collections of the product, too.
  return collectionsOf(
    await openStore(database, { ...product, collections: { ...product.collections, ...COLLECTIONS } }, ...rest),
  )
}

/** Adds the methods of its collections to an open store. */
export function collectionsOf(store: Store): TestStore {
  const plants = makeCollection<Plant>(store, 'plants', (text) => JSON.parse(text) as Plant) // as the store wrote it
  return Object.assign(store, {
    notes: makeCollection<Note, string>(store, 'notes', toNote),
    create: plants.create.bind(plants),
    find: plants.find.bind(plants),
    update: plants.update.bind(plants),
    delete: plants.delete.bind(plants),
    list: plants.list.bind(plants),
  })
}

function toNote(text: string): Note {
  const { count, ...note } = parseJson(Buffer.from(text)) as { text: string; count: number | bigint } // as it was written
  return { ...note, count: BigInt(count) }
}
