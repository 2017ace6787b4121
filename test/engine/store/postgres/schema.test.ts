import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { program, run, start, startService } from '../../../support/process.ts'
import { NEXT, upgrade } from '../../../support/upgrade.ts'
import { openTestStore } from '../../../support/stores.ts'
import { VERSIONS } from '../../../../service/engine/store/postgres/schema.ts'

const server = await startPostgres(t)
const MAIN = program('main')
const TOKEN_LIST = program('token', 'list')

/** Opens a store, stores a plant and closes it. */
async function use(url: string): Promise<void> {
  const store = await openTestStore({ url })
  const id = BigInt(Math.floor(Math.random() * 1e9))
  await store.create('joe', id, { name: 'x' }).finally(() => store.close())
}

const version = (url: string) => server.sql('SELECT version, oldest FROM plant_store', url)
/** The number of the current version, and that of a version that does not exist yet. */
const [KNOWN, FUTURE] = [VERSIONS.length, VERSIONS.length + 3]
const CURRENT = [{ version: KNOWN, oldest: KNOWN }]
const UPGRADED = [{ version: KNOWN + 1, oldest: NEXT.oldest }]

/** Opens a transaction as the administrator, and does not end it. */
async function transaction(t: Test, url: string, text: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`BEGIN; ${text}`)
  return client
}

/** Waits until `count` statements that match `like` wait for a lock. */
async function waiting(url: string, like: string, count = 1): Promise<void> {
  const text = `SELECT 1 FROM pg_stat_activity
    WHERE datname = current_database() AND query LIKE '${like}%' AND wait_event_type = 'Lock'`
  while ((await server.sql(text, url)).length < count) await delay(10)
}

/** Starts a service that must fail. @returns the one line of its log */
async function refusal(t: Test, DATABASE_URL: string): Promise<unknown> {
  const { code, stdout, stderr } = await run(MAIN, { DATABASE_URL, PORT: '0', LOG_LEVEL: 'error' })
  t.strictSame({ code, stderr }, { code: 1, stderr: '' })
  t.notMatch(stdout, 'secret')
  const [line = '', ...others] = stdout.split('\n')
  t.strictSame(others, [''])
  return (JSON.parse(line) as { msg: unknown }).msg
}

t.test('ten services start at the same time on an empty database', async (t) => {
  for (let round = 0; round < 5; round++) {
    const url = await server.createDatabase()
    await Promise.all(Array.from({ length: 10 }, () => use(url)))
    t.strictSame(await version(url), CURRENT)
    t.strictSame(await server.sql('SELECT count(*)::int AS plants FROM plants', url), [{ plants: 10 }])
  }
})

t.test('a process that is killed while it creates the schema blocks nobody', async (t) => {
  const url = await server.createDatabase()
  // PostgreSQL makes each process wait for the table that another one is creating.
  const other = await transaction(t, url, 'CREATE TABLE plants (x INTEGER)')
  const { child, ended } = await start(t, TOKEN_LIST, { DATABASE_URL: url })
  await waiting(url, 'CREATE TABLE')
  child.kill('SIGKILL')
  await ended
  await other.query('ROLLBACK')
  await Promise.all([use(url), use(url)])
  t.strictSame(await version(url), CURRENT)
})

t.test('an upgrade of the schema waits for open transactions, and does not block others for long', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const reader = await transaction(t, url, 'SELECT FROM plants')
  const upgraded = upgrade(url)
  // The upgrade leaves the queue for the lock again and again, so that others get the lock.
  for (let round = 0; round < 2; round++) {
    await waiting(url, 'ALTER TABLE')
    await use(url)
  }
  await reader.query('ROLLBACK')
  t.strictSame(
    (await upgraded).filter((text) => text.startsWith('UPDATE')),
    ['UPDATE plant_store SET version = version + 1, oldest = GREATEST(oldest, $1) WHERE version = $2'],
  )
  t.strictSame(await version(url), UPGRADED)
})

t.test('ten processes upgrade the schema once, even if one of them is killed in the middle', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const reader = await transaction(t, url, 'SELECT FROM plants')
  const { child, ended } = await start(t, [process.execPath, 'test/support/upgrade.ts'], { DATABASE_URL: url })
  await waiting(url, 'ALTER TABLE plants') // it has changed the other table
  const others = Promise.all(Array.from({ length: 9 }, () => upgrade(url)))
  await waiting(url, 'ALTER TABLE plants', 3)
  child.kill('SIGKILL')
  await ended
  await reader.query('ROLLBACK')
  const statements = (await others).flat()
  t.ok(
    statements.every((text) => /^(ALTER TABLE|UPDATE plant_store)/.test(text)),
    'nothing of the first version',
  )
  t.strictSame(await version(url), UPGRADED)
  t.strictSame(
    await server.sql(`SELECT table_name FROM information_schema.columns WHERE column_name = 'note' ORDER BY 1`, url),
    [{ table_name: 'plants' }, { table_name: 'tokens' }],
  )
  await use(url) // as the version before
  t.strictSame(await upgrade(url), [], 'there is nothing left to do')
})

t.test('a late process does not upgrade the schema again', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const reader = await transaction(t, url, 'SELECT FROM plants')
  const late = upgrade(url)
  await waiting(url, 'ALTER TABLE')
  await server.sql(`UPDATE plant_store SET version = ${FUTURE}, oldest = ${KNOWN}`, url)
  await reader.query('ROLLBACK')
  await late
  t.strictSame(await version(url), [{ version: FUTURE, oldest: KNOWN }])
})

