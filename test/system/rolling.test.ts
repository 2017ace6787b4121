// Rolling restarts under load, behind each gateway of deploy/, on a busy machine, with stalls of two seconds.
import { fail } from 'node:assert'
import { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { type Call, request } from '../support/servers/start-product.ts'
import { startPostgres } from '../support/postgres/server.ts'
import { linesOf, start, startService } from '../support/processes/programs.ts'
import { eventually } from '../support/processes/eventually.ts'
import { freePort } from '../support/network/ports.ts'
import { issueTokenIn } from '../support/servers/access-tokens.ts'
import { gateways } from './gateways.ts'

t.setTimeout(400_000)
const REQUESTS = 20_000
/** Requests in a second. */
const RATE = 800
const CLIENTS = 24
const DRAIN_DELAY = 5
/** Milliseconds. Each begins a second before a replica closes its port, and ends a second later. */
const STALL = 2000
/** Keeps a processor busy until its parent has ended, in whatever way. */
const BUSY = 'const parent = process.ppid; while (process.ppid === parent);'

for (const [name, startGateway] of Object.entries(gateways)) {
  t.test(
    `of ${REQUESTS} requests none fails while both replicas behind ${name} are restarted`,
    async (t) => {
      const server = await startPostgres(t)
      const url = await server.createDatabase()
      const tokens = await Array.fromAsync({ length: CLIENTS }, (_, at) =>
        issueTokenIn({ url }, `client${at}`),
      )
      const environment = { DATABASE_URL: url, DRAIN_DELAY: String(DRAIN_DELAY) }
      const launch = (port: number, adminPort: number) =>
        startService(t, { ...environment, PORT: String(port), ADMIN_PORT: String(adminPort) })
      const replicas = await Promise.all(
        [0, 1].map(async () => launch(await freePort(), await freePort())),
      )
      const { port } = await startGateway(t, replicas)
      // 401: the gateway has found a ready replica.
      await eventually(async () => (await fetch(`http://127.0.0.1:${port}/plants`)).status === 401)
      for (const _ of [1, 2]) await start(t, [process.execPath, '-e', BUSY], {}) // two processors are busy

      const over = new AbortController()
      const loaded = load(port, tokens).finally(() => over.abort())
      let restarts = 0
      while (!over.signal.aborted || restarts < 2) {
        const [replica = fail(), second = fail()] = replicas
        replica.child.kill('SIGTERM')
        await delay(DRAIN_DELAY * 1000 - STALL / 2)
        // PostgreSQL stalls at the first restart, the other replica at the next one.
        if (restarts % 2 === 0) await server.pause()
        else second.child.kill('SIGSTOP')
        await delay(STALL)
        if (restarts % 2 === 0) server.resume()
        else second.child.kill('SIGCONT')
        t.match(await replica.ended, { code: 0, stderr: '' })
        // nginx does not ask /readyz, and tries a replica until its port is closed.
        if (name === 'HAProxy') {
          const lines = linesOf(replica.printed.stdout)
          const timeOf = (what: string) =>
            Number(lines.findLast(({ msg }) => msg === what)?.['time'])
          const last = timeOf('request') - timeOf('stopping')
          t.ok(last < 3000, `the gateway asks it for ${last} ms after SIGTERM`)
        }
        replicas.shift()
        replicas.push(await launch(replica.port, replica.adminPort))
        restarts += 1
        // HAProxy sees the ready replica then: it asks once a second.
        await delay(2000)
      }
      const { right, wrong, longest } = await loaded
      t.comment({ right, restarts, longest })
      t.strictSame(wrong, [])
      t.ok(right >= REQUESTS, `${right} right answers`)
    },
  )
}

/**
 * Clients who know each right answer. Each has a token, a kept connection, and a caller's plants to itself.
 * No request is repeated.
 * @returns the number of right answers, the wrong and missing ones, and the longest time in milliseconds
 */
async function load(port: number, tokens: readonly string[]) {
  const answers = { right: 0, wrong: [] as string[], longest: 0 }
  const begin = performance.now()
  let begun = 0
  const ask = async (call: Call, status: number, expected: string) => {
    const due = begin + (begun++ / RATE) * 1000
    await delay(Math.max(0, due - performance.now()))
    const sent = performance.now()
    const answer = await request(port, call).then(({ status, text }) => `${status} ${text}`, String)
    answers.longest = Math.max(answers.longest, performance.now() - sent)
    if (answer === `${status} ${expected}`) answers.right += 1
    else
      answers.wrong.push(`${Math.round(sent - begin)} ms: ${call.method} ${call.path}: ${answer}`)
  }
  const live = async (token: string) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const to = (method: string, path: string, body?: unknown): Call => ({
      method,
      path,
      body,
      token,
      agent,
    })
    for (let id = 1; begun < REQUESTS; id++) {
      const plant = { name: `plant ${id}` }
      const text = JSON.stringify(plant)
      await ask(to('POST', '/plants', { id, ...plant }), 200, text)
      await ask(to('GET', '/plants?limit=5'), 200, `[${text}]`)
      await ask(to('POST', '/plants', { id, ...plant }), 200, text)
      await ask(to('DELETE', `/plants/${id}`), 204, '')
      await ask(to('GET', '/plants'), 200, '[]')
    }
    agent.destroy()
  }
  await Promise.all(tokens.map(live))
  return answers
}
