// An access token is replaced while clients use it, on each kind of store.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { build } from '../../support/helper.ts'
import { startPostgres } from '../../support/postgres.ts'
import { eventually } from '../../support/project.ts'

const postgres = await startPostgres(t)

for (const [kind, environment] of Object.entries({
  sqlite: {},
  postgres: { DATABASE_URL: await postgres.createDatabase() },
})) {
  t.test(`${kind}: no request fails while a token is replaced`, async (t) => {
    const first = await build(t, environment)
    const services = kind === 'postgres' ? [first, await build(t, environment)] : [first]
    const old = await first.token('machine')
    const id = (await first.store.listTokens())[0]?.id ?? ''
    const clients = Array.from({ length: 8 }, () => ({ token: old, answered: 0 }))
    const refused: number[] = []
    let isOver = false
    const work = clients.map(async (client, index) => {
      for (; !isOver; client.answered += 1) {
        for (const { call } of services) {
          const { status } = await call({ path: '/plants?limit=1', token: client.token })
          if (status !== 200) refused.push(index)
        }
      }
    })
    const next = await first.token('machine')
    for (const client of clients) {
      await delay(50)
      client.token = next
      const { answered } = client
      // Twice, because the request in flight may have the old token.
      await eventually(() => client.answered >= answered + 2)
    }
    t.equal(await first.store.deleteToken(id), true)
    const revoked = Date.now()
    for (const { call } of services) {
      await eventually(async () => (await call({ path: '/plants', token: old })).status === 401)
    }
    t.ok(Date.now() - revoked < 5000, `revoked after ${Date.now() - revoked} ms`)
    isOver = true
    await Promise.all(work)
    t.strictSame(refused, [])
    t.ok(clients.every(({ answered }) => answered > 5))
  })
}
