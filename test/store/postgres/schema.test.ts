import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { namesIn } from '../../support/pages.ts'
import { startPostgres } from '../../support/postgres.ts'
import { run, start, startService } from '../../support/process.ts'
import { openStore } from '../../../service/store/open.ts'

const server = await startPostgres(t)
const MAIN = [process.execPath, 'service/main.ts']
const TOKEN_LIST = [process.execPath, 'service/token.ts', 'list']

/** Opens a store, stores a plant and closes it. */
async function use(url: string): Promise<void> {
  const store = await openStore({ url })
  const id = BigInt(Math.floor(Math.random() * 1e9))
  await store.create('joe', id, { name: 'x' }).finally(() => store.close())
}

const version = (url: string) => server.sql('SELECT version, oldest, holder, expires FROM plant_store', url)
const CURRENT = [{ version: 2, oldest: 1, holder: null, expires: null }]

/** What a service that can't start logs: one line. */
async function refusal(t: Test, DATABASE_URL: string): Promise<unknown> {
  const { code, stdout, stderr } = await run(MAIN, { DATABASE_URL, PORT: '0', LOG_LEVEL: 'error' })
  t.strictSame({ code, stderr }, { code: 1, stderr: '' })
  t.notMatch(stdout, 'secret')
  const [line = '', ...others] = stdout.split('\n')
  t.strictSame(others, [''])
  return (JSON.parse(line) as { msg: unknown }).msg
}

t.test('ten that start at once on an empty database all come up', async (t) => {
  for (let round = 0; round < 5; round++) {
    const url = await server.createDatabase()
    await Promise.all(Array.from({ length: 10 }, () => use(url)))
    t.strictSame(await version(url), CURRENT)
    t.strictSame(await server.sql('SELECT count(*)::int AS plants FROM plants', url), [{ plants: 10 }])
  }
})

t.test('a process that is killed while it makes the schema blocks nobody for long', async (t) => {
  const url = await server.createDatabase()
  // What another has begun to make can only be waited for.
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query('BEGIN; CREATE TABLE plants (x INTEGER)')
  const { child, ended } = await start(t, TOKEN_LIST, { DATABASE_URL: url })
  const isHeld = async () => (await version(url).catch(() => []))[0]?.['holder'] != null
  while (!(await isHeld())) await delay(20)
  child.kill('SIGKILL')
  await ended
  await other.end()
  const started = performance.now()
  await Promise.all([use(url), use(url)])
  t.ok(performance.now() - started < 4500, `${performance.now() - started} ms`)
  t.strictSame(await version(url), CURRENT)
})

t.test('who takes long to make the schema keeps the lock, and others wait', async (t) => {
  const url = await server.createDatabase()
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  await other.query('BEGIN; CREATE TABLE plants (x INTEGER)')
  const both = Promise.all([use(url), use(url)])
  const holder = async () => (await version(url).catch(() => []))[0]?.['holder']
  while ((await holder()) == null) await delay(20)
  const first = await holder()
  await delay(4500)
  t.equal(await holder(), first, 'longer than it lasts without renewal')
  await other.end()
  await both
  t.strictSame(await version(url), CURRENT)
})

t.test('this version works on the schema of the next one, if that allows for it', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    `ALTER TABLE plants ADD COLUMN note TEXT; ALTER TABLE tokens ADD COLUMN more TEXT DEFAULT 'all'`,
    url,
  )
  await server.sql('UPDATE plant_store SET version = 3, oldest = 2', url)
  await use(url)
  const store = await openStore({ url })
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: ['a'] }
  await store.addToken(token)
  t.strictSame(await store.listTokens(), [token])
  t.equal((await namesIn(store, 'joe')).length, 2)
  await store.close()
  t.match(await version(url), [{ version: 3, oldest: 2 }], 'which stays as it is')
})

t.test('tokens of version 1 are kept, and have no scopes', async (t) => {
  const url = await server.createDatabase()
  const before = await openStore({ url })
  const token = { id: 'a', caller: 'joe', created: new Date(1), digest: new Uint8Array(32), scopes: [] }
  await before.addToken(token)
  await before.close()
  await server.sql('ALTER TABLE tokens DROP COLUMN scopes; UPDATE plant_store SET version = 1', url)
  await Promise.all(Array.from({ length: 10 }, () => use(url)))
  t.strictSame(await version(url), CURRENT)
  const store = await openStore({ url })
  t.strictSame(await store.listTokens(), [token])
  await store.addToken({ ...token, id: 'b', digest: new Uint8Array(32).fill(1), scopes: ['read'] })
  t.strictSame((await store.findToken(new Uint8Array(32).fill(1)))?.scopes, ['read'])
  await store.close()
})

t.test('a newer schema that does not allow for this version is refused, in one line', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql('UPDATE plant_store SET version = 4, oldest = 3', url)
  t.equal(
    await refusal(t, url),
    `DATABASE_URL ${url.replace('admin@', '')}: its schema is version 4, and this program knows 2: it is too old`,
  )
})

t.test('a database that can not keep all texts is refused', async (t) => {
  const url = await server.createDatabase(`ENCODING 'LATIN1' TEMPLATE template0`)
  t.match(await refusal(t, url), /: its encoding is LATIN1 and must be UTF8$/)
})

t.test('what a person has to mend is one line that names the variable, and never the password', async (t) => {
  await server.sql(`CREATE ROLE joe LOGIN PASSWORD 'right'`)
  const { host } = new URL(server.url)
  const faults: [string, RegExp][] = [
    [`postgres://joe:secret@${host}/postgres`, /: password authentication failed for user "joe"$/],
    [`postgres://admin:secret@${host}/nothing`, /: database "nothing" does not exist$/],
    [`postgres://joe:right@${host}/postgres`, /: permission denied for schema public$/],
    [`postgres://admin:secret@${host}/postgres?sslmode=require`, /: The server does not support SSL connections$/],
    [`postgres://admin:secret@${host}/postgres?sslrootcert=/no/such`, /: ENOENT: no such file/],
    ['postgres://joe:secret@localhost:1/plants', /: connect ECONNREFUSED /],
  ]
  await Promise.all(
    faults.map(async ([url, expected]) => {
      const started = performance.now()
      const message = await refusal(t, url)
      // Only for a server that may come up it waits.
      t.equal(performance.now() - started > 9000, /SSL|ECONNREFUSED/.test(expected.source), String(message))
      t.match(message, expected)
      t.ok(String(message).startsWith(`DATABASE_URL postgres://${new URL(url).host}/`), String(message))
    }),
  )
})

t.test('who may only read and write can use tables that are there', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    `CREATE ROLE ann LOGIN PASSWORD 'right'; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ann`,
    url,
  )
  await use(url.replace('admin@', 'ann:right@'))
  t.strictSame(await server.sql('SELECT count(*)::int AS plants FROM plants', url), [{ plants: 2 }])
})

t.test('a server that comes up a little later is waited for', async (t) => {
  const url = await server.createDatabase()
  await server.crash()
  const opened = use(url)
  await delay(1000)
  await server.start()
  await opened
  t.strictSame(await version(url), CURRENT)
})

t.test('no token is issued on the first start: the database may be shared', async (t) => {
  const url = await server.createDatabase()
  const { child, ended } = await startService(t, { DATABASE_URL: url })
  child.kill('SIGTERM')
  t.strictSame({ ...(await ended), stdout: '' }, { code: 0, signal: null, stdout: '', stderr: '' })
  t.strictSame(await server.sql('SELECT * FROM tokens', url), [])
})
