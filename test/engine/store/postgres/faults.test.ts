// The answers of the service while PostgreSQL is away: 503 with Retry-After, in time, and never a false success.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build, type Service } from '../../../support/helper.ts'
import { startPostgres } from '../../../support/postgres.ts'

const server = await startPostgres(t)
const CLIENTS = 16
/** Milliseconds between two ticks of the timer that measures requests. */
const TICK = 50

/** Starts a service on a new database. An operation may take one second. */
async function serve(t: Test): Promise<Service & { url: string }> {
  const url = await server.createDatabase()
  return { ...(await build(t, { DATABASE_URL: url, DATABASE_TIMEOUT: '1', LOG_LEVEL: 'silent' })), url }
}

/**
 * Creates, lists and deletes without a pause while faults happen. Then checks that all acknowledged writes are there.
 * Fails on a late answer, and on any other status than success and 503, which the contract wants with Retry-After.
 */
async function traffic(t: Test, { call, token }: Service, faults: () => Promise<void>) {
  const secret = await token('joe')
  const statuses: Record<number, number> = {}
  const expected = new Map<number, 'stored' | 'deleted' | 'unknown'>()
  // Count the ticks of a timer, not the clock: on a busy machine the clock goes on while this process does not run.
  let ticks = 0
  const timer = setInterval(() => (ticks += 1), TICK)
  t.teardown(() => clearInterval(timer))
  let slowest = 0
  let isOver = false
  const send = async (request: { method: string; path: string; body?: unknown }): Promise<number> => {
    const started = ticks
    const { status } = await call({ ...request, token: secret })
    slowest = Math.max(slowest, (ticks - started) * TICK)
    statuses[status] = (statuses[status] ?? 0) + 1
    return status
  }
  const client = async (first: number) => {
    for (let id = first; !isOver; id += CLIENTS) {
      const body = { id, name: `plant ${id}` }
      const created = await send({ method: 'POST', path: '/plants', body })
      expected.set(id, created === 200 ? 'stored' : 'unknown')
      await send({ method: 'GET', path: '/plants?limit=3' })
      if (id % 3 !== 0 || created !== 200) continue
      const deleted = await send({ method: 'DELETE', path: `/plants/${id}` })
      expected.set(id, deleted === 204 ? 'deleted' : 'unknown')
    }
  }
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, first) => client(first)))
  await delay(300)
  await faults()
  const before = statuses[200] ?? 0
  for (let tries = 0; (statuses[200] ?? 0) < before + 50 && tries < 100; tries++) await delay(100)
  isOver = true
  await clients
  t.strictSame(
    Object.keys(statuses).filter((each) => !['200', '204', '503'].includes(each)),
    [],
    'no other answer',
  )
  t.ok(slowest < 2500, `the slowest took ${slowest} ms`)

  const { status, json } = await call({ path: '/plants', token: secret })
  t.equal(status, 200, 'the service has recovered')
  const stored = (json as { name: string }[]).map(({ name }) => Number(name.split(' ')[1]))
  t.strictSame(
    stored,
    [...new Set(stored)].sort((one, two) => one - two),
    'each plant once, in order',
  )
  const found = new Set(stored)
  for (const [id, state] of expected) {
    if (state === 'stored' && !found.has(id)) t.fail(`the plant ${id} is lost`)
    if (state === 'deleted' && found.has(id)) t.fail(`the plant ${id} is back`)
  }
  return statuses
}

t.test('terminated connections lose nothing under load', async (t) => {
  const service = await serve(t)
  const statuses = await traffic(t, service, async () => {
    for (let round = 0; round < 5; round++) {
      await server.sql(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
        service.url,
      )
      await delay(150)
    }
  })
  t.ok((statuses[503] ?? 0) < (statuses[200] ?? 0) / 2, 'and few requests fail')
})

t.test('a server that crashes under load and restarts loses no acknowledged write', async (t) => {
  const service = await serve(t)
  const statuses = await traffic(t, service, async () => {
    for (let round = 0; round < 2; round++) {
      await server.crash()
      await delay(500)
      await server.start()
      await delay(500)
    }
  })
  t.ok((statuses[503] ?? 0) > 0)
})

t.test('a server that hangs holds no request longer than DATABASE_TIMEOUT', async (t) => {
  const service = await serve(t)
  const statuses = await traffic(t, service, async () => {
    await server.pause()
    await delay(3000)
    server.resume()
  })
  t.ok((statuses[503] ?? 0) >= CLIENTS)
})

t.test('a stall of two thirds of DATABASE_TIMEOUT fails no request', async (t) => {
  const { call, token } = await build(t, { DATABASE_URL: await server.createDatabase(), DATABASE_TIMEOUT: '6' })
  const secret = await token('joe')
  const create = (id: number) => call({ method: 'POST', path: '/plants', token: secret, body: { id, name: 'x' } })
  await create(0) // the token is in the cache now
  await server.pause()
  const first = create(1) // the others wait behind it
  await delay(100)
  const others = [create(2), create(3), call({ path: '/plants', token: secret })]
  await delay(4000)
  server.resume()
  t.strictSame(
    (await Promise.all([first, ...others])).map(({ status }) => status),
    [200, 200, 200, 200],
  )
})

t.test('all operations are 503 while the server is away', async (t) => {
  const { call, token } = await serve(t)
  const secret = await token('joe')
  await server.crash()
  for (const request of [
    { method: 'POST', path: '/plants', body: { id: 1, name: 'Rose' } },
    { path: '/plants' },
    { path: '/plants?limit=1000' },
    { method: 'DELETE', path: '/plants/1' },
  ]) {
    const { status, headers, json } = await call({ ...request, token: secret })
    t.equal(status, 503)
    t.match(headers['retry-after'], /^[1-9]\d*$/)
    t.strictSame(json, { error: 503, message: 'The store is not available, try again later' })
  }
  await server.start()
  t.equal((await call({ path: '/plants', token: secret })).status, 200)
})

t.test('all operations are 503 while the tables are lost', async (t) => {
  const { call, token, url } = await serve(t)
  const secret = await token('joe')
  await server.sql('ALTER TABLE plants RENAME TO lost', url)
  for (const request of [
    { method: 'POST', path: '/plants', body: { id: 1, name: 'Rose' } },
    { path: '/plants' },
    { method: 'DELETE', path: '/plants/1' },
  ]) {
    const { status, headers } = await call({ ...request, token: secret })
    t.equal(status, 503)
    t.match(headers['retry-after'], /^[1-9]\d*$/)
  }
  await server.sql('ALTER TABLE lost RENAME TO plants', url)
  t.equal((await call({ path: '/plants', token: secret })).status, 200)
})
