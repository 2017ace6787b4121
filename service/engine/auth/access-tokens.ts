// The access tokens that the service issues: a prefix (for secret scanners), 40 random digits, and their CRC-32.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { StoredToken } from '../store.ts'

const TOKEN = /^(\w*)_([0-9a-f]{40})([0-9a-f]{8})$/

/** Milliseconds that a token is valid by default: 90 days. */
const LIFETIME = 90 * 86_400_000

/**
 * Creates an access token. It is valid once `stored` is in the store.
 * @param prefix of the tokens of this product
 * @param caller who it is for: 1 to 64 letters, digits and `_.@-`
 * @param lifetime milliseconds until it expires; `Infinity` if it never does
 * @param scopes each of visible ASCII characters without `"` and `\\` (RFC 6749, section 3.3)
 */
export function createToken(
  prefix: string,
  caller: string,
  lifetime = LIFETIME,
  scopes: readonly string[] = [],
) {
  const random = randomBytes(20).toString('hex')
  const token = `${prefix}_${random}${checksum(random)}`
  const digest = hash('sha256', token, 'buffer') // only this is stored
  const created = new Date()
  const expires = lifetime === Infinity ? {} : { expires: new Date(created.getTime() + lifetime) }
  const stored: StoredToken = {
    id: digest.toString('hex', 0, 8),
    caller,
    created,
    ...expires,
    digest,
    scopes,
  }
  return { token, stored }
}

/** The digest of a token, by which it is stored; undefined if the text is no token. The checksum finds a typing error. */
export function readToken(prefix: string, token: string): Buffer | undefined {
  const [, found, random, sum] = TOKEN.exec(token) ?? []
  const isToken = found === prefix && random !== undefined && sum === checksum(random)
  return isToken ? hash('sha256', token, 'buffer') : undefined
}

const checksum = (random: string) => crc32(random).toString(16).padStart(8, '0')
