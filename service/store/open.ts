import { type Config, readConfig } from '../config.ts'
import type { Limits, Monitor, Store } from './store.ts'

/**
 * Opens the store, makes it if there is none, and upgrades its schema.
 * @param sole false for a short visit beside the process that owns an embedded store
 * @throws {StartupError}
 */
export async function openStore(
  database: Config['DATABASE_URL'],
  sole = true,
  limits: Limits = readConfig({}),
  monitor?: Monitor,
): Promise<Store> {
  if ('file' in database) {
    const { SqliteStore } = await import('./sqlite/store.ts')
    return new SqliteStore(database.file, sole, limits, monitor)
  }
  const { PostgresStore } = await import('./postgres/store.ts')
  return PostgresStore.open(database.url, limits)
}
