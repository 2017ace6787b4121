// The check of access tokens and their replacement; the log has no token. token.test.ts tests the
// command for issuing them.
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { mock } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import t, { type Test } from 'tap'
import { AccessTokenChecker, type AccessTokens, TOKEN_TTL } from '../../src/auth/access-tokens.ts'
import { range } from '../../../../test/support/stores/store-engines.ts'
import { build, call } from '../../../../test/support/servers/start-product.ts'
import { startPostgres } from '../../../../test/support/postgres/server.ts'
import { program, run, startService } from '../../../../test/support/processes/programs.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'
import { openNewFile, openTestStore } from '../../../../test/support/stores/open-store.ts'
import {
  issueToken,
  PREFIX,
  revokeTokenOf,
  tokenIdOf,
} from '../../../../test/support/servers/access-tokens.ts'

const { store, file } = await openNewFile(t)
const postgres = { DATABASE_URL: await (await startPostgres(t)).createDatabase() }

/**
 * Makes a check of tokens with an empty cache. It returns a token's caller, and counts its
 * look-ups.
 */
function callers({
  find = (digest) => store.tokens.find(digest),
  dataVersion = () => undefined,
}: Partial<Pick<AccessTokens, 'find' | 'dataVersion'>> = {}) {
  let lookUps = 0
  const checker = new AccessTokenChecker(PREFIX, {
    find: (digest) => (lookUps++, find(digest)),
    dataVersion,
  })
  const check = (token: string) => checker.check(token)
  return {
    check,
    callerOf: async (token: string) => {
      const verdict = await check(token)
      return 'caller' in verdict ? verdict.caller : verdict.refused
    },
    lookUps: () => lookUps,
  }
}

