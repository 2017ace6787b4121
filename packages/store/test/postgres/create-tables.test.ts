// The tables on PostgreSQL: made by several processes at once, and refused where they can't work.
import { rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { namesIn } from '../../../../test/support/stores/read-page.ts'
import { brought, openDatabases, startPostgres } from '../../../../test/support/postgres/server.ts'
import { MAIN, program, run, startService } from '../../../../test/support/processes/programs.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { asGuest } from './open.ts'

const server = await startPostgres(t)
const databases = brought() === undefined ? server : await openDatabases(t)

async function use(url: string): Promise<void> {
  const store = await openTestStore({ url })
  const id = BigInt(Math.floor(Math.random() * 1e9))
  await store.create('joe', id, { name: 'x' }).finally(() => store.close())
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
    const url = await databases.createDatabase()
    await Promise.all(Array.from({ length: 10 }, () => use(url)))
    t.strictSame(await databases.sql('SELECT count(*)::int AS plants FROM plants', url), [
      { plants: 10 },
    ])
  }
})

t.test('a service works on tables to which a later version has added columns', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const add = `ALTER TABLE plants ADD COLUMN note TEXT; ALTER TABLE access_tokens ADD COLUMN more TEXT DEFAULT 'all'`
  await server.sql(add, url)
  await use(url)
  const store = await openTestStore({ url })
  const digest = '0'.repeat(64)
  const token = { digest, caller: 'joe', created: new Date(1), scopes: ['a'] }
  await store.tokens.add(token)
  t.strictSame(await store.tokens.list(), [token])
  t.equal((await namesIn(store, 'joe')).length, 2)
  await store.close()
})

t.test('owners and keys are compared byte by byte, in any language of the database', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  const text = `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
    WHERE collation_name = 'C' AND table_schema = 'public' ORDER BY name`
  const columns = (await server.sql(text, url)).map(({ name }) => name)
  const ours = ['access_tokens.key', 'access_tokens.owner']
  t.strictSame(columns, [...ours, 'notes.key', 'notes.owner', 'plants.owner'])
})

t.test(
  'a fault that a person must fix is one line, with the variable and never the password',
  async (t) => {
    const { host } = new URL(server.url)
    const readOnly = await server.createDatabase()
    await server.sql(
      `ALTER DATABASE ${new URL(readOnly).pathname.slice(1)} SET default_transaction_read_only = on`,
    )
    const faults: [string, RegExp][] = [
      [
        await server.createDatabase(`ENCODING 'LATIN1' TEMPLATE template0`),
        /: its encoding is LATIN1 and must be UTF8$/,
      ],
      [
        `postgres://joe:secret@${host}/postgres`,
        /: password authentication failed for user "joe"$/,
      ],
      [`postgres://admin:secret@${host}/nothing`, /: database "nothing" does not exist$/],
      [`postgres://guest:secret@${host}/postgres`, /: permission denied for schema public$/],
      [
        `postgres://admin:secret@${host}/postgres?sslmode=require`,
        /: The server does not support SSL connections$/,
      ],
      [`postgres://admin:secret@${host}/postgres?sslrootcert=/no/such`, /: ENOENT: no such file/],
      ['postgres://joe:secret@localhost:1/plants', /: connect ECONNREFUSED /],
      [readOnly, /: the server takes no writes$/],
    ]
    /** The time until a start fails. */
    const times = faults.map(async ([url, expected]) => {
      const started = performance.now()
      const message = await refusal(t, url)
      t.match(message, expected)
      t.ok(
        String(message).startsWith(`DATABASE_URL postgres://${new URL(url).host}/`),
        String(message),
      )
      return performance.now() - started
    })
    const results = await Promise.all(times)
    const waits = faults.map(([, expected]) => /SSL|ECONNREFUSED|writes/.test(expected.source))
    const shortest = Math.min(...results.filter((_, at) => waits[at]))
    t.ok(shortest > 9000, `${shortest} ms`)
    t.ok(
      Math.max(...results.filter((_, at) => !waits[at])) < shortest,
      'it waits only for a server that may still start',
    )
  },
)

