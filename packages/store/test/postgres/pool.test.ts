// Counts the store's connections at the server while the server hangs: never more than three times
// DATABASE_POOL_SIZE. Afterwards operations succeed. The network hangs in network.test.ts.
import t from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import {
  AT_ONCE,
  type Hang,
  isBack,
  kindOf,
  MOST,
  NONE,
  poolOf,
  SIZES,
  succeeds,
  testHang,
  use,
  works,
} from './hangs.ts'
import { limits, name, open } from './open.ts'

// Nobody cuts the power of this server: it is faster without syncs.
const server = await startPostgres(t, 'fsync=off')
/** Finds the processes waiting for a standby, and ends their wait. */
const STANDBY_WAITS = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`
const CANCEL = STANDBY_WAITS.replace('FROM', 'pg_cancel_backend(pid) FROM')

const HANGS: readonly Hang[] = [
  {
    what: 'a locked table',
    begin: ({ sql }) => sql('BEGIN; LOCK TABLE plants'),
    end: ({ sql }) => sql('COMMIT'),
    uses: [2],
    isBackIn: AT_ONCE,
  },
  {
    what: 'a server that lets nobody in',
    begin: async ({ sql }) => {
      await sql('BEGIN; LOCK TABLE pg_authid')
      await sql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name <> 'administrator'`)
    },
    end: ({ sql }) => sql('COMMIT'),
    uses: [2],
    isBackIn: AT_ONCE,
  },
]

for (const size of SIZES) {
  for (const hang of HANGS) testHang(t, server, size, hang)

  t.test(`a lost synchronous standby: ${kindOf(size)}`, async (t) => {
    // Reads must be answered in time on a busy machine, too. With one connection they are not.
    const settings = limits(size, size === 1 ? 0.5 : 2)
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

  t.test(`processes of the server that are stopped: ${kindOf(size)}`, async (t) => {
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
      jit: 'off', // compiling a statement takes longer than running it
      tcp_user_timeout: process.platform === 'linux' ? '30000' : '0', // no other system has it
    })
  },
)

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
