// The statements that are parsed and planned once for each connection, and what their plans read when the table has grown.
// LONG=1 grows it to 1,000,000 plants.
import t, { type Test } from 'tap'
import { openTestStore } from '../../../support/stores.ts'
import { namesIn, namesOf } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { eventually } from '../../../support/project.ts'
import { startRelay } from '../../../support/replicas.ts'

const PLANTS = process.env['LONG'] === undefined ? 50_000 : 1_000_000

// Without autovacuum nothing makes a new plan: the worst case.
const server = await startPostgres(t, 'autovacuum=off')
await server.sql(`CREATE ROLE guest LOGIN PASSWORD 'secret'`)

/** Opens a store on a new database, whose tables are known to be empty. @param pool the number of connections */
async function open(t: Test, pool = 2, role = '') {
  const url = await server.createDatabase()
  // As behind a pooler, the guest does not know its processes.
  await server.sql('GRANT CREATE ON SCHEMA public TO guest; REVOKE SELECT ON pg_stat_activity FROM PUBLIC', url)
  const sent: Buffer[] = []
  const relay = await startRelay(t, role === '' ? url : url.replace('admin@', `${role}:secret@`), (bytes) =>
    sent.push(bytes),
  )
  const store = await openTestStore({ url: relay.url }, true, { DATABASE_POOL_SIZE: pool, DATABASE_TIMEOUT: 3 })
  t.teardown(() => store.close())
  await server.sql('VACUUM ANALYZE', url)
  /** How often a text was sent to the server. */
  const count = (text: string) => Buffer.concat(sent).toString('latin1').split(text).length - 1
  return { url, store, count }
}

const name = (text: string | number) => ({ name: String(text) })
/** The cursor after the key 1. */
const CURSOR = 'AAAAAAAAAAE'

t.test('plans that were made while the table was empty read no more than they must when it has grown', async (t) => {
  const { url, store } = await open(t)
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
  await server.sql(`INSERT INTO plants SELECT 'joe', n, '{"name":"x"}' FROM generate_series(1, ${PLANTS}) AS n`, url)
  let slowest = 0
  for (let times = 0; times < TIMES; times++) {
    const before = performance.now()
    await use(-9n)
    slowest = Math.max(slowest, performance.now() - before)
  }
  t.comment(`the slowest round of 18 statements took ${slowest.toFixed(1)} ms`)
  await store.close() // the processes report what they read when they end
  const reads = async () => {
    const [row] = await server.sql(
      `SELECT seq_tup_read + pg_stat_user_tables.idx_tup_fetch AS rows, idx_tup_read AS entries
        FROM pg_stat_user_tables JOIN pg_stat_user_indexes USING (relid) WHERE indexrelname = 'plants_pkey'`,
      url,
    )
    return { rows: Number(row?.['rows']), entries: Number(row?.['entries']) }
  }
  await eventually(async () => (await reads()).rows > TIMES)
  const { rows, entries } = await reads()
  t.comment(`${rows} rows and ${entries} entries of the index were read`)
  t.ok(Math.max(rows, entries) < 200 * TIMES)
})

t.test('requests for the same page that arrive together read it once, and others get their own page', async (t) => {
  const { store, count } = await open(t)
  await Promise.all(['joe', 'joe 2', 'ann'].map((owner) => store.create(owner, 1n, name(owner))))
  await store.create('joe', 2n, name('second'))
  const lists = await Promise.all([
    ...Array.from({ length: 3 }, () => namesOf(store.list('joe', { limit: 1 }))),
    namesOf(store.list('joe', { limit: 1, cursor: CURSOR })),
    namesOf(store.list('joe 2', { limit: 1 })),
    namesOf(store.list('ann', { limit: 1 })),
  ])
  t.strictSame(lists, [['joe'], ['joe'], ['joe'], ['second'], ['joe 2'], ['ann']])
  t.equal(count('{"joe","joe","joe 2","ann"}'), 1)
  t.strictSame(await Promise.all([namesIn(store, 'ann'), namesIn(store, 'ann')]), [['ann'], ['ann']])
  t.equal(count('{"ann","ann"}'), 0)
})

t.test('a statement is parsed once for each connection, but each time behind a pooler', async (t) => {
  for (const [role, times] of [
    ['', 1],
    ['guest', 5],
  ] as const) {
    const { store, count } = await open(t, 2, role)
    for (let id = 0n; id < 5n; id++) {
      await store.create('joe', id, name(`plant ${id}`))
      await store.list('joe', { limit: 20 })
      t.ok(await store.delete('joe', id))
    }
    for (const text of ['INSERT INTO "plants"', 'SELECT n, step', 'DELETE FROM "plants"'])
      t.equal(count(text), times, text)
  }
})

t.test('plans that can not be used any more on all connections fail no request', async (t) => {
  const { url, store } = await open(t, 6)
  await store.create('joe', 1n, name('a'))
  const find = () => Promise.all(Array.from({ length: 8 }, () => store.find('joe', 1n)))
  for (let round = 0; round < 20; round++) {
    await find()
    await server.sql(`ALTER TABLE plants ALTER COLUMN item TYPE ${round % 2 === 0 ? 'VARCHAR' : 'TEXT'}`, url)
    t.ok((await find()).every((plant) => plant?.name === 'a'))
  }
})