t.test(
  'a parameter of the URL that would be ignored is refused, and TLS is as in libpq',
  async (t) => {
    const url = await server.createDatabase()
    const opened = async (parameters: string) => {
      const store = await openTestStore({ url: `${url}?${parameters}` })
      await store.close()
    }
    const modes = ['allow', 'prefer', 'no-verify', 'Require', 'verify_full', '', ' require', 'true']
    for (const mode of modes) {
      const message = /: sslmode must be one of disable, require, verify-ca, verify-full$/
      await t.rejects(opened(`sslmode=${mode}`), { name: 'StartupError', message }, mode)
      await t.rejects(opened(`sslmode=require&sslmode=${mode}`), { message }, mode)
      await t.rejects(opened(`sslmode=${mode}&sslmode=disable`), { message }, mode)
    }
    const others = [
      ...['hostaddr', 'sslcrl', 'sslpassword', 'require_auth', 'SSLMODE'],
      ...['statement_timeout', 'query_timeout', 'search_path', 'service'],
    ]
    for (const name of others) {
      const message = new RegExp(`: there is no parameter ${name}, only application_name, `)
      await t.rejects(opened(`${name}=1`), { name: 'StartupError', message }, name)
    }
    const values: [parameter: string, message: RegExp][] = [
      ['shard=key', /: shard must be owner$/],
      ['schema=mine', /: schema must be public$/],
      ['ssl_max_protocol_version=TLSv1.2', /: ssl_max_protocol_version must be TLSv1\.3$/],
      ['uselibpqcompat=false', /: uselibpqcompat must be true$/],
    ]
    for (const [parameter, message] of values)
      await t.rejects(opened(parameter), { name: 'StartupError', message }, parameter)
    const { port } = new URL(url)
    for (const used of [
      'shard=owner',
      'sslmode=disable',
      'application_name=a',
      'schema=public&uselibpqcompat=true&ssl_max_protocol_version=TLSv1.3',
      `host=127.0.0.1&port=${port}`,
    ])
      await opened(used)
    await t.rejects(opened('sslmode=verify-ca'), { message: /requires specifying a CA/ })
    const needsTls = { message: /The server does not support SSL connections/ }
    await t.rejects(opened('sslmode=verify-full'), needsTls)
  },
)

t.test('no variable of libpq asks for TLS, or forbids it', async (t) => {
  const url = await server.createDatabase()
  const list = program('token', 'list')
  const plain = await run(list, { DATABASE_URL: url, PGSSLMODE: 'require' })
  t.equal(plain.code, 0)
  const secured = await run(list, { DATABASE_URL: `${url}?sslmode=require`, PGSSLMODE: 'disable' })
  t.match(secured, { code: 1, stderr: /The server does not support SSL connections/ })
})

t.test('a role that may only read and write can use existing tables', async (t) => {
  const url = await server.createDatabase()
  await use(url)
  await server.sql(
    'GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest',
    url,
  )
  await use(asGuest(url))
  t.strictSame(await server.sql('SELECT count(*)::int AS plants FROM plants', url), [{ plants: 2 }])
})

t.test('a service waits for a server that starts a little later', async () => {
  const url = await server.createDatabase()
  await server.crash()
  const opened = use(url)
  opened.catch(() => undefined)
  const started = performance.now()
  await server.start()
  // On a busy machine the server may take longer than the service waits.
  if (performance.now() - started < 5000) await opened
  else await use(url)
})

t.test('no token is issued on the first start: the database may be shared', async (t) => {
  const url = await server.createDatabase()
  const { child, ended } = await startService(t, { DATABASE_URL: url })
  child.kill('SIGTERM')
  t.strictSame({ ...(await ended), stdout: '' }, { code: 0, signal: null, stdout: '', stderr: '' })
  t.strictSame(await server.sql('SELECT * FROM access_tokens', url), [])
})

t.test('the file with the password is read for each new connection', async (t) => {
  const url = await server.createDatabase()
  await server.sql(
    `CREATE ROLE rotated LOGIN PASSWORD 'first'; GRANT CREATE ON SCHEMA public TO rotated`,
    url,
  )
  const DATABASE_PASSWORD_FILE = `${t.testdir({ password: 'first\n' })}/password`
  const address = url.replace('admin@', 'rotated@')
  const settings = { DATABASE_POOL_SIZE: 2, DATABASE_TIMEOUT: 3, DATABASE_PASSWORD_FILE }
  const store = await openTestStore({ url: address }, { settings })
  t.teardown(() => store.close())
  await store.create('joe', 1n, { name: 'a' })
  await server.sql(`ALTER ROLE rotated PASSWORD 'second'`, url)
  writeFileSync(DATABASE_PASSWORD_FILE, 'second')
  await server.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'`,
    url,
  )
  t.strictSame(await namesIn(store, 'joe'), ['a'])
  await store.create('joe', 2n, { name: 'b' })
  rmSync(DATABASE_PASSWORD_FILE)
  const message = /: DATABASE_PASSWORD_FILE: ENOENT/
  await t.rejects(openTestStore({ url: address }, { settings }), { name: 'StartupError', message })
})
