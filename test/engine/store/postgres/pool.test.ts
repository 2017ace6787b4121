// Counts the store's connections at the server while statements, starts and the network hang, and checks that the first
// operations after it succeed.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../../service/engine/errors.ts'
import { Pool } from '../../../../service/engine/store/postgres/pool.ts'
import { START_TIMEOUT } from '../../../../service/engine/store/postgres/session.ts'
import { range } from '../../../support/engines.ts'
import { namesIn } from '../../../support/pages.ts'
import { startPostgres } from '../../../support/postgres.ts'
import { eventually } from '../../../support/project.ts'
import { startRelay } from '../../../support/replicas.ts'
import type { TestStore } from '../../../support/stores.ts'
import { asGuest, limits, name, open } from './open.ts'

const server = await startPostgres(t)
/** Finds the processes that wait for a standby, and ends their wait. */
const STANDBY_WAITS = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
const CANCEL = STANDBY_WAITS.replace('FROM', 'pg_cancel_backend(pid) FROM')

const succeeds = async (operation: Promise<unknown>) =>
  (await Promise.allSettled([operation]))[0].status === 'fulfilled'

/** Makes a pool, which ends with the test. */
function poolOf(t: Test, url: string, settings: ReturnType<typeof limits>): Pool {
  const pool = new Pool(url, settings)
  t.teardown(() => pool.end())
  return pool
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
    if (each.status === 'rejected')
      t.ok(each.reason instanceof StoreUnavailable, String(each.reason))
    return each.status === 'fulfilled'
  })
}

const ALL = Array<boolean>(5).fill(true)
const NONE = Array<boolean>(5).fill(false)
const works = async (t: Test, store: TestStore) => !(await use(t, store)).includes(false)

type Opened = Awaited<ReturnType<typeof open>>

