// Rolling restarts under load, behind each gateway of deploy/, on a machine that is busy, with stalls of two seconds.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startPostgres } from '../support/postgres.ts'
import { run, start, startService } from '../support/process.ts'
import { eventually, freePort } from '../support/project.ts'
import { startHaproxy, startNginx, type Upstream } from './gateways.ts'
import { issueTokenIn } from '../support/tokens.ts'
import type { Answers } from './load.ts'

t.setTimeout(400_000)
const REQUESTS = 20_000
/** Requests in a second. */
const RATE = 800
const CLIENTS = 24
const DRAIN_DELAY = 5
/** Milliseconds. Each begins a second before a replica closes its port, and ends a second later. */
const STALL = 2000

const gateways = {
  HAProxy: startHaproxy,
  nginx: (t: Test, upstreams: readonly Upstream[]) => startNginx(t, upstreams),
}

for (const [name, startGateway] of Object.entries(gateways)) {
  t.test(`of ${REQUESTS} requests none fails while both replicas behind ${name} are restarted`, async (t) => {
    const server = await startPostgres(t)
    const url = await server.createDatabase()
    const tokens = await Array.fromAsync({ length: CLIENTS }, (_, at) => issueTokenIn({ url }, `client${at}`))
    const launch = (port: number, adminPort: number) =>
      startService(t, {
        DATABASE_URL: url,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        DRAIN_DELAY: String(DRAIN_DELAY),
      })
    const replicas = await Promise.all([0, 1].map(async () => launch(await freePort(), await freePort())))
    const { port } = await startGateway(t, replicas)
    // 401: the gateway has found a replica that is ready.
    await eventually(async () => (await fetch(`http://127.0.0.1:${port}/plants`)).status === 401)
    await keepBusy(t, 2)

    const over = new AbortController()
    const words = ['test/system/load.ts', port, REQUESTS, RATE].map(String)
    const load = run([process.execPath, ...words], { TOKENS: tokens.join() }).finally(() => over.abort())
    let restarts = 0
    while (!over.signal.aborted || restarts < 2) {
      const [replica, other] = replicas
      if (replica === undefined || other === undefined) throw new Error('two replicas are needed')
      replica.child.kill('SIGTERM')
      await delay(DRAIN_DELAY * 1000 - STALL / 2)
      // At the first restart it is PostgreSQL that stalls, at the next one the replica that goes on.
      if (restarts % 2 === 0) await server.pause()
      else other.child.kill('SIGSTOP')
      await delay(STALL)
      if (restarts % 2 === 0) server.resume()
      else other.child.kill('SIGCONT')
      t.match(await replica.ended, { code: 0, stderr: '' })
      // nginx does not ask /readyz, and tries a replica until its port is closed.
      if (name === 'HAProxy') {
        const [last = NaN, stopping = NaN] = ['request', 'stopping'].map((msg) => lastOf(replica.printed.stdout, msg))
        t.ok(last - stopping < 3000, `the gateway asks it for ${last - stopping} ms after SIGTERM`)
      }
      replicas.splice(0, 1)
      replicas.push(await launch(replica.port, replica.adminPort))
      restarts += 1
      // For HAProxy to see that it is ready: it asks once a second.
      await delay(2000)
    }
    const { stdout, stderr } = await load
    t.equal(stderr, '')
    const { right, wrong, longest }: Answers = JSON.parse(stdout)
    t.comment({ right, restarts, longest })
    t.strictSame(wrong, [])
    t.ok(right >= REQUESTS, `${right} right answers`)
  })
}

/** When a line was logged last, in milliseconds since 1970. */
function lastOf(log: string, msg: string): number | undefined {
  const lines = log.matchAll(/^.*"time":(\d+),.*"msg":"(\w+)"/gm)
  const found = [...lines].findLast(([, , each]) => each === msg)
  return found && Number(found[1])
}

/** Keeps so many processors busy until the test ends. */
async function keepBusy(t: Test, processors: number): Promise<void> {
  for (let count = 0; count < processors; count++) await start(t, [process.execPath, '-e', 'for (;;);'], {})
}
