// Ten times as many requests as the service can answer. The machine must have nothing else to do.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { run, startService } from '../../support/processes/programs.ts'
import type { Outcome } from './flood.ts'
import { openTestStore } from '../../support/stores/open-store.ts'
import { issueToken } from '../../support/servers/access-tokens.ts'
import { cpuOf, memoryOf } from '../../support/figures/process-usage.ts'

t.setTimeout(180_000)
const PLANTS = 20_000
const CONNECTIONS = 4500

const file = `${t.testdir()}/plants.db`
const store = await openTestStore({ file })
const token = await issueToken(store, 'flood')
await Promise.all(
  Array.from({ length: PLANTS }, (_, id) =>
    store.create('flood', BigInt(id), { name: `plant ${id}` }),
  ),
)
await store.close()
const { child, port, adminPort, printed } = await startService(t, {
  DATABASE_URL: `sqlite:${file}`,
})

/** Sends requests. @returns the results, and the answers in time by second of CPU time of the service */
async function flood(connections: number, rate: number, seconds: number) {
  const words = [port, PLANTS, connections, rate, seconds].map(String)
  const before = cpuOf(child.pid)
  const { stdout, stderr } = await run(
    [process.execPath, 'test/system/release/flood.ts', ...words],
    { TOKEN: token },
  )
  if (stdout === '') throw new Error(stderr)
  const outcome = JSON.parse(stdout) as Outcome
  const cpu = cpuOf(child.pid) - before
  t.comment({ ...outcome, cpu })
  return { ...outcome, rate: outcome.good / seconds, perCpu: outcome.good / cpu }
}

await flood(32, 1e6, 4) // to get warm
const peak = await flood(32, 1e6, 6)

for (const round of ['a flood', 'a second flood']) {
  t.test(
    `of ${round} most is served in time, the rest is refused, and then the service is itself again`,
    async (t) => {
      const over = new AbortController()
      const times: number[] = []
      const watch = (async () => {
        while (!over.signal.aborted) {
          const memory = memoryOf(child.pid) / 1e6
          if (memory >= 665) t.fail(`${memory} MB`)
          for (const path of ['/livez', '/readyz']) {
            const start = performance.now()
            const { status } = await fetch(`http://127.0.0.1:${adminPort}${path}`, {
              headers: { Connection: 'close' },
            })
            times.push(performance.now() - start)
            if (status !== 200) t.fail(`${path} answers ${status}`)
          }
          await delay(50)
        }
      })()
      const { good, late, refused, unexpected, rate } = await flood(CONNECTIONS, 10 * peak.rate, 8)
      over.abort()
      await watch
      t.ok(rate >= 0.6 * peak.rate, `${rate} answers in time a second, of ${peak.rate}`)
      t.ok(late <= 0.05 * good, `${late} late answers beside ${good}`)
      t.equal(unexpected, 0)
      const slow = times.filter((time) => time > 500)
      t.ok(
        slow.length <= times.length / 100,
        `${slow.length} of ${times.length} health checks take half a second`,
      )
      t.equal(
        refused === 0 || printed.stdout.includes('"msg":"too busy"'),
        true,
        'the log says what is refused',
      )

      await delay(2000)
      const after = await flood(32, 1e6, 4)
      t.match(after, { refused: 0, late: 0 })
      t.ok(
        after.perCpu >= 0.8 * peak.perCpu,
        `${after.perCpu} answers by second of CPU, of ${peak.perCpu}`,
      )
    },
  )
}
