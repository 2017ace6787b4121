import { createHmac, randomBytes } from 'node:crypto'
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

type Tokens = Record<string, string | Promise<string>>

const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** Tokens that look like tokens of the issuer, but must be refused; by fault. */
export async function forgedTokens(keys: Keys): Promise<ReadonlyMap<string, string>> {
  const made = { ...(await byForgers(keys)), ...(await misspelled(keys)), ...headers(keys), ...claims(keys) }
  return new Map(await Promise.all(Object.entries(made).map(async ([name, token]) => [name, await token] as const)))
}

/** Tokens that the issuer has not signed. */
async function byForgers({ issuer, rsa, ec, trap }: Keys): Promise<Tokens> {
  const payload = encode(claimsOf(issuer, 'alice'))
  const other = await makeKey('RS256', 'RS256')
  const header = { alg: 'RS256', kid: 'RS256', typ: 'at+jwt' }
  const [, , signature = ''] = (await sign(rsa, claimsOf(issuer, 'bob'))).split('.')
  const pem = await exportSPKI(rsa.publicKey)
  const der = Buffer.from(await crypto.subtle.exportKey('spki', rsa.publicKey))
  const hmac = (secret: string | Buffer, alg: string, hash: string, kid = 'RS256') => {
    const input = `${encode({ alg, kid, typ: 'at+jwt' })}.${payload}`
    return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
  }
  const ofOther = (header: object) => sign(other, claimsOf(issuer, 'alice'), header)
  const pair = { keys: [other.jwk] }
  return {
    'alg none without a signature': `${encode({ ...header, alg: 'none' })}.${payload}.`,
    'alg none with a signature': `${encode({ ...header, alg: 'none' })}.${payload}.${signature}`,
    'alg nOnE': `${encode({ ...header, alg: 'nOnE' })}.${payload}.`,
    'HS256 by the public key as PEM': hmac(pem, 'HS256', 'sha256'),
    'HS256 by the public key as PEM, trimmed': hmac(pem.trim(), 'HS256', 'sha256'),
    'HS256 by the public key as DER': hmac(der, 'HS256', 'sha256'),
    'HS256 by the public key as JWK': hmac(JSON.stringify(rsa.jwk), 'HS256', 'sha256'),
    'HS256 by the modulus': hmac(Buffer.from(String(rsa.jwk.n), 'base64url'), 'HS256', 'sha256'),
    'HS512 by the public key as PEM': hmac(pem, 'HS512', 'sha512'),
    'HS256 by an empty key': hmac('', 'HS256', 'sha256'),
    'an HMAC under the name of RS256': hmac(pem, 'RS256', 'sha256'),
    'another key of the same id': ofOther({}),
    'another key of another id': ofOther({ kid: 'other' }),
    'another key that the token brings as jwk': ofOther({ jwk: other.jwk }),
    'another key that the token brings as jwk, without kid': ofOther({ jwk: other.jwk, kid: undefined }),
    'another key that jku points to': ofOther({ jku: `${trap}/keys`, kid: 'other' }),
    'another key that jku holds': ofOther({ jku: `data:application/json,${JSON.stringify(pair)}` }),
    'another key that x5u points to': ofOther({ x5u: `${trap}/chain` }),
    'another key that x5c holds': ofOther({ x5c: [der.toString('base64')] }),
    'a path for kid': ofOther({ kid: '../../../../../../dev/null' }),
    'a URL for kid': ofOther({ kid: `${trap}/keys` }),
    'SQL for kid': ofOther({ kid: "' OR 1=1 --" }),
    '__proto__ for kid': ofOther({ kid: '__proto__' }),
    'no kid': ofOther({ kid: undefined }),
    'an empty kid': ofOther({ kid: '' }),
    'an ECDSA signature of zeros': `${encode({ ...header, alg: 'ES256', kid: ec.kid })}.${payload}.${'A'.repeat(86)}`,
    'an RSA signature of zeros': `${encode(header)}.${payload}.${'A'.repeat(342)}`,
    'the signature of another token': `${encode(header)}.${payload}.${signature}`,
    'no signature': `${encode(header)}.${payload}.`,
  }
}

