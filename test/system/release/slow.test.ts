// A thousand slow connections of each kind, by slowhttptest, beside a hundred requests a second of others.
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { request } from '../../support/servers/start-product.ts'
import { start, startService } from '../../support/processes/programs.ts'
import { need } from '../programs.ts'
import { openTestStore } from '../../support/stores/open-store.ts'
import { issueToken } from '../../support/servers/access-tokens.ts'

need('slowhttptest')
t.setTimeout(180_000)
const SECONDS = 20
/** More plants of two callers than a list has in one piece: of the slow one more than fits in the buffers of a connection. */
const PLANTS = { slow: 10_000, quick: 600 }

const file = `${t.testdir()}/plants.db`
const store = await openTestStore({ file })
const slow = await issueToken(store, 'slow')
const quickToken = await issueToken(store, 'quick')
for (const [caller, length] of Object.entries(PLANTS)) {
  const name = caller.padEnd(255)
  await Promise.all(Array.from({ length }, (_, id) => store.create(caller, BigInt(id), { name })))
}
await store.close()
const { port } = await startService(t, { DATABASE_URL: `sqlite:${file}` })

/** The arguments of slowhttptest for another header: it accepts a line break in a value. */
const authorization = `\r\nAuthorization: Bearer ${slow}`
const attacks: Record<string, string[]> = {
  'headers that drip in': ['-H', '-i', '1'],
  'bodies that drip in': ['-B', '-i', '1', '-s', '10000', '-f', `application/json${authorization}`],
  'answers that are read byte by byte': [
    ...'-X -w 512 -y 1024 -n 1 -z 1 -j'.split(' '),
    `a=b${authorization}`,
  ],
}

t.test(
  'a hundred requests a second of others are all answered beside 1000 connections each',
  async (t) => {
    const url = `http://127.0.0.1:${port}/plants`
    const general = ['-c', '1000', '-r', '100', '-l', String(SECONDS), '-u', url]
    const running = Object.entries(attacks).map(async ([name, words]) => {
      return { name, ended: (await start(t, ['slowhttptest', ...general, ...words], {})).ended }
    })
    await delay(2000)

    const kept = new Agent({ keepAlive: true })
    const statuses = new Map<number, number>()
    const times: number[] = []
    const begin = performance.now()
    const ask = async (count: number) => {
      const due = begin + count * 10
      await delay(Math.max(0, due - performance.now()))
      // One in a hundred reads all: a long list must be left for it. Each second one has a new connection.
      const path = count % 100 === 0 ? '/plants' : '/plants?limit=10'
      const { status } = await request(port, {
        path,
        token: quickToken,
        ...(count % 2 === 0 && { agent: kept }),
      })
      times.push(performance.now() - due)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    await Promise.all(Array.from({ length: SECONDS * 100 }, (_, count) => ask(count)))
    times.sort((left, two) => left - two)
    const [p50 = NaN, p99 = NaN] = [0.5, 0.99].map(
      (share) => times[Math.floor(share * times.length)],
    )
    t.comment({ p50, p99, most: times.at(-1) })
    t.strictSame([...statuses], [[200, SECONDS * 100]])
    t.ok(p99 < 1000, `99 % within ${p99} ms`)

    for (const { name, ended } of await Promise.all(running)) {
      const report = (await ended).stdout.replaceAll(/\x1b\[[\d;]*m/g, '')
      const [closed = 0, connected = 0] = [...report.matchAll(/^(?:connected|closed): +(\d+)/gm)]
        .slice(-2)
        .map(([, number]) => Number(number))
      t.ok(closed + connected > 800, `${name}: ${closed} and ${connected} connections`)
    }
  },
)