/** What hangs: how it begins and ends, and how often the store is used each time that it does. */
const HANGS: readonly [
  what: string,
  begin: (on: Opened) => unknown,
  end: (on: Opened) => unknown,
  uses?: number[],
][] = [
  ['a locked table', ({ sql }) => sql('BEGIN; LOCK TABLE plants'), ({ sql }) => sql('COMMIT')],
  [
    'a server that lets nobody in',
    async ({ sql }) => {
      await sql('BEGIN; LOCK TABLE pg_authid')
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name <> 'administrator'`)
    },
    ({ sql }) => sql('COMMIT'),
  ],
  [
    'a network that stalls',
    ({ relay }) => relay.stall(true),
    ({ relay }) => relay.stall(false),
    [2, 2],
  ],
  ...(['requests', 'answers', 'ends of requests'] as const).map((loss): (typeof HANGS)[number] => [
    `a network that loses ${loss}`,
    ({ relay }) => relay.lose(loss),
    ({ relay }) => relay.lose('nothing'), // of new connections
    [1, 1],
  ]),
]

for (const [size, change] of [[1], [2], [2, asGuest], [5]] as const) {
  const kind = `${size} connections${change === undefined ? '' : ', whose sessions it can not set up'}`

  for (const [what, begin, end, uses = [2]] of change === undefined ? HANGS : HANGS.slice(0, 1)) {
    if (what.includes('ends of') && size !== 2) continue
    t.test(`${what}: ${kind}`, async (t) => {
      const factor = what.includes('loses') ? 2 : 1
      const opened = await open(t, server, limits(size, factor), change)
      const { store, most, count } = opened
      for (const [at, times] of uses.entries()) {
        const isStarting = what.includes('stalls') && at === 0 // connections start in the stall
        if (!isStarting) t.ok(await works(t, store))
        await begin(opened)
        for (const round of range(times)) t.strictSame(await use(t, store, round + at), NONE)
        await end(opened)
        t.strictSame(await use(t, store), ALL, 'the first operations succeed')
        t.ok(most() <= factor * size, `${most()} connections`)
        await eventually(async () => (await count()) <= size)
      }
    })
  }

  t.test(`a lost synchronous standby: ${kind}`, async (t) => {
    const { store, sql, most, loseStandby, figures } = await open(t, server, limits(size), change)
    await store.create('joe', -1n, name('safe'))
    await loseStandby(true)
    await eventually(async () => !(await succeeds(store.create('joe', -1n, name('safe')))))
    for (const round of range(2)) {
      const [created, deleted, ...reads] = await use(t, store, 10 * (round + 1))
      t.strictSame([created, deleted], [false, false])
      t.strictSame(reads, Array(3).fill(size > 1), 'reads go on')
    }
    const waiting = await sql(STANDBY_WAITS)
    t.equal(
      waiting.length,
      size > 2 ? 2 : 1,
      'no more writes begin than there are connections for writes',
    )
    t.equal(figures()?.givenUp, waiting.length)
    await loseStandby(false)
    await eventually(async () => (await use(t, store)).includes(true))
    t.strictSame(await use(t, store), ALL)
    t.ok(most() <= size, `${most()} connections`)
    t.equal(
      (await namesIn(store, 'joe')).includes('10'),
      size > 2,
      'the waiting writes were done, and no other',
    )
    await eventually(() => figures()?.givenUp === 0)
  })

  t.test(`a network that is cut: ${kind}`, async (t) => {
    const { store, relay, most } = await open(t, server, limits(size), change)
    for (const round of range(3)) {
      await Promise.all([use(t, store), relay.cut()])
      t.ok(await succeeds(store.ping()), 'a read is repeated')
      t.strictSame(await use(t, store, round), ALL, 'the first operations succeed')
    }
    // TCP has let go of the old ones; the server may need a moment to notice.
    t.ok(most() <= 2 * size, `${most()} connections`)
  })
}

t.test(
  'writes wait for a standby: cut connections do not add up, and a cancelled wait is no success',
  async (t) => {
    const { store, relay, sql, most, loseStandby } = await open(t, server)
    await loseStandby(true)
    let id = 0n
    const create = () => succeeds(store.create('joe', ++id, name('x')))
    const waiting = async () => (await sql(STANDBY_WAITS)).length
    await eventually(async () => {
      await create()
      return (await waiting()) === 2
    })
    for (const _ of range(3)) {
      await relay.cut()
      t.notOk(await create())
      t.equal(await waiting(), 2)
      t.ok(await succeeds(store.ping()))
    }
    await sql(CANCEL)
    const created = create()
    await eventually(async () => (await sql(CANCEL)).length > 0)
    t.notOk(await created, 'it may be lost')
    await loseStandby(false)
    await eventually(async () => (await waiting()) === 0)
    t.strictSame(await use(t, store), ALL, 'the first operations succeed')
    t.ok(most() <= 5, `${most()} connections`)
  },
)

t.test('a stall of two thirds of DATABASE_TIMEOUT fails no operation', async (t) => {
  const { store, relay } = await open(t, server, limits(3, 3))
  relay.stall(true)
  const first = use(t, store)
  await delay(100)
  const others = use(t, store, 5) // they wait behind the first ones
  await delay(1900)
  relay.stall(false)
  t.strictSame([await first, await others], [ALL, ALL])
})

t.test(
  'a session has the settings by which the server ends what hangs, and compiles nothing',
  async (t) => {
    const pool = poolOf(t, await server.createDatabase(), limits(1))
    const { rows } = await pool.read(
      `SELECT name, setting FROM pg_settings WHERE source = 'session'`,
    )
    t.hasStrict(Object.fromEntries(rows.map(({ name, setting }) => [name, setting])), {
      client_connection_check_interval: '50',
      lock_timeout: '500', // half of the time of an operation
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '10',
      jit: 'off', // to compile a statement takes longer than to run it
      tcp_user_timeout: process.platform === 'linux' ? '30000' : '0', // no other system has it
    })
  },
)

for (const [what, sent] of [
  ['start', 'user'],
  ['set up', 'SHOW'],
] as const) {
  t.test(
    `a connection that takes too long to ${what} is closed, and another one is opened`,
    async (t) => {
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
    },
  )
}

t.test('a write that got no connection in time is not sent later', async (t) => {
  const { sql, relay } = await open(t, server)
  const pool = poolOf(t, relay.url, limits(1))
  const insert = `INSERT INTO plants VALUES ('joe', $1, '{}')`
  const add = (id: number, timeout?: number) =>
    succeeds(pool.write(insert, [id], undefined, timeout))
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

t.test(
  'an operation ends in time even if the connect is slow and then the statement hangs',
  async (t) => {
    const { store, relay, sql } = await open(t, server, limits(3, 0.4))
    await sql('BEGIN; LOCK TABLE plants')
    relay.delay(180)
    await relay.cut()
    const late = delay(560, 'late')
    t.strictSame(await Promise.race([use(t, store), late]), NONE)
    await sql('COMMIT')
  },
)

t.test(
  'a connection whose process hangs keeps its place until the server lets go of it',
  async (t) => {
    const { url, sql, most } = await open(t, server, limits(1))
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
  },
)

t.test('reads that are slow without a lock do not add up at the server', async (t) => {
  const { url, most } = await open(t, server, limits(1))
  const pool = poolOf(t, url, limits(1, 0.2))
  for (const _ of range(6)) t.notOk(await succeeds(pool.read('SELECT pg_sleep(60)')))
  await eventually(() => succeeds(pool.read('SELECT 1')))
  t.ok(most() <= 2, `${most()} connections, with that of the store`)
})

t.test('a process that did not run for a while does not take the network for lost', async (t) => {
  const { url, sql } = await open(t, server, limits(1))
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
  const { store, sql, figures } = await open(t, server, limits(3, 120))
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
  const { url, store } = await open(t, server)
  await eventually(() => works(t, store))
  await server.sql('ALTER TABLE plants RENAME TO lost', url)
  t.strictSame(await use(t, store), NONE, 'nor a table that is lost')
  await server.sql('ALTER TABLE lost RENAME TO plants', url)
  await server.crash()
  t.strictSame(await use(t, store), NONE, 'nor one that is not there')
  await server.start(true)
  t.strictSame(await use(t, store), NONE)
  await t.rejects(store.ping(), { name: 'StoreUnavailable', message: 'the server takes no writes' })
  await server.crash()
  await server.start()
  await eventually(() => works(t, store))
})
