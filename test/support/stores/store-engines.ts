// Opens stores of each engine for tests, and says how a test fills their collections.
import type { Test } from 'tap'
import { type Product, readConfig } from '@plant-store/engine'
import type { Collection, Key, Page, StoreOptions } from '@plant-store/engine/for-store'
import { read } from './read-page.ts'
import { brought, openDatabases } from '../postgres/server.ts'
import { type Note, openTestStore, type Plant, type TestStore } from './open-store.ts'

/** A busy machine may take longer for an operation than a caller waits. */
const PATIENT = readConfig('', { DATABASE_TIMEOUT: '20' })

/** An engine. */
export type Engine = Awaited<ReturnType<typeof startEngines>>[number]

/**
 * The engines, or only the server of TEST_DATABASE_URL. PostgreSQL runs until the test ends. `isShared`: several processes may
 * open a store at the same time.
 */
export async function startEngines(t: Test) {
  const postgres = await openDatabases(t)
  /** A new store, which closes with the test. `reopen` opens it again, for another product if there is one. */
  const opened = async (
    t: Test,
    database: StoreOptions['database'],
    settings: StoreOptions['settings'] = PATIENT,
  ) => {
    const reopen = async (product?: Product) => {
      const store = await openTestStore(database, { product, settings })
      t.teardown(() => store.close())
      return store
    }
    return { store: await reopen(), reopen, database }
  }
  const engines = [
    {
      name: 'sqlite',
      isShared: false,
      open: (t: Test, settings?: StoreOptions['settings']) =>
        opened(t, { file: `${t.testdir()}/plants.db` }, settings),
    },
    {
      name: 'postgres',
      isShared: true,
      open: async (t: Test, settings?: StoreOptions['settings']) =>
        opened(t, { url: await postgres.createDatabase() }, settings),
    },
  ]
  return engines.filter(({ isShared }) => isShared || brought() === undefined)
}

/** A collection, with the keys and items of a test. */
export interface Kind<Item, K extends Key> {
  readonly of: (store: TestStore) => Collection<Item, K>
  /** The key at a place. Keys ascend as their places do. */
  readonly key: (place: number) => K
  /** An item with a text. A note also has a count beyond the exact range of a `number`. */
  readonly item: (text: string) => Item
  readonly textOf: (item: Item) => string
}

const PLANTS: Kind<Plant, bigint> = {
  of: (store) => store,
  key: BigInt,
  item: (name) => ({ name }),
  textOf: ({ name }) => name,
}

const NOTES: Kind<Note, string> = {
  of: ({ notes }) => notes,
  key: (place) => `é${String(place).padStart(7, '0')}`,
  item: (text) => ({ text, count: 2n ** 53n + 1n }),
  textOf: ({ text }) => text,
}

/** Fills a collection with items, which begin with their places, and reads them. */
export function filling<Item, K extends Key>(
  { of, key, item, textOf }: Kind<Item, K>,
  store: TestStore,
) {
  const items = of(store)
  const placeOf = (item: Item) => Number.parseInt(textOf(item))
  return {
    items,
    placeOf,
    /** @param more a further part of each text */
    create: (owner: string, places: readonly number[], more = '') =>
      Promise.all(places.map((place) => items.create(owner, key(place), item(`${place} ${more}`)))),
    /** The places of the items of a page. */
    placesOf: async (page: Page<Item> | Promise<Page<Item>>) =>
      (await read(page)).items.map(placeOf),
  }
}

/** Runs tests for each collection of each engine. */
export async function forEachCollection(
  t: Test,
  test: <Item, K extends Key>(t: Test, kind: Kind<Item, K>, engine: Engine) => Promise<void>,
): Promise<void> {
  for (const engine of await startEngines(t)) {
    t.test(`plants, by int64, on ${engine.name}`, (t) => test(t, PLANTS, engine))
    t.test(`notes, by text, on ${engine.name}`, (t) => test(t, NOTES, engine))
  }
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index)
}
