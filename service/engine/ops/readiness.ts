import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { HttpError, reasonOf } from '../errors.ts'
import type { Store } from '../store/store.ts'

/** Milliseconds that a probe waits for the store. */
const READY_TIMEOUT = 1000
/** Milliseconds for which the result of a ping is valid. */
const READY_TTL = 1000

/**
 * Makes the check whether the store answers. Probes that arrive at about the same time share one ping. While a ping
 * runs, the previous result is valid. A ping fails after DATABASE_TIMEOUT, like a request; until then, requests may
 * still succeed.
 * @returns the check; it throws an {@link HttpError} if the store does not answer
 */
export function readinessCheck(store: Pick<Store, 'ping'>, log: Logger): () => Promise<void> {
  let fault: HttpError | undefined = new HttpError(503, 'The store is not available')
  const ping = async () => {
    fault = await store.ping().then(
      () => undefined,
      (err: unknown) => {
        log.warn({ err }, 'the store does not answer a probe')
        return new HttpError(503, `The store is not available: ${reasonOf(err)}`)
      },
    )
    return true as const
  }
  const pings = new LRUCache<'store', true>({ max: 1, ttl: READY_TTL, fetchMethod: ping })

  return async () => {
    await Promise.race([pings.fetch('store'), delay(READY_TIMEOUT, undefined, { ref: false })])
    if (fault !== undefined) throw fault
  }
}
