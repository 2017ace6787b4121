// The public keys of the identity provider. jose fetches and caches them, and finds the key of a token.
import type { FastifyInstance } from 'fastify'
import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose'
import { HttpError } from '../errors.ts'

/** Milliseconds between two reloads. A withdrawn key is used until the next reload, and for `JWT_TTL` (jwt.ts) after it. */
export const RELOAD_INTERVAL = 100_000
/** Milliseconds that keys are trusted while the identity provider is down. */
const KEYS_TTL = 24 * 3_600_000
/** The least milliseconds between two fetches: with keys in the cache, and without keys. */
const COOL_DOWN = 30_000
const RETRY_INTERVAL = 5_000
export const FETCH_TIMEOUT = 3_000

const TOO_SOON = new Error('the keys of JWKS_URL were fetched a moment ago')

/**
 * Makes the function that finds the key of a JWT by its header. It ignores keys and links to keys in the token. It
 * throws {@link HttpError} 503 while there are no keys.
 */
export function remoteKeys(app: FastifyInstance, url: string): JWTVerifyGetKey {
  let nextFetch = -Infinity
  let warned: unknown
  const warn = (err: unknown) => {
    if (err === TOO_SOON || err === warned) return // every request that waited for a fetch gets its error
    warned = err
    app.log.warn({ err }, 'cannot fetch the keys of JWKS_URL')
  }
  const keys = createRemoteJWKSet(new URL(url), {
    cacheMaxAge: KEYS_TTL,
    cooldownDuration: COOL_DOWN,
    timeoutDuration: FETCH_TIMEOUT,
    // jose's own cool-down begins only after a successful fetch.
    [customFetch]: async (...request) => {
      if (performance.now() < nextFetch) throw TOO_SOON
      nextFetch = performance.now() + (keys.fresh ? COOL_DOWN : RETRY_INTERVAL)
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
