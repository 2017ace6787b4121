// The statements of a store: which writes share one, which are repeated, and how many rows their
// plans read in a grown table. LONG=1 grows it to 1,000,000 plants.
import { fail } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { JsonText, StoreUnavailable } from '@plant-store/engine/for-store'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { cursorOf, namesIn, namesOf } from '../../../../test/support/stores/read-page.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { BY_KEY } from '../../src/core/database.ts'
import { asGuest, limits, name, open } from './open.ts'

const PLANTS = process.env['LONG'] === undefined ? 50_000 : 1_000_000
/** The parameters of a statement in the protocol: each behind its length in four bytes. */
const bound = (...values: (string | bigint)[]) =>
  values.map((value) => `\0\0\0${String.fromCharCode(String(value).length)}${value}`).join('')
/** The cursor after the key 1. */
const CURSOR = cursorOf(1n)

// Without autovacuum nothing makes a new plan: the worst case.
const server = await startPostgres(t, 'autovacuum=off')

t.test('writes of one kind that arrive together are one commit', async (t) => {
  const { store, sql } = await open(t, server)
  await Promise.all(range(100).map((id) => store.create('joe', BigInt(id), name('old'))))
  const commits = async () =>
    Number((await sql('SELECT pg_snapshot_xmax(pg_current_snapshot()) AS next'))[0]?.['next'])
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
  t.equal((await namesIn(store, 'joe')).filter((name) => name === 'new').length, 40)
})

t.test('an operation that the database refuses fails, and no other one does', async (t) => {
  const { store } = await open(t, server, limits(1, 10))
  // A collection refuses these arguments; here they reach the database.
  const { plants = fail(), notes = fail() } = Object.fromEntries(store.tables)
  const refused = { name: /^(?!StoreUnavailable)/ }
  const deadline = () => performance.now() + 10_000
  const page = { owner: 'joe', order: BY_KEY, after: undefined, most: 5, length: 1000 }
  const rejected: Promise<unknown>[] = []
  const refuse = (operation: Promise<unknown>) => rejected.push(t.rejects(operation, refused))

  const first = store.create('joe', 1n, name('a'))
  refuse(plants.create('j\0e', 1n, '{"name":"b"}'))
  refuse(plants.delete('j\0e', 1n))
  refuse(plants.update('j\0e', 1n, () => '{"name":"b"}'))
  const none = store.delete('joe', 5n)
  t.strictSame([await first, await none], [name('a'), false])

  const items = Promise.all([
    store.find('joe', 1n),
    namesIn(store, 'joe'),
    store.update('joe', 1n, () => name('c')),
    store.notes.find('joe', 'a'),
  ])
  refuse(plants.find('j\0e', 1n))
  refuse(plants.find('joe', 2n ** 63n))
  refuse(plants.read({ ...page, most: -2 }, deadline()))
  refuse(plants.read({ ...page, most: 2 ** 63 }, deadline()))
  refuse(plants.read({ ...page, most: 1.5 }, deadline()))
  refuse(plants.read({ ...page, length: NaN }, deadline()))
  refuse(plants.read({ ...page, after: { values: [], key: 'a' } }, deadline()))
  refuse(plants.skip({ ...page, after: { values: [], key: 1n }, count: -1 }, deadline()))
  refuse(notes.find('joe', 'a\0'))
  t.strictSame(await items, [name('a'), ['a'], name('c'), undefined])
  await Promise.all(rejected)
})

t.test(
  'a write is repeated after a serialization failure, which does not end its connection',
  async (t) => {
    const isolated = (url: string) =>
      `${url}?options=-c%20default_transaction_isolation=serializable`
    const { store, sql, waiting } = await open(t, server, limits(3), isolated)
    await store.create('joe', 1n, name('a'))
    await sql(`BEGIN; UPDATE plants SET item = '{"name":"b"}'`)
    const updated = store.update('joe', 1n, () => name('c'))
    const pid = await waiting('UPDATE')
    await sql('COMMIT')
    t.strictSame(await updated, name('c'))
    t.strictSame(await namesIn(store, 'joe'), ['c'])
    t.equal((await sql(`SELECT FROM pg_stat_activity WHERE pid = ${pid}`)).length, 1)
  },
)

t.test(
  'a write whose connection is lost is refused and not repeated; a read is repeated',
  async (t) => {
    const { store, sql, waiting } = await open(t, server, limits(5, 30)) // a place for each lost process, and time for all
    await store.create('joe', 1n, name('a'))
    await sql('BEGIN; LOCK TABLE plants')
    const results = Promise.allSettled([store.delete('joe', 1n), store.list('joe')])
    for (const pid of [await waiting('DELETE'), await waiting('SELECT coalesce')])
      await sql(`SELECT pg_terminate_backend(${pid})`)
    await waiting('SELECT coalesce')
    await sql('COMMIT')
    const [deleted, listed] = await results
    t.ok(deleted.status === 'rejected' && deleted.reason instanceof StoreUnavailable)
    t.strictSame(listed, { status: 'fulfilled', value: { items: new JsonText('[{"name":"a"}]') } })
  },
)

t.test('the time that a write waits for others counts for its timeout', async (t) => {
  const { store, relay } = await open(t, server)
  relay.stall(true)
  const stuck = store.create('joe', 1n, name('under way'))
  await delay(600)
  const waits = store.create('joe', 2n, name('waits')).catch((error: unknown) => error)
  const late = delay(1250, 'it took longer than DATABASE_TIMEOUT')
  await t.rejects(stuck, StoreUnavailable)
  t.ok((await Promise.race([waits, late])) instanceof StoreUnavailable)
})

