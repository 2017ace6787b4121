import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { build } from '../support/helper.ts'
import { AUDIENCE, claimsOf, type Key, makeKey, sign, startIssuer } from '../support/issuer.ts'
import { forgedTokens } from '../support/jwt-forged.ts'
import { run } from '../support/process.ts'

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const INVALID = 'Bearer realm="plants", error="invalid_token"'

/** A key of each algorithm, with its name for an id. */
const keys = await Promise.all(ALGORITHMS.map((alg) => makeKey(alg, alg)))

function keyOf(alg: string): Key {
  const key = keys.find((key) => key.alg === alg)
  if (key === undefined) throw new Error(`no key for ${alg}`)
  return key
}

/** An identity provider that has these keys, and a service that trusts it. */
async function prepare(t: Test) {
  const issuer = await startIssuer(t)
  await issuer.publish(keys)
  const service = await build(t, { ...issuer.environment, LOG_LEVEL: 'debug' })
  let shift = 0
  const now = performance.now.bind(performance)
  t.intercept(performance, 'now', { value: () => now() + shift })
  return {
    ...service,
    issuer,
    status: async (token: string) => (await service.call({ path: '/plants', token })).status,
    tokenBy: (key: Key, sub = 'alice') => sign(key, claimsOf(issuer.name, sub)),
    /** Lets the clock that times fetches go on. */
    pass: (seconds: number) => void (shift += seconds * 1000),
  }
}

/** What a promise gives, and the milliseconds that it took. */
async function timed<Value>(promise: Promise<Value>): Promise<[Value, number]> {
  const begun = Date.now()
  return [await promise, Date.now() - begun]
}

t.test('a token of each algorithm is accepted', async (t) => {
  const { status, tokenBy } = await prepare(t)
  for (const alg of ALGORITHMS) t.equal(await status(await tokenBy(keyOf(alg))), 200, alg)
})

t.test('what RFC 9068 leaves open is accepted', async (t) => {
  const { issuer, status } = await prepare(t)
  const now = Math.floor(Date.now() / 1000)
  for (const [name, changed, header] of [
    ['several audiences', { aud: ['https://other.example', AUDIENCE] }],
    ['no iat', { iat: undefined }],
    ['nbf of now', { nbf: now }],
    ['clocks that differ by some seconds', { exp: now - 2, nbf: now + 3, iat: now + 3 }],
    ['a sub of 255 characters', { sub: '🌱'.repeat(255) }],
    ['the whole media type', {}, { typ: 'application/at+jwt' }],
    ['a key that the token points to beside that of the issuer', {}, { jku: 'https://evil.example/keys' }],
  ] as const) {
    t.equal(
      await status(await sign(keyOf('ES256'), { ...claimsOf(issuer.name, 'alice'), ...changed }, header)),
      200,
      name,
    )
  }
})

