import { createHash } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { type Config } from '../config.ts'
import type { Verdict } from '../contract/security.ts'
import type { CheckToken } from './guard.ts'
import { reasonOf, HttpError } from '../errors.ts'

/** Asymmetric ones alone: what verifies a token must not be able to sign one (RFC 8725, section 3.1). */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const MOST_CHARACTERS = 8192
/** No control character, for people read it in logs, and no lone surrogate, for a store would take two for the same. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** Seconds that the clock of the identity provider may differ. */
const TOLERANCE = 5
/**
 * Milliseconds that a token is believed without verifying it anew, which costs as much as the rest of a request.
 * This and {@link STALE} together are how long a key that was withdrawn may be used.
 */
const REMEMBERED = 60_000
const MOST_REMEMBERED = 10_000

/** Milliseconds until the keys are fetched anew, in the background. */
const FRESH = 180_000
/** Milliseconds until nobody is let in without fetching them, unless the identity provider was down just now. */
const STALE = 240_000
/** Milliseconds that the keys are trusted while it is down. */
const TRUSTED = 24 * 3_600_000
/** Milliseconds between two fetches for the age of the keys, and between two that unknown key ids ask for. */
const RETRY = 5_000
const COOL_DOWN = 30_000
const FETCH_TIMEOUT = 3_000

/**
 * Verifies JWT access tokens (RFC 9068) of the identity provider that the configuration names.
 * Their caller is `<issuer>#<sub>`: no caller of another issuer, or of our own tokens, can be equal to it.
 */
export function jwtChecker(config: Config, log: FastifyBaseLogger): CheckToken {
  const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWKS_URL } = config
  const options = {
    algorithms: ALGORITHMS,
    typ: 'at+jwt',
    issuer,
    audience,
    requiredClaims: ['exp', 'sub'],
    clockTolerance: TOLERANCE,
  }
  const keyOf = keysOf(new URL(JWKS_URL), log)
  const known = new Map<string, { readonly verdict: Verdict; readonly until: number }>()

  return async (token) => {
    if (token.length > MOST_CHARACTERS || !token.split('.').every(isBase64url)) return { refused: 'malformed' }
    const digest = createHash('sha256').update(token).digest('base64') // a token is not to be kept
    const found = known.get(digest)
    if (found !== undefined && performance.now() < found.until) return found.verdict
    try {
      const { payload } = await jwtVerify(token, keyOf, options)
      const { sub, exp = NaN, iat = 0, scope = '' } = payload
      const now = Date.now()
      // JSON has numbers that are not finite: 1e999.
      const isInTime = Number.isFinite(exp) && iat * 1000 <= now + TOLERANCE * 1000
      if (!isInTime || typeof sub !== 'string' || !SUBJECT.test(sub)) return { refused: 'unknown' }
      const scopes = typeof scope === 'string' ? scope.split(' ').filter(Boolean) : []
      const verdict = { caller: `${issuer}#${sub}`, scopes }
      known.delete(digest)
      known.set(digest, { verdict, until: performance.now() + Math.min(REMEMBERED, exp * 1000 - now) })
      if (known.size > MOST_REMEMBERED) known.delete(known.keys().next().value ?? digest)
      return verdict
    } catch (error) {
      if (error instanceof HttpError) throw error
      log.debug(`a JWT is refused: ${reasonOf(error)}`)
      return { refused: error instanceof errors.JWTExpired ? 'expired' : 'unknown' }
    }
  }
}

/** Decoders overlook padding, spaces and surplus bits: a token is to have one spelling. */
function isBase64url(part: string): boolean {
  return Buffer.from(part, 'base64url').toString('base64url') === part
}

/**
 * The key of a JWT, by its header. All of them are fetched together, at most once in a time however many ask, and go
 * on being used when the identity provider is down. A key that the token brings or points to is never looked at.
 */
function keysOf(url: URL, log: FastifyBaseLogger): JWTVerifyGetKey {
  // It fetches when it is told to, and never by itself.
  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: Infinity,
    cooldownDuration: Infinity,
    timeoutDuration: FETCH_TIMEOUT,
  })
  let fetched = -Infinity
  let failed = -Infinity
  const age = () => performance.now() - fetched
  const fetchKeys = async () => {
    await keys.reload().then(
      () => (fetched = performance.now()),
      (err: unknown) => {
        failed = performance.now()
        log.warn({ err }, 'the keys of JWKS_URL can not be fetched')
      },
    )
  }
  const renew = atMostEvery(RETRY, fetchKeys)
  const rotate = atMostEvery(COOL_DOWN, fetchKeys)

  return async (header, token) => {
    if (age() > FRESH) {
      const renewed = renew()
      const isDown = performance.now() - failed < STALE
      if (age() > (isDown ? TRUSTED : STALE)) await renewed
    }
    if (age() > TRUSTED) {
      throw new HttpError(503, 'The identity provider is not available, try again later', { 'retry-after': '5' })
    }
    return keys(header, token).catch(async (error: unknown) => {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await rotate()
      return keys(header, token)
    })
  }
}

/** Limits how often a task runs: who calls in between gets the latest run. */
function atMostEvery(milliseconds: number, task: () => Promise<void>): () => Promise<void> {
  let begun = -Infinity
  let latest = Promise.resolve()
  return () => {
    if (performance.now() - begun < milliseconds) return latest
    begun = performance.now()
    return (latest = task())
  }
}
