// Counts the store's connections at the server while statements are stuck, and checks that the store works again.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../service/errors.ts'
import { openTestStore, type TestStore } from '../../support/stores.ts'
import { partsOf, namesIn } from '../../support/pages.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startRelay } from '../../support/replicas.ts'

const server = await startPostgres(t)
await server.sql(`CREATE ROLE guest LOGIN PASSWORD 'secret'`)
const LIMITS = { DATABASE_POOL_SIZE: 3, DATABASE_TIMEOUT: 0.4 }
/** The most additional connections, for long lists. */
const MAX_LISTS = 16

const name = (text: string | number) => ({ name: String(text) })
const range = (length: number) => Array.from({ length }, (_, index) => index)

/** Waits until a condition is true. */
async function until(what: string, isSo: () => unknown): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    if (await isSo()) return
    await delay(10)
  }
  throw new Error(`${what}: never`)
}

const succeeds = (operation: Promise<unknown>) =>
  operation.then(
    () => true,
    () => false,
  )

/** Opens a store on a new database over a relay, and an administrator's connection without the relay. */
async function open(t: Test, role: 'admin' | 'guest' = 'admin', limits = LIMITS) {
  const url = await server.createDatabase()
  const administrator = new pg.Client({ connectionString: url })
  administrator.on('error', () => undefined)
  await administrator.connect()
  const sql = async (text: string) => (await administrator.query<Record<string, unknown>>(text)).rows
  // As behind a pooler, the guest can't set up its sessions and does not know their processes.
  await sql('GRANT CREATE ON SCHEMA public TO guest; REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
  const relay = await startRelay(t, role === 'admin' ? url : url.replace('admin@', 'guest:secret@'))
  const store = await openTestStore({ url: relay.url }, true, limits)
  t.teardown(() => Promise.all([store.close(), administrator.end()]))
  let most = 0
  /** The most connections that the server had in any count so far, without the administrator's. */
  const count = async () => {
    // Not with `sql`: in a transaction it would always see the same connections.
    const [row] = await server.sql(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
        AND (datname = current_database() OR datname IS NULL) AND pid <> pg_backend_pid()`,
      url,
    )
    most = Math.max(most, Number(row?.['count']) - 1)
    return most
  }
  const givenUp = () => store.figures().pool?.givenUp
  return { store, relay, sql, count, givenUp }
}

/** Calls all methods of a store at the same time. Fails on any error but StoreUnavailable. @returns whether each succeeded */
async function use(t: Test, store: TestStore, id: number): Promise<boolean[]> {
  const results = await Promise.allSettled([
    store.create('joe', BigInt(id), name(id)),
    store.delete('joe', BigInt(id + 1)),
    store.list('joe'),
    store.find('joe', BigInt(id)),
    store.ping(),
  ])
  return results.map((each) => {
    if (each.status === 'rejected') t.ok(each.reason instanceof StoreUnavailable, String(each.reason))
    return each.status === 'fulfilled'
  })
}

const works = async (t: Test, store: TestStore) => !(await use(t, store, 1)).includes(false)

for (const role of ['admin', 'guest'] as const) {
  const kind = role === 'admin' ? '' : ', whose sessions it can not set up'

  t.test(`there are no more connections than allowed while a table is locked${kind}`, async (t) => {
    const { store, sql, count, givenUp } = await open(t, role)
    await sql('BEGIN; LOCK TABLE plants')
    for (const round of range(4)) {
      t.strictSame(await use(t, store, round), Array(5).fill(false))
      t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
    }
    await sql('COMMIT')
    await until('it works', () => works(t, store))
    await until('all connections are closed', () => givenUp() === 0)
    t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
  })

  t.test(
    `reads go on while a synchronous standby is lost, and writes that wait for it are not cancelled${kind}`,
    async (t) => {
      const { store, sql, count, givenUp } = await open(t, role)
      await store.create('joe', -1n, name('safe'))
      await sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
      await sql('SELECT pg_reload_conf()')
      await until('the standby is lost', async () => !(await succeeds(store.create('joe', -1n, name('safe')))))
      for (const round of range(4)) {
        t.strictSame((await use(t, store, 10 * (round + 1))).slice(0, 2), [false, false])
        await until('reads go on', () => succeeds(namesIn(store, 'joe')))
        t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
      }
      const waiting = await sql(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
      t.equal(waiting.length, 2, 'no more writes begin than there are connections for writes')
      t.equal(givenUp(), 2)
      t.strictSame(await namesIn(store, 'joe'), ['safe'])
      await sql('ALTER SYSTEM RESET synchronous_standby_names')
      await sql('SELECT pg_reload_conf()')
      await until('it works', () => works(t, store))
      await until('all connections are closed', () => givenUp() === 0)
      t.ok((await namesIn(store, 'joe')).includes('10'), 'the waiting writes were done')
    },
  )
}

t.test('no more writes begin while a synchronous standby is lost and connections are cut', async (t) => {
  const { store, relay, sql, givenUp } = await open(t)
  await sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
  await sql('SELECT pg_reload_conf()')
  const waiting = () => sql(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
  let id = 0n
  await until('writes wait', async () => {
    await succeeds(store.create('joe', ++id, name('x')))
    return (await waiting()).length === 2
  })
  await relay.cut()
  for (const round of range(4)) {
    t.notOk(await succeeds(store.create('joe', ++id, name(round))))
    t.equal((await waiting()).length, 2)
  }
  await sql('ALTER SYSTEM RESET synchronous_standby_names')
  await sql('SELECT pg_reload_conf()')
  await until('it works', () => works(t, store))
  await until('all connections are closed', () => givenUp() === 0)
})

t.test('other plants are written while one plant is locked', async (t) => {
  const { store, sql, count } = await open(t)
  await store.create('joe', 0n, name(0))
  await sql('BEGIN; SELECT FROM plants FOR UPDATE')
  for (const round of range(4)) {
    await t.rejects(store.create('joe', 0n, name(0)), StoreUnavailable)
    await until('others are written', () => succeeds(store.create('joe', BigInt(round + 1), name('x'))))
    t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
  }
  await sql('COMMIT')
  await until('it works', () => works(t, store))
})

for (const loss of ['requests', 'answers'] as const) {
  t.test(`there are no more connections than allowed while ${loss} get lost`, async (t) => {
    const { store, relay, count } = await open(t)
    await until('it works', () => works(t, store))
    relay.lose(loss)
    for (const round of range(5)) {
      t.strictSame(await use(t, store, round), Array(5).fill(false))
      t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
    }
    relay.lose('nothing') // of new connections
    await until('it works', () => works(t, store))
    t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE)
  })
}

for (const [places, role] of [
  [1, 'admin'],
  [3, 'admin'],
  [3, 'guest'],
] as const) {
  const kind = role === 'admin' ? '' : ', whose processes the server does not tell'

  t.test(`it works again after all answers of ${places} connections got lost${kind}`, async (t) => {
    // The pool forgets a guest's connections after a hundred times the timeout.
    const limits = { DATABASE_POOL_SIZE: places, DATABASE_TIMEOUT: role === 'guest' ? 0.04 : 0.15 }
    const { store, relay, sql, count, givenUp } = await open(t, role, limits)
    await until('it works', () => works(t, store))
    await sql(`ALTER SYSTEM SET synchronous_standby_names = 'nobody'`)
    await sql('SELECT pg_reload_conf()')
    let id = 1n
    await until('all connections for writes wait', async () => {
      await succeeds(store.create('joe', ++id, name('x')))
      const waiting = await sql(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
      return waiting.length === Math.ceil(places / 2)
    })
    if (places > 1) await until('reads go on', () => succeeds(store.ping()))
    relay.lose('answers')
    await t.rejects(store.ping(), StoreUnavailable)
    t.comment(`${givenUp()} connections are given up`)
    await sql('ALTER SYSTEM RESET synchronous_standby_names')
    await sql('SELECT pg_reload_conf()')
    await delay(100)
    relay.lose('nothing') // of new connections
    await until('it works', () => works(t, store))
    t.ok((await count()) <= places + MAX_LISTS)
  })
}

t.test('long lists that were given up hold no more connections than allowed, and release them soon', async (t) => {
  const { store, relay, sql, count, givenUp } = await open(t)
  const owners = ['ann', 'joe', 'zoe']
  for (const owner of owners) {
    // Too many bytes to read without batches.
    await sql(
      `INSERT INTO plants SELECT '${owner}', id, '{"name":"${'🌱'.repeat(255)}"}' FROM generate_series(1, 1000) AS id`,
    )
  }
  /** Begins a list. @returns an iterator for its other batches */
  const begin = async (owner: string) => partsOf(await store.list(owner))[Symbol.asyncIterator]()
  for (const round of range(2)) {
    relay.lose('nothing')
    let lists: AsyncIterator<unknown>[] = []
    await until('lists are begun', async () => {
      const some = owners.slice(round) // lists of all owners would wait for connections again
      const begun = await Promise.allSettled(some.flatMap((owner) => range(8).map(() => begin(owner))))
      lists = begun.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      return lists.length > 0
    })
    t.ok(lists.length <= MAX_LISTS, `${lists.length} lists in round ${round}`)
    relay.lose('answers')
    for (const read of await Promise.allSettled(lists.map((list) => list.next()))) t.equal(read.status, 'rejected')
    t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE + MAX_LISTS)
  }
  relay.lose('nothing')
  await until('it works', () => works(t, store))
  await until('all lists are closed', () => Number(givenUp()) <= LIMITS.DATABASE_POOL_SIZE)
  t.ok((await count()) <= LIMITS.DATABASE_POOL_SIZE + MAX_LISTS)
})

t.test('an operation ends in time even if the connect is slow and then the statement hangs', async (t) => {
  const { store, relay, sql } = await open(t)
  await sql('BEGIN; LOCK TABLE plants')
  relay.delay(LIMITS.DATABASE_TIMEOUT * 450)
  await relay.cut()
  const late = delay(LIMITS.DATABASE_TIMEOUT * 1400, 'late')
  t.strictSame(await Promise.race([use(t, store, 1), late]), Array(5).fill(false))
  await sql('COMMIT')
})

t.test('unused connections are closed, and opened again when they are needed', async (t) => {
  // The server does not close a guest's connections.
  const { store } = await open(t, 'guest', { ...LIMITS, DATABASE_TIMEOUT: 0.2 })
  for (const round of range(2)) {
    await until(`it works in round ${round}`, () => works(t, store))
    t.not(store.figures().pool?.idle, 0)
    await until('all connections are closed', () => store.figures().pool?.idle === 0)
  }
})

t.test('the figures count what waits: statements, and operations before them', async (t) => {
  const { store, sql } = await open(t, 'admin', { ...LIMITS, DATABASE_TIMEOUT: 20 })
  await sql('BEGIN; LOCK TABLE plants')
  const results = Promise.allSettled([...range(50).map((id) => store.create('joe', BigInt(id % 5), name(id)))])
  await until('writes wait', () => store.figures().pool?.waiting === 45)
  t.match(store.figures().pool, { size: 3 + MAX_LISTS, used: 1, statements: 1, givenUp: 0 })
  await sql('COMMIT')
  t.ok((await results).every(({ status }) => status === 'fulfilled'))
  t.match(store.figures().pool, { used: 0, statements: 0, waiting: 0 })
})

t.test('a server that takes no writes is not used, not even for reads', async (t) => {
  const { store } = await open(t)
  await until('it works', () => works(t, store))
  await server.crash()
  await server.startAsStandby()
  t.strictSame(await use(t, store, 1), Array(5).fill(false))
  await t.rejects(store.ping(), { name: 'StoreUnavailable', message: 'the server takes no writes' })
  await server.crash()
  await server.start()
  await until('it works', () => works(t, store))
})
