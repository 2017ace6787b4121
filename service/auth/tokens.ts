import { createHash, randomFillSync, timingSafeEqual } from 'node:crypto'
import { writeSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { Store, StoredToken } from '../store/store.ts'
import type { Verdict } from '../contract/security.ts'
import type { CheckToken } from './guard.ts'

// 160 random bits and their CRC-32, in hexadecimal, behind a prefix that scanners for secrets can look for.
const TOKEN = /^plant_([0-9a-f]{40})([0-9a-f]{8})$/
const HEXADECIMAL = Buffer.from('0123456789abcdef')

/**
 * Issues an access token.
 * @param caller whom it stands for: 1 to 64 letters, digits and `_.@-`
 * @param lifetime milliseconds until it expires; never, if absent
 * @returns the token; the store has only its digest
 * @throws {StoreUnavailable}
 */
export async function issueToken(store: Store, caller: string, lifetime?: number): Promise<string> {
  return (await issue(store, caller, lifetime)).toString()
}

/** The same in bytes, which can be wiped out of memory, as a string can not. */
async function issue(store: Store, caller: string, lifetime?: number): Promise<Buffer> {
  const token = Buffer.from(`plant_${'0'.repeat(48)}`)
  const random = randomFillSync(token.subarray(6, 46))
  for (const [at, byte] of random.entries()) random.set(HEXADECIMAL.subarray(byte % 16, (byte % 16) + 1), at)
  token.write(checksum(random), 46)
  const digest = digestOf(token)
  const created = new Date()
  const expires = lifetime === undefined ? {} : { expires: new Date(created.getTime() + lifetime) }
  await store.addToken({ id: digest.toString('hex', 0, 8), caller, created, ...expires, digest })
  return token
}

/** Milliseconds that a token is remembered which the store has found: it may have been revoked meanwhile. */
const TOKEN_TTL = 3000

/** Checks tokens of our own. One that was revoked is refused after {@link TOKEN_TTL}. */
export function tokenChecker(store: Pick<Store, 'findToken'>): CheckToken {
  const known = new Map<string, StoredToken>()
  return (token) => {
    const found = known.get(token)
    return found === undefined ? find(token) : current(found)
  }

  async function find(token: string): Promise<Verdict> {
    const [, random, sum] = TOKEN.exec(token) ?? []
    if (random === undefined || sum !== checksum(random)) return { refused: 'malformed' }
    const since = performance.now()
    const digest = digestOf(token)
    const found = await store.findToken(digest)
    // Compare in constant time: the comparison of the database may leak timing.
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return { refused: 'unknown' }
    if (performance.now() - since < 1000) {
      if (known.size === 0) setTimeout(() => known.clear(), TOKEN_TTL).unref()
      known.set(token, found)
    }
    return current(found)
  }
}

function current({ caller, expires }: StoredToken): Verdict {
  return expires === undefined || expires > new Date() ? { caller, scopes: [] } : { refused: 'expired' }
}

/** Where a store is empty, gives a person a command to begin with. On standard error: a log never holds a token. */
export async function offerDemoToken(store: Store, origin: string): Promise<void> {
  if (!(await store.isEmpty())) return
  const token = await issue(store, 'demo')
  const address = origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  writeSync(2, `\nA token for the caller "demo". Try:\n\n  curl -H 'Authorization: Bearer `)
  writeSync(2, token)
  writeSync(2, `' ${address}/plants\n\n`)
  token.fill(0) // A core of the process does not tell it.
}

function checksum(text: string | Buffer): string {
  return crc32(text).toString(16).padStart(8, '0')
}

function digestOf(token: string | Buffer): Buffer {
  return createHash('sha256').update(token).digest()
}
