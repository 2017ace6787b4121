// Counts the store's connections at the server while statements, starts and the network hang: never more than three times
// DATABASE_POOL_SIZE. Checks that operations succeed when it is over.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { StoreUnavailable } from '../../../engine/src/errors.ts'
import { Pool } from '../../src/postgres/pool.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { startRelay } from '../../../../test/support/postgres/relay.ts'
import type { TestStore } from '../../../../test/support/stores/open-store.ts'
import { limits, name, open } from './open.ts'

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
  return results.map((result) => {
    if (result.status === 'rejected')
      t.ok(result.reason instanceof StoreUnavailable, String(result.reason))
    return result.status === 'fulfilled'
  })
}

const ALL = Array<boolean>(5).fill(true)
const NONE = Array<boolean>(5).fill(false)
const works = async (t: Test, store: TestStore) => !(await use(t, store)).includes(false)
/** Milliseconds until the service must serve again. It promises a second, or ten after lost packets; this machine may be busy. */
const [AT_ONCE, AFTER_LOSS] = [5000, 15_000]
/** How many times DATABASE_POOL_SIZE the server may count. */
const MOST = 3

/** Waits until the first operations are answered. Fails if they are not within some milliseconds. */
async function isBack(t: Test, store: TestStore, milliseconds: number): Promise<void> {
  const over = performance.now()
  const answered = async (operation: () => Promise<unknown>) => {
    await eventually(() => succeeds(operation()))
    return performance.now() - over
  }
  const read = answered(() => store.find('joe', 1n))
  const write = answered(() => store.create('joe', 1n, name(1)))
  const times = await Promise.all([read, write])
  t.ok(Math.max(...times) < milliseconds, `it answers after ${times.join(' and ')} ms`)
  await eventually(() => works(t, store))
}

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
    [2, 1],
  ]),
]

for (const size of [1, 2, 5]) {
  const kind = size === 1 ? '1 connection' : `${size} connections`

  for (const [what, begin, end, uses = [2]] of HANGS) {
    if (what.includes('ends of') && size !== 2) continue
    t.test(`${what}: ${kind}`, async (t) => {
      const opened = await open(t, server, limits(size))
      const { store, most, count } = opened
      for (const [at, times] of uses.entries()) {
        const isStarting = what.includes('stalls') && at === 0 // connections start in the stall
        if (!isStarting) await eventually(() => works(t, store))
        await begin(opened)
        for (const round of range(times)) t.strictSame(await use(t, store, round + at), NONE)
        await end(opened)
        await isBack(t, store, what.includes('loses') ? AFTER_LOSS : AT_ONCE)
        await eventually(async () => (await count()) <= size)
      }
      t.ok(most() <= MOST * size, `${most()} connections`)
    })
  }

  t.test(`a lost synchronous standby: ${kind}`, async (t) => {
    // With one second, the set-up of a session may be given up on a busy machine: its process is counted beside the next one.
    const settings = limits(size, 2)
    const { store, sql, most, count, loseStandby } = await open(t, server, settings)
    await store.create('joe', -1n, name('safe'))
    await loseStandby(true)
    await eventually(async () => !(await succeeds(store.create('joe', -1n, name('safe')))))
    for (const round of range(7)) {
      const [created, , ...reads] = await use(t, store, 10 * (round + 1))
      t.equal(created, false)
      if (size > 1) t.strictSame(reads, Array(3).fill(true), 'reads go on')
    }
    const waiting = await sql(STANDBY_WAITS)
    t.ok(waiting.length > 1, 'processes of statements that were given up wait')
    await loseStandby(false)
    await isBack(t, store, AT_ONCE)
    await eventually(async () => (await count()) <= size)
    t.ok(most() <= MOST * size, `${most()} connections`)
  })

  t.test(`a network that is cut: ${kind}`, async (t) => {
    const { store, relay, most } = await open(t, server, limits(size))
    for (const round of range(3)) {
      await Promise.all([use(t, store), relay.cut()])
      t.ok(await succeeds(store.ping()), 'a read is repeated')
      t.strictSame(await use(t, store, round), ALL, 'the first operations succeed')
    }
    t.ok(most() <= MOST * size, `${most()} connections`)
  })

  t.test(`processes of the server that are stopped: ${kind}`, async (t) => {
    const { store, sql, most, count } = await open(t, server, limits(size))
    t.ok(await works(t, store))
    const processes = await sql(`SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name <> 'administrator'`)
    const send = (signal: NodeJS.Signals) => {
      for (const { pid } of processes) process.kill(Number(pid), signal)
    }
    send('SIGSTOP')
    await eventually(() => works(t, store)) // on other connections
    send('SIGCONT')
    await isBack(t, store, AT_ONCE)
    await eventually(async () => (await count()) <= size)
    t.ok(most() <= MOST * size, `${most()} connections`)
  })
}

