import type { FastifyBaseLogger } from 'fastify'
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose'
import { type Config, reasonOf } from './config.ts'
import { HttpError } from './errors.ts'

/** Asymmetric ones alone: what verifies a token must not be able to sign one (RFC 8725, section 3.1). */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const MOST_CHARACTERS = 8192
/** No control character, for people read it in logs, and no lone surrogate, for a store would take two for the same. */
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,255}$/u

/** Seconds that the clock of the identity provider may differ. */
const TOLERANCE = 5
/** Milliseconds between fetches that an unknown key id asks for, however many come. */
const COOL_DOWN = 30_000
/** Milliseconds between fetches where there are no keys yet, or none young enough. */
const RETRY = 5_000
/** Milliseconds until the keys are fetched anew, in the background: one that was withdrawn is used no longer than that. */
const FRESH = 300_000
/** Milliseconds that the keys are trusted while the identity provider is down. */
const TRUSTED = 24 * 3_600_000
const FETCH_TIMEOUT = 3_000

/** Whom a JWT names; undefined if it is not valid. @throws {HttpError} 503 where no keys are there to decide by */
export type CallerOfJwt = (token: string) => Promise<string | undefined>

/**
 * Verifies JWT access tokens (RFC 9068) of the identity provider that the configuration names.
 * Their caller is `<issuer>#<sub>`: no caller of another issuer, or of our own tokens, can be equal to it.
 */
export function jwtCallers(config: Config, log: FastifyBaseLogger): CallerOfJwt {
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

  return async (token) => {
    if (token.length > MOST_CHARACTERS || !token.split('.').every(isBase64url)) return undefined
    try {
      const { payload } = await jwtVerify(token, keyOf, options)
      const { sub, iat = 0 } = payload
      const isFromNow = iat <= Date.now() / 1000 + TOLERANCE
      return isFromNow && typeof sub === 'string' && SUBJECT.test(sub) ? `${issuer}#${sub}` : undefined
    } catch (error) {
      if (error instanceof HttpError) throw error
      log.debug(`a JWT is refused: ${reasonOf(error)}`)
      return undefined
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
  const age = () => performance.now() - fetched
  const fetchKeys = async () => {
    await keys.reload().then(
      () => (fetched = performance.now()),
      (err: unknown) => log.warn({ err }, 'the keys of JWKS_URL can not be fetched'),
    )
  }
  const renew = atMostEvery(RETRY, fetchKeys)
  const rotate = atMostEvery(COOL_DOWN, fetchKeys)

  return async (header, token) => {
    if (age() > TRUSTED) await renew()
    else if (age() > FRESH) void renew()
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
