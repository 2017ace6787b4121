// Opens the store of DATABASE_URL.
import { type OpenStore, StartupError, type StoreOptions } from '@plant-store/engine/for-store'
import type { Database, TableDefinitions } from './core/database.ts'

/**
 * Valid in SQL without quotes. Names of tables in earlier versions and in databases are reserved.
 */
const TABLE_NAME = /^[a-z][A-Za-z0-9_]{0,54}$/
const RESERVED_NAME = /^(tokens|(sqlite|pg)_.*)$/i
const NAME_ADVICE =
  'a small letter, then letters, digits and _, at most 55, and not "tokens", "sqlite_..." or "pg_..."'

/**
 * Opens the store for the engine.
 * @throws {StartupError}
 * @example
 * ```ts
 * import { contract } from './contract.gen.ts'
 * import { defineProduct } from '@plant-store/engine'
 * import { NoteService } from './note-service.ts'
 * import { openStore } from '@plant-store/store'
 *
 * export const product = defineProduct({
 *   name: 'notes',
 *   contract,
 *   store: openStore,
 *   collections: { notes: { schema: 'Note', key: 'int64' } },
 *   services: ({ notes }) => [new NoteService(notes)],
 * })
 * ```
 */
export const openStore: OpenStore = openDatabase

/** Opens a store, and shows its tables to commands. @throws {StartupError} */
export async function openDatabase(options: StoreOptions): Promise<Database> {
  checkNames('collection', Object.keys(options.collections))
  const opened = { ...options, collections: await readDefinitions(options) }
  if ('file' in options.database) {
    const { SqliteStore } = await import('./sqlite/store.ts')
    return new SqliteStore(options.database.file, opened)
  }
  const { PostgresStore } = await import('./postgres/store.ts')
  return PostgresStore.open(options.database.url, opened)
}

/** The tables, with their indexes. @throws {StartupError} for the name of an index */
async function readDefinitions({ collections }: StoreOptions): Promise<TableDefinitions> {
  const tables = Object.entries(collections).map(async ([name, { key, readIndexes }]) => {
    const indexes = (await readIndexes?.()) ?? []
    const names = indexes.map((index) => index.name)
    checkNames('index', names)
    return [name, { key, indexes }] as const
  })
  return Object.fromEntries(await Promise.all(tables))
}

/**
 * @throws {StartupError} if a name can't be that of a table or an index, or SQLite compares two as
 * equal
 */
function checkNames(what: 'collection' | 'index', names: readonly string[]): void {
  const byTable = Map.groupBy(names, (name) => name.toLowerCase())
  for (const same of byTable.values()) {
    const isUsable = same.every((name) => TABLE_NAME.test(name) && !RESERVED_NAME.test(name))
    if (same.length > 1 || !isUsable)
      throw new StartupError(`the ${what} ${same.join(' or ')} needs another name: ${NAME_ADVICE}`)
  }
}
