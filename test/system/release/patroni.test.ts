// Three replicas of the service on a PostgreSQL cluster that fails over by itself, as deploy/patroni sets it up: what the
// leader had acknowledged is there on the next one, no list is old, and all goes on without a hand.
// SEED=<number> begins with other requests.
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openTestStore } from '../../support/stores.ts'
import { violations } from '../../support/history-check.ts'
import { observe, runHistory } from '../../support/history.ts'
import { eventually } from '../../support/project.ts'
import { startReplicas } from '../../support/replicas.ts'
import { issueToken } from '../../support/tokens.ts'
import { startCluster } from './patroni.ts'

t.setTimeout(590_000)
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
/** Milliseconds between two requests of a client. */
const PAUSE = 20

const cluster = await startCluster(t)
const { url } = cluster
const replicas = await startReplicas(t, 3, url)

/** What happens under load. Another node leads after it. */
const faults: Record<string, () => Promise<unknown>> = {
  'a switchover': async () => {
    const { leader, standby } = await cluster.roles()
    const request = { leader: leader.name, candidate: standby.name }
    // It is refused while the leader does not know that the standby is synchronous.
    await eventually(async () => (await leader.ask('/switchover', request)).status === 200)
  },
  'a crash of the leader': () => crash('all'),
  'a crash of Patroni on the leader, whose PostgreSQL goes on': () => crash('patroni'),
}

/** Kills the leader, and starts it again when the other node leads and takes writes without it. */
async function crash(what: 'patroni' | 'all'): Promise<void> {
  const { leader, standby } = await cluster.roles()
  // What a commit needs from the standby is late. If the leader did not wait for it, it would be lost here.
  const loseReceived = what === 'all' ? standby.stopReceiving() : () => undefined
  await delay(300)
  leader.kill(what)
  loseReceived()
  await eventually(
    async () => {
      const { status, members } = await standby.ask('/primary')
      return status === 200 && members['replication'] === undefined
    },
    undefined,
    60_000,
  )
  await delay(3000)
  await leader.start()
}

for (const [name, happen] of Object.entries(faults)) {
  t.test(`${name} loses no acknowledged write, and no list is old`, async (t) => {
    t.comment(`SEED=${SEED}`)
    const store = await openTestStore({ url })
    const names = ['one', 'two', 'three', 'four'].map((each) => `${each} of ${name.replaceAll(/\W/g, '')}`.slice(0, 64))
    const callers = await Promise.all(names.map(async (name) => ({ name, token: await issueToken(store, name) })))
    await store.close()
    const before = await cluster.roles()
    const over = new AbortController()
    const history = runHistory(replicas, callers, SEED, over.signal, PAUSE)
    const course = async () => {
      await delay(3000)
      await happen()
      await cluster.roles()
      await delay(3000)
    }
    const [{ operations, statuses }] = await Promise.all([history, course().finally(() => over.abort())])
    const after = await cluster.roles()
    t.not(after.leader.name, before.leader.name)

    for (const replica of replicas) {
      for (const caller of callers) {
        for (const collection of ['plants', 'notes'] as const) {
          const { operation, status } = await observe(replica, caller, { kind: 'list', collection })
          t.equal(status, 200)
          if (operation !== undefined) operations.push(operation)
        }
      }
    }
    t.comment(Object.fromEntries(statuses))
    t.strictSame(violations(operations), [], 'an order of all operations explains their answers')
  })
}
