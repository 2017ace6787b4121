// The answers of the service while PostgreSQL is away: 503 with Retry-After. replicas.test.ts has histories under faults.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build } from '../../../support/helper.ts'
import { startPostgres } from '../../../support/postgres.ts'

const server = await startPostgres(t)

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
  for (const { status } of await Promise.all([first, ...others])) t.equal(status, 200)
})

t.test('all operations are 503 while the server is away, or its tables are lost', async (t) => {
  const url = await server.createDatabase()
  const { call, token } = await build(t, { DATABASE_URL: url, DATABASE_TIMEOUT: '1', LOG_LEVEL: 'silent' })
  const secret = await token('joe')
  const fail = async () => {
    for (const request of [
      { method: 'POST', path: '/plants', body: { id: 1, name: 'Rose' } },
      { path: '/plants' },
      { path: '/plants?limit=1000' },
      { method: 'DELETE', path: '/plants/1' },
    ]) {
      const json = { error: 503, message: 'The store is not available, try again later' }
      t.match(await call({ ...request, token: secret }), {
        status: 503,
        headers: { 'retry-after': /^[1-9]\d*$/ },
        json,
      })
    }
  }
  await server.crash()
  await fail()
  await server.start()
  t.equal((await call({ path: '/plants', token: secret })).status, 200)
  await server.sql('ALTER TABLE plants RENAME TO lost', url)
  await fail()
  await server.sql('ALTER TABLE lost RENAME TO plants', url)
  t.equal((await call({ path: '/plants', token: secret })).status, 200)
})
