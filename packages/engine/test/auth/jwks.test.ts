// The keys of an identity provider over several days. The test controls the clocks; the identity
// provider is real.
import { generateKeyPairSync } from 'node:crypto'
import { mock } from 'node:test'
import Fastify, { type FastifyBaseLogger } from 'fastify'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { FETCH_TIMEOUT, JWT_TTL, JwtChecker, RELOAD_INTERVAL } from '../../src/auth/jwt.ts'
import { readConfig } from '@plant-store/engine'
import { HttpError } from '@plant-store/engine/for-store'
import { range } from '../../../../test/support/stores/store-engines.ts'
import {
  claimsOf,
  type Key,
  makeKey,
  sign,
  startIssuer,
} from '../../../../test/support/identity/issuer.ts'
import { eventually } from '../../../../test/support/processes/eventually.ts'

const DAY = 24 * 3600
const [first, second] = [await makeKey('ES256', 'first'), await makeKey('RS256', 'second')]

/** Starts an identity provider with these keys, and makes a check for its tokens. */
async function prepare(
  t: Test,
  keys: readonly Key[] = [first, second],
  environment: Record<string, string> = {},
) {
  const issuer = await startIssuer(t)
  issuer.publish(keys)
  let now = performance.now()
  t.intercept(performance, 'now', { value: () => now })
  mock.timers.enable({ apis: ['Date', 'setInterval'], now: Date.now() })
  t.teardown(() => mock.timers.reset())
  const log: Record<string, unknown>[] = []
  const loggerInstance: FastifyBaseLogger = pino(
    {},
    { write: (line: string) => void log.push(JSON.parse(line)) },
  )
  const app = Fastify({ loggerInstance })
  t.teardown(() => app.close())
  const checker = new JwtChecker(
    app,
    readConfig('plants', { ...issuer.environment, ...environment }),
  )
  const check = (token: string) => checker.check(token)
  return {
    app,
    check,
    issuer,
    log,
    /** The status of a request with this token. */
    status: async (token: string) => {
      try {
        return 'caller' in (await check(token)) ? 200 : 401
      } catch (error) {
        if (!(error instanceof HttpError)) throw error
        t.match(error.headers, { 'retry-after': '5' })
        return error.statusCode
      }
    },
    /** Issues a token valid for some days. */
    tokenBy: (key: Key, sub = 'alice') =>
      sign(key, { ...claimsOf(issuer.name, sub), exp: Math.floor(Date.now() / 1000) + 10 * DAY }),
    /** Advances the clocks. */
    pass: (seconds: number) => {
      now += seconds * 1000
      mock.timers.tick(seconds * 1000)
    },
  }
}

/** Shortens the wait for a stopped identity provider. @returns the usual wait in milliseconds */
function shortenTimeouts(t: Test) {
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  const asked: number[] = []
  const { restore } = t.intercept(AbortSignal, 'timeout', {
    value: (milliseconds: number) => timeout((asked.push(milliseconds), 20)),
  })
  return { asked, restore }
}

t.test(
  'keys are fetched once, and again for a new one: 1,000 unknown key ids cause one fetch in 30 s',
  async (t) => {
    const { issuer, log, pass, status, tokenBy } = await prepare(t, [first])
    const token = await tokenBy(first)
    t.strictSame(new Set(await Promise.all(range(50).map(() => status(token)))), new Set([200]))
    t.equal(issuer.fetches(), 1)
    const guess = (id: number) => {
      const header = JSON.stringify({ alg: 'ES256', kid: `unknown${id}`, typ: 'at+jwt' })
      return status(token.replace(/^[^.]+/, Buffer.from(header).toString('base64url')))
    }
    /** Counts the fetches caused by some tokens. */
    const fetchesOf = async (count: number) => {
      const before = issuer.fetches()
      for (let id = 0; id < count; id += 50)
        t.strictSame(
          new Set(await Promise.all(range(50).map((n) => guess(id + n)))),
          new Set([401]),
        )
      return issuer.fetches() - before
    }
    t.equal(await fetchesOf(50), 0, 'right after a fetch')
    pass(31)
    t.equal(await fetchesOf(1000), 1, 'after the cool-down')
    issuer.publish([first, second])
    pass(29)
    t.equal(await fetchesOf(50), 0, 'in the next cool-down')
    pass(2)
    t.strictSame([await status(await tokenBy(second)), await status(token)], [200, 200])
    t.equal(issuer.fetches(), 3)
    issuer.answer(500, '')
    pass(31)
    t.strictSame(log, [])
    t.equal(await fetchesOf(100), 1, 'as rare while it fails')
    await eventually(() => log.length === 1)
    pass(29)
    t.equal(await fetchesOf(50), 0)
  },
)

