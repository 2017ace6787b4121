// Counts the store's connections at the server while statements, starts and the network hang, and checks that the first
// operations after it succeed.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/engine/errors.ts'
import { openTestStore, type TestStore } from '../../../support/stores.ts'
import { Pool } from '../../../../service/engine/store/postgres/pool.ts'
import { START_TIMEOUT } from '../../../../service/engine/store/postgres/session.ts'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { eventually } from '../../../support/project.ts'
import { startRelay } from '../../../support/replicas.ts'

const server = await startPostgres(t)
await server.sql(`CREATE ROLE guest LOGIN PASSWORD 'secret'`)
const SIZES = [1, 2, 5]

const name = (text: string | number) => ({ name: String(text) })
const range = (length: number) => Array.from({ length }, (_, index) => index)
const limits = (DATABASE_POOL_SIZE: number, DATABASE_TIMEOUT = 1) => ({ DATABASE_POOL_SIZE, DATABASE_TIMEOUT })

const succeeds = async (operation: Promise<unknown>) =>
  (await Promise.allSettled([operation]))[0].status === 'fulfilled'

/** Makes a pool, which ends with the test. */
function poolOf(t: Test, url: string, settings: ReturnType<typeof limits>): Pool {
  const pool = new Pool(url, settings)
  t.teardown(() => pool.end())
  return pool
}

/** Opens a store on a new database over a relay, and two administrator's connections without the relay. */
async function open(t: Test, { DATABASE_POOL_SIZE: size, ...rest } = limits(3), role: 'admin' | 'guest' = 'admin') {
  const url = await server.createDatabase()
  const administrator = async () => {
    const client = new pg.Client({ connectionString: url, application_name: 'administrator' })
    client.on('error', () => undefined)
    await client.connect()
    t.teardown(() => client.end())
    return async (text: string) => (await client.query<Record<string, unknown>>(text)).rows
  }
  const [sql, look] = [await administrator(), await administrator()] // in a transaction `sql` would see no changes
  // As behind a pooler, the guest can't set up its sessions and does not know their processes.
  await sql('GRANT CREATE ON SCHEMA public TO guest; REVOKE SELECT ON pg_stat_activity FROM PUBLIC')
  const relay = await startRelay(t, role === 'admin' ? url : url.replace('admin@', 'guest:secret@'))
  const store = await openTestStore({ url: relay.url }, true, { DATABASE_POOL_SIZE: size, ...rest })
  t.teardown(() => store.close())
  /** The connections that the server counts, without those of administrators. */
  const count = async () => {
    const [row] = await look(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'
        AND (datname = current_database() OR datname IS NULL) AND application_name IS DISTINCT FROM 'administrator'`,
    )
    return Number(row?.['count'])
  }
  let most = 0
  let isOver = false
  const counting = async () => {
    while (!isOver) {
      most = Math.max(most, await count())
      await delay(5)
    }
  }
  const counted = counting().catch(() => undefined) // the server was crashed
  t.teardown(async () => {
    isOver = true
    await counted
  })
  const standby = async (change: string) => {
    await sql(`ALTER SYSTEM ${change}`)
    await sql('SELECT pg_reload_conf()')
  }
  const figures = () => store.figures().pool
  return { url, store, relay, sql, count, most: () => most, standby, figures }
}

/** Calls all methods of a store at the same time. Fails on any error but StoreUnavailable. @returns whether each succeeded */
async function use(t: Test, store: TestStore, id = 1): Promise<boolean[]> {
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

const ALL = Array<boolean>(5).fill(true)
const NONE = Array<boolean>(5).fill(false)
const works = async (t: Test, store: TestStore) => !(await use(t, store)).includes(false)

for (const size of SIZES) {
  for (const role of size === 2 ? (['admin', 'guest'] as const) : (['admin'] as const)) {
    const kind = `${size} connections${role === 'admin' ? '' : ', whose sessions it can not set up'}`

    t.test(`a locked table: ${kind}`, async (t) => {
      const { store, sql, most } = await open(t, limits(size), role)
      await sql('BEGIN; LOCK TABLE plants')
      for (const round of range(2)) t.strictSame(await use(t, store, round), NONE)
      await sql('COMMIT')
      t.strictSame(await use(t, store), ALL, 'the first operations succeed')
      t.ok(most() <= size, `${most()} connections`)
    })

    t.test(`a lost synchronous standby: ${kind}`, async (t) => {
      const { store, sql, most, standby, figures } = await open(t, limits(size), role)
      await store.create('joe', -1n, name('safe'))
      await standby(`SET synchronous_standby_names = 'nobody'`)
      await eventually(async () => !(await succeeds(store.create('joe', -1n, name('safe')))))
      for (const round of range(2)) {
        const [created, deleted, ...reads] = await use(t, store, 10 * (round + 1))
        t.strictSame([created, deleted], [false, false])
        t.strictSame(reads, Array(3).fill(size > 1), 'reads go on')
      }
      const waiting = await sql(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
      t.equal(waiting.length, size > 2 ? 2 : 1, 'no more writes begin than there are connections for writes')
      t.equal(figures()?.givenUp, waiting.length)
      await standby('RESET synchronous_standby_names')
      await eventually(async () => (await use(t, store)).includes(true))
      t.strictSame(await use(t, store), ALL)
      t.ok(most() <= size, `${most()} connections`)
      t.equal((await namesIn(store, 'joe')).includes('10'), size > 2, 'the waiting writes were done, and no other')
      await eventually(() => figures()?.givenUp === 0)
    })
  }

  for (const loss of ['requests', 'answers', 'ends of requests'] as const) {
    if (loss === 'ends of requests' && size !== 2) continue
    t.test(`a network that loses ${loss}: ${size} connections`, async (t) => {
      const { store, relay, most, count } = await open(t, limits(size, 2))
      t.ok(await works(t, store))
      for (const round of range(2)) {
        relay.lose(loss)
        t.strictSame(await use(t, store, round), NONE)
        relay.lose('nothing') // of new connections
        t.strictSame(await use(t, store), ALL, 'the first operations succeed')
        t.ok(most() <= 2 * size, `${most()} connections`)
        await eventually(async () => (await count()) <= size)
      }
    })
  }

  t.test(`a network that stalls: ${size} connections`, async (t) => {
    const { store, relay, most } = await open(t, limits(size))
    for (const stalls of range(2)) {
      if (stalls > 0) t.ok(await works(t, store)) // the first time connections start in the stall
      relay.stall(true)
      for (const round of range(2)) t.strictSame(await use(t, store, round), NONE)
      relay.stall(false)
      t.strictSame(await use(t, store), ALL, 'the first operations succeed')
      t.ok(most() <= size, `${most()} connections`)
    }
  })

  t.test(`a network that is cut: ${size} connections`, async (t) => {
    const { store, relay, most } = await open(t, limits(size))
    for (const round of range(3)) {
      await Promise.all([use(t, store), relay.cut()])
      t.ok(await succeeds(store.ping()), 'a read is repeated')
      t.strictSame(await use(t, store, round), ALL, 'the first operations succeed')
    }
    // TCP has let go of the old ones; the server may need a moment to notice.
    t.ok(most() <= 2 * size, `${most()} connections`)
  })

  t.test(`a server that lets nobody in: ${size} connections`, async (t) => {
    const { store, sql, most } = await open(t, limits(size))
    await sql('BEGIN; LOCK TABLE pg_authid')
    await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'administrator'`)
    for (const round of range(2)) t.strictSame(await use(t, store, round), NONE)
    await sql('COMMIT')
    t.strictSame(await use(t, store), ALL, 'the first operations succeed')
    t.ok(most() <= size, `${most()} connections`)
  })
}

