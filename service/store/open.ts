import { type Config, readConfig } from '../config.ts'
import type { Limits, Monitor, Store } from './store.ts'

/**
 * Opens the store. Creates it if there is none, and upgrades its schema.
 * @param exclusive whether this process locks an embedded store; false for a command beside a running service
 * @throws {StartupError}
 */
export async function openStore(
  database: Config['DATABASE_URL'],
  exclusive = true,
  limits: Limits = readConfig({}),
  monitor?: Monitor,
): Promise<Store> {
  if ('file' in database) {
    const { SqliteStore } = await import('./sqlite/store.ts')
    return new SqliteStore(database.file, exclusive, limits, monitor)
  }
  const { PostgresStore } = await import('./postgres/store.ts')
  return PostgresStore.open(database.url, limits)
}
