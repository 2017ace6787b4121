import { hash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { errors, jwtVerify } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Config } from '../config.ts'
import type { Verdict } from '../contract/security.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { CALLER, type CheckToken } from './guard.ts'
import { remoteKeys } from './jwks.ts'

/** Asymmetric only: a program that verifies tokens must not be able to sign them (RFC 8725, section 3.1). */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const MAX_CHARACTERS = 8192
/** Seconds that the clock of the identity provider may differ. */
const CLOCK_TOLERANCE = 5
/** Milliseconds that a valid token is cached: verifying it costs as much as the rest of a request. */
export const JWT_TTL = 60_000
const MAX_TOKENS = 10_000

/**
 * Checks JWT access tokens (RFC 9068) of the identity provider that the configuration names.
 * The caller is `<issuer>#<sub>`: no caller of another issuer, or of a token that the service issued, can be equal to it.
 */
export function jwtChecker(app: FastifyInstance, config: Config): CheckToken {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWKS_URL } = config
  const getKey = remoteKeys(app, JWKS_URL)
  const options = {
    algorithms: ALGORITHMS,
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: CLOCK_TOLERANCE,
  }
  const known = new LRUCache<string, Verdict>({ max: MAX_TOKENS, ttl: JWT_TTL, ttlResolution: 0 })

  return async (token) => {
    if (token.length > MAX_CHARACTERS || !token.split('.').every(isBase64url)) return { refused: 'malformed' }
    const digest = hash('sha256', token) // so that the token does not stay in memory
    return known.get(digest) ?? verify(token, digest)
  }

  async function verify(token: string, digest: string): Promise<Verdict> {
    try {
      const { sub, exp = NaN, iat = 0, scope } = (await jwtVerify(token, getKey, options)).payload
      const now = Date.now()
      // JSON numbers such as 1e999 are Infinity in JavaScript.
      const isInTime = Number.isFinite(exp) && iat * 1000 <= now + CLOCK_TOLERANCE * 1000
      if (!isInTime || typeof sub !== 'string' || !CALLER.test(sub)) return { refused: 'unknown' }
      const scopes = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [] // RFC 9068, section 2.2.3
      const verdict = { caller: `${issuer}#${sub}`, scopes }
      const ttl = Math.min(JWT_TTL, exp * 1000 - now)
      if (ttl > 0) known.set(digest, verdict, { ttl })
      return verdict
    } catch (error) {
      if (error instanceof HttpError) throw error
      app.log.debug(`a JWT is refused: ${reasonOf(error)}`)
      return { refused: error instanceof errors.JWTExpired ? 'expired' : 'unknown' }
    }
  }
}

/** Decoders ignore padding, spaces and extra bits. Only one spelling of a token is accepted. */
function isBase64url(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}
