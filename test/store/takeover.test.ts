// Stores that version 1.0 of the program made, when it only knew plants: they are taken over at the start.
import { fail } from 'node:assert'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import t, { type Test } from 'tap'
import { range } from '../support/engines.ts'
import { namesIn, read } from '../support/pages.ts'
import { startPostgres } from '../support/postgres.ts'
import { openTestStore, type TestStore } from '../support/stores.ts'

const postgres = await startPostgres(t)
const IDS = [-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n]
const TIMES = { created: new Date(1), expires: new Date(2) }
const TOKEN = {
  id: 'a',
  caller: 'joe',
  ...TIMES,
  digest: new Uint8Array(32),
  scopes: ['plants:read'],
}

/** What the SQL of that version made; the type of texts that are compared by their bytes is TEXT in SQLite. */
const TABLES = {
  sqlite: `
    CREATE TABLE plants (
      owner TEXT NOT NULL, id INTEGER NOT NULL, plant TEXT NOT NULL, PRIMARY KEY (owner, id)
    ) WITHOUT ROWID, STRICT;
    CREATE TABLE tokens (
      id TEXT NOT NULL PRIMARY KEY, digest BLOB NOT NULL UNIQUE, caller TEXT NOT NULL, created INTEGER NOT NULL,
      expires INTEGER, scopes TEXT
    ) WITHOUT ROWID, STRICT;
    PRAGMA user_version = 2;
    PRAGMA application_id = 0x706c6e74`,
  postgres: `
    CREATE TABLE plant_store (
      one INTEGER NOT NULL PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, oldest INTEGER NOT NULL
    );
    INSERT INTO plant_store (one, version, oldest) VALUES (1, 2, 1);
    CREATE TABLE plants (
      owner TEXT COLLATE "C" NOT NULL, id BIGINT NOT NULL, plant TEXT NOT NULL, PRIMARY KEY (owner, id)
    );
    CREATE TABLE tokens (
      id TEXT COLLATE "C" NOT NULL PRIMARY KEY, digest BYTEA NOT NULL UNIQUE, caller TEXT NOT NULL,
      created BIGINT NOT NULL, expires BIGINT, scopes TEXT
    )`,
}
const VALUES = ['joe', 'Joe'].flatMap((owner) =>
  IDS.map((id) => `('${owner}', ${id}, '{"name":"${id} of ${owner}"}')`),
)
const ROWS = `INSERT INTO plants (owner, id, plant) VALUES ${VALUES.join()}`

/** Checks that a store has everything, and that all methods work on the old table. */
async function works(t: Test, store: TestStore): Promise<void> {
  t.strictSame([await store.findToken(TOKEN.digest), await store.listTokens()], [TOKEN, [TOKEN]])
  for (const owner of ['joe', 'Joe'])
    t.strictSame((await namesIn(store, owner)).join(), IDS.map((id) => `${id} of ${owner}`).join())
  const { next } = await store.list('joe', { limit: 2 })
  t.equal(next, '__________8', 'the cursor is that of before')
  t.equal((await read(store.list('joe', { cursor: next }))).items.length, 3)
  t.strictSame(await store.create('joe', 0n, { name: 'x' }), { name: '0 of joe' })
  await Promise.all([1n, 2n].map((key) => store.create('joe', key, { name: 'new' })))
  t.strictSame(await store.update('joe', 1n, ({ name }) => ({ name: `${name}er` })), {
    name: 'newer',
  })
  t.strictSame(await Promise.all([1n, 2n].map((key) => store.delete('joe', key))), [true, true])
  t.strictSame(await store.notes.create('joe', 'a', { text: 'a', count: 1n }), {
    text: 'a',
    count: 1n,
  })
  const all = []
  const table = store.tables.get('plants')
  for (let some = await table?.entries(); some?.length; some = await table?.entries(some.at(-1)))
    all.push(...some)
  t.equal(all.length, 2 * IDS.length)
}

t.test('a file of version 1.0 is taken over, and opened again', async (t) => {
  const file = `${t.testdir()}/plants.db`
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; ${TABLES.sqlite}; ${ROWS}`)
  db.exec(`INSERT INTO tokens VALUES ('a', zeroblob(32), 'joe', 1, 2, 'plants:read')`)
  db.close()
  for (let round = 0; round < 2; round++) {
    const store = await openTestStore({ file })
    await works(t, store)
    await store.close()
  }
})

t.test(
  'a database of version 1.0 is taken over, and its replicas go on beside the new ones',
  async (t) => {
    const url = await postgres.createDatabase()
    await postgres.sql(`${TABLES.postgres}; ${ROWS}`, url)
    const digest = `decode(repeat('00', 32), 'hex')`
    await postgres.sql(
      `INSERT INTO tokens VALUES ('a', ${digest}, 'joe', 1, 2, 'plants:read')`,
      url,
    )
    const old = new pg.Client({ connectionString: url })
    await old.connect()
    t.teardown(() => old.end())
    const stores = await Promise.all(range(10).map(() => openTestStore({ url })))
    t.teardown(() => Promise.all(stores.map((each) => each.close())))
    const [store = fail()] = stores
    await works(t, store)

    // The statements of version 1.0.
    const run = async (text: string, values: unknown[]) =>
      (await old.query<Record<string, unknown>>(text, values)).rows
    const given = 'unnest($1::text[], $2::int8[], $3::text[]) AS given (owner, id, plant)'
    const many = `INSERT INTO plants AS stored (owner, id, plant) SELECT owner, id, plant FROM ${given}
    ON CONFLICT (owner, id) DO UPDATE SET plant = stored.plant RETURNING owner, id, plant`
    await store.create('old', 1n, { name: 'a' })
    const created = await run(many, [
      ['old', 'old'],
      [1n, 2n],
      ['{"name":"x"}', '{"name":"b"}'],
    ])
    t.match(created, [{ plant: '{"name":"a"}' }, { plant: '{"name":"b"}' }])
    t.strictSame(await namesIn(store, 'old'), ['a', 'b'])
    await store.create('old', 3n, { name: 'c' })
    await store.update('old', 1n, () => ({ name: 'new' }))
    const list = `SELECT string_agg(plant, ',' ORDER BY id) AS plants, max(id) AS last FROM
    (SELECT id, plant FROM plants WHERE owner = $1 AND id >= $2 ORDER BY id LIMIT $3) AS page`
    t.strictSame(await run(list, ['old', 0n, 20]), [
      { plants: '{"name":"new"},{"name":"b"},{"name":"c"}', last: '3' },
    ])
    await run('DELETE FROM plants WHERE owner = $1 AND id = $2', ['old', 2n])
    t.strictSame(await namesIn(store, 'old'), ['new', 'c'])
  },
)
