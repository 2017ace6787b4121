// The keys of an identity provider by the real clock: jwks.test.ts has the same in a moment, by a clock of its own.
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { call } from '../support/helper.ts'
import { claimsOf, type Key, makeKey, sign, startIssuer } from '../support/issuer.ts'
import { startService } from '../support/process.ts'

const [first, second] = [await makeKey('ES256', 'first'), await makeKey('ES256', 'second')]

async function prepare(t: Test, keys: readonly Key[]) {
  const issuer = await startIssuer(t)
  await issuer.publish(keys)
  const { port } = await startService(t, { ...issuer.environment, DATABASE_URL: `sqlite:${t.testdir()}/plants.db` })
  return {
    issuer,
    tokenBy: (key: Key) => sign(key, { ...claimsOf(issuer.name, 'alice'), exp: Math.floor(Date.now() / 1000) + 3600 }),
    send: (token: string) => call(port, { path: '/plants', token }),
  }
}

/** Seconds until something is so. */
async function secondsUntil(isSo: () => Promise<boolean>): Promise<number> {
  const begun = performance.now()
  while (!(await isSo())) await delay(250)
  return (performance.now() - begun) / 1000
}

t.test('a new key is accepted within 35 seconds, a withdrawn one is refused within 5 minutes', async (t) => {
  const { issuer, send, tokenBy } = await prepare(t, [first])
  const [old, next] = [await tokenBy(first), await tokenBy(second)]
  t.equal((await send(old)).status, 200)
  await issuer.publish([second])
  const accepted = await secondsUntil(async () => (await send(next)).status === 200)
  t.ok(accepted < 35, `after ${accepted} s`)
  const refused = await secondsUntil(async () => (await send(old)).status === 401)
  t.ok(accepted + refused < 300, `after ${accepted + refused} s`)
})

t.test('an identity provider that hangs: 503 in 3 seconds, and 200 when it answers again', async (t) => {
  const { issuer, send, tokenBy } = await prepare(t, [first])
  const token = await tokenBy(first)
  issuer.signal('SIGSTOP')
  const begun = performance.now()
  t.match(await send(token), { status: 503, headers: { 'retry-after': '5' } })
  t.ok(performance.now() - begun < 4000, `after ${performance.now() - begun} ms`)
  issuer.signal('SIGCONT')
  t.ok((await secondsUntil(async () => (await send(token)).status === 200)) < 10)
})
