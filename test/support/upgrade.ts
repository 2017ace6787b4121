// Upgrades the schema of the database DATABASE_URL, as a future version of the program may do.
import { Pool, type Query } from '../../service/engine/store/postgres/pool.ts'
import { prepareSchema, type Version, VERSIONS } from '../../service/engine/store/postgres/schema.ts'
import { COLLECTIONS } from './stores.ts'
import { PREFIX } from './tokens.ts'

/** A future version of the schema. */
export const NEXT = {
  oldest: VERSIONS.length,
  statements: [
    'ALTER TABLE tokens ADD COLUMN IF NOT EXISTS note TEXT',
    'ALTER TABLE plants ADD COLUMN IF NOT EXISTS note TEXT',
  ],
}

/** Upgrades a schema to the last of some versions. @returns the statements that were run, without queries */
export async function upgrade(url: string, versions: readonly Version[] = [...VERSIONS, NEXT]): Promise<string[]> {
  const connections = new Pool(url, { DATABASE_POOL_SIZE: 1, DATABASE_TIMEOUT: 2 })
  const run: string[] = []
  const query: Query = (text, values) => {
    if (!text.startsWith('SELECT')) run.push(text)
    return connections.write(text, values)
  }
  await prepareSchema(query, { tokenPrefix: PREFIX, collections: COLLECTIONS }, versions).finally(() =>
    connections.end(),
  )
  return run
}

if (import.meta.main) await upgrade(String(process.env['DATABASE_URL']))