/** Valid tokens with a changed text. */
async function misspelled({ issuer, rsa, ec }: Keys): Promise<Tokens> {
  const good = await sign(rsa, claimsOf(issuer, 'alice'))
  const [header = '', payload = '', signature = ''] = good.split('.')
  const ofEc = await sign(ec, claimsOf(issuer, 'alice'))
  // Only two bits of the last character of 64 bytes count.
  const alike = { A: 'B', Q: 'R', g: 'h', w: 'x' }[ofEc.at(-1) ?? ''] ?? ''
  const encrypted = new CompactEncrypt(Buffer.from(good)).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
  return {
    'one dot': '.',
    'two dots': '..',
    'three dots': '...',
    'four dots': '....',
    'two parts': `${header}.${payload}`,
    'four parts': `${good}.${signature}`,
    'an encrypted token': encrypted.encrypt(randomBytes(32)),
    'no header': `.${payload}.${signature}`,
    'no payload': `${header}..${signature}`,
    padding: `${good}==`,
    'padding in the header': `${header}=.${payload}.${signature}`,
    'a character more': `${good}A`,
    'four characters more': `${good}AAAA`,
    'a character less': good.slice(0, -1),
    'another spelling of the same signature': `${ofEc.slice(0, -1)}${alike}`,
    'the other base64': `${header}.${payload}.+${signature.slice(1)}`,
    'a space within': `${header}. ${payload}.${signature}`,
    'the token twice': `${good}, ${good}`,
    'a JSON serialization': JSON.stringify({ protected: header, payload, signature }),
    'the first two parts exchanged': `${payload}.${header}.${signature}`,
    'a header that is not JSON': `${encode('{"alg":"RS256"')}.${payload}.${signature}`,
    'a header that is an array': `${encode(['RS256'])}.${payload}.${signature}`,
    'a header without alg': `${encode({ kid: 'RS256', typ: 'at+jwt' })}.${payload}.${signature}`,
    'alg as an array': `${encode({ alg: ['RS256'], kid: 'RS256', typ: 'at+jwt' })}.${payload}.${signature}`,
    'more characters than the limit': sign(rsa, { ...claimsOf(issuer, 'alice'), more: 'x'.repeat(7000) }),
  }
}

/** Tokens with a valid signature and a header that must be refused. */
function headers({ issuer, rsa }: Keys): Tokens {
  const payload = JSON.stringify(claimsOf(issuer, 'alice'))
  const made = {
    'no typ': { typ: undefined },
    'typ JWT, as ID tokens have it': { typ: 'JWT' },
    'typ of a logout token': { typ: 'logout+jwt' },
    'typ as a number': { typ: 7 },
    'an unknown critical extension': { crit: ['exp'], exp: 1 },
    'an empty list of critical extensions': { crit: [] },
    'a critical extension that is not there': { crit: ['b64'] },
    'an unencoded payload': { crit: ['b64'], b64: false },
    'an algorithm that is not accepted': { alg: 'RS512' },
    'kid as a number': { kid: 7 },
  }
  return Object.fromEntries(Object.entries(made).map(([name, header]) => [name, signText(rsa, payload, header)]))
}

/** Tokens with a valid signature and claims that must be refused. */
function claims({ issuer, rsa }: Keys): Tokens {
  const now = Math.floor(Date.now() / 1000)
  const good = claimsOf(issuer, 'alice')
  const changed = {
    'no iss': { iss: undefined },
    'another iss': { iss: 'https://evil.example' },
    'iss with a slash more': { iss: `${issuer}/` },
    'iss in capital letters': { iss: issuer.toUpperCase() },
    'iss as an array': { iss: [issuer] },
    'no aud': { aud: undefined },
    'another aud': { aud: 'https://other.example' },
    'aud with a slash more': { aud: `${AUDIENCE}/` },
    'a list of other auds': { aud: ['https://other.example', 'https://third.example'] },
    'an empty list of auds': { aud: [] },
    'aud as an object': { aud: { [AUDIENCE]: true } },
    expired: { exp: now - 31 },
    'exp in 1970': { exp: 0 },
    'no exp': { exp: undefined },
    'exp as a text': { exp: String(now + 300) },
    'exp as null': { exp: null },
    'not yet valid': { nbf: now + 60 },
    'nbf as a text': { nbf: String(now - 60) },
    'issued in the future': { iat: now + 60 },
    'iat as a text': { iat: String(now) },
    'no sub': { sub: undefined },
    'an empty sub': { sub: '' },
    'sub as a number': { sub: 7 },
    'sub as null': { sub: null },
    'sub as an array': { sub: ['alice'] },
    'a sub of 256 characters': { sub: 'x'.repeat(256) },
    'a line break in sub': { sub: 'alice\nbob' },
    'NUL in sub': { sub: 'alice\0' },
    'a lone surrogate in sub': { sub: 'alice\ud800' },
  }
  const bodies = {
    'a payload that is an array': JSON.stringify([good]),
    'a payload that is a text': '"alice"',
    'a payload that is null': 'null',
    'a payload that is not JSON': 'alice',
    'an empty payload': '',
    'an exp that is not finite': JSON.stringify({ ...good, exp: 0 }).replace('"exp":0', '"exp":1e999'),
  }
  const texts = Object.entries(changed).map(([name, each]) => [name, JSON.stringify({ ...good, ...each })])
  const all = [...texts, ...Object.entries(bodies)] as [string, string][]
  return Object.fromEntries(all.map(([name, text]) => [name, signText(rsa, text)]))
}

/** Signs any text instead of claims, with any header. */
async function signText(key: Key, text: string, header: object = {}): Promise<string> {
  const input = `${encode({ alg: 'RS256', kid: key.kid, typ: 'at+jwt', ...header })}.${encode(text)}`
  const hash = 'alg' in header ? 'SHA-512' : 'SHA-256'
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', key.privateKey)
  const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash }
  const signer = await crypto.subtle.importKey('pkcs8', pkcs8, algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign(algorithm, signer, Buffer.from(input))
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}
