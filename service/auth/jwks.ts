// The public keys of the identity provider: jose fetches them together, keeps them, and finds the one of a token.
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { HttpError } from '../errors.ts'

/** Milliseconds between two reloads. After this and `JWT_TTL` (jwt.ts) a key that was withdrawn is not used any more. */
export const RELOAD_INTERVAL = 100_000
/** Milliseconds that keys are trusted while the identity provider is down. */
const KEYS_TTL = 24 * 3_600_000
/** Milliseconds between two fetches while there are keys, and while there are none. */
const COOL_DOWN = 30_000
const RETRY_INTERVAL = 5_000
export const FETCH_TIMEOUT = 3_000

const TOO_SOON = new Error('the keys of JWKS_URL were fetched a moment ago')

/**
 * Gives the key of a JWT by its header. A key that the token brings or points to is never looked at.
 * The function that is returned throws {@link HttpError} 503 while there are no keys to decide by.
 */
export function remoteKeys(app: FastifyInstance, url: string): JWTVerifyGetKey {
  let next = -Infinity
  const warn = (err: unknown) => {
    if (err !== TOO_SOON) app.log.warn({ err }, 'cannot fetch the keys of JWKS_URL')
  }
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: KEYS_TTL,
    cooldownDuration: COOL_DOWN,
    timeoutDuration: FETCH_TIMEOUT,
    // The cool-down of jose begins only when a fetch succeeds.
    [customFetch]: async (...request) => {
      if (performance.now() < next) throw TOO_SOON
      next = performance.now() + (keys.fresh ? COOL_DOWN : RETRY_INTERVAL)
      return fetch(...request)
    },
  })
  const timer = setInterval(() => void keys.reload().catch(warn), RELOAD_INTERVAL).unref()
  app.addHook('onClose', async () => clearInterval(timer))

  return async (header, token) => {
    try {
      return await keys(header, token)
    } catch (error) {
      if (keys.fresh) throw error
      warn(error)
      const headers = { 'retry-after': String(RETRY_INTERVAL / 1000) }
      throw new HttpError(503, 'The identity provider is not available, try again later', headers)
    }
  }
}
