// Opens stores for tests, with two collections: plants by int64, and notes by strings.
import type { Test } from 'tap'
import { accessTokens } from '@plant-store/engine/for-testing'
import type { AccessTokens } from '../../../packages/engine/src/auth/access-tokens.ts'
import { openDatabase } from '../../../packages/store/src/open.ts'
import { type Product, readConfig } from '@plant-store/engine'
import {
  type Collection,
  parseJson,
  storedCollections,
  type StoreOptions,
} from '@plant-store/engine/for-store'
import type { Database } from '../../../packages/store/src/core/database.ts'
import type { components } from '../product/contract.gen.ts'
import { product as own } from '../product/product.ts'

export type Plant = components['schemas']['Plant']
export type Note = components['schemas']['Note']

export const COLLECTIONS = { plants: { key: 'int64' }, notes: { key: 'text' } } as const

/** A store with its two collections, and its database. It is itself the collection of plants. */
export interface TestStore extends Database, Collection<Plant> {
  readonly notes: Collection<Note, string>
  readonly tokens: AccessTokens
}

export interface TestStoreOptions {
  /** By default as the service has it: yes. */
  readonly isExclusive?: boolean
  readonly settings?: StoreOptions['settings']
  readonly events?: StoreOptions['events']
  /** Its collections are opened, too. By default it is the tests' product. */
  readonly product?: Product | undefined
}

/** Opens a store as the service does. */
export async function openTestStore(
  database: StoreOptions['database'],
  {
    isExclusive = true,
    settings = readConfig('', {}),
    events,
    product = own,
  }: TestStoreOptions = {},
): Promise<TestStore> {
  const collections = storedCollections({
    collections: { ...COLLECTIONS, ...product.collections },
  })
  const options = { database, collections, isExclusive, settings }
  return collectionsOf(await openDatabase(events ? { ...options, events } : options))
}

/** Opens a new store in a file. It closes with the test. */
export async function openNewFile(
  t: Test,
  events?: StoreOptions['events'],
): Promise<{ store: TestStore; file: string }> {
  const file = `${t.testdir()}/plants.db`
  const store = await openTestStore({ file }, { events })
  t.teardown(() => store.close())
  return { store, file }
}

/** Adds collections to an open database, and the methods of one of them. */
function collectionsOf(database: Database): TestStore {
  const parsePlant = (text: string) => JSON.parse(text) as Plant // as the store wrote it
  const plants = database.collection<Plant, bigint>('plants', { parse: parsePlant })
  return Object.assign(database, {
    create: plants.create.bind(plants),
    find: plants.find.bind(plants),
    update: plants.update.bind(plants),
    delete: plants.delete.bind(plants),
    list: plants.list.bind(plants),
    count: plants.count.bind(plants),
    entries: plants.entries.bind(plants),
    at: plants.at.bind(plants),
    notes: database.collection<Note, string>('notes', { parse: toNote }),
    tokens: accessTokens(database),
  })
}

function toNote(text: string): Note {
  const { count, ...note } = parseJson(Buffer.from(text)) as {
    text: string
    count: number | bigint
  } // as it was written
  return { ...note, count: BigInt(count) }
}