t.test('connections that are cut while their writes wait for a standby do not add up', async (t) => {
  const { store, relay, sql, most, standby } = await open(t)
  await standby(`SET synchronous_standby_names = 'nobody'`)
  let id = 0n
  const waiting = async () => (await sql(`SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)).length
  await eventually(async () => {
    await succeeds(store.create('joe', ++id, name('x')))
    return (await waiting()) === 2
  })
  for (const round of range(3)) {
    await relay.cut()
    t.notOk(await succeeds(store.create('joe', ++id, name(round))))
    t.equal(await waiting(), 2)
    t.ok(await succeeds(store.ping()))
  }
  await standby('RESET synchronous_standby_names')
  await eventually(async () => (await waiting()) === 0)
  t.strictSame(await use(t, store), ALL, 'the first operations succeed')
  t.ok(most() <= 5, `${most()} connections`)
})

t.test('a session has the settings by which the server ends what hangs, and compiles nothing', async (t) => {
  const pool = poolOf(t, await server.createDatabase(), limits(1))
  const { rows } = await pool.read(`SELECT name, setting FROM pg_settings WHERE source = 'session'`)
  t.hasStrict(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
    client_connection_check_interval: '50',
    lock_timeout: '500', // half of the time of an operation
    tcp_keepalives_idle: '10',
    tcp_keepalives_interval: '10',
    jit: 'off', // to compile a statement takes longer than to run it
    tcp_user_timeout: process.platform === 'linux' ? '30000' : '0', // no other system has it
  })
})

for (const [what, sent] of [
  ['start', 'user'],
  ['set up', 'SHOW'],
] as const) {
  t.test(`a connection that takes too long to ${what} is closed, and another one is opened`, async (t) => {
    let isLost = false
    const relay = await startRelay(t, await server.createDatabase(), (bytes) => {
      if (isLost || !bytes.includes(sent)) return
      isLost = true
      relay.lose('answers')
      relay.lose('nothing') // of new connections
    })
    const { setTimeout: wait } = globalThis
    t.capture(globalThis, 'setTimeout', (run: () => void, milliseconds: number) =>
      wait(run, milliseconds === START_TIMEOUT ? 500 : milliseconds),
    )
    const pool = poolOf(t, relay.url, limits(1))
    await eventually(() => succeeds(pool.read('SELECT 1')), undefined, 10_000)
    t.ok(isLost)
  })
}

t.test('a write that got no connection in time is not sent later', async (t) => {
  const { sql, relay } = await open(t)
  const pool = poolOf(t, relay.url, limits(1))
  const insert = `INSERT INTO plants VALUES ('joe', $1, '{}')`
  const add = (id: number, timeout?: number) => succeeds(pool.write(insert, [id], undefined, timeout))
  relay.stall(true)
  t.notOk(await add(1, 300), 'it waits for a connection to start')
  relay.stall(false)
  await pool.read('SELECT 1')
  await sql('BEGIN; LOCK TABLE plants')
  const first = add(2)
  t.notOk(await add(2, 300), 'it waits for a connection to be free')
  t.match(pool.figures, { used: 1, waiting: 0 })
  t.notOk(await first)
  await sql('COMMIT')
  t.ok(await add(3))
  t.strictSame(await sql('SELECT key FROM plants'), [{ key: '3' }])
})

t.test('an operation ends in time even if the connect is slow and then the statement hangs', async (t) => {
  const { store, relay, sql } = await open(t, limits(3, 0.4))
  await sql('BEGIN; LOCK TABLE plants')
  relay.delay(180)
  await relay.cut()
  const late = delay(560, 'late')
  t.strictSame(await Promise.race([use(t, store), late]), NONE)
  await sql('COMMIT')
})

t.test('a connection whose process hangs keeps its place until the server lets go of it', async (t) => {
  const { url, sql, most } = await open(t, limits(1))
  const pool = poolOf(t, url, limits(2, 0.2))
  const reads = () => succeeds(pool.read('SELECT pg_sleep(0.02) AS mine'))
  t.ok(await reads())
  const [mine] = await sql(`SELECT pid FROM pg_stat_activity WHERE query LIKE '%AS mine'`)
  process.kill(Number(mine?.['pid']), 'SIGSTOP')
  t.notOk(await reads())
  await eventually(() => pool.figures.used === 0) // the service has closed it
  await eventually(reads) // another one is open
  for (const _ of range(5)) {
    t.ok((await Promise.all([reads(), reads()])).includes(true), 'the other one works')
    await delay(100)
  }
  t.match(pool.figures, { givenUp: 1 })
  process.kill(Number(mine?.['pid']), 'SIGCONT')
  await eventually(() => pool.figures.givenUp === 0)
  t.ok(await reads())
  t.ok(most() <= 3, `${most()} connections, with that of the store`)
})

t.test('reads that are slow without a lock do not add up at the server', async (t) => {
  const { url, most } = await open(t, limits(1))
  const pool = poolOf(t, url, limits(1, 0.2))
  for (const _ of range(6)) t.notOk(await succeeds(pool.read('SELECT pg_sleep(60)')))
  await eventually(() => succeeds(pool.read('SELECT 1')))
  t.ok(most() <= 2, `${most()} connections, with that of the store`)
})

t.test('a process that did not run for a while does not take the network for lost', async (t) => {
  const { url, sql } = await open(t, limits(1))
  const pool = poolOf(t, url, limits(2, 6))
  await sql('BEGIN; LOCK TABLE plants')
  const written = succeeds(pool.write('DELETE FROM plants'))
  await delay(500)
  for (const end = performance.now() + 1500; performance.now() < end;); // as a process that is stopped
  await delay(500)
  await sql('COMMIT')
  t.ok(await written)
})

t.test('the figures count what waits: statements, and operations before them', async (t) => {
  const { store, sql, figures } = await open(t, limits(3, 120))
  await sql('BEGIN; LOCK TABLE plants')
  const writes = range(50).map((id) => store.create('joe', BigInt(id % 5), name(id)))
  const reads = range(3).map((id) => store.find('joe', BigInt(id)))
  await eventually(() => figures()?.waiting === 45 && figures()?.statements === 2)
  t.match(figures(), { size: 3, used: 2, statements: 2, givenUp: 0 })
  await sql('COMMIT')
  await Promise.all([...writes, ...reads])
  t.match(figures(), { used: 0, statements: 0, waiting: 0 })
})

t.test('a server that takes no writes is not used, not even for reads', async (t) => {
  const { store } = await open(t)
  await eventually(() => works(t, store))
  await server.crash()
  await server.startAsStandby()
  t.strictSame(await use(t, store), NONE)
  await t.rejects(store.ping(), { name: 'StoreUnavailable', message: 'the server takes no writes' })
  await server.crash()
  await server.start()
  await eventually(() => works(t, store))
})
