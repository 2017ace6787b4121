// Stores of earlier versions are taken over at the start: the columns of plants have other names,
// and the table of tokens goes.
import { fail } from 'node:assert'
import { hash } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import t, { type Test } from 'tap'
import { idOf } from '@plant-store/engine/for-testing'
import type { StoredToken } from '../../engine/src/auth/access-tokens.ts'
import { checkDatabase, restoreBackup } from '../../../test/support/inner/backup.ts'
import { acquireLock } from '../src/sqlite/lock.ts'
import { range } from '../../../test/support/stores/store-engines.ts'
import { namesIn, read } from '../../../test/support/stores/read-page.ts'
import { startPostgres } from '../../../test/support/postgres/server.ts'
import { program, run } from '../../../test/support/processes/programs.ts'
import {
  openNewFile,
  openTestStore,
  type TestStore,
} from '../../../test/support/stores/open-store.ts'

const postgres = await startPostgres(t)
/** A store made by this version. */
const { store: today } = await openNewFile(t)
const IDS = [-(2n ** 63n), -1n, 0n, 2n ** 53n + 1n, 2n ** 63n - 1n]
/** Access tokens, the oldest first. */
const TOKENS: StoredToken[] = [
  {
    digest: hash('sha256', 'a'),
    caller: 'joe',
    created: new Date(1),
    expires: new Date(2),
    scopes: ['plants:read', "'b'"],
  },
  { digest: hash('sha256', 'b'), caller: 'Joe', created: new Date(1.8e12), scopes: [] },
  { digest: hash('sha256', 'c'), caller: 'j.o-e@x', created: new Date(1.9e12), scopes: [] },
]
const [TOKEN = fail(), REVOKED = fail()] = TOKENS
/** The rows of tokens. The first version wrote no scopes. @param bytes writes bytes in SQL */
const tokenRows = (bytes: (hex: string) => string) =>
  TOKENS.map(({ digest, caller, created, expires, scopes }, at) => {
    const text = at === 2 ? 'NULL' : `'${scopes.join(' ').replaceAll("'", "''")}'`
    const times = `${created.getTime()}, ${expires?.getTime() ?? 'NULL'}`
    return `('${digest.slice(0, 16)}', ${bytes(digest)}, '${caller}', ${times}, ${text})`
  })
const ofSqlite = (hex: string) => `x'${hex}'`
const ofPostgres = (hex: string) => `decode('${hex}', 'hex')`

/** The tables in that version's SQL; strings compared by their bytes are TEXT in SQLite. */
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

