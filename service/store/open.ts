import { type Config, readConfig } from '../engine/config.ts'
import { StartupError } from '../engine/errors.ts'
import type { Collections, Settings, Monitor, Store } from './store.ts'

/** Names of collections: those of SQL that need no quotes, and none of a table that the store or its database itself has. */
const NAME = /^[a-z][A-Za-z0-9_]{0,54}$/
const OWN = /^(tokens|(sqlite|pg)_.*)$/i
const NAMES =
  'a small letter, then letters, digits and _, at most 55, and not "tokens", "sqlite_..." or "pg_..."'

/**
 * Opens the store. Creates it if there is none, and the tables that it lacks.
 * @param exclusive whether this process locks an embedded store; false for a command beside a running service
 * @throws {StartupError}
 */
export async function openStore(
  database: Config['DATABASE_URL'],
  { collections }: { readonly collections: Collections },
  exclusive = true,
  settings: Settings = readConfig('', {}),
  monitor?: Monitor,
): Promise<Store> {
  const twins = Map.groupBy(Object.keys(collections), (name) => name.toLowerCase()) // as SQLite compares them
  const wrong = twins
    .values()
    .find(([name = '', other]) => !NAME.test(name) || OWN.test(name) || other !== undefined)
  if (wrong)
    throw new StartupError(`the collection ${wrong.join(' or ')} needs another name: ${NAMES}`)
  if ('file' in database) {
    const { SqliteStore } = await import('./sqlite/store.ts')
    return new SqliteStore(database.file, collections, exclusive, settings, monitor)
  }
  const { PostgresStore } = await import('./postgres/store.ts')
  return PostgresStore.open(database.url, collections, settings)
}
