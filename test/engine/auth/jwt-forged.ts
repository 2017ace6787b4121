import { createHmac, KeyObject, randomBytes, sign as signBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { CompactEncrypt, exportSPKI } from 'jose'
import { AUDIENCE, claimsOf, type Key, makeKey, sign } from '../../support/issuer.ts'

/** The keys that the issuer publishes. Forgers have the public halves; the private halves sign faulty claims. */
export interface Keys {
  readonly issuer: string
  readonly rsa: Key
  readonly ec: Key
  /** An address of the forger. No token may make the service call it. */
  readonly trap: string
}

type Tokens = (readonly [fault: string, token: string | Promise<string>])[]

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Tokens that look like tokens of the issuer, but must be refused; by fault. */
export async function forgedTokens(keys: Keys): Promise<ReadonlyMap<string, string>> {
  const made = [...(await byForgers(keys)), ...(await misspelled(keys)), ...headers(keys), ...claims(keys)]
  return new Map(await Promise.all(made.map(async ([fault, token]) => [fault, await token] as const)))
}

/** Tokens that the issuer has not signed. */
async function byForgers({ issuer, rsa, ec, trap }: Keys): Promise<Tokens> {
  const payload = encode(claimsOf(issuer, 'alice'))
  const other = await makeKey('RS256', 'RS256')
  const header = { alg: 'RS256', kid: 'RS256', typ: 'at+jwt' }
  const [, , signature = ''] = (await sign(rsa, claimsOf(issuer, 'bob'))).split('.')
  const pem = await exportSPKI(rsa.publicKey)
  const der = Buffer.from(await crypto.subtle.exportKey('spki', rsa.publicKey))
  /** What forgers may take for the secret of an HMAC. */
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
  /** What the headers say of the forger's own key. */
  const named = [
    ...[{}, { kid: 'other' }, { kid: undefined }, { kid: '' }, { kid: '__proto__' }, { kid: `${trap}/keys` }],
    ...[{ kid: '../../../../../../dev/null' }, { kid: "' OR 1=1 --" }, { jwk: other.jwk }],
    ...[{ jwk: other.jwk, kid: undefined }, { jku: `${trap}/keys`, kid: 'other' }, { x5u: `${trap}/chain` }],
    ...[{ jku: `data:application/json,${JSON.stringify({ keys: [other.jwk] })}` }, { x5c: [der.toString('base64')] }],
  ]
  return [
    ...hmacs,
    ...named.map((each) => [inspect(each), sign(other, claimsOf(issuer, 'alice'), each)] as const),
    ['alg none without a signature', `${encode({ ...header, alg: 'none' })}.${payload}.`],
    ['alg none with a signature', `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`],
    ['alg nOnE', `${encode({ ...header, alg: 'nOnE' })}.${payload}.`],
    ['ECDSA of zeros', `${encode({ ...header, alg: 'ES256', kid: ec.kid })}.${payload}.${'A'.repeat(86)}`],
    ['RSA of zeros', `${encode(header)}.${payload}.${'A'.repeat(342)}`],
    ['the signature of another token', `${encode(header)}.${payload}.${signature}`],
  ]
}

/** Valid tokens with a changed text: 1 stands for the header, 2 for the payload, and 3 for the signature. */
const MISSPELLED = [
  ...['.', '..', '...', '....', '1.2', '1.2.3.3', '.2.3', '1..3', '1.2.', '1.2.3==', '1=.2.3', '1.2.3A', '1.2.3AAAA'],
  ...['1.2.+3', '1. 2.3', '1.2.3, 1.2.3', '2.1.3', '{"protected":"1","payload":"2","signature":"3"}'],
]

async function misspelled({ issuer, rsa, ec }: Keys): Promise<Tokens> {
  const good = await sign(rsa, claimsOf(issuer, 'alice'))
  const parts = good.split('.')
  const [, payload = '', signature = ''] = parts
  const ofEc = await sign(ec, claimsOf(issuer, 'alice'))
  // Only two bits of the last character of 64 bytes count.
  const alike = { A: 'B', Q: 'R', g: 'h', w: 'x' }[ofEc.at(-1) ?? ''] ?? ''
  const encrypted = new CompactEncrypt(Buffer.from(good)).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
  const headers = ['{"alg":"RS256"', ['RS256'], { kid: 'RS256', typ: 'at+jwt' }, { alg: ['RS256'], kid: 'RS256' }]
  return [
    ...MISSPELLED.map((form) => [form, form.replaceAll(/[123]/g, (part) => parts[Number(part) - 1] ?? '')] as const),
    ...headers.map((each) => [JSON.stringify(each), `${encode(each)}.${payload}.${signature}`] as const),
    ['a character less', good.slice(0, -1)],
    ['another spelling of the same signature', `${ofEc.slice(0, -1)}${alike}`],
    ['an encrypted token', encrypted.encrypt(randomBytes(32))],
    ['more characters than the limit', sign(rsa, { ...claimsOf(issuer, 'alice'), more: 'x'.repeat(7000) })],
  ]
}

/** Headers that must be refused, though the signature is valid. ID tokens have the type JWT. */
const HEADERS = [
  ...[{ typ: undefined }, { typ: 'JWT' }, { typ: 'logout+jwt' }, { typ: 7 }, { kid: 7 }, { alg: 'RS512' }],
  ...[{ crit: ['exp'], exp: 1 }, { crit: [] }, { crit: ['b64'] }, { crit: ['b64'], b64: false }],
]

function headers({ issuer, rsa }: Keys): Tokens {
  const payload = JSON.stringify(claimsOf(issuer, 'alice'))
  return HEADERS.map((header) => [`header ${inspect(header)}`, signText(rsa, payload, header)])
}

/** Claims that must be refused, though the signature is valid. */
function claims({ issuer, rsa }: Keys): Tokens {
  const now = Math.floor(Date.now() / 1000)
  const good = claimsOf(issuer, 'alice')
  const changed: Record<string, unknown[]> = {
    iss: [undefined, 'https://evil.example', `${issuer}/`, issuer.toUpperCase(), [issuer]],
    aud: [undefined, 'https://other.example', `${AUDIENCE}/`, ['https://other.example'], [], { [AUDIENCE]: true }],
    exp: [undefined, now - 31, 0, String(now + 300), null],
    nbf: [now + 60, String(now - 60)],
    iat: [now + 60, String(now)],
    sub: [undefined, '', 7, null, ['alice'], 'x'.repeat(256), 'alice\nbob', 'alice\0', 'alice\ud800'],
  }
  const texts = Object.entries(changed).flatMap(([claim, values]) =>
    values.map((value) => JSON.stringify({ ...good, [claim]: value })),
  )
  const endless = JSON.stringify({ ...good, exp: 0 }).replace('"exp":0', '"exp":1e999')
  const payloads = [...texts, endless, JSON.stringify([good]), '"alice"', 'null', 'alice', '']
  return payloads.map((payload) => [`payload ${payload}`, signText(rsa, payload)])
}

/** Signs any text instead of claims, with any header. */
function signText(key: Key, text: string, header: object = {}): string {
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...header })}.${encode(text)}`
  const hash = 'alg' in header ? 'sha512' : 'sha256'
  return `${input}.${signBytes(hash, Buffer.from(input), KeyObject.from(key.privateKey)).toString('base64url')}`
}
