// The check of access tokens. token.test.ts tests the command that issues them.
import { readdirSync, readFileSync } from 'node:fs'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { TOKEN_TTL, accessTokenChecker } from '../../../service/engine/auth/guard.ts'
import { openTestStore } from '../../support/stores.ts'
import type { Store } from '../../../service/engine/store/store.ts'
import { issueToken, PREFIX } from '../../support/tokens.ts'

const folder = t.testdir()
const store = await openTestStore({ file: `${folder}/plants.db` })
t.teardown(() => store.close())

/** Makes a check of tokens with an empty cache. It returns a token's caller, and counts its look-ups. */
function callers(findToken: Store['findToken'] = (digest) => store.findToken(digest)) {
  let lookUps = 0
  const check = accessTokenChecker(PREFIX, { findToken: (digest) => (lookUps++, findToken(digest)) })
  return {
    check,
    callerOf: async (token: string) => {
      const verdict = await check(token)
      return 'caller' in verdict ? verdict.caller : verdict.refused
    },
    lookUps: () => lookUps,
  }
}

/** Stops the clocks. @returns a function that advances them by milliseconds */
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

const revoke = async (caller: string) => {
  const found = (await store.listTokens()).find((each) => each.caller === caller)
  t.equal(await store.deleteToken(found?.id ?? ''), true)
}

t.test('a token is looked up once in 3 seconds, and a revoked token is refused afterwards', async (t) => {
  t.equal(TOKEN_TTL, 3000)
  const pass = stopClocks(t)
  const { callerOf, check, lookUps } = callers()
  const scopes = ['read', 'write']
  const issued = await issueToken(store, 'brief', undefined, scopes)
  for (let times = 0; times < 3; times++) t.strictSame(await check(issued), { caller: 'brief', scopes })
  t.equal(lookUps(), 1, 'not for each request')
  await revoke('brief')
  pass(TOKEN_TTL)
  t.equal(await callerOf(issued), 'brief')
  pass(1)
  t.equal(await callerOf(issued), 'unknown')
  t.equal(await callerOf(issued), 'unknown')
  t.equal(lookUps(), 3, 'a refused token is not cached')
})

t.test('a slow look-up does not extend the time that a token is cached', async (t) => {
  const pass = stopClocks(t)
  for (const took of [1, TOKEN_TTL - 1, TOKEN_TTL + 1, 10 * TOKEN_TTL]) {
    const issued = await issueToken(store, 'late')
    const { callerOf } = callers(async (digest) => {
      const found = await store.findToken(digest)
      pass(took)
      return found
    })
    t.equal(await callerOf(issued), 'late')
    await revoke('late')
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
  for (let at = 0; at < issued.length; at++) {
    const typed = issued.slice(0, at) + (issued[at] === '7' ? '1' : '7') + issued.slice(at + 1)
    t.equal(await callerOf(typed), 'malformed', typed)
  }
  const cut = [issued.slice(1), issued.slice(0, -1), '']
  for (const typed of [...cut, `${issued}0`, ` ${issued}`, `${issued}\n`, issued.toUpperCase()]) {
    t.equal(await callerOf(typed), 'malformed', typed)
  }
  t.equal(lookUps(), 0)
  t.equal(await callerOf(issued), 'typist')
  t.equal(lookUps(), 1)
})

t.test('two tokens are never the same, and the files of the store contain no token', async (t) => {
  const tokens = await Promise.all(Array.from({ length: 50 }, () => issueToken(store, 'many')))
  t.equal(new Set(tokens).size, 50)
  for (const file of readdirSync(folder)) {
    const bytes = readFileSync(`${folder}/${file}`)
    for (const each of tokens) {
      const random = each.slice(6, 46)
      t.notOk(bytes.includes(random) || bytes.includes(Buffer.from(random, 'hex')), file)
    }
  }
  t.equal(await callers().callerOf(tokens[7] ?? ''), 'many')
})
