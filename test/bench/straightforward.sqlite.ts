import { DatabaseSync } from 'node:sqlite'
import { batchesOf, plantOf, type Sizes } from './data.ts'
import type { Database } from './straightforward.ts'

const SCHEMA = `CREATE TABLE IF NOT EXISTS plants (
  owner TEXT NOT NULL,
  id INTEGER NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  PRIMARY KEY (owner, id)
) WITHOUT ROWID`

/** Opens a file, whose every commit is synced. */
export async function open(url: string): Promise<Database> {
  const db = new DatabaseSync(url.replace('sqlite:', ''))
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${SCHEMA}`)
  const insert = db.prepare('INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING')
  const select = db.prepare('SELECT name, tag FROM plants WHERE owner = ? ORDER BY id LIMIT ?')
  const remove = db.prepare('DELETE FROM plants WHERE owner = ? AND id = ?')
  return {
    insert: async (owner, id, { name, tag }) => insert.run(owner, id, name, tag ?? null).changes === 1,
    select: async (owner, limit = -1) =>
      select.all(owner, limit).map(({ name, tag }) => ({ name: String(name), tag: tag === null ? null : String(tag) })),
    delete: async (owner, id) => remove.run(owner, id).changes === 1,
  }
}

/** Makes a file with the plants to begin with. */
export async function fill(url: string, sizes: Sizes): Promise<void> {
  const db = new DatabaseSync(url.replace('sqlite:', ''))
  db.exec(`PRAGMA journal_mode = WAL; ${SCHEMA}; BEGIN`)
  const insert = db.prepare('INSERT INTO plants (owner, id, name, tag) VALUES (?, ?, ?, ?)')
  for (const batch of batchesOf(sizes, 1000)) {
    for (const { owner, id } of batch) {
      const { name, tag } = plantOf(id)
      insert.run(owner, id, name, tag)
    }
  }
  db.exec('COMMIT')
  db.close()
}