const NO_KID = { kid: undefined }

t.test('a token that may be of several keys is tried with each key of its type', async (t) => {
  const [third, sameId] = [await makeKey('ES256', 'third'), await makeKey('ES256', 'third')]
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const weak = { ...publicKey.export({ format: 'jwk' }), use: 'sig' }
  const broken = { ...first.jwk, x: 'AA', kid: 'broken' }
  const { check, issuer, status } = await prepare(t)
  const keys = [broken, weak, first.jwk, second.jwk, third.jwk, sameId.jwk]
  const claims = claimsOf(issuer.name, 'alice')
  for (const ordered of [keys, keys.toReversed()]) {
    issuer.answer(200, JSON.stringify({ keys: ordered }))
    for (const key of [first, second, third, sameId])
      t.equal(await status(await sign(key, { ...claims, jti: ordered[0]?.x }, NO_KID)), 200)
    for (const key of [third, sameId]) t.equal(await status(await sign(key, claims)), 200)
  }
  const unpublished = await makeKey('ES256', 'third')
  for (const header of [NO_KID, {}])
    t.equal(await status(await sign(unpublished, claims, header)), 401)
  const expired = await sign(sameId, { ...claims, exp: 1 }, NO_KID)
  t.strictSame(await check(expired), { refused: 'expired' })
  t.strictSame(await check(await sign(sameId, { ...claims, aud: 'x' })), { refused: 'unknown' })
})

t.test('of many keys that a token may be of, 16 are tried', async (t) => {
  const keys = await Promise.all(range(18).map((id) => makeKey('ES256', `key${id}`)))
  const { status, issuer } = await prepare(t, keys)
  const claims = claimsOf(issuer.name, 'alice')
  const verified = t.capture(crypto.subtle, 'verify', crypto.subtle.verify.bind(crypto.subtle))
  const answers = keys.map(async (key) => status(await sign(key, claims, NO_KID)))
  t.strictSame(await Promise.all(answers), [...range(16).map(() => 200), 401, 401])
  const refused = 2 * 16 // tried twice, because the keys may be new
  t.equal(verified().length, (16 * 17) / 2 + 2 * refused)
  t.equal(await status(await sign(keys[17] ?? first, claims)), 200, 'its id says which key it is')
})

t.test('a token without a key id makes the service fetch keys once in 30 s', async (t) => {
  const third = await makeKey('ES256', 'third')
  const { issuer, pass, status } = await prepare(t, [first])
  const token = async (key: Key) => sign(key, claimsOf(issuer.name, 'alice'), NO_KID)
  t.equal(await status(await token(first)), 200)
  issuer.publish([first, third])
  t.equal(await status(await token(third)), 401, 'right after a fetch')
  pass(31)
  const tokens = await Promise.all(range(50).map(() => token(third)))
  t.strictSame(new Set(await Promise.all(tokens.map(status))), new Set([200]))
  t.equal(issuer.fetches(), 2)
  const forged = await makeKey('ES256', 'forged')
  for (const seconds of [0, 31, 29]) {
    pass(seconds)
    const refused = range(20).map(async () => status(await token(forged)))
    t.strictSame(new Set(await Promise.all(refused)), new Set([401]))
  }
  t.equal(issuer.fetches(), 3)
  issuer.answer(500, '')
  pass(2)
  t.equal(await status(await token(forged)), 401, 'while the identity provider is down')
  t.equal(await status(await token(first)), 200)
})

