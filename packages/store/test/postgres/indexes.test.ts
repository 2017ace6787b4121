// Indexes on PostgreSQL at the start: made beside replicas that write, also after a kill; and kept
// apart for several replicas.
import pg from 'pg'
import { randomBytes } from 'node:crypto'
import t, { type Test } from 'tap'
import { NotUnique, readConfig } from '@plant-store/engine'
import { exactJson, type IndexValue, type StoredIndex } from '@plant-store/engine/for-store'
import { type Database, type Order, tableOf } from '../../src/core/database.ts'
import { openDatabase } from '../../src/open.ts'
import { indexInfo } from '../../src/postgres/indexes.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { asGuest } from './open.ts'

// Without autovacuum nothing makes a new plan, and nothing else holds the lock of a table.
const server = await startPostgres(t, 'autovacuum=off')
const settings = readConfig('', { DATABASE_TIMEOUT: '20' }) // a busy machine takes longer

const EMAIL: StoredIndex = {
  name: 'email',
  isUnique: true,
  properties: [{ path: ['email'], type: 'string' }],
}
const DAY: StoredIndex = {
  name: 'day',
  isUnique: false,
  properties: [
    { path: ['day'], type: 'int64' },
    { path: ['name'], type: 'string' },
  ],
}
const BOTH = [DAY, EMAIL]

const member = (day: number, email: string) => exactJson({ day, name: `n ${day}`, email })

async function open(t: Test, url: string, indexes: readonly StoredIndex[]): Promise<Database> {
  const collections = { members: { key: 'int64', readIndexes: async () => indexes } } as const
  const store = await openDatabase({ database: { url }, collections, isExclusive: true, settings })
  t.teardown(() => store.close())
  return store
}

/** A database in which the previous release has made the table. */
async function openOlder(t: Test) {
  const url = await server.createDatabase()
  const store = await open(t, url, [])
  return { url, older: tableOf(store.tables, 'members') }
}

/** An administrator's session. */
async function connect(t: Test, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'administrator' })
  client.on('error', () => undefined)
  await client.connect()
  t.teardown(() => client.end())
  return client
}

/** What the database calls an index, and how it is made. */
function infoOf(index: StoredIndex) {
  const table = { name: 'members', columns: ['"owner"', '"key"', '"item"'] } as const
  return indexInfo({ collation: ' COLLATE "C"' }, table, index)
}

/** The indexes of the table, and whether each is valid. */
async function indexesIn(url: string): Promise<ReadonlyMap<unknown, unknown>> {
  const rows = await server.sql(
    `SELECT relname, indisvalid FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
      WHERE indrelid = 'members'::regclass AND NOT indisprimary`,
    url,
  )
  return new Map(rows.map(({ relname, indisvalid }) => [relname, indisvalid]))
}

const VALID = new Map(BOTH.map((index) => [infoOf(index).name, true]))

const by = (index: StoredIndex, ...equals: IndexValue[]): Order => ({
  index,
  equals,
  isDescending: false,
})

async function countBy(store: Database, order: Order): Promise<number> {
  const range = { owner: 'joe', order, after: undefined, count: 5000 }
  return tableOf(store.tables, 'members').count(range, performance.now() + 20_000)
}

t.test('two replicas make the indexes at once, while an older one writes', async (t) => {
  const { url, older } = await openOlder(t)
  await Promise.all(
    range(500).map((id) => older.create('joe', BigInt(id), member(id % 7, `${id}`))),
  )
  let created = 500
  let isOver = false
  const write = async () => {
    for (; !isOver; created += 1)
      await older.create('joe', BigInt(created), member(created % 7, `${created}`))
  }
  const writing = write()
  const stores = await Promise.all([open(t, url, BOTH), open(t, url, BOTH)])
  isOver = true
  await writing
  t.strictSame(await indexesIn(url), VALID)
  for (const store of stores) {
    t.equal(await countBy(store, by(DAY)), created)
    t.equal(await countBy(store, by(DAY, 3n)), Math.ceil((created - 3) / 7))
  }
  await t.rejects(older.create('joe', -1n, member(1, '7')), { name: 'StoreUnavailable' })
})

