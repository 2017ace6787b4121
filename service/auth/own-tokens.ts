import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Verdict } from '../contract/security.ts'
import type { Store, StoredToken } from '../store/store.ts'
import type { CheckToken } from './guard.ts'
import { digestOf, hasTokenForm } from './token-form.ts'

/** Milliseconds, from the beginning of the look-up, that a token is remembered: it may be revoked meanwhile. */
export const TOKEN_TTL = 3000
const MAX_TOKENS = 10_000

/** Checks our own tokens. One that was revoked is refused {@link TOKEN_TTL} later at the latest. */
export function ownTokenChecker(store: Pick<Store, 'findToken'>): CheckToken {
  // They are purged in time, so that no token stays in memory. The resolution of 0 saves a timer in each millisecond.
  const known = new LRUCache<string, StoredToken>({
    max: MAX_TOKENS,
    ttl: TOKEN_TTL,
    ttlAutopurge: true,
    ttlResolution: 0,
  })

  return (token) => {
    const found = known.get(token)
    return found === undefined ? find(token) : toVerdict(found)
  }

  async function find(token: string): Promise<Verdict> {
    if (!hasTokenForm(token)) return { refused: 'malformed' }
    const start = performance.now()
    const digest = digestOf(token)
    const found = await store.findToken(digest)
    // Compare in constant time: the comparison of the database may leak timing.
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return { refused: 'unknown' }
    known.set(token, found, { start }) // What was found late is old already.
    return toVerdict(found)
  }
}

function toVerdict({ caller, expires, scopes }: StoredToken): Verdict {
  return expires === undefined || expires > new Date() ? { caller, scopes } : { refused: 'expired' }
}
