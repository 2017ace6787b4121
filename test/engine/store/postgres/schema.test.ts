import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { program, run, start, startService } from '../../../support/process.ts'
import { openTestStore } from '../../../support/stores.ts'
import { VERSION } from '../../../../service/engine/store/postgres/schema.ts'

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
const FUTURE = VERSION + 3
const CURRENT = [{ version: VERSION, oldest: VERSION }]

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

t.test('ten processes upgrade the schema once, even if one is killed, and block nobody for long', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  // As version 1 made it.
  await server.sql(
    `ALTER TABLE tokens DROP COLUMN scopes; UPDATE plant_store SET version = 1, oldest = 1;
      INSERT INTO tokens (id, digest, caller, created) VALUES ('a', '\\x${'00'.repeat(32)}', 'joe', 1)`,
    url,
  )
  const reader = await transaction(t, url, 'SELECT FROM tokens')
  const { child, ended } = await start(t, TOKEN_LIST, { DATABASE_URL: url })
  await waiting(url, 'ALTER TABLE')
  const limits = { DATABASE_POOL_SIZE: 1, DATABASE_TIMEOUT: 2 }
  const others = Promise.all(Array.from({ length: 9 }, () => openTestStore({ url }, true, limits)))
  await waiting(url, 'ALTER TABLE', 3)
  child.kill('SIGKILL')
  await ended
  // An upgrade leaves the queue for the lock again and again, so that others get the lock.
  for (let round = 0; round < 2; round++) {
    await waiting(url, 'ALTER TABLE')
    await server.sql('SELECT FROM tokens', url)
  }
  await reader.query('ROLLBACK')
  const stores = await others
  t.strictSame(await version(url), [{ version: VERSION, oldest: 1 }], 'programs of version 1 go on beside it')
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: [] }
  for (const store of stores) t.strictSame(await store.listTokens(), [token], 'it is kept, and has no scopes')
  await stores[0]?.addToken({ ...token, id: 'b', digest: new Uint8Array(32).fill(1), scopes: ['read'] })
  t.strictSame((await stores[1]?.findToken(new Uint8Array(32).fill(1)))?.scopes, ['read'])
  await Promise.all(stores.map((store) => store.close()))
})

t.test('this version works on the schema of the next version, if that allows it', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    `ALTER TABLE plants ADD COLUMN note TEXT; ALTER TABLE tokens ADD COLUMN more TEXT DEFAULT 'all'`,
    url,
  )
  await server.sql(`UPDATE plant_store SET version = ${VERSION + 1}, oldest = ${VERSION}`, url)
  await use(url)
  const store = await openTestStore({ url })
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: ['a'] }
  await store.addToken(token)
  t.strictSame(await store.listTokens(), [token])
  t.equal((await namesIn(store, 'joe')).length, 2)
  await store.close()
  t.strictSame(await version(url), [{ version: VERSION + 1, oldest: VERSION }], 'the version is not changed')
})

t.test('a newer schema that does not allow this version is refused, in one line', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(`UPDATE plant_store SET version = ${FUTURE}, oldest = ${VERSION + 1}`, url)
  t.equal(
    await refusal(t, url),
    `DATABASE_URL ${url.replace('admin@', '')}: its schema is version ${FUTURE}, and this program knows ${VERSION}: it is too old`,
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
