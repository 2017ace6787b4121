// Runs real replicas of the service on one real PostgreSQL, also while they fail. LONG=1 runs many
// histories; SEED=<number> sets the first one. A server of TEST_DATABASE_URL is not made to fail.
import { fail } from 'node:assert'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { call } from '../../../../test/support/servers/start-product.ts'
import { lendingViolations } from '../../../../test/support/histories/lending-order.ts'
import {
  addGroups,
  type LendingRequest,
  lendOver,
  runLending,
} from '../../../../test/support/histories/simultaneous-lending.ts'
import { fillLibrary } from '../../../../test/support/library/stock.ts'
import { type Operation, violations } from '../../../../test/support/histories/linearizability.ts'
import {
  type Caller,
  observe,
  runHistory,
} from '../../../../test/support/histories/simultaneous-clients.ts'
import { brought, openDatabases, startPostgres } from '../../../../test/support/postgres/server.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { runFaults, startReplicas } from '../../../../test/support/histories/replicas.ts'
import { startRelay } from '../../../../test/support/postgres/relay.ts'
import { openTestStore } from '../../../../test/support/stores/open-store.ts'
import { issueToken, tokenIdOf } from '../../../../test/support/servers/access-tokens.ts'

const isLong = process.env['LONG'] !== undefined
const SEED = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
/** Histories of each kind, and the seconds for one. */
const [ROUNDS, SECONDS] = isLong ? [15, 15] : [1, 3]
/** Seconds within which a replica must work again after the last fault. */
const RECOVERY = 10
t.setTimeout(isLong ? 3_600_000 : 600_000)

const server = brought() === undefined ? await startPostgres(t) : undefined
const url = await (server ?? (await openDatabases(t))).createDatabase()
const store = await openTestStore({ url })
t.teardown(() => store.close())
const relay = await startRelay(t, url)
// The relay has another address than the certificate of a server from TEST_DATABASE_URL.
const replicas = await startReplicas(t, 3, server ? relay.url : url)
const [first = fail()] = replicas

/** More items than the first step of a list. */
const MANY = 600
const COLLECTIONS = ['plants', 'notes'] as const
let histories = 0

/** Makes new callers with tokens. The first caller has many plants and notes. */
async function newCallers(): Promise<{ callers: Caller[]; operations: Operation[] }> {
  histories += 1
  const names = range(4).map((index) => `caller${histories}-${index}`)
  const callers = await Promise.all(
    names.map(async (name) => ({ name, token: await issueToken(store, name) })),
  )
  const operations: (Operation | undefined)[] = []
  for (const id of range(MANY)) {
    const create = { kind: 'create', id: id - MANY, name: `${id - MANY} of the first` } as const
    const collections = COLLECTIONS.map((collection) =>
      observe(first, callers[0] ?? fail(), { ...create, collection }),
    )
    for (const { operation } of await Promise.all(collections)) operations.push(operation)
  }
  return { callers, operations: operations.filter((operation) => operation !== undefined) }
}

/**
 * Runs a history while faults happen, and checks it. Then all replicas must work, and answer with
 * the same list.
 * @returns how often each status was answered; 0 stands for a lost connection
 */
async function check(
  t: Test,
  seed: number,
  happen: () => Promise<unknown>,
): Promise<Map<number, number>> {
  t.comment(`SEED=${seed}`)
  const { callers, operations } = await newCallers()
  const over = new AbortController()
  const [history] = await Promise.all([
    runHistory(replicas, callers, { seed, over: over.signal }),
    happen().finally(() => over.abort()),
  ])
  operations.push(...history.operations)

  const asked = callers.flatMap((caller) =>
    COLLECTIONS.map((collection) => ({ caller, collection })),
  )
  const lists = replicas.flatMap((replica) =>
    asked.map(async ({ caller, collection }) => {
      const list = async () =>
        (await observe(replica, caller, { kind: 'list', collection })).operation
      let listed: Operation | undefined
      await eventually(
        async () => (listed = await list()) !== undefined,
        undefined,
        RECOVERY * 1000,
      )
      return listed ?? fail()
    }),
  )
  operations.push(...(await Promise.all(lists)))
  t.strictSame(violations(operations), [], 'an order of all operations explains their answers')
  t.comment(Object.fromEntries(history.statuses))
  return history.statuses
}

/** The groups of books in the library. */
const GROUPS = 4000
const ANSWERS = [200, 204, 404, 409]

t.test('several replicas answer as one process would', { timeout: 0 }, async (t) => {
  for (let round = 0; round < ROUNDS; round++) {
    const statuses = await check(t, SEED + round, () => delay(SECONDS * 1000))
    t.strictSame(
      new Set(statuses.keys()),
      new Set(ANSWERS),
      'no request is refused because of the store',
    )
  }
})

t.test(
  'replicas answer as one process would, also while they and the server crash',
  { timeout: 0, skip: server === undefined },
  async (t) => {
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + round
      const cluster = { replicas, relay, server: server ?? fail() }
      const statuses = await check(t, seed, () => runFaults(cluster, seed, SECONDS))
      for (const status of [200, 404, 0, 503]) t.ok(statuses.has(status), `some answer ${status}`)
    }
  },
)

t.test(
  'changes of several items answer as in one process, also while replicas and the server crash',
  { timeout: 0, skip: server === undefined || !isLong },
  async (t) => {
    const cluster = { server: server ?? fail(), url: await (server ?? fail()).createDatabase() }
    const token = await fillLibrary({ url: cluster.url })
    await addGroups({ url: cluster.url }, GROUPS)
    const relay = await startRelay(t, cluster.url)
    const library = [process.execPath, 'test/support/library/main.ts']
    const replicas = await startReplicas(t, 3, relay.url, library)
    const ask = (request: LendingRequest, client: number) =>
      lendOver((replicas[client % 3] ?? fail()).port, token, request)
    let first = 0
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + round
      t.comment(`SEED=${seed}`)
      const over = new AbortController()
      const [operations] = await Promise.all([
        runLending(ask, { seed, groups: [first, GROUPS], isOver: () => over.signal.aborted }),
        runFaults({ ...cluster, replicas, relay }, seed, SECONDS).finally(() => over.abort()),
      ])
      first = 1 + Math.max(...operations.map(({ group }) => group))
      t.comment({ operations: operations.length, groups: first })
      t.strictSame(lendingViolations(operations), [])
    }
  },
)

t.test(
  'a token is valid on all replicas at once, and refused on all within 5 s of its revocation',
  async (t) => {
    const token = async (...words: string[]) => {
      const { code, stdout } = await run(program('token', ...words), { DATABASE_URL: url })
      t.equal(code, 0)
      return stdout.trim()
    }
    const issued = await token('issue', 'revoked')
    const statuses = () =>
      Promise.all(
        replicas.map(
          async ({ port }) => (await call(port, { path: '/plants?limit=1', token: issued })).status,
        ),
      )
    t.strictSame(new Set(await statuses()), new Set([200]))
    const id = await tokenIdOf(store, 'revoked')
    await token('revoke', id)
    const revoked = performance.now()
    // The token is in use all the time, which must not keep it in the cache.
    while ((await statuses()).includes(200) && performance.now() < revoked + 4500) await delay(10)
    for (let round = 0; round < 10; round++) t.strictSame(new Set(await statuses()), new Set([401]))
  },
)