t.test(
  'a start waits for an index that another process makes, and makes it if that is killed',
  async (t) => {
    const { url, older } = await openOlder(t)
    await older.create('joe', 1n, member(1, 'a'))
    const writer = await connect(t, url)
    // An index waits for the transactions that were there before it.
    await writer.query(`BEGIN; INSERT INTO members VALUES ('joe', 2, '${member(2, 'b')}')`)
    const starts = [open(t, url, BOTH), open(t, url, BOTH)]
    const makers = async () => {
      const text = `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query SIMILAR TO '(CREATE|DROP) %'
      AND state = 'active' AND pid <> pg_backend_pid()`
      return server.sql(text, url)
    }
    const someMake = async () => (await makers()).length > 0
    await eventually(async () => (await someMake()) && (await indexesIn(url)).size === 1)
    t.strictSame([...(await indexesIn(url)).values()], [false])
    for (const { pid } of await makers())
      await server.sql(`SELECT pg_terminate_backend(${String(pid)})`)
    await eventually(someMake)
    await writer.query('COMMIT')
    for (const store of await Promise.all(starts)) t.equal(await countBy(store, by(DAY)), 2)
    t.strictSame(await indexesIn(url), VALID)
  },
)

t.test('an index that a killed start has left is made anew', async (t) => {
  const { url } = await openOlder(t)
  const [writer, maker] = [await connect(t, url), await connect(t, url)]
  await writer.query(`BEGIN; INSERT INTO members VALUES ('joe', 1, '${member(1, 'a')}')`)
  const making = maker.query(infoOf(EMAIL).create)
  making.catch(() => undefined)
  await eventually(async () => (await indexesIn(url)).size === 1)
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'CREATE UNIQUE%' AND pid <> pg_backend_pid()`
  await server.sql(end, url)
  await t.rejects(making)
  await writer.query('COMMIT')
  t.strictSame([...(await indexesIn(url)).values()], [false])
  const store = await open(t, url, [EMAIL])
  t.match(await tableOf(store.tables, 'members').findBy('joe', EMAIL, ['a']), { key: 1n })
  t.strictSame([...(await indexesIn(url)).values()], [true])
})

t.test('items that break a unique index end the start, and nothing is left of it', async (t) => {
  const { url, older } = await openOlder(t)
  const ids = [10n, 20n, 30n]
  for (const id of ids) await older.create('joe', id, member(1, id === 20n ? 'b' : 'a'))
  await older.create('ann', 1n, member(1, 'a'))
  const message =
    /: the index email of members is unique, but 10 and 30 of "joe" have the same values$/
  await t.rejects(open(t, url, [EMAIL]), { name: 'StartupError', message })
  t.equal((await indexesIn(url)).size, 0)
  await older.create('joe', 40n, member(1, 'a'))
})

t.test(
  'a role that may make no index is told what to run, and then needs nothing more',
  async (t) => {
    const { url } = await openOlder(t)
    await server.sql('GRANT SELECT, INSERT, UPDATE, DELETE ON members TO guest', url)
    const error: unknown = await open(t, asGuest(url), [DAY]).catch((error: unknown) => error)
    t.match(error, { name: 'StartupError', message: /must be owner of/ })
    const [, statement = ''] = / by hand: (CREATE INDEX CONCURRENTLY .*)$/.exec(String(error)) ?? []
    await server.sql(statement, url)
    const store = await open(t, asGuest(url), [DAY])
    t.equal(await countBy(store, by(DAY)), 0)
  },
)

t.test('a replica without its index is not ready', async (t) => {
  const url = await server.createDatabase()
  const store = await open(t, url, BOTH)
  await store.ping()
  await server.sql(`DROP INDEX "${infoOf(DAY).name}"`, url)
  await t.rejects(store.ping(), /^the index day of members is missing or invalid$/)
  await server.sql(infoOf(DAY).create, url)
  await store.ping()
})

t.test('of writes with the same value through two replicas one is done', async (t) => {
  const url = await server.createDatabase()
  const [left, right] = [await open(t, url, BOTH), await open(t, url, BOTH)]
  const writer = async (id: number) => {
    const table = tableOf((id % 2 === 0 ? left : right).tables, 'members')
    const done: string[] = []
    for (const round of range(8)) {
      const email = `${(id + round) % 8}`
      const key = BigInt(id * 100 + round)
      try {
        await table.create('joe', key, member(id, email))
        done.push(email)
      } catch (error) {
        t.ok(error instanceof NotUnique && error.index === 'email', String(error))
      }
    }
    return done
  }
  const done = await Promise.all(range(32).map(writer))
  t.strictSame(done.flat().sort(), range(8).map(String))
})

t.test('an entry that is too long for the server is 400', async (t) => {
  const url = await server.createDatabase()
  const store = await open(t, url, BOTH)
  const members = tableOf(store.tables, 'members')
  const long = member(1, randomBytes(3000).toString('base64'))
  const expected = { name: 'HttpError', statusCode: 400 }
  await members.create('joe', 1n, member(1, 'a'))
  await t.rejects(members.create('joe', 2n, long), expected)
  await t.rejects(
    members.update('joe', 1n, () => long),
    expected,
  )
  const places = [{ table: 'members', key: 1n }]
  await t.rejects(
    store.change('joe', places, () => [long]),
    expected,
  )
})

t.test(
  'plans that were made while the table was empty take the index when it has grown',
  async (t) => {
    const url = await server.createDatabase()
    await (await open(t, url, BOTH)).close()
    await server.sql('VACUUM ANALYZE', url) // the table is known to be empty
    const store = await open(t, url, BOTH)
    const members = tableOf(store.tables, 'members')
    const chunk = { owner: 'joe', after: undefined, most: 20, length: 8192 }
    const deadline = performance.now() + 60_000
    const use = async () => {
      const orders = [
        by(DAY),
        by(DAY, 3n),
        { ...by(DAY, 3n), isDescending: true },
        { ...by(DAY), from: 3n, to: 5n },
      ]
      for (const order of orders) {
        const { last } = await members.read({ ...chunk, order }, deadline)
        await members.read({ ...chunk, order, after: last }, deadline)
        await members.read({ ...chunk, order, end: last }, deadline)
        await members.readItems({ ...chunk, order }, deadline)
        await members.count({ owner: 'joe', order, after: last, count: 20 }, deadline)
        await members.skip({ owner: 'joe', order, after: last, count: 20 }, deadline)
      }
      await members.findBy('joe', EMAIL, ['e 7'])
    }
    const TIMES = 10
    await range(TIMES).reduce((before) => before.then(use), Promise.resolve())
    await server.sql(
      `INSERT INTO members SELECT 'joe', n, '{"day":' || n % 10 || ',"name":"' || n || '","email":"e ' || n || '"}'
      FROM generate_series(1, 20000) AS n`,
      url,
    )
    await range(TIMES).reduce((before) => before.then(use), Promise.resolve())
    await store.close() // the processes report their reads when they end
    const reads = async () => {
      const [row] = await server.sql(
        `SELECT sum(idx_tup_read)::int AS entries, (SELECT seq_tup_read::int FROM pg_stat_user_tables
        WHERE relname = 'members') AS rows FROM pg_stat_user_indexes WHERE relname = 'members'`,
        url,
      )
      return { rows: Number(row?.['rows']), entries: Number(row?.['entries']) }
    }
    const STATEMENTS = 25 * TIMES
    await eventually(async () => (await reads()).entries > STATEMENTS)
    const { rows, entries } = await reads()
    t.comment(`${entries} entries of indexes were read, and ${rows} rows without one`)
    t.ok(entries < 30 * STATEMENTS && rows === 0)
  },
)
