// JWTs: valid ones name a caller, forged and unfit ones are refused.
import { fail } from 'node:assert'
import { createHmac, KeyObject, randomBytes, sign as signBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { CompactEncrypt, exportSPKI } from 'jose'
import t, { type Test } from 'tap'
import Fastify from 'fastify'
import { JwtChecker } from '../../src/auth/jwt.ts'
import { readConfig } from '@plant-store/engine'
import { build } from '../../../../test/support/servers/start-product.ts'
import {
  AUDIENCE,
  claimsOf,
  type Key,
  makeKey,
  sign,
  startIssuer,
} from '../../../../test/support/identity/issuer.ts'
import { program, run } from '../../../../test/support/processes/programs.ts'
import { serveHttp } from '../../../../test/support/network/ports.ts'

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const INVALID = 'Bearer realm="plants", error="invalid_token"'

/** A key of each algorithm, with the algorithm's name as its id. */
const keys = await Promise.all(ALGORITHMS.map((alg) => makeKey(alg, alg)))
/** Forgers have the public halves of these; the private halves sign faulty claims. */
const [rsa = fail(), , ec = fail()] = keys

/** Starts an identity provider with these keys, and a service for its tokens. */
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

t.test(
  'a token of each algorithm, and all variants that RFC 9068 allows, are accepted',
  async (t) => {
    const { issuer, status, tokenBy } = await prepare(t)
    for (const key of keys) t.equal(await status(await tokenBy(key)), 200, key.alg)
    const now = Math.floor(Date.now() / 1000)
    for (const [name, changed, header] of [
      ['several audiences', { aud: ['https://other.example', AUDIENCE] }],
      ['no iat', { iat: undefined }],
      ['nbf of now', { nbf: now }],
      ['clocks that differ by some seconds', { exp: now - 2, nbf: now + 3, iat: now + 3 }],
      ['a sub of 255 characters', { sub: 'ä'.repeat(255) }],
      ['the whole media type', {}, { typ: 'application/at+jwt' }],
      [
        'a key that the token points to beside that of the issuer',
        {},
        { jku: 'https://evil.example/keys' },
      ],
    ] as const) {
      const token = await sign(ec, { ...claimsOf(issuer.name, 'alice'), ...changed }, header)
      t.equal(await status(token), 200, name)
    }
  },
)

t.test('the tokens of identity providers: any typ, scopes as scp or in a list', async (t) => {
  const issuer = await startIssuer(t)
  issuer.publish(keys)
  const { JWT_ISSUER, JWT_AUDIENCE } = issuer.environment
  const app = Fastify()
  t.teardown(() => app.close())
  const config = readConfig('plants', { JWT_ISSUER, JWT_AUDIENCE, JWT_TYPE: 'JWT' })
  const checker = new JwtChecker(app, config) // without JWKS_URL: the issuer says where its keys are
  const caller = `${issuer.name}#alice`
  const ask = async (claims: object, header: object) =>
    checker.check(await sign(ec, { ...claimsOf(issuer.name, 'alice'), ...claims }, header))
  const scopes = ['a', 'b']
  t.strictSame(await ask({ scope: 'a b' }, { typ: 'JWT' }), { caller, scopes })
  t.strictSame(await ask({ scp: 'a b' }, { typ: undefined }), { caller, scopes })
  t.strictSame(await ask({ scp: scopes }, { typ: 'at+jwt' }), { caller, scopes })
  t.strictSame(await ask({ scope: scopes, scp: ['c'] }, {}), { caller, scopes })
  t.strictSame(await ask({ scope: 7 }, {}), { caller, scopes: [] })
  t.equal(issuer.fetches(), 1)
})

t.test('an issuer whose configuration names another issuer has no keys', async (t) => {
  const issuer = await startIssuer(t)
  issuer.publish(keys)
  const { JWT_AUDIENCE } = issuer.environment
  const app = Fastify()
  t.teardown(() => app.close())
  const alias = `${issuer.name}/other`
  const checker = new JwtChecker(app, readConfig('plants', { JWT_ISSUER: alias, JWT_AUDIENCE }))
  const token = await sign(ec, claimsOf(alias, 'alice'))
  await t.rejects(checker.check(token), { message: /identity provider is not available/ })
  t.equal(issuer.fetches(), 0)
})

t.test('the log names the issuer that a provider states, where it is another one', async (t) => {
  for (const [stated, added, reason] of [
    [{ issuer: 'https://login.example/' }, '', /is "https:\/\/login.example\/": set JWT_ISSUER/],
    [{}, '/', /is "http:\/\/127.0.0.1:\d+": set JWT_ISSUER to exactly this name/],
    [
      { issuer: 'https://a.example/\u202e\n' },
      '',
      /is "https:\/\/a.example\/.*\\n": set JWT_ISSUER/,
    ],
    [{ issuer: 'x'.repeat(10_000) }, '', /is "x{255}": set JWT_ISSUER/],
    [{ issuer: 7 }, '', /is not the configuration of an issuer: set JWKS_URL/],
    [{ jwks_uri: undefined }, '', /is not the configuration of an issuer: set JWKS_URL/],
  ] as const) {
    const issuer = await startIssuer(t, stated)
    const { JWT_AUDIENCE } = issuer.environment
    const JWT_ISSUER = `${issuer.name}${added}`
    const { call, log } = await build(t, { JWT_AUDIENCE, JWT_ISSUER })
    const token = await sign(ec, claimsOf(JWT_ISSUER, 'alice'))
    t.equal((await call({ path: '/plants', token })).status, 503)
    const lines = log.filter(({ msg }) => String(msg).includes('cannot fetch the keys'))
    t.equal(lines.length, 1)
    t.match(lines[0], { level: 40, err: { message: reason } })
  }
})

t.test('a token without aud is refused, though its client_id is the audience', async (t) => {
  const { issuer, status } = await prepare(t)
  const asCognito = { ...claimsOf(issuer.name, 'alice'), aud: undefined, client_id: AUDIENCE }
  const lax = await build(t, { ...issuer.environment, JWT_TYPE: 'JWT' })
  for (const token_use of ['access', 'id', undefined]) {
    const token = await sign(ec, { ...asCognito, token_use })
    t.equal(await status(token), 401)
    t.equal((await lax.call({ path: '/plants', token })).status, 401)
  }
})

t.test(
  'forged and malformed tokens are refused, before the body is read and without a trace',
  async (t) => {
    const { issuer, call, raw, log, status, tokenBy, store } = await prepare(t)
    let visits = 0
    const trap = await serveHttp(t, (_, response) => response.end(String((visits += 1))))
    const forged = await forgedTokens(issuer.name, trap)
    const json = { error: 401, message: 'The access token is not valid' }
    t.ok(forged.size > 80)
    for (const [name, token] of forged) {
      const answer = await call({ path: '/plants', token })
      t.match(answer, { status: 401, headers: { 'www-authenticate': INVALID }, json }, name)
      const lines = `POST /plants HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9000\r\n\r\n`
      t.equal((await raw(1, lines))[0]?.status, 401, `${name}, with a body to come`)
    }
    t.equal(visits, 0, 'the service calls no address in a token')
    const valid = await tokenBy(rsa)
    t.equal(await status(valid), 200, 'a valid token is still accepted')
    const { call: callWithoutIssuer } = await build(t)
    t.equal(
      (await callWithoutIssuer({ path: '/plants', token: valid })).status,
      401,
      'but not without JWT_ISSUER',
    )
    const said = log.filter(({ msg }) => String(msg).includes('a JWT is refused'))
    t.ok(said.length > 0, 'the log says why')
    for (const token of forged.values()) {
      const signature = token.split('.')[2] ?? ''
      if (signature.length > 20)
        t.notOk(JSON.stringify(log).includes(signature), 'no token is logged')
    }
    t.equal(await store.isEmpty(), true)
  },
)

t.test('an access token and a JWT never have the same caller', async (t) => {
  const { issuer, call, log, status, store, token, tokenBy } = await prepare(t)
  const own = await token('demo')
  const foreign = await tokenBy(ec, 'demo')
  await call({ method: 'POST', path: '/plants', token: own, body: { id: 1, name: 'own' } })
  await call({ method: 'POST', path: '/plants', token: foreign, body: { id: 1, name: 'foreign' } })
  t.strictSame((await call({ path: '/plants', token: own })).json, [{ name: 'own' }])
  t.strictSame((await call({ path: '/plants', token: foreign })).json, [{ name: 'foreign' }])
  const caller = `${issuer.name}#demo`
  t.strictSame(
    await store.find(caller, 1n),
    { name: 'foreign' },
    'the issuer is part of the caller',
  )
  t.ok(log.some((line) => line['caller'] === caller))
  const environment = { DATABASE_URL: `sqlite:${t.testdir()}/other.db` }
  const issued = await run(program('token', 'issue', caller), environment)
  t.equal(issued.code, 1, 'the service issues no token for this caller')
  issuer.signal('SIGKILL')
  t.equal(await status(own), 200, 'it needs no identity provider')
})

type Tokens = (readonly [fault: string, token: string | Promise<string>])[]

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/**
 * Tokens like those of the issuer, each with a fault for which it must be refused. @param trap no
 * token may make the service call it
 */
async function forgedTokens(issuer: string, trap: string): Promise<ReadonlyMap<string, string>> {
  const keys = [
    ...(await byForgers(issuer, trap)),
    ...(await misspelled(issuer)),
    ...headers(issuer),
    ...claims(issuer),
  ]
  return new Map(
    await Promise.all(keys.map(async ([fault, token]) => [fault, await token] as const)),
  )
}

/** Tokens not signed by the issuer. */
async function byForgers(issuer: string, trap: string): Promise<Tokens> {
  const payload = encode(claimsOf(issuer, 'alice'))
  const foreignKey = await makeKey('RS256', 'RS256')
  const header = { alg: 'RS256', kid: 'RS256', typ: 'at+jwt' }
  const [, , signature = ''] = (await sign(rsa, claimsOf(issuer, 'bob'))).split('.')
  const pem = await exportSPKI(rsa.publicKey)
  const der = Buffer.from(await crypto.subtle.exportKey('spki', rsa.publicKey))
  /** Possible secrets of an HMAC, in a forger's eyes. */
  const secrets = {
    'the public key as PEM': pem,
    'the public key as PEM, trimmed': pem.trim(),
    'the public key as DER': der,
    'the public key as JWK': JSON.stringify(rsa.jwk),
    'the modulus': Buffer.from(String(rsa.jwk.n), 'base64url'),
    'an empty key': '',
  }
  const hmacs = Object.entries(secrets).flatMap(([name, secret]) =>
    ['HS256', 'HS512', 'RS256'].map((alg) => {
      const input = `${encode({ ...header, alg })}.${payload}`
      const digest = createHmac(alg.replace(/^../, 'sha'), secret).update(input).digest('base64url')
      return [`HMAC as ${alg} by ${name}`, `${input}.${digest}`] as const
    }),
  )
  /** Headers that point to the forger's key. */
  const named = [
    ...[
      {},
      { kid: 'other' },
      { kid: undefined },
      { kid: '' },
      { kid: '__proto__' },
      { kid: `${trap}/keys` },
    ],
    ...[{ kid: '../../../../../../dev/null' }, { kid: "' OR 1=1 --" }, { jwk: foreignKey.jwk }],
    ...[
      { jwk: foreignKey.jwk, kid: undefined },
      { jku: `${trap}/keys`, kid: 'other' },
      { x5u: `${trap}/chain` },
    ],
    ...[
      { jku: `data:application/json,${JSON.stringify({ keys: [foreignKey.jwk] })}` },
      { x5c: [der.toString('base64')] },
    ],
  ]
  return [
    ...hmacs,
    ...named.map(
      (header) => [inspect(header), sign(foreignKey, claimsOf(issuer, 'alice'), header)] as const,
    ),
    ['alg none without a signature', `${encode({ ...header, alg: 'none' })}.${payload}.`],
    ['alg none with a signature', `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`],
    ['alg nOnE', `${encode({ ...header, alg: 'nOnE' })}.${payload}.`],
    [
      'ECDSA of zeros',
      `${encode({ ...header, alg: 'ES256', kid: ec.kid })}.${payload}.${'A'.repeat(86)}`,
    ],
    ['RSA of zeros', `${encode(header)}.${payload}.${'A'.repeat(342)}`],
    ['the signature of another token', `${encode(header)}.${payload}.${signature}`],
  ]
}

/**
 * Valid tokens with one changed part: 1 stands for the header, 2 for the payload, and 3 for the
 * signature.
 */
const MISSPELLED = [
  ...[
    '.',
    '..',
    '...',
    '....',
    '1.2',
    '1.2.3.3',
    '.2.3',
    '1..3',
    '1.2.',
    '1.2.3==',
    '1=.2.3',
    '1.2.3A',
    '1.2.3AAAA',
  ],
  ...[
    '1.2.+3',
    '1. 2.3',
    '1.2.3, 1.2.3',
    '2.1.3',
    '{"protected":"1","payload":"2","signature":"3"}',
  ],
]

async function misspelled(issuer: string): Promise<Tokens> {
  const good = await sign(rsa, claimsOf(issuer, 'alice'))
  const parts = good.split('.')
  const [, payload = '', signature = ''] = parts
  const ofEc = await sign(ec, claimsOf(issuer, 'alice'))
  // Only two bits of the last character of 64 bytes count.
  const alike = { A: 'B', Q: 'R', g: 'h', w: 'x' }[ofEc.at(-1) ?? ''] ?? ''
  const encrypted = new CompactEncrypt(Buffer.from(good)).setProtectedHeader({
    alg: 'dir',
    enc: 'A256GCM',
  })
  const headers = [
    '{"alg":"RS256"',
    ['RS256'],
    { kid: 'RS256', typ: 'at+jwt' },
    { alg: ['RS256'], kid: 'RS256' },
  ]
  return [
    ...MISSPELLED.map(
      (form) => [form, form.replaceAll(/[123]/g, (part) => parts[Number(part) - 1] ?? '')] as const,
    ),
    ...headers.map(
      (header) => [JSON.stringify(header), `${encode(header)}.${payload}.${signature}`] as const,
    ),
    ['a character less', good.slice(0, -1)],
    ['another spelling of the same signature', `${ofEc.slice(0, -1)}${alike}`],
    ['an encrypted token', encrypted.encrypt(randomBytes(32))],
    [
      'more characters than the limit',
      sign(rsa, { ...claimsOf(issuer, 'alice'), more: 'x'.repeat(7000) }),
    ],
  ]
}

/** Headers to refuse, though the signature is valid. ID tokens have the type JWT. */
const HEADERS = [
  ...[
    { typ: undefined },
    { typ: 'JWT' },
    { typ: 'logout+jwt' },
    { typ: 7 },
    { kid: 7 },
    { alg: 'RS512' },
  ],
  ...[{ crit: ['exp'], exp: 1 }, { crit: [] }, { crit: ['b64'] }, { crit: ['b64'], b64: false }],
]

function headers(issuer: string): Tokens {
  const payload = JSON.stringify(claimsOf(issuer, 'alice'))
  return HEADERS.map((header) => [`header ${inspect(header)}`, signText(rsa, payload, header)])
}

/** Claims to refuse, though the signature is valid. */
function claims(issuer: string): Tokens {
  const now = Math.floor(Date.now() / 1000)
  const good = claimsOf(issuer, 'alice')
  const changed: Record<string, unknown[]> = {
    iss: [undefined, 'https://evil.example', `${issuer}/`, issuer.toUpperCase(), [issuer]],
    aud: [
      undefined,
      'https://other.example',
      `${AUDIENCE}/`,
      ['https://other.example'],
      [],
      { [AUDIENCE]: true },
    ],
    exp: [undefined, now - 31, 0, String(now + 300), null],
    nbf: [now + 60, String(now - 60)],
    iat: [now + 60, String(now)],
    sub: [
      undefined,
      '',
      7,
      null,
      ['alice'],
      'x'.repeat(256),
      '🌱'.repeat(255), // more than 1,024 bytes with the issuer
      'alice\nbob',
      'alice\0',
      'alice\ud800',
    ],
  }
  const texts = Object.entries(changed).flatMap(([claim, values]) =>
    values.map((value) => JSON.stringify({ ...good, [claim]: value })),
  )
  const endless = JSON.stringify({ ...good, exp: 0 }).replace('"exp":0', '"exp":1e999')
  const payloads = [...texts, endless, JSON.stringify([good]), '"alice"', 'null', 'alice', '']
  return payloads.map((payload) => [`payload ${payload}`, signText(rsa, payload)])
}

/** Signs any string instead of claims, with any header. */
function signText(key: Key, text: string, header: object = {}): string {
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...header })}.${encode(text)}`
  const hash = 'alg' in header ? 'sha512' : 'sha256'
  return `${input}.${signBytes(hash, Buffer.from(input), KeyObject.from(key.privateKey)).toString('base64url')}`
}
