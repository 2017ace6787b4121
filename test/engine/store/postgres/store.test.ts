import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { JsonText } from '../../../../service/engine/http/json.ts'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { openTestStore, type TestStore } from '../../../support/stores.ts'
import { StoreUnavailable } from '../../../../service/engine/errors.ts'

const server = await startPostgres(t, 'autovacuum=off')
const LIMITS = { DATABASE_POOL_SIZE: 3, DATABASE_TIMEOUT: 1 }
/** For what must not be given up, also on a busy machine. */
const PATIENT = { ...LIMITS, DATABASE_TIMEOUT: 30 }

/** Opens a store on a new database. More stores can be opened on it. */
async function open(t: Test, settings = '', limits = LIMITS) {
  const url = await server.createDatabase()
  if (settings !== '') await server.sql(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${settings}`)
  const another = async (): Promise<TestStore> => {
    const store = await openTestStore({ url }, true, limits)
    t.teardown(() => store.close())
    return store
  }
  return { url, store: await another(), another }
}

/** Opens a transaction as the administrator, and does not end it. */
async function transaction(t: Test, url: string, text: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  t.teardown(() => client.end())
  await client.query(`BEGIN; ${text}`)
  return client
}

/** Waits until a statement that matches `like` waits. @returns the id of its process */
async function waiting(url: string, like: string, event = 'Lock'): Promise<number> {
  for (;;) {
    const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
      AND query LIKE '${like}%' AND wait_event_type = '${event}'`
    const [found] = await server.sql(text, url)
    if (found !== undefined) return Number(found['pid'])
    await delay(10)
  }
}

const range = (length: number) => Array.from({ length }, (_, index) => index)
const name = (text: string | number) => ({ name: String(text) })

t.test('writes of one kind that arrive together are one statement and one commit', async (t) => {
  const { url, store } = await open(t)
  await Promise.all(range(100).map((id) => store.create('joe', BigInt(id), name('old'))))
  const commits = async () => {
    const [row] = await server.sql('SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next', url)
    return Number(row?.['next'])
  }
  const before = await commits()
  const answers = await Promise.all([
    ...range(100).map((id) => store.create('ann', BigInt(id), name(id))),
    ...range(40).map((id) => store.delete('joe', BigInt(id))),
    store.create('joe', 99n, name('other')),
  ])
  t.equal((await commits()) - before, 2)
  t.strictSame(answers, [...range(100).map(name), ...Array<boolean>(40).fill(true), name('old')])
  await Promise.all(range(40).map((id) => store.update('joe', BigInt(id + 50), () => name('new'))))
  t.ok((await commits()) - before <= 2 + 3, 'the updates that are found together')
  t.equal((await namesIn(store, 'joe')).filter((each) => each === 'new').length, 40)
})

t.test('a write that can not be stored fails, and no other write does', async (t) => {
  const { store } = await open(t)
  const writes = [store.create('joe', 1n, name('a')), store.create('j\0e', 2n, name('b'))]
  const results = await Promise.allSettled([
    ...writes,
    store.create('joe', 2n ** 63n, name('c')),
    store.delete('joe', 5n),
  ])
  const rejected = { status: 'rejected', reason: { name: /^(?!StoreUnavailable)/ } }
  t.match(results, [{ status: 'fulfilled' }, rejected, rejected, { status: 'fulfilled' }])
  t.strictSame(await namesIn(store, 'joe'), ['a'])
})

t.test('a write is repeated after a serialization failure, which does not end its connection', async (t) => {
  const { url, store } = await open(t, `default_transaction_isolation = 'repeatable read'`)
  await store.create('joe', 1n, name('a'))
  const other = await transaction(t, url, `UPDATE plants SET item = '{"name":"b"}'`)
  const updated = store.update('joe', 1n, () => name('c'))
  const pid = await waiting(url, 'UPDATE')
  await other.query('COMMIT')
  t.strictSame(await updated, name('c'))
  t.strictSame(await namesIn(store, 'joe'), ['c'])
  t.equal((await server.sql(`SELECT FROM pg_stat_activity WHERE pid = ${pid}`)).length, 1)
})

t.test('a write whose connection is lost is refused and not repeated; a read is repeated', async (t) => {
  const { url, store } = await open(t, '', PATIENT)
  await store.create('joe', 1n, name('a'))
  const lock = await transaction(t, url, 'LOCK TABLE plants')
  const results = Promise.allSettled([store.delete('joe', 1n), store.list('joe')])
  const pids = [await waiting(url, 'DELETE'), await waiting(url, 'SELECT n, step')]
  for (const pid of pids) await server.sql(`SELECT pg_terminate_backend(${pid})`)
  await waiting(url, 'SELECT n, step')
  await lock.query('COMMIT')
  const [deleted, listed] = await results
  t.ok(deleted.status === 'rejected' && deleted.reason instanceof StoreUnavailable)
  t.strictSame(listed, { status: 'fulfilled', value: { items: new JsonText('[{"name":"a"}]') } })
})

t.test('the time that a write waits for others counts for its timeout', async (t) => {
  const { store } = await open(t)
  await server.pause()
  const stuck = store.create('joe', 1n, name('under way'))
  await delay(600)
  const waits = store.create('joe', 2n, name('waits')).catch((error: unknown) => error)
  const late = delay(1250, 'it took longer than DATABASE_TIMEOUT')
  await t.rejects(stuck, StoreUnavailable)
  t.ok((await Promise.race([waits, late])) instanceof StoreUnavailable)
  server.resume()
  await late
})

t.test('writes that arrive together are done in the order of their keys: replicas never deadlock', async (t) => {
  const { url, store } = await open(t)
  await store.create('joe', 1n, name('a'))
  const other = await transaction(t, url, 'SELECT 1 FROM plants WHERE key = 1 FOR UPDATE')
  const created = Promise.all([store.create('joe', 2n, name('b')), store.create('joe', 1n, name('b'))])
  await waiting(url, 'INSERT')
  // The create waits for the first plant, and has not locked the second one.
  await other.query(`SET LOCAL lock_timeout = '1ms'; INSERT INTO plants VALUES ('joe', 2, '{"name":"a"}'); COMMIT`)
  t.strictSame(await created, [name('a'), name('a')])
})

t.test('a commit is not acknowledged if its wait for a synchronous standby is cancelled', async (t) => {
  const { url, store } = await open(t)
  const reload = async (change: string) => {
    await server.sql(`ALTER SYSTEM ${change}`)
    await server.sql('SELECT pg_reload_conf()')
  }
  await reload(`SET synchronous_standby_names = 'nobody'`)
  t.teardown(() => reload('RESET synchronous_standby_names'))
  // The server may commit without the standby for some time after the reload.
  const probing = (async () => {
    for (let table = 0; ; table++) await server.sql(`CREATE TABLE probe${table} ()`, url)
  })().catch(() => undefined)
  await server.sql(`SELECT pg_terminate_backend(${await waiting(url, 'CREATE', 'IPC')})`)
  await probing
  const created = store.create('joe', 1n, name('a')).catch((error: unknown) => error)
  const pid = await waiting(url, 'INSERT', 'IPC')
  await server.sql(`SELECT pg_cancel_backend(${pid})`)
  t.ok((await created) instanceof StoreUnavailable)
  await reload('RESET synchronous_standby_names')
  await server.sql('CREATE TABLE commits_go_on ()')
})
