import { setTimeout as delay } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { Logger } from 'pino'
import { HttpError, reasonOf } from '../errors.ts'
import type { Store } from '../store/store.ts'

/** Milliseconds that a probe waits for the store. */
const READY_TIMEOUT = 1000
/** Milliseconds for which the result of a ping is valid. */
const READY_TTL = 1000

/** Checks whether the store answers. Probes that arrive at about the same time share one ping. */
export class Readiness {
  readonly #pings: LRUCache<'store', true>
  #fault: HttpError | undefined = new HttpError(503, 'The store is not available')

  constructor(store: Pick<Store, 'ping'>, log: Logger) {
    const ping = async () => {
      this.#fault = await store.ping().then(
        () => undefined,
        (err: unknown) => {
          log.warn({ err }, 'the store does not answer a probe')
          return new HttpError(503, `The store is not available: ${reasonOf(err)}`)
        },
      )
      return true as const
    }
    this.#pings = new LRUCache({ max: 1, ttl: READY_TTL, fetchMethod: ping })
  }

  /**
   * Pings the store. While a ping runs, the previous result is valid. A ping fails after DATABASE_TIMEOUT, like a request;
   * until then, requests may still succeed.
   * @throws {HttpError} if the store does not answer
   */
  async check(): Promise<void> {
    await Promise.race([this.#pings.fetch('store'), delay(READY_TIMEOUT, undefined, { ref: false })])
    if (this.#fault !== undefined) throw this.#fault
  }
}
