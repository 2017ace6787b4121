// Opens stores for tests, with two collections: plants by int64, and notes by text.
import type { Test } from 'tap'
import { makeCollection } from '../../service/store/collection.ts'
import { openStore } from '../../service/store/open.ts'
import type { Collection, Store } from '../../service/store/store.ts'
import { parseJson } from '../../service/engine/http/json.ts'
import type { Product } from '../../service/engine/index.ts'
import type { components } from './product/contract.gen.ts'
import { product as own } from './product/product.ts'

export type Plant = components['schemas']['Plant']
export type Note = components['schemas']['Note']

export const COLLECTIONS = { plants: { key: 'int64' }, notes: { key: 'text' } } as const

/** A store with its two collections. It is itself the collection of plants. */
export interface TestStore extends Store, Collection<Plant> {
  readonly notes: Collection<Note, string>
}

type Open = Parameters<typeof openStore>

/** Opens a store as the service does. @param product the tests' own, or another, whose collections are opened, too */
export async function openTestStore(
  database: Open[0],
  exclusive?: Open[2],
  limits?: Open[3],
  monitor?: Open[4],
  product: Product = own,
): Promise<TestStore> {
  const collections = { ...COLLECTIONS, ...product.collections }
  return collectionsOf(
    await openStore(database, { ...product, collections }, exclusive, limits, monitor),
  )
}

/** Opens a new store in a file. It closes with the test. */
export async function openNewFile(
  t: Test,
  monitor?: Open[4],
): Promise<{ store: TestStore; file: string }> {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file }, undefined, undefined, monitor)
  t.teardown(() => store.close())
  return { store, file }
}

/** Adds the methods of its collections to an open store. */
function collectionsOf(store: Store): TestStore {
  const plants = makeCollection<Plant>(store, 'plants', (text) => JSON.parse(text) as Plant) // as the store wrote it
  return Object.assign(store, plants, {
    notes: makeCollection<Note, string>(store, 'notes', toNote),
  })
}

function toNote(text: string): Note {
  const { count, ...note } = parseJson(Buffer.from(text)) as {
    text: string
    count: number | bigint
  } // as it was written
  return { ...note, count: BigInt(count) }
}