t.test('forged and malformed tokens are refused, before the body is read and without a trace', async (t) => {
  const { issuer, call, raw, log, status, tokenBy, store } = await prepare(t)
  let visits = 0
  const trap = http.createServer((_, response) => response.end(String((visits += 1)))).listen(0, '127.0.0.1')
  await once(trap, 'listening')
  t.teardown(() => trap.close())
  const address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`
  const forged = await forgedTokens({ issuer: issuer.name, rsa: keyOf('RS256'), ec: keyOf('ES256'), trap: address })
  t.ok(forged.size > 80)
  for (const [name, token] of forged) {
    const { status, headers, json } = await call({ path: '/plants', token })
    t.strictSame(
      { status, json },
      { status: 401, json: { error: 401, message: 'The access token is not valid' } },
      name,
    )
    t.equal(headers['www-authenticate'], INVALID, name)
    const lines = `POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9000\r\n\r\n`
    t.equal((await raw(1, lines))[0]?.status, 401, `${name}, with a body to come`)
  }
  t.equal(visits, 0, 'no address of a token is visited')
  t.equal(await status(await tokenBy(keyOf('RS256'))), 200, 'a good one is accepted after them')
  t.ok(
    log.some(({ msg }) => String(msg).includes('a JWT is refused')),
    'the log says why',
  )
  for (const token of forged.values()) {
    const signature = token.split('.')[2] ?? ''
    if (signature.length > 20) t.notOk(JSON.stringify(log).includes(signature), 'no token is logged')
  }
  t.equal(await store.isEmpty(), true)
})

t.test('a token of 100 KB does not get beyond the HTTP parser', async (t) => {
  const { call } = await prepare(t)
  t.equal((await call({ path: '/plants', token: `e30.${'x'.repeat(100_000)}.x` })).status, 431)
})

t.test('without JWT_ISSUER no JWT is accepted', async (t) => {
  const { tokenBy } = await prepare(t)
  const { call } = await build(t)
  t.equal((await call({ path: '/plants', token: await tokenBy(keyOf('ES256')) })).status, 401)
})

t.test('callers of the two kinds of token are never the same', async (t) => {
  const { issuer, call, log, store, token, tokenBy } = await prepare(t)
  const own = await token('demo')
  const foreign = await tokenBy(keyOf('ES256'), 'demo')
  await call({ method: 'POST', path: '/plants', token: own, body: { id: 1, name: 'own' } })
  await call({ method: 'POST', path: '/plants', token: foreign, body: { id: 1, name: 'foreign' } })
  t.strictSame((await call({ path: '/plants', token: own })).json, [{ name: 'own' }])
  t.strictSame((await call({ path: '/plants', token: foreign })).json, [{ name: 'foreign' }])
  const caller = `${issuer.name}#demo`
  t.strictSame(await store.find(caller, 1n), { name: 'foreign' }, 'the issuer is part of the caller')
  t.ok(log.some((line) => line['caller'] === caller))
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/other.db` }
  const issued = await run([process.execPath, 'service/token.ts', 'issue', caller], environment)
  t.equal(issued.code, 1, 'no token of our own can be issued for it')
})

t.test('keys are fetched once, and a new one when a token names it', async (t) => {
  const { issuer, status, tokenBy } = await prepare(t)
  const before = await tokenBy(keyOf('ES256'))
  t.strictSame(new Set(await Promise.all(Array.from({ length: 50 }, () => status(before)))), new Set([200]))
  t.equal(await issuer.fetches(), 1)
  const key = await makeKey('ES256', 'new')
  await issuer.publish([keyOf('ES256'), key])
  t.equal(await status(await tokenBy(key)), 200)
  t.equal(await status(before), 200)
  t.equal(await issuer.fetches(), 2)
})

t.test('1,000 unknown key ids make the service fetch once in a cool-down', async (t) => {
  const { issuer, pass, status, tokenBy } = await prepare(t)
  const token = await tokenBy(keyOf('ES256'))
  t.equal(await status(token), 200)
  const guess = (id: number) => {
    const header = JSON.stringify({ alg: 'ES256', kid: `unknown${id}`, typ: 'at+jwt' })
    return status(token.replace(/^[^.]+/, Buffer.from(header).toString('base64url')))
  }
  /** The fetches that so many tokens have caused. */
  const fetchesOf = async (count: number) => {
    const before = await issuer.fetches()
    for (let id = 0; id < count; id += 50) {
      const statuses = await Promise.all(Array.from({ length: 50 }, (_, index) => guess(id + index)))
      t.strictSame(new Set(statuses), new Set([401]))
    }
    return (await issuer.fetches()) - before
  }
  const [fetches, ms] = await timed(fetchesOf(1000))
  t.ok(fetches >= 1 && fetches <= 1 + ms / 30_000, `${fetches} in ${ms} ms`)
  pass(31)
  t.equal(await fetchesOf(50), 1, 'after the cool-down')
  t.equal(await fetchesOf(50), 0, 'within the next one')
  await issuer.answer(500, '')
  pass(31)
  t.equal(await fetchesOf(100), 1, 'nor does it fetch more often when that fails')
})

t.test('a key that is withdrawn is used for 5 minutes at most', async (t) => {
  const { issuer, pass, status, tokenBy } = await prepare(t)
  for (const [alg, idle] of [
    ['ES256', true],
    ['EdDSA', false],
  ] as const) {
    const token = await tokenBy(keyOf(alg))
    await issuer.publish([keyOf(alg)])
    pass(301)
    t.equal(await status(token), 200)
    await issuer.publish([keyOf('RS256')])
    pass(239)
    if (!idle) t.equal(await status(token), 200)
    pass(62)
    t.equal(await status(token), 401, idle ? 'after a rest' : 'amid work')
  }
})

t.test('a token is not remembered for longer than it is valid', async (t) => {
  const { issuer, status } = await prepare(t)
  const exp = Math.floor(Date.now() / 1000) - 1
  const token = await sign(keyOf('ES256'), { ...claimsOf(issuer.name, 'alice'), exp })
  t.equal(await status(token), 200)
  await delay(5500)
  t.equal(await status(token), 401)
})

for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
  t.test(`an identity provider that got ${signal} throws nobody out, and lets nobody in`, async (t) => {
    const { issuer, pass, status, tokenBy, log } = await prepare(t)
    const known = await tokenBy(keyOf('RS256'))
    t.equal(await status(known), 200)
    issuer.signal(signal)
    t.equal(await status(await tokenBy(keyOf('ES256'), 'bob')), 200, 'a new token by a known key')
    const unknown = await tokenBy(await makeKey('ES256', 'unknown'))
    const [refused, waited] = await timed(status(unknown))
    t.equal(refused, 401, 'an unknown key')
    t.ok(waited < 5000, `after ${waited} ms`)
    for (const seconds of [301, 3600, 22.5 * 3600]) {
      pass(seconds)
      for (const most of [5000, 1500, 1500]) {
        const [accepted, ms] = await timed(status(known))
        t.equal(accepted, 200, `${seconds} s later`)
        t.ok(ms < most, `after ${ms} ms`)
        pass(61) // What is remembered of the token is to go.
      }
    }
    t.ok(
      log.some(({ level, msg }) => level === 40 && String(msg).includes('JWKS_URL')),
      'the log says it',
    )
    pass(2 * 3600)
    t.equal(await status(known), 503, 'keys of yesterday')
  })

  t.test(`without keys, an identity provider that got ${signal} lets nobody in until it is back`, async (t) => {
    const { issuer, call, pass, status, token, tokenBy } = await prepare(t)
    const own = await token('own')
    const jwt = await tokenBy(keyOf('ES256'))
    issuer.signal(signal)
    const [{ status: first, headers }, waited] = await timed(call({ path: '/plants', token: jwt }))
    t.equal(first, 503)
    t.match(headers['retry-after'], /^\d+$/)
    t.ok(waited < 5000, `after ${waited} ms`)
    const [again, ms] = await timed(status(jwt))
    t.equal(again, 503)
    t.ok(ms < 1500, `at once: ${ms} ms`)
    t.equal(await status('e30.e30.e30'), 401, 'what can be no token is refused')
    t.equal(await status(own), 200, 'our own tokens do not need it')
    if (signal === 'SIGSTOP') issuer.signal('SIGCONT')
    else {
      await issuer.start()
      await issuer.publish([keyOf('ES256')])
    }
    pass(6)
    t.equal(await status(jwt), 200)
  })
}

t.test('what is no set of keys does not take the place of one', async (t) => {
  const { issuer, pass, status, tokenBy } = await prepare(t)
  const token = await tokenBy(keyOf('ES256'))
  t.equal(await status(token), 200)
  for (const [code, body] of [
    [200, ''],
    [200, '{"keys":7}'],
    [500, '{"keys":[]}'],
    [302, '{"keys":[]}'],
  ] as const) {
    await issuer.answer(code, body)
    pass(301)
    t.equal(await status(token), 200, `${code} ${body}`)
  }
  t.equal(await issuer.fetches(), 5)
})
