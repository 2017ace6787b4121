// Three replicas of the service on a PostgreSQL cluster that fails over by itself, as deploy/patroni sets it up: what the
// leader had acknowledged is there on the next one, no list is old, and all goes on without a hand.
// SEED=<number> begins with other requests.
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { openTestStore } from '../../support/stores.ts'
import { fields } from '../../support/fields.ts'
import { type Operation, violations } from '../../support/history-check.ts'
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
const url = await createDatabase(cluster.url)
const replicas = await startReplicas(t, 3, url)

/** What happens under load, and whether another node leads after it. */
const faults: Record<string, { happen: () => Promise<unknown>; isReplaced: boolean }> = {
  'a switchover': {
    happen: async () => {
      const { leader, standby } = await cluster.roles()
      const request = { leader: leader.name, candidate: standby.name }
      // It is refused while the leader does not know that the standby is synchronous.
      await eventually(async () => (await leader.ask('/switchover', request)).status === 200)
    },
    isReplaced: true,
  },
  'a crash of the leader': { happen: () => crash('leader', 'all'), isReplaced: true },
  'a crash of Patroni on the leader, whose PostgreSQL goes on': {
    happen: () => crash('leader', 'patroni'),
    isReplaced: true,
  },
  'a crash of the standby': { happen: () => crash('standby', 'all'), isReplaced: false },
}

/** Kills a node, and starts it again when the other one leads and takes writes without it. */
async function crash(role: 'leader' | 'standby', what: 'patroni' | 'all'): Promise<void> {
  const roles = await cluster.roles()
  const other = role === 'leader' ? roles.standby : roles.leader
  // What a commit needs from the standby is late. If the leader did not wait for it, it would be lost here.
  const loseReceived = what === 'all' ? roles.standby.stopReceiving() : () => undefined
  await delay(300)
  roles[role].kill(what)
  if (role === 'leader') loseReceived()
  await eventually(
    async () => {
      const { status, json } = await other.ask('/primary').catch(() => ({ status: 0, json: undefined }))
      return status === 200 && fields(json)['replication'] === undefined
    },
    undefined,
    60_000,
  )
  await delay(3000)
  await roles[role].start()
}

for (const [name, { happen, isReplaced }] of Object.entries(faults)) {
  t.test(`${name} loses no acknowledged write, and no list is old`, async (t) => {
    t.comment(`SEED=${SEED}`)
    const store = await openTestStore({ url })
    const names = ['one', 'two', 'three', 'four'].map((each) => `${each} of ${name.replaceAll(/\W/g, '')}`.slice(0, 64))
    const callers = await Promise.all(names.map(async (name) => ({ name, token: await issueToken(store, name) })))
    await store.close()
    const before = await cluster.roles()
    const over = new AbortController()
    const course = async () => {
      await delay(3000)
      await happen()
      await cluster.roles()
      await delay(3000)
    }
    const [{ operations, statuses }] = await Promise.all([
      runHistory(replicas, callers, SEED, over.signal, PAUSE),
      course().finally(() => over.abort()),
    ])
    const after = await cluster.roles()
    t.equal(after.leader.name !== before.leader.name, isReplaced)

    for (const replica of replicas) {
      for (const caller of callers) {
        for (const collection of ['plants', 'notes'] as const) {
          const { operation, status } = await observe(replica, caller, { kind: 'list', collection })
          t.equal(status, 200)
          if (operation !== undefined) operations.push(operation)
        }
      }
    }
    t.comment({ ...Object.fromEntries(statuses), secondsWithoutWrites: longestPause(operations) })
    t.strictSame(violations(operations), [], 'an order of all operations explains their answers')
  })
}

/** The longest time without a write that was acknowledged, in seconds. */
function longestPause(operations: readonly Operation[]): number {
  const ends = operations
    .filter((each) => each.kind !== 'list' && each.outcome === 'done')
    .map(({ end }) => end)
    .sort((one, two) => one - two)
  return Math.max(...ends.map((end, index) => end - (ends[index - 1] ?? end))) / 1000
}

/** Makes the database of the service, and its user. @returns its URL */
async function createDatabase(administrator: string): Promise<string> {
  const run = async () => {
    const client = new pg.Client({ connectionString: administrator })
    await client.connect()
    await client.query("CREATE ROLE plants LOGIN PASSWORD 'secret'")
    await client.query('CREATE DATABASE plants OWNER plants')
    await client.end()
    return true
  }
  await eventually(() => run().catch(() => false))
  const url = new URL(administrator)
  return Object.assign(url, { username: 'plants', password: 'secret', pathname: '/plants' }).href
}