t.test('the scopes of a token come from its claim "scope"', async (t) => {
  const { check, issuer } = await prepare(t)
  const caller = `${issuer.name}#alice`
  for (const [scope, scopes] of [
    [undefined, []],
    ['', []],
    ['plants:read', ['plants:read']],
    ['b a  c', ['b', 'a', 'c']],
    [['a'], ['a']],
    [7, []],
  ] as const) {
    const token = await sign(first, { ...claimsOf(issuer.name, 'alice'), scope })
    t.strictSame(await check(token), { caller, scopes }, JSON.stringify(scope))
    t.strictSame(await check(token), { caller, scopes }, 'remembered')
  }
})

t.test(
  'a key that is withdrawn is used for 5 minutes at most, even if one reload fails',
  async (t) => {
    t.ok(2 * RELOAD_INTERVAL + FETCH_TIMEOUT + JWT_TTL < 300_000)
    for (const idle of [true, false]) {
      const { issuer, log, pass, status, tokenBy } = await prepare(t)
      const token = await tokenBy(first)
      t.equal(await status(token), 200)
      const fetches = issuer.fetches()
      const isReloaded = async () => issuer.fetches() === fetches + 1
      issuer.publish([second])
      pass(RELOAD_INTERVAL / 1000 - 1)
      if (!idle) t.equal(await status(token), 200)
      pass(1)
      await eventually(async () => log.length > 0 || (await isReloaded()))
      // While the clocks stand still, the connection to the provider may be closed unseen, so that
      // a reload fails.
      if (!(await isReloaded())) pass(RELOAD_INTERVAL / 1000)
      await eventually(isReloaded)
      pass(JWT_TTL / 1000)
      await eventually(async () => (await status(token)) === 401)
      t.equal(await status(await tokenBy(second)), 200)
      mock.timers.reset()
    }
  },
)

t.test('a token is cached for a minute, but not after it expires', async (t) => {
  const { issuer, log, pass, status, tokenBy } = await prepare(t)
  const exp = Math.floor(Date.now() / 1000) + 10
  const token = await sign(first, { ...claimsOf(issuer.name, 'alice'), exp })
  t.equal(await status(token), 200)
  pass(14)
  t.equal(await status(token), 200, 'clocks may differ by 5 seconds')
  pass(2)
  t.equal(await status(token), 401)
  const long = await tokenBy(first)
  t.equal(await status(long), 200)
  t.capture(crypto.subtle, 'verify', () => Promise.reject(new Error('verified again')))
  pass(59)
  t.equal(await status(long), 200, 'it is cached')
  pass(2)
  t.equal(await status(long), 401, 'it is verified again')
  t.strictSame(log, [])
})

for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
  t.test(
    `while the identity provider is down (${signal}), only known tokens are accepted`,
    async (t) => {
      const { issuer, log, pass, status, tokenBy } = await prepare(t)
      const token = await tokenBy(first)
      t.equal(await status(token), 200)
      const unknown = await tokenBy(await makeKey('ES256', 'unknown'))
      issuer.signal(signal)
      const { asked } = shortenTimeouts(t)
      t.equal(await status(await tokenBy(second, 'bob')), 200, 'a new token by a known key')
      for (const seconds of [0, 31, 301, 3600, 22 * 3600]) {
        pass(seconds)
        t.equal(await status(token), 200, `${seconds} s later`)
        t.equal(await status(unknown), 401, `an unknown key ${seconds} s later`)
      }
      await eventually(() =>
        log.some(({ level, msg }) => level === 40 && String(msg).includes('JWKS_URL')),
      )
      pass(2 * 3600)
      t.equal(await status(token), 503, 'the keys are a day old')
      t.strictSame(new Set(asked), new Set([3000]), 'no request waits longer')
    },
  )
}