/** Stops the clocks. @returns a function to advance them by milliseconds */
function stopClocks(t: Test): (milliseconds: number) => void {
  let now = Math.ceil(performance.now()) // an integer: sums of fractions are not exact
  t.intercept(performance, 'now', { value: () => now })
  mock.timers.enable({ apis: ['Date'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  return (milliseconds) => {
    now += milliseconds
    mock.timers.tick(milliseconds)
  }
}

t.test(
  'where the store does not tell its version, a token is looked up once in 3 seconds, and refused afterwards if it is revoked',
  async (t) => {
    t.equal(TOKEN_TTL, 3000)
    const pass = stopClocks(t)
    const { callerOf, check, lookUps } = callers()
    const scopes = ['read', 'write']
    const issued = await issueToken(store, 'brief', undefined, scopes)
    for (let times = 0; times < 3; times++)
      t.strictSame(await check(issued), { caller: 'brief', scopes })
    t.equal(lookUps(), 1, 'not for each request')
    t.ok(await revokeTokenOf(store, 'brief'))
    pass(TOKEN_TTL)
    t.equal(await callerOf(issued), 'brief')
    pass(1)
    t.equal(await callerOf(issued), 'unknown')
    t.equal(await callerOf(issued), 'unknown')
    t.equal(lookUps(), 3, 'a refused token is not cached')
  },
)

t.test(
  'a token is looked up once until another program writes; a revoked one is refused 100 ms later',
  async (t) => {
    const pass = stopClocks(t)
    const dataVersion = () => store.dataVersion()
    const { callerOf, lookUps } = callers({ dataVersion })
    const issued = await issueToken(store, 'kept')
    for (const hours of [0, 1, 24]) {
      pass(hours * 3_600_000)
      t.equal(await callerOf(issued), 'kept')
    }
    t.equal(lookUps(), 1)
    const command = await openTestStore({ file }, { isExclusive: false })
    t.teardown(() => command.close())
    t.ok(await revokeTokenOf(command, 'kept'))
    pass(99)
    t.equal(await callerOf(issued), 'kept')
    pass(1)
    t.equal(await callerOf(issued), 'unknown')
  },
)

t.test('a token that is revoked while it is looked up is not cached', async (t) => {
  let version = 1
  const issued = await issueToken(store, 'raced')
  const permission = Promise.withResolvers<undefined>()
  const { callerOf, lookUps } = callers({
    dataVersion: () => version,
    async find(digest) {
      const stored = await store.tokens.find(digest)
      await permission.promise
      return stored
    },
  })
  const first = callerOf(issued)
  version = 2
  t.equal(await callerOf('plant_wrong'), 'malformed') // this check sees the new version
  permission.resolve(undefined)
  t.equal(await first, 'raced')
  await callerOf(issued)
  t.equal(lookUps(), 2)
})

t.test('the cache has the digest of a token, not the token', async (t) => {
  const { callerOf } = callers()
  const issued = await issueToken(store, 'cached')
  const cached = t.capture(LRUCache.prototype, 'set')
  t.equal(await callerOf(issued), 'cached')
  const keys = cached().map(({ args: [key] }) => String(key))
  t.equal(keys.length, 1)
  t.notOk(keys.join().includes(secretOf(issued)))
})

t.test('a slow look-up does not extend the time that a token is cached', async (t) => {
  const pass = stopClocks(t)
  for (const took of [1, TOKEN_TTL - 1, TOKEN_TTL + 1, 10 * TOKEN_TTL]) {
    const issued = await issueToken(store, 'late')
    const { callerOf } = callers({
      async find(digest) {
        const stored = await store.tokens.find(digest)
        pass(took)
        return stored
      },
    })
    t.equal(await callerOf(issued), 'late')
    t.ok(await revokeTokenOf(store, 'late'))
    pass(Math.max(0, TOKEN_TTL - took) + 1)
    t.equal(await callerOf(issued), 'unknown', `found after ${took} ms`)
  }
})

t.test('an expired token is refused, cached or not', async (t) => {
  const pass = stopClocks(t)
  const { callerOf } = callers()
  const issued = await issueToken(store, 'expiring', 1000)
  pass(999)
  t.equal(await callerOf(issued), 'expiring')
  pass(1)
  t.equal(await callerOf(issued), 'expired', 'remembered')
  t.equal(await callers().callerOf(issued), 'expired')
})

t.test('the checksum refuses a mistyped token without a look-up', async (t) => {
  const issued = await issueToken(store, 'typist')
  const { callerOf, lookUps } = callers()
  const changed = range(issued.length).map(
    (at) => issued.slice(0, at) + (issued[at] === '7' ? '1' : '7') + issued.slice(at + 1),
  )
  const cut = [issued.slice(1), issued.slice(0, -1), '']
  for (const typed of [
    ...changed,
    ...cut,
    `${issued}0`,
    ` ${issued}`,
    `${issued}\n`,
    issued.toUpperCase(),
  ])
    t.equal(await callerOf(typed), 'malformed', typed)
  t.equal(lookUps(), 0)
  t.equal(await callerOf(issued), 'typist')
  t.equal(lookUps(), 1)
})

t.test('two tokens are never the same, and the files of the store contain no token', async (t) => {
  const tokens = await Promise.all(range(50).map(() => issueToken(store, 'many')))
  t.equal(new Set(tokens).size, 50)
  for (const path of globSync(`${file}*`)) {
    const bytes = readFileSync(path)
    for (const token of tokens) {
      const random = secretOf(token)
      t.notOk(bytes.includes(random) || bytes.includes(Buffer.from(random, 'hex')), path)
    }
  }
  t.equal(await callers().callerOf(tokens[7] ?? ''), 'many')
})

const sqlite = { DATABASE_URL: `sqlite:${dirname(file)}/replaced.db` }
for (const [kind, environment] of Object.entries({ sqlite, postgres })) {
  t.test(`${kind}: no request fails while a token is replaced`, async (t) => {
    const first = await build(t, environment)
    const services = kind === 'postgres' ? [first, await build(t, environment)] : [first]
    const old = await first.token('machine')
    const id = await tokenIdOf(first.store, 'machine')
    const clients = range(8).map(() => ({ token: old, answered: 0 }))
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
    t.equal((await run(program('token', 'revoke', id), environment)).code, 0)
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

/** The secret part of an access token. */
const secretOf = (token: string) => token.slice(PREFIX.length + 1, -8)

t.test('no token is logged, at any level, in any part of a request', async (t) => {
  const environment = {
    DATABASE_URL: `sqlite:${t.testdir()}/plants.db`,
    NODE_ENV: 'production',
    LOG_LEVEL: 'trace',
  }
  const { port, printed } = await startService(t, environment)
  const issued = await run(program('token', 'issue', 'joe'), environment)
  const token = issued.stdout.trim()
  const wrong = token.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const text of [token, wrong]) {
    const headers = { 'X-Request-Id': `a.${text}`, Referer: text, Cookie: text }
    await call(port, { path: `/plants?limit=${text}`, token: text, headers })
    await call(port, { path: `/plants?cursor=${text}`, headers })
    await call(port, { path: '/plants', headers: { Authorization: `Basic ${text}` } })
    await call(port, { path: `/${text}` })
    await call(port, { method: 'DELETE', path: `/plants/${text}`, token: text })
    await call(port, { method: 'POST', path: '/plants', token: text, body: `{"${text}":"${text}"` })
    await call(port, { method: 'POST', path: '/plants', token: text, body: { [text]: text } })
    await call(port, { path: '/plants', headers: ['Host', text, 'Host', text] })
  }
  await eventually(() => (printed.stdout.match(/"msg":"request"/g) ?? []).length === 16)
  t.notOk(printed.stdout.includes(secretOf(token)))
  t.equal(printed.stderr, '')
})
