// A rolling restart under load: two replicas on PostgreSQL, behind a real HAProxy as deploy/haproxy.cfg sets it up.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startPostgres } from '../support/postgres.ts'
import { run, start, startService } from '../support/process.ts'
import { eventually, freePort } from '../support/project.ts'
import type { Answers } from './load.ts'
import { need } from './programs.ts'
import { openStore } from '../../service/store/open.ts'
import { issueToken } from '../support/tokens.ts'

need('haproxy')
t.setTimeout(180_000)
const REQUESTS = 20_000
const CLIENTS = 24

/** Starts HAProxy before replicas. @returns its port */
async function startHaproxy(t: Test, replicas: readonly { port: number; adminPort: number }[]): Promise<number> {
  const folder = mkdtempSync(`${tmpdir()}/plants-haproxy-`)
  const port = await freePort()
  // The addresses are all that differs.
  const text = replicas.reduce(
    (text, replica, index) =>
      text.replace(
        `server plants-${index + 1} plants-${index + 1}:3000`,
        `server plants-${index + 1} 127.0.0.1:${replica.port} port ${replica.adminPort}`,
      ),
    readFileSync('deploy/haproxy.cfg', 'utf8').replace('bind :8080', `bind 127.0.0.1:${port}`),
  )
  writeFileSync(`${folder}/haproxy.cfg`, text)
  const haproxy = await start(t, ['haproxy', '-db', '-f', `${folder}/haproxy.cfg`], {})
  t.teardown(() => rmSync(folder, { recursive: true }))
  // 401: it has found a replica that is ready.
  const isUp = () => fetch(`http://127.0.0.1:${port}/plants`).then(({ status }) => status === 401)
  await eventually(
    () => haproxy.child.exitCode === null && isUp().catch(() => false),
    () => haproxy.printed.stderr,
  )
  return port
}

/** When a line was logged last, in milliseconds since 1970. */
function lastOf(log: string, msg: string): number | undefined {
  const lines = log.matchAll(/^.*"time":(\d+),.*"msg":"(\w+)"/gm)
  const found = [...lines].findLast(([, , each]) => each === msg)
  return found && Number(found[1])
}

t.test(`of ${REQUESTS} requests none fails while both replicas are restarted, one after the other`, async (t) => {
  const server = await startPostgres(t)
  const url = await server.createDatabase()
  const store = await openStore({ url })
  const tokens = await Promise.all(Array.from({ length: CLIENTS }, (_, index) => issueToken(store, `client${index}`)))
  await store.close()

  const launch = (port: number, adminPort: number) =>
    startService(t, {
      DATABASE_URL: url,
      NODE_ENV: 'production',
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DRAIN_DELAY: '5',
    })
  const replicas = await Promise.all([0, 1].map(async () => launch(await freePort(), await freePort())))
  const port = await startHaproxy(t, replicas)

  const over = new AbortController()
  const words = [port, REQUESTS, 800].map(String)
  const load = run([process.execPath, 'test/system/load.ts', ...words], { TOKENS: tokens.join() }).finally(() =>
    over.abort(),
  )
  let restarts = 0
  while (!over.signal.aborted) {
    // For HAProxy to see that the other one is ready: it asks once a second.
    await delay(2000)
    const [replica] = replicas.splice(0, 1)
    if (replica === undefined) throw new Error('no replica')
    replica.child.kill('SIGTERM')
    t.match(await replica.ended, { code: 0, stderr: '' })
    const [last = NaN, stopping = NaN] = ['request', 'stopping'].map((msg) => lastOf(replica.printed.stdout, msg))
    t.ok(last - stopping < 3000, `the gateway asks it for ${last - stopping} ms after SIGTERM`)
    replicas.push(await launch(replica.port, replica.adminPort))
    restarts += 1
  }
  const { stdout, stderr } = await load
  t.equal(stderr, '')
  const { right, wrong, longest }: Answers = JSON.parse(stdout)
  t.comment({ right, restarts, longest })
  t.strictSame(wrong, [])
  t.ok(right >= REQUESTS, `${right} right answers`)
  t.ok(restarts >= 2, `${restarts} restarts`)
})