t.test('this version works on the schema of the next version, if that allows it', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    `ALTER TABLE plants ADD COLUMN note TEXT; ALTER TABLE tokens ADD COLUMN more TEXT DEFAULT 'all'`,
    url,
  )
  await server.sql(`UPDATE plant_store SET version = ${KNOWN + 1}, oldest = ${KNOWN}`, url)
  await use(url)
  const store = await openTestStore({ url })
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: ['a'] }
  await store.addToken(token)
  t.strictSame(await store.listTokens(), [token])
  t.equal((await namesIn(store, 'joe')).length, 2)
  await store.close()
  t.match(await version(url), UPGRADED, 'the version is not changed')
})

t.test('tokens of version 1 are kept, and have no scopes', async (t) => {
  const url = await server.createDatabase()
  await upgrade(url, VERSIONS.slice(0, 1))
  await server.sql(
    `INSERT INTO tokens (id, digest, caller, created) VALUES ('a', '\\x${'00'.repeat(32)}', 'joe', 1)`,
    url,
  )
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: [] }
  await Promise.all(Array.from({ length: 10 }, () => use(url)))
  t.strictSame(await version(url), [{ version: KNOWN, oldest: 1 }], 'programs of version 1 go on beside it')
  const store = await openTestStore({ url })
  t.strictSame(await store.listTokens(), [token])
  await store.addToken({ ...token, id: 'b', digest: new Uint8Array(32).fill(1), scopes: ['read'] })
  t.strictSame((await store.findToken(new Uint8Array(32).fill(1)))?.scopes, ['read'])
  await store.close()
})

t.test('a newer schema that does not allow this version is refused, in one line', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(`UPDATE plant_store SET version = ${FUTURE}, oldest = ${KNOWN + 1}`, url)
  t.equal(
    await refusal(t, url),
    `DATABASE_URL ${url.replace('admin@', '')}: its schema is version ${FUTURE}, and this program knows ${KNOWN}: it is too old`,
  )
})

t.test('owners, keys and token ids are compared byte by byte, in any language of the database', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const text = `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE collation_name = 'C' AND table_schema = 'public' ORDER BY name`
  t.strictSame(
    (await server.sql(text, url)).map(({ name }) => name),
    ['notes.key', 'notes.owner', 'plants.owner', 'tokens.id'],
  )
})

t.test('a database that can not store all texts is refused', async (t) => {
  const url = await server.createDatabase(`ENCODING 'LATIN1' TEMPLATE template0`)
  t.match(await refusal(t, url), /: its encoding is LATIN1 and must be UTF8$/)
})

t.test('a fault that a person must fix is one line, with the variable and never the password', async (t) => {
  await server.sql(`CREATE ROLE joe LOGIN PASSWORD 'right'`)
  const { host } = new URL(server.url)
  const readOnly = await server.createDatabase()
  await server.sql(`ALTER DATABASE ${new URL(readOnly).pathname.slice(1)} SET default_transaction_read_only = on`)
  const faults: [string, RegExp][] = [
    [`postgres://joe:secret@${host}/postgres`, /: password authentication failed for user "joe"$/],
    [`postgres://admin:secret@${host}/nothing`, /: database "nothing" does not exist$/],
    [`postgres://joe:right@${host}/postgres`, /: permission denied for schema public$/],
    [`postgres://admin:secret@${host}/postgres?sslmode=require`, /: The server does not support SSL connections$/],
    [`postgres://admin:secret@${host}/postgres?sslrootcert=/no/such`, /: ENOENT: no such file/],
    ['postgres://joe:secret@localhost:1/plants', /: connect ECONNREFUSED /],
    [readOnly, /: the server takes no writes$/],
  ]
  const times = await Promise.all(
    faults.map(async ([url, expected]) => {
      const started = performance.now()
      const message = await refusal(t, url)
      t.match(message, expected)
      t.ok(String(message).startsWith(`DATABASE_URL postgres://${new URL(url).host}/`), String(message))
      return { waits: /SSL|ECONNREFUSED|writes/.test(expected.source), time: performance.now() - started }
    }),
  )
  const [waiting, final] = [true, false].map((waits) => times.filter((each) => each.waits === waits))
  const shortest = Math.min(...(waiting ?? []).map(({ time }) => time))
  t.ok(shortest > 9000, `${shortest} ms`)
  for (const { time } of final ?? []) t.ok(time < shortest, 'it waits only for a server that may still start')
})

t.test('a role that may only read and write can use existing tables', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    `CREATE ROLE ann LOGIN PASSWORD 'right'; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ann`,
    url,
  )
  await use(url.replace('admin@', 'ann:right@'))
  t.strictSame(await server.sql('SELECT count(*)::int AS plants FROM plants', url), [{ plants: 2 }])
})

t.test('a service waits for a server that starts a little later', async (t) => {
  const url = await server.createDatabase()
  await server.crash()
  const opened = use(url)
  opened.catch(() => undefined)
  const started = performance.now()
  await server.start()
  // On a busy machine the server may take longer than the service waits.
  if (performance.now() - started < 5000) await opened
  else await use(url)
  t.strictSame(await version(url), CURRENT)
})

t.test('no token is issued on the first start: the database may be shared', async (t) => {
  const url = await server.createDatabase()
  const { child, ended } = await startService(t, { DATABASE_URL: url })
  child.kill('SIGTERM')
  t.strictSame({ ...(await ended), stdout: '' }, { code: 0, signal: null, stdout: '', stderr: '' })
  t.strictSame(await server.sql('SELECT * FROM tokens', url), [])
})
