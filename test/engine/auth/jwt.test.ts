import { fail } from 'node:assert'
import t, { type Test } from 'tap'
import { build } from '../../support/helper.ts'
import { AUDIENCE, claimsOf, type Key, makeKey, sign, startIssuer } from '../../support/issuer.ts'
import { forgedTokens } from './jwt-forged.ts'
import { program, run } from '../../support/process.ts'
import { serveHttp } from '../../support/project.ts'

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const INVALID = 'Bearer realm="plants", error="invalid_token"'

/** A key of each algorithm, whose id is the name of the algorithm. */
const keys = await Promise.all(ALGORITHMS.map((alg) => makeKey(alg, alg)))
const keyOf = (alg: string): Key => keys.find((key) => key.alg === alg) ?? fail()

/** Starts an identity provider with these keys, and a service that trusts it. */
async function prepare(t: Test) {
  const issuer = await startIssuer(t)
  issuer.publish(keys)
  const service = await build(t, { ...issuer.environment, LOG_LEVEL: 'debug' })
  return {
    ...service,
    issuer,
    status: async (token: string) => (await service.call({ path: '/plants', token })).status,
    tokenBy: (key: Key, sub = 'alice') => sign(key, claimsOf(issuer.name, sub)),
  }
}

t.test('a token of each algorithm, and all variants that RFC 9068 allows, are accepted', async (t) => {
  const { issuer, status, tokenBy } = await prepare(t)
  for (const key of keys) t.equal(await status(await tokenBy(key)), 200, key.alg)
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
    const token = await sign(keyOf('ES256'), { ...claimsOf(issuer.name, 'alice'), ...changed }, header)
    t.equal(await status(token), 200, name)
  }
})

t.test('forged and malformed tokens are refused, before the body is read and without a trace', async (t) => {
  const { issuer, call, raw, log, status, tokenBy, store } = await prepare(t)
  let visits = 0
  const trap = await serveHttp(t, (_, response) => response.end(String((visits += 1))))
  const forged = await forgedTokens({ issuer: issuer.name, rsa: keyOf('RS256'), ec: keyOf('ES256'), trap })
  const json = { error: 401, message: 'The access token is not valid' }
  t.ok(forged.size > 80)
  for (const [name, token] of forged) {
    const answer = await call({ path: '/plants', token })
    t.match(answer, { status: 401, headers: { 'www-authenticate': INVALID }, json }, name)
    const lines = `POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9000\r\n\r\n`
    t.equal((await raw(1, lines))[0]?.status, 401, `${name}, with a body to come`)
  }
  t.equal(visits, 0, 'the service calls no address in a token')
  const valid = await tokenBy(keyOf('RS256'))
  t.equal(await status(valid), 200, 'a valid token is still accepted')
  const { call: callWithoutIssuer } = await build(t)
  t.equal((await callWithoutIssuer({ path: '/plants', token: valid })).status, 401, 'but not without JWT_ISSUER')
  const said = log.filter(({ msg }) => String(msg).includes('a JWT is refused'))
  t.ok(said.length > 0, 'the log says why')
  for (const token of forged.values()) {
    const signature = token.split('.')[2] ?? ''
    if (signature.length > 20) t.notOk(JSON.stringify(log).includes(signature), 'no token is logged')
  }
  t.equal(await store.isEmpty(), true)
})

t.test('an access token and a JWT never have the same caller', async (t) => {
  const { issuer, call, log, status, store, token, tokenBy } = await prepare(t)
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
  const issued = await run(program('token', 'issue', caller), environment)
  t.equal(issued.code, 1, 'the service issues no token for this caller')
  issuer.signal('SIGKILL')
  t.equal(await status(own), 200, 'it needs no identity provider')
})