function makeOldFile(file: string): void {
  using db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; ${TABLES.sqlite}; ${ROWS}`)
  db.exec(`INSERT INTO tokens VALUES ${tokenRows(ofSqlite).join()}`)
}

async function makeOldDatabase(): Promise<string> {
  const url = await postgres.createDatabase()
  await postgres.sql(`${TABLES.postgres}; ${ROWS}`, url)
  await postgres.sql(`INSERT INTO tokens VALUES ${tokenRows(ofPostgres).join()}`, url)
  return url
}

/** The access tokens as stored. */
async function tokenTexts(store: TestStore): Promise<string[]> {
  const entries = await store.tables.get('access_tokens')?.entries()
  return entries?.map(({ owner, key, text }) => `${owner} ${key} ${text}`) ?? []
}

/** Checks that a store has the access tokens, each as it would be written today. */
async function hasTokens(t: Test, store: TestStore, tokens: readonly StoredToken[]) {
  t.strictSame(await store.tokens.list(), tokens)
  for (const token of tokens) t.strictSame(await store.tokens.find(token.digest), token)
  for (const token of tokens) await today.tokens.add(token)
  t.strictSame(await tokenTexts(store), await tokenTexts(today))
  for (const token of tokens) await today.tokens.remove(idOf(token))
}

/** Checks that a store has everything, and that all methods work on the old table. */
async function works(t: Test, store: TestStore): Promise<void> {
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
  const entries = []
  const table = store.tables.get('plants')
  for (
    let batch = await table?.entries();
    batch?.length;
    batch = await table?.entries(batch.at(-1))
  )
    entries.push(...batch)
  t.equal(entries.length, 2 * IDS.length)
}

t.test('a file of before is taken over with its tokens, and opened again', async (t) => {
  const file = `${t.testdir()}/plants.db`
  makeOldFile(file)
  const tokens = [...TOKENS]
  for (let round = 0; round < 3; round++) {
    const store = await openTestStore({ file })
    await works(t, store)
    await hasTokens(t, store, tokens)
    const [last] = tokens.splice(-1)
    t.equal(await store.tokens.remove(idOf(last ?? fail())), true)
    await store.close()
    t.strictSame(checkDatabase(file), { notes: 1, plants: 10, access_tokens: tokens.length })
  }
})

t.test('a command takes a file over, but not beside a service of before', async (t) => {
  const file = `${t.testdir()}/plants.db`
  makeOldFile(file)
  const service = acquireLock(file)
  await t.rejects(openTestStore({ file }, { isExclusive: false }), {
    message: /another process is using it$/,
  })
  t.strictSame(checkDatabase(file), { plants: 10, tokens: TOKENS.length }, 'it is as before')
  service.close()
  const list = program('token', 'list')
  const ids = (await run(list, { DATABASE_URL: `sqlite:${file}` })).stdout.match(/^\w+/gm)
  t.strictSame(ids, TOKENS.map(idOf))
  t.strictSame(checkDatabase(file), { plants: 10, access_tokens: TOKENS.length, notes: 0 })
})

t.test('a backup of before is checked and restored, and then taken over', async (t) => {
  const [backup, file] = [`${t.testdir()}/backup.db`, `${t.testdirName}/plants.db`]
  makeOldFile(backup)
  const restored = await restoreBackup(backup, file, false)
  t.strictSame(restored.counts, { plants: 10, tokens: TOKENS.length })
  const store = await openTestStore({ file })
  await hasTokens(t, store, TOKENS)
  await store.close()
})

t.test('what was copied from a file of before is the same as what is copied now', async (t) => {
  const file = `${t.testdir()}/plants.db`
  makeOldFile(file)
  const DATABASE_URL = await makeOldDatabase()
  const stdout = `10 plants, 0 notes, and ${TOKENS.length} tokens are copied\n`
  t.match(await run(program('copy', `sqlite:${file}`), { DATABASE_URL }), { stdout, stderr: '' })
})

t.test('a table tokens of another program is no fault, and stays as it is', async (t) => {
  const url = await postgres.createDatabase()
  await postgres.sql(`CREATE TABLE tokens (digest TEXT); INSERT INTO tokens VALUES ('x')`, url)
  const store = await openTestStore({ url })
  t.strictSame(await store.tokens.list(), [])
  await store.close()
  t.strictSame(await postgres.sql('SELECT * FROM tokens', url), [{ digest: 'x' }])
})

t.test(
  'a database of before is taken over once, and its replicas go on beside the new ones',
  async (t) => {
    const url = await makeOldDatabase()
    const old = new pg.Client({ connectionString: url })
    await old.connect()
    t.teardown(() => old.end())
    const stores = await Promise.all(range(10).map(() => openTestStore({ url })))
    t.teardown(() => Promise.all(stores.map((store) => store.close())))
    const [store = fail()] = stores
    await works(t, store)
    await hasTokens(t, store, TOKENS)
    const before = await old.query('SELECT * FROM tokens')
    t.equal(before.rowCount, TOKENS.length, 'the old replicas have their tokens')
    // Later starts keep later revocations and new tokens, whatever the old table has.
    t.equal(await store.tokens.remove(idOf(REVOKED)), true)
    const added = { ...TOKEN, digest: hash('sha256', 'added'), created: new Date(2e12) }
    await store.tokens.add(added)
    const later = await openTestStore({ url })
    await hasTokens(t, later, [...TOKENS.filter((token) => token !== REVOKED), added])
    await later.close()

    // The statements of version 1.0.
    const run = async (text: string, values: unknown[]) =>
      (await old.query<Record<string, unknown>>(text, values)).rows
    const rows = 'unnest($1::text[], $2::int8[], $3::text[]) AS given (owner, id, plant)'
    const many = `INSERT INTO plants AS stored (owner, id, plant) SELECT owner, id, plant FROM ${rows}
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
