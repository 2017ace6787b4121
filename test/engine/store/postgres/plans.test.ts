// The statements that are parsed and planned once for each connection, and what their plans read when the table has grown.
// LONG=1 grows it to 1,000,000 plants.
import t from 'tap'
import { range } from '../../../support/engines.ts'
import { cursorOf, namesIn, namesOf } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { eventually } from '../../../support/project.ts'
import { asGuest, limits, name, open } from './open.ts'

const PLANTS = process.env['LONG'] === undefined ? 50_000 : 1_000_000
const CURSOR = cursorOf(1n)

// Without autovacuum nothing makes a new plan: the worst case.
const server = await startPostgres(t, 'autovacuum=off')

t.test('plans that were made while the table was empty read no more than they must when it has grown', async (t) => {
  const { store, sql } = await open(t, server, limits(2, 3))
  await sql('VACUUM ANALYZE') // the tables are known to be empty
  /** Runs each kind of statement. `id` is a plant that does not exist. */
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
    await store.findToken(Buffer.alloc(32))
  }
  const TIMES = 20
  for (let times = 0; times < TIMES; times++) await use(-9n)
  await sql(`INSERT INTO plants SELECT 'joe', n, '{"name":"x"}' FROM generate_series(1, ${PLANTS}) AS n`)
  for (let times = 0; times < TIMES; times++) await use(-9n)
  await store.close() // the processes report what they read when they end
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
})

t.test('requests for the same page that arrive together read it once, and others get their own page', async (t) => {
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
  t.equal(timesSent('{"joe","joe","joe 2","ann"}'), 1)
  t.strictSame(await Promise.all([namesIn(store, 'ann'), namesIn(store, 'ann')]), [['ann'], ['ann']])
  t.equal(timesSent('{"ann","ann"}'), 0)
})

t.test('a statement is parsed once for each connection, but each time behind a pooler', async (t) => {
  for (const [times, change] of [[1], [5, asGuest]] as const) {
    const { store, timesSent } = await open(t, server, limits(2, 3), change)
    for (let id = 0n; id < 5n; id++) {
      await store.create('joe', id, name(`plant ${id}`))
      await store.list('joe', { limit: 20 })
      t.ok(await store.delete('joe', id))
    }
    for (const text of ['INSERT INTO "plants"', 'SELECT n, step', 'DELETE FROM "plants"'])
      t.equal(timesSent(text), times, text)
  }
})

t.test('plans that can not be used any more on all connections fail no request', async (t) => {
  const { sql, store } = await open(t, server, limits(6, 3))
  await store.create('joe', 1n, name('a'))
  const find = () => Promise.all(range(8).map(() => store.find('joe', 1n)))
  for (let round = 0; round < 20; round++) {
    await find()
    await sql(`ALTER TABLE plants ALTER COLUMN item TYPE ${round % 2 === 0 ? 'VARCHAR' : 'TEXT'}`)
    t.ok((await find()).every((plant) => plant?.name === 'a'))
  }
})
