// A server without a needed feature or routing makes the store not ready, or ends its start. A
// refusal by one of its nodes fails only the operations of the owners there.
import { fail } from 'node:assert'
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { readConfig } from '@plant-store/engine'
import { StoreUnavailable } from '@plant-store/engine/for-store'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { asGuest, limits, name, open } from './open.ts'

const server = await startPostgres(t)

/**
 * The action of a trigger before a row of plants is written. It counts its calls, even in failed
 * transactions.
 */
const trigger = (action: string) => `CREATE SEQUENCE calls;
  CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM nextval('calls'); ${action} END $$;
  CREATE TRIGGER act BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION act()`
const REFUSE = `RAISE EXCEPTION 'no such plants' USING ERRCODE = 'feature_not_supported';`
const LOSE = 'RETURN NULL;'

/** Makes a database with the tables, and a trigger. */
async function prepare(action: string): Promise<string> {
  const url = await server.createDatabase()
  const store = await openTestStore({ url })
  await store.close()
  await server.sql(trigger(action), url)
  return url
}

t.test(
  'a statement that the server does not support is not repeated, is logged once, and makes the store not ready',
  async (t) => {
    const url = await prepare(REFUSE)
    const logged: unknown[] = []
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (...words: unknown[]) => void logged.push(words),
    }
    const events = { log, onFailure: () => undefined }
    const store = await openTestStore({ url }, { events, settings: readConfig('', {}) })
    t.teardown(() => store.close())
    await t.rejects(store.create('joe', 1n, name('a')), StoreUnavailable)
    t.match(await server.sql('SELECT last_value FROM calls', url), [{ last_value: '1' }])
    await t.rejects(store.create('joe', 2n, name('a')), StoreUnavailable)
    await store.ping().catch(() => undefined)
    t.match(logged, [
      [
        { statement: /^INSERT INTO "plants"/, err: { cause: { message: 'no such plants' } } },
        /support/,
      ],
    ])
    t.equal(logged.length, 1)
    const notReady = { name: 'StoreUnavailable', message: /does not support .*no such plants$/ }
    await t.rejects(store.ping(), notReady)
    await server.sql('DROP TRIGGER act ON plants', url)
    await store.ping()
  },
)

t.test('a ping fails where nothing can be written, though it can be read', async (t) => {
  const { store, sql } = await open(t, server, undefined, asGuest)
  await store.ping()
  for (const [privilege, table] of [
    ['UPDATE', 'notes'],
    ['INSERT', 'notes'],
    ['INSERT', 'plants'],
    ['INSERT', 'access_tokens'],
  ]) {
    await sql(`REVOKE ${privilege} ON ${table} FROM guest`)
    const message = `permission denied for table ${table}`
    await t.rejects(store.ping(), { name: 'StoreUnavailable', message })
    t.strictSame(await store.notes.find('joe', 'a'), undefined)
    await sql(`GRANT ${privilege} ON ${table} TO guest`)
    await store.ping()
  }
})

t.test('a ping tries a create, which nobody sees, and waits for no other ping', async (t) => {
  const { store, url, sql, loseStandby } = await open(t, server)
  const replica = await openTestStore({ url })
  t.teardown(() => replica.close())
  await loseStandby(true)
  await Promise.all([store.ping(), replica.ping()])
  await loseStandby(false)
  t.ok(await store.isEmpty())
  await sql(trigger(LOSE))
  await t.rejects(store.ping(), { message: /^the database has not stored a row of plants: / })
  await sql(`DROP TRIGGER act ON plants; DROP FUNCTION act; DROP SEQUENCE calls`)
  await store.ping()
  await sql(trigger(REFUSE))
  await t.rejects(store.ping(), { message: /no such plants$/ })
  await sql(`DROP TRIGGER act ON plants`)
  await store.ping()
  await sql(`CREATE RULE lose AS ON INSERT TO notes DO INSTEAD NOTHING`)
  await t.rejects(store.ping(), StoreUnavailable)
})

t.test('a server that shards, and loses what is written, ends the start', async (t) => {
  const url = await prepare(LOSE)
  const opened = openTestStore({ url: `${url}?shard=owner` })
  await t.rejects(opened, {
    name: 'StartupError',
    message: /: a row of plants was written, and did not come back: .* shard by owner$/,
  })
})

t.test('where the server shards, an owner that is held up holds up no other one', async (t) => {
  const { store, sql } = await open(t, server, limits(3, 30), (url) => `${url}?shard=owner`)
  await sql(`BEGIN; INSERT INTO plants VALUES ('joe', 1, '{"name":"of another"}')`)
  const held = store.create('joe', 1n, name('a'))
  for (const id of [1n, 2n]) t.strictSame(await store.create('ann', id, name('a')), name('a'))
  await sql('COMMIT')
  t.strictSame(await held, name('of another'))
})

t.test(
  'a server that has lost one of its nodes is asked once, on connections that stay',
  async (t) => {
    const { store, sql } = await open(t, server)
    await sql(trigger(`RAISE EXCEPTION 'no such node' USING ERRCODE = '08006';`))
    const processes = () =>
      sql(`SELECT pid FROM pg_stat_activity WHERE datname = current_database() ORDER BY pid`)
    await store.create('joe', 1n, name('a')).catch(() => undefined)
    const before = await processes()
    await t.rejects(store.create('joe', 1n, name('a')), StoreUnavailable)
    t.strictSame(await processes(), before)
    t.match(await sql('SELECT last_value FROM calls'), [{ last_value: '2' }])
  },
)

t.test('the start at a server that shards leaves nothing behind', async (t) => {
  const url = await server.createDatabase()
  const store = await openTestStore({ url: `${url}?shard=owner` })
  t.teardown(() => store.close())
  t.ok(await store.isEmpty())
})

t.test('an owner and a key that are together too long for the server are 400', async (t) => {
  const { store } = await open(t, server)
  const notes = store.tables.get('notes') ?? fail()
  const longer = randomBytes(3000).toString('base64') // than this server takes
  const short = notes.create('joe', 'a', '{}')
  await t.rejects(notes.create('joe', longer, '{}'), { name: 'HttpError', statusCode: 400 })
  t.equal(await short, '{}')
})

t.test('a pooler that shards gets each statement by itself', async (t) => {
  const { store, timesSent } = await open(t, server, limits(3, 30), (url) => `${url}?shard=owner`)
  await Promise.all(range(20).map((id) => store.create('joe', BigInt(id), name(id))))
  await Promise.all(range(20).map((id) => store.find('joe', BigInt(id))))
  const [executes = 0, syncs = 0] = ['E\0\0\0\t\0\0\0\0\0', 'S\0\0\0\u0004'].map(timesSent)
  t.ok(executes > 40)
  t.equal(executes, syncs)
})
