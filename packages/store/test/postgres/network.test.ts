// Counts the store's connections at the server while the network hangs: never more than three times
// DATABASE_POOL_SIZE. Afterwards operations succeed.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { type Loss, startRelay } from '../../../../test/support/postgres/relay.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import {
  AFTER_LOSS,
  ALL,
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
} from './hangs.ts'
import { limits, name, open } from './open.ts'

// Nobody cuts the power of this server: it is faster without syncs.
const server = await startPostgres(t, 'fsync=off')
const STALL: Hang = {
  what: 'a network that stalls',
  begin: ({ relay }) => relay.stall(true),
  end: ({ relay }) => relay.stall(false),
  uses: [2, 2],
  isStarting: true,
  isBackIn: AT_ONCE,
}

const losing = (loss: Loss): Hang => ({
  what: `a network that loses ${loss}`,
  begin: ({ relay }) => relay.lose(loss),
  end: ({ relay }) => relay.lose('nothing'), // of new connections
  uses: [2, 1],
  isBackIn: AFTER_LOSS,
})

for (const size of SIZES) {
  testHang(t, server, size, STALL)
  testHang(t, server, size, losing('requests'))
  testHang(t, server, size, losing('answers'))
  if (size === 2) testHang(t, server, size, losing('ends of requests'))

  t.test(`a network that is cut: ${kindOf(size)}`, async (t) => {
    const { store, relay, most } = await open(t, server, limits(size))
    for (const round of range(3)) {
      await Promise.all([use(t, store), relay.cut()])
      t.ok(await succeeds(store.ping()), 'a read is repeated')
      t.strictSame(await use(t, store, round), ALL, 'the first operations succeed')
    }
    t.ok(most() <= MOST * size, `${most()} connections`)
  })
}

t.test('a session that is refused keeps its place until the server has closed it', async (t) => {
  const { store, relay, most, loseStandby } = await open(t, server, limits(1, 0.5))
  await loseStandby(true)
  relay.delayEnds(400)
  await eventually(async () => !(await succeeds(store.create('joe', -1n, name('safe')))))
  for (const round of range(6)) await use(t, store, round)
  await loseStandby(false)
  await isBack(t, store, AT_ONCE)
  t.ok(most() <= MOST, `${most()} connections`)
})

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
