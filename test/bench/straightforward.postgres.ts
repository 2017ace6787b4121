import pg from 'pg'
import { batchesOf, plantOf, type Sizes } from './data.ts'
import type { Database, Plant } from './straightforward.ts'

const SCHEMA = `CREATE TABLE IF NOT EXISTS plants (
  owner TEXT NOT NULL,
  id BIGINT NOT NULL,
  name TEXT NOT NULL,
  tag TEXT,
  PRIMARY KEY (owner, id)
)`

/** Connects with the pool as it comes, of ten connections. */
export async function open(url: string): Promise<Database> {
  const pool = new pg.Pool({ connectionString: url })
  await pool.query(SCHEMA)
  return {
    insert: async (owner, id, { name, tag }) => {
      const text = 'INSERT INTO plants (owner, id, name, tag) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING'
      return (await pool.query(text, [owner, id, name, tag])).rowCount === 1
    },
    select: async (owner, limit) => {
      const text = 'SELECT name, tag FROM plants WHERE owner = $1 ORDER BY id LIMIT $2'
      return (await pool.query<Plant>(text, [owner, limit])).rows
    },
    delete: async (owner, id) => {
      const text = 'DELETE FROM plants WHERE owner = $1 AND id = $2'
      return (await pool.query(text, [owner, id])).rowCount === 1
    },
  }
}

/** Puts the plants to begin with into an empty database. */
export async function fill(url: string, sizes: Sizes): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(SCHEMA)
  for (const batch of batchesOf(sizes, 10_000)) {
    const plants = batch.map(({ id }) => plantOf(id))
    await client.query(
      `INSERT INTO plants (owner, id, name, tag)
        SELECT * FROM unnest($1::text[], $2::int8[], $3::text[], $4::text[])`,
      [
        batch.map(({ owner }) => owner),
        batch.map(({ id }) => id),
        plants.map(({ name }) => name),
        plants.map(({ tag }) => tag),
      ],
    )
  }
  await client.query('VACUUM ANALYZE plants')
  await client.end()
}