for (const failure of ['SIGSTOP', 'SIGKILL', 500] as const) {
  t.test(
    `without keys, no JWT is accepted until the identity provider is back (${failure})`,
    async (t) => {
      const { issuer, log, pass, status, tokenBy } = await prepare(t)
      const jwt = await tokenBy(first)
      if (failure === 500) issuer.answer(500, '')
      else issuer.signal(failure)
      const { restore } = shortenTimeouts(t)
      const fetched = t.capture(globalThis, 'fetch', fetch)
      for (const _ of range(2))
        t.strictSame(new Set(await Promise.all(range(50).map(() => status(jwt)))), new Set([503]))
      t.equal(
        fetched().length,
        1,
        'requests wait for the same fetch, and begin no other for 5 seconds',
      )
      pass(RELOAD_INTERVAL / 1000)
      await eventually(() => log.length === 2)
      for (const { level, msg } of log) t.match([level, msg], [40, /JWKS_URL/])
      if (failure === 'SIGSTOP') issuer.signal('SIGCONT')
      if (failure === 'SIGKILL') await issuer.start()
      issuer.publish([first])
      restore()
      pass(5)
      t.equal(await status(jwt), 200, 'it is asked again after 5 seconds')
    },
  )
}

t.test(
  'an answer that is not a set of keys replaces no keys, and a closed service fetches none',
  async (t) => {
    const { app, issuer, log, pass, status, tokenBy } = await prepare(t)
    const token = await tokenBy(first)
    t.equal(await status(token), 200)
    const answers: [number, string][] = [
      [200, ''],
      ...[200, 500, 302].map((code): [number, string] => [code, '{"keys":7}']),
    ]
    for (const answer of answers) {
      const lines = log.length
      issuer.answer(...answer)
      pass(RELOAD_INTERVAL / 1000)
      await eventually(() => log.length > lines)
      t.equal(await status(token), 200, answer.join(' '))
    }
    t.equal(issuer.fetches(), 5)
    const { asked } = shortenTimeouts(t)
    await app.close()
    pass((10 * RELOAD_INTERVAL) / 1000)
    t.strictSame(asked, [])
  },
)

/** Invalid values of JWKS_URL. */
const BAD_ADDRESSES = [
  `data:application/json,${encodeURIComponent(JSON.stringify({ keys: [first.jwk] }))}`,
  'http://keys.invalid/keys',
  'http://127.0.0.1.keys.invalid/keys',
  'http://127.0.0.1@keys.invalid/keys',
  'https://user@keys.invalid/keys',
  'https://user:password@keys.invalid/keys',
  'HTTP://keys.invalid/keys',
  'file:///etc/passwd',
  'ftp://keys.invalid/keys',
  `blob:${crypto.randomUUID()}`,
  '/keys',
  '//keys.invalid/keys',
  'https://',
  '',
]

t.test('an issuer that names another address of its keys than JWKS_URL may be', async (t) => {
  const { issuer, log, pass, status, tokenBy } = await prepare(t, [first], { JWKS_URL: '' })
  const token = await tokenBy(first)
  const asked: string[] = []
  const { fetch } = globalThis
  t.intercept(globalThis, 'fetch', {
    value: (url: string, init: RequestInit) => {
      asked.push(url)
      const isHere = url.startsWith(issuer.name) || url.startsWith('data:')
      return isHere ? fetch(url, init) : Promise.reject(new Error('not here'))
    },
  })
  for (const address of [...BAD_ADDRESSES, 7, null, undefined, [`${issuer.name}/keys`]]) {
    issuer.move(address)
    pass(5)
    t.equal(await status(token), 503, String(address))
    const reasons = log.splice(0).map(({ err }) => JSON.stringify(err))
    t.match(reasons, [/the jwks_uri of|is not the configuration/], String(address))
  }
  t.strictSame(new Set(asked), new Set([`${issuer.name}/.well-known/openid-configuration`]))
  const { port } = new URL(issuer.name)
  issuer.move(`http://localhost:${port}/keys`)
  pass(5)
  t.equal(await status(token), 503, 'asked')
  t.equal(asked.at(-1), `http://localhost:${port}/keys`)
  issuer.move(`${issuer.name}/keys`)
  pass(5)
  t.equal(await status(token), 200, 'a loopback address')
})