t.test(
  'writes that arrive together are done in the order of their keys: replicas never deadlock',
  async (t) => {
    const { store, sql, waiting } = await open(t, server)
    await store.create('joe', 1n, name('a'))
    await sql('BEGIN; SELECT 1 FROM plants WHERE key = 1 FOR UPDATE')
    const created = Promise.all([
      store.create('joe', 2n, name('b')),
      store.create('joe', 1n, name('b')),
    ])
    await waiting('INSERT')
    // The create waits for the first plant, and has not locked the second one.
    await sql(
      `SET LOCAL lock_timeout = '1ms'; INSERT INTO plants VALUES ('joe', 2, '{"name":"a"}'); COMMIT`,
    )
    t.strictSame(await created, [name('a'), name('a')])
  },
)

t.test(
  'plans that were made while the table was empty read no more than they must when it has grown',
  async (t) => {
    const { store, sql } = await open(t, server, limits(2, 3))
    await sql('VACUUM ANALYZE') // the tables are known to be empty
    /** Runs each kind of statement. No plant has this `id`. */
    const use = async (id: bigint) => {
      await store.create('joe', id, name(1))
      await store.create('joe', id, name(2))
      await Promise.all([store.create('joe', id + 1n, name(1)), store.create('ann', id, name(1))])
      await store.update('joe', id, () => name(3))
      t.strictSame(await store.find('joe', id), name(3))
      await store.list('joe', { limit: 20 })
      await Promise.all([
        store.list('joe', { limit: 20 }),
        store.list('joe', { limit: 20, cursor: CURSOR }),
        store.list('ann'),
      ])
      await store.tables.get('plants')?.entries({ owner: 'zoe', key: 1n, text: '' })
      await store.delete('joe', id)
      await Promise.all([store.delete('joe', id + 1n), store.delete('ann', id)])
      await store.tokens.find('0'.repeat(64))
    }
    const TIMES = 20
    for (let times = 0; times < TIMES; times++) await use(-9n)
    await sql(
      `INSERT INTO plants SELECT 'joe', n, '{"name":"x"}' FROM generate_series(1, ${PLANTS}) AS n`,
    )
    for (let times = 0; times < TIMES; times++) await use(-9n)
    await store.close() // the processes report their reads when they end
    const reads = async () => {
      const [row] = await sql(
        `SELECT seq_tup_read + pg_stat_user_tables.idx_tup_fetch AS rows, idx_tup_read AS entries
        FROM pg_stat_user_tables JOIN pg_stat_user_indexes USING (relid) WHERE indexrelname = 'plants_pkey'`,
      )
      return { rows: Number(row?.['rows']), entries: Number(row?.['entries']) }
    }
    await eventually(async () => (await reads()).rows > TIMES)
    const { rows, entries } = await reads()
    t.comment(`${rows} rows and ${entries} entries of the index were read`)
    t.ok(Math.max(rows, entries) < 200 * TIMES)
  },
)

t.test(
  'requests for the same page that arrive together read it once, and others get their own page',
  async (t) => {
    const { store, timesSent } = await open(t, server, limits(2, 3))
    await Promise.all(['joe', 'joe 2', 'ann'].map((owner) => store.create(owner, 1n, name(owner))))
    await store.create('joe', 2n, name('second'))
    const lists = await Promise.all([
      ...range(3).map(() => namesOf(store.list('joe', { limit: 1 }))),
      namesOf(store.list('joe', { limit: 1, cursor: CURSOR })),
      namesOf(store.list('joe 2', { limit: 1 })),
      namesOf(store.list('ann', { limit: 1 })),
    ])
    t.strictSame(lists, [['joe'], ['joe'], ['joe'], ['second'], ['joe 2'], ['ann']])
    /** How often a first chunk was read. @param rows with the one after it */
    const first = (owner: string, rows: bigint) => timesSent(bound(owner, rows, 8192n))
    const times = ['joe', 'joe 2', 'ann'].map((owner) => first(owner, 2n))
    t.strictSame(times, [1, 1, 1])
    t.strictSame(await Promise.all([namesIn(store, 'ann'), namesIn(store, 'ann')]), [
      ['ann'],
      ['ann'],
    ])
    t.equal(first('ann', 65n), 1)
  },
)

t.test(
  'a statement is parsed once for each connection, but each time behind a pooler',
  async (t) => {
    for (const [times, change] of [[1], [5, asGuest]] as const) {
      const { store, timesSent } = await open(t, server, limits(2, 3), change)
      for (let id = 0n; id < 5n; id++) {
        await store.create('joe', id, name(`plant ${id}`))
        await store.list('joe', { limit: 20 })
        t.ok(await store.delete('joe', id))
      }
      for (const text of ['INSERT INTO "plants"', 'SELECT coalesce', 'DELETE FROM "plants"'])
        t.equal(timesSent(text), times, text)
    }
  },
)

t.test('plans that can not be used any more fail no request', async (t) => {
  const { sql, store } = await open(t, server, limits(6, 3))
  // Only the result of a write has the type of the column.
  const create = () => Promise.all(range(8).map(() => store.create('joe', 1n, name('a'))))
  for (let round = 0; round < 20; round++) {
    await create()
    await sql(`ALTER TABLE plants ALTER COLUMN item TYPE ${round % 2 === 0 ? 'VARCHAR' : 'TEXT'}`)
    t.ok((await create()).every((plant) => plant.name === 'a'))
  }
})
