import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Query } from './connections.ts'

/**
 * Each entry upgrades the schema by one version. Its statements run one by one, and may run again or beside each other.
 * `oldest` is the oldest version of the program that can work with the result: while replicas are replaced one after
 * the other, that is the one before. What it reads and writes stays until the version after.
 */
const SCHEMA = [
  {
    oldest: 1,
    statements: (text: string) => [
      `CREATE TABLE IF NOT EXISTS plants (
        owner ${text} NOT NULL,
        id BIGINT NOT NULL,
        plant TEXT NOT NULL, -- as JSON, the form that it is answered in; not JSONB, which changes it
        PRIMARY KEY (owner, id)
      )`,
      `CREATE TABLE IF NOT EXISTS tokens (
        id ${text} NOT NULL PRIMARY KEY,
        digest BYTEA NOT NULL UNIQUE,
        caller TEXT NOT NULL,
        created BIGINT NOT NULL, -- milliseconds since 1970, as is expires
        expires BIGINT
      )`,
    ],
  },
  { oldest: 1, statements: () => ['ALTER TABLE tokens ADD COLUMN IF NOT EXISTS scopes TEXT'] },
]

/** One row: the version of the schema, and the lock of whoever upgrades it. */
const VERSION_TABLE = [
  `CREATE TABLE IF NOT EXISTS plant_store (
    one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    oldest INTEGER NOT NULL,
    holder TEXT,
    expires TIMESTAMPTZ
  )`,
  'INSERT INTO plant_store (one, version, oldest) VALUES (1, 0, 0) ON CONFLICT DO NOTHING',
]

/** The lock is free so many seconds after its holder has died. */
const EXPIRY = 3
const EXPIRES = `expires = now() + interval '${EXPIRY} seconds'` // by the clock of the server, which all share

/** Codes of those who create the same at once, but for one: they have to look again. */
const RACES = new Set(['23505', '42P07', '42710', 'XX000'])
const MOST_RACES = 100

/**
 * Makes or upgrades the schema; of several processes that begin at once one does it, and all wait for it.
 * @param change runs a statement that may take long, while others of `query` go on
 * @throws {StoreUnavailable}
 * @throws {Error} for a database that this program can't work with
 */
export async function prepareSchema(query: Query, change: Query): Promise<void> {
  const settings = `SELECT current_setting('server_encoding') AS encoding, version() AS version`
  const { encoding, version } = (await query(settings))[0] ?? {}
  if (encoding !== 'UTF8') throw new Error(`its encoding is ${String(encoding)} and must be UTF8`)
  // Byte by byte, whatever the database sorts by. CockroachDB does so, and refuses to be told.
  const text = String(version).includes('Cockroach') ? 'TEXT' : 'TEXT COLLATE "C"'
  for (let races = 0; !(await isCurrent(query));) {
    await upgrade(query, change, text).catch((error: unknown) => {
      races += 1
      if (!RACES.has(codeOf(error)) || races > MOST_RACES) throw error
    })
    await delay(Math.random() * 100)
  }
}

async function isCurrent(query: Query): Promise<boolean> {
  const [found] = await query('SELECT version, oldest FROM plant_store').catch((error: unknown) => {
    if (codeOf(error) === '42P01') return [] // there is no such table yet
    throw error
  })
  const { version, oldest } = found ?? {}
  if (Number(oldest) > SCHEMA.length) {
    throw new Error(`its schema is version ${Number(version)}, and this program knows ${SCHEMA.length}: it is too old`)
  }
  return Number(version) >= SCHEMA.length
}

/** Upgrades the schema, unless another holds the lock. */
async function upgrade(query: Query, change: Query, text: string): Promise<void> {
  for (const statement of VERSION_TABLE) await query(statement)
  const holder = randomUUID()
  const [locked] = await query(
    `UPDATE plant_store SET holder = $1, ${EXPIRES} WHERE expires IS NULL OR expires < now() RETURNING version`,
    [holder],
  )
  if (locked === undefined) return
  const renewal = setInterval(
    () => {
      query(`UPDATE plant_store SET ${EXPIRES} WHERE holder = $1`, [holder]).catch(() => undefined)
    },
    (EXPIRY * 1000) / 5,
  )
  try {
    for (const [index, { oldest, statements }] of SCHEMA.entries()) {
      if (index < Number(locked['version'])) continue
      for (const statement of statements(text)) await change(statement)
      const keep = `UPDATE plant_store SET version = $1, oldest = $2 WHERE holder = $3 AND version = $4 RETURNING 1`
      const [kept] = await query(keep, [index + 1, oldest, holder, index])
      if (kept === undefined) return // it took so long that another has the lock
    }
  } finally {
    clearInterval(renewal)
    await query('UPDATE plant_store SET holder = NULL, expires = NULL WHERE holder = $1', [holder])
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