t.test(
  'writes wait for a standby: cut connections do not add up, and a cancelled wait is no success',
  async (t) => {
    const { store, relay, sql, most, loseStandby } = await open(t, server)
    await loseStandby(true)
    let id = 0n
    const create = () => succeeds(store.create('joe', ++id, name('x')))
    await eventually(async () => !(await create()))
    for (const _ of range(5)) {
      await relay.cut()
      t.notOk(await create())
      t.ok(await succeeds(store.ping()))
    }
    await sql(CANCEL)
    const created = create()
    await eventually(async () => (await sql(CANCEL)).length > 0)
    t.notOk(await created, 'it may be lost')
    await loseStandby(false)
    await isBack(t, store, AT_ONCE)
    t.ok(most() <= MOST * 3, `${most()} connections`)
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
      client_connection_check_interval: '100',
      lock_timeout: '100', // a tenth of the time of an operation
      tcp_keepalives_idle: '10',
      tcp_keepalives_interval: '10',
      jit: 'off', // to compile a statement takes longer than to run it
      tcp_user_timeout: process.platform === 'linux' ? '30000' : '0', // no other system has it
    })
  },
)

t.test(
  'a connection whose set-up takes too long is closed, and another one is opened',
  async (t) => {
    let isLost = false
    const relay = await startRelay(t, await server.createDatabase(), (bytes) => {
      if (isLost || !bytes.includes('SHOW')) return
      isLost = true
      relay.lose('answers')
      relay.lose('nothing') // of new connections
    })
    const pool = poolOf(t, relay.url, limits(1))
    await eventually(() => succeeds(pool.read('SELECT 1')), undefined, AFTER_LOSS)
    t.ok(isLost)
  },
)

t.test('while nothing is answered, no session begins', async (t) => {
  const { url, count } = await open(t, server, limits(1))
  let sent = 0
  const relay = await startRelay(t, url, (bytes) => void (sent += Number(bytes.includes('user'))))
  relay.lose('answers')
  const pool = poolOf(t, relay.url, limits(3))
  for (const _ of range(3)) t.notOk(await succeeds(pool.read('SELECT 1')))
  t.equal(sent, 0)
  t.equal(await count(), 1, 'that of the store')
  relay.lose('nothing')
  await eventually(() => succeeds(pool.read('SELECT 1')), undefined, AFTER_LOSS)
})

t.test('a write that got no connection in time is not sent later', async (t) => {
  const { sql, relay } = await open(t, server)
  const pool = poolOf(t, relay.url, limits(1, 5))
  const insert = `INSERT INTO plants VALUES ('joe', $1, '{}')`
  const add = (id: number, timeout?: number) => succeeds(pool.write(insert, [id], timeout))
  relay.stall(true)
  t.notOk(await add(1, 300), 'it waits for a connection to start')
  relay.stall(false)
  await pool.read('SELECT 1')
  await sql('BEGIN; LOCK TABLE plants')
  const first = add(2)
  t.notOk(await add(2, 300), 'it waits for a connection to be free')
  t.match(pool.stats, { used: 1 })
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

t.test('reads that are slow without a lock do not add up at the server', async (t) => {
  const { url, most } = await open(t, server, limits(1))
  const pool = poolOf(t, url, limits(1, 0.2))
  for (const _ of range(6)) t.notOk(await succeeds(pool.read('SELECT pg_sleep(60)')))
  await eventually(() => succeeds(pool.read('SELECT 1')))
  t.ok(most() <= 1 + MOST, `${most()} connections, with that of the store`)
})

t.test('the figures count the connections in use, and what waits for them', async (t) => {
  const { store, sql, stats } = await open(t, server, limits(3, 120))
  await sql('BEGIN; LOCK TABLE plants')
  const writes = range(50).map((id) => store.create('joe', BigInt(id % 5), name(id)))
  const reads = range(3).map((id) => store.find('joe', BigInt(id)))
  await eventually(() => stats()?.waiting === 45 && stats()?.used === 2)
  t.match(stats(), { size: 3, used: 2 })
  await sql('COMMIT')
  await Promise.all([...writes, ...reads])
  t.match(stats(), { used: 0, waiting: 0 })
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
  // A busy machine may take longer to answer than the store waits.
  const reason = () => store.ping().then(() => '', String)
  await eventually(async () => (await reason()) === 'StoreUnavailable: the server takes no writes')
  await server.crash()
  await server.start()
  await eventually(() => works(t, store))
})
