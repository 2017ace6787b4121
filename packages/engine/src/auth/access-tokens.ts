// The service's access tokens: a prefix (for secret scanners), 40 random digits, and their CRC-32.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Verdict } from './security.ts'
import { JsonText } from '../http/json.ts'
import { ACCESS_TOKENS, type Store, TOKENS_OWNER } from '../store.ts'

/** An access token. Only the SHA-256 of the token is stored, its digest. */
export interface StoredToken {
  /** In hexadecimal digits. */
  readonly digest: string
  readonly caller: string
  readonly created: Date
  /** Absent if it never expires. */
  readonly expires?: Date
  /** RFC 6749, section 3.3. */
  readonly scopes: readonly string[]
}

/** The access tokens of a store. Every method may fail with StoreUnavailable (errors.ts). */
export interface AccessTokens {
  /** Stores a token. @throws {Error} if another token has the same id */
  add(token: StoredToken): Promise<void>
  /** Finds a token, even an expired one. */
  find(digest: string): Promise<StoredToken | undefined>
  /** All tokens, expired ones included, the oldest first. */
  list(): Promise<StoredToken[]>
  /** @returns whether there was a token with this id */
  remove(id: string): Promise<boolean>
  /** As `dataVersion` of the store: see store.ts. */
  dataVersion(): number | undefined
}

const TOKEN = /^(\w*)_([0-9a-f]{40})([0-9a-f]{8})$/

/** Milliseconds for which a token is valid by default: 90 days. */
const LIFETIME = 90 * 86_400_000

/**
 * Creates an access token. It is valid once `stored` is in the store.
 * @param prefix of the tokens of this product
 * @param caller the owner of the token: 1 to 64 letters, digits and `_.@-`
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
  const digest = digestOf(token)
  const created = new Date()
  const expires = lifetime === Infinity ? {} : { expires: new Date(created.getTime() + lifetime) }
  const stored: StoredToken = { digest, caller, created, ...expires, scopes }
  return { token, stored }
}

export const digestOf = (token: string) => hash('sha256', token)

/**
 * Whether a string can be a token with this prefix. The checksum finds a typing error without a
 * look-up.
 */
export function isWellFormed(prefix: string, token: string): boolean {
  const [, ownPrefix, random, sum] = TOKEN.exec(token) ?? []
  return ownPrefix === prefix && random !== undefined && sum === checksum(random)
}

const checksum = (random: string) => crc32(random).toString(16).padStart(8, '0')

/**
 * Names a token in lists and commands: the first 16 digits of its digest, which are its key in the
 * store.
 */
export const idOf = ({ digest }: Pick<StoredToken, 'digest'>) => digest.slice(0, 16)

export function accessTokens(store: Pick<Store, 'collection' | 'dataVersion'>): AccessTokens {
  const collection = store.collection<StoredToken, string>(ACCESS_TOKENS, {
    parse: (text) => toToken(JSON.parse(text) as TokenItem), // written by `toItem`
    write: (token) => JSON.stringify(toItem(token)),
  })
  return {
    async add(token) {
      const stored = await collection.create(TOKENS_OWNER, idOf(token), token)
      if (stored !== token) throw new Error(`there is another token with the id ${idOf(token)}`)
    },
    async find(digest) {
      const token = await collection.find(TOKENS_OWNER, idOf({ digest }))
      return token?.digest === digest ? token : undefined
    },
    async list() {
      const { items } = await collection.list(TOKENS_OWNER)
      const texts = items instanceof JsonText ? [items] : await Array.fromAsync(items)
      const stored = texts.flatMap(({ text }) => JSON.parse(text) as TokenItem[]) // written by `toItem`
      return stored.map(toToken).sort((a, b) => a.created.getTime() - b.created.getTime())
    },
    remove: (id) => collection.delete(TOKENS_OWNER, id),
    dataVersion: () => store.dataVersion(),
  }
}

/** A token as stored: times in milliseconds since 1970, and spaces between the scopes. */
interface TokenItem {
  readonly digest: string
  readonly caller: string
  readonly created: number
  readonly expires?: number
  readonly scopes: string
}

/** Always with the same order of properties: `copy` compares JSON. */
function toItem({ digest, caller, created, expires, scopes }: StoredToken): TokenItem {
  const end = expires === undefined ? {} : { expires: expires.getTime() }
  return { digest, caller, created: created.getTime(), ...end, scopes: scopes.join(' ') }
}

function toToken({ digest, caller, created, expires, scopes }: TokenItem): StoredToken {
  const end = expires === undefined ? {} : { expires: new Date(expires) }
  const separate = scopes.split(' ').filter(Boolean)
  return { digest, caller, created: new Date(created), ...end, scopes: separate }
}

/**
 * Milliseconds for which a token is cached, from the start of its look-up, if the store has no
 * `dataVersion`. A revoked token works for as long.
 */
export const TOKEN_TTL = 3000
/** A cached token takes about 300 bytes. */
const MAX_TOKENS = 100_000

interface CachedToken {
  readonly accepted: Verdict
  /** Milliseconds since 1970. */
  readonly expires: number
}

/**
 * Checks access tokens. Tokens are cached until the store has another `dataVersion`; without one,
 * for {@link TOKEN_TTL}.
 */
export class AccessTokenChecker {
  readonly #prefix: string
  readonly #tokens: Pick<AccessTokens, 'find' | 'dataVersion'>
  // With `max`, each start would make arrays for all tokens. Without `ttlResolution: 0`, the cache would start a timer in
  // each millisecond.
  readonly #cache = new LRUCache<string, CachedToken>({
    maxSize: MAX_TOKENS,
    sizeCalculation: () => 1,
    ttlResolution: 0,
  })
  #version: number | undefined

  /** @param prefix of the tokens of the product */
  constructor(prefix: string, tokens: Pick<AccessTokens, 'find' | 'dataVersion'>) {
    this.#prefix = prefix
    this.#tokens = tokens
    this.#version = tokens.dataVersion()
  }

  /** @returns a promise only if the token is not cached */
  check(token: string): Verdict | Promise<Verdict> {
    this.#dropOldTokens()
    const digest = digestOf(token) // The token itself must not stay in memory.
    const cached = this.#cache.get(digest)
    if (cached !== undefined) return toVerdict(cached)
    return isWellFormed(this.#prefix, token) ? this.#find(digest) : { refused: 'malformed' }
  }

  #dropOldTokens(): void {
    const current = this.#tokens.dataVersion()
    if (current === this.#version) return
    this.#version = current
    this.#cache.clear()
  }

  async #find(digest: string): Promise<Verdict> {
    const start = performance.now()
    const versionAtStart = this.#version
    const stored = await this.#tokens.find(digest)
    if (stored === undefined) return { refused: 'unknown' }
    const token = toCached(stored)
    // Not the time of now: the look-up may have taken long.
    if (this.#version === undefined) this.#cache.set(digest, token, { start, ttl: TOKEN_TTL })
    // After a write by another program, the token may have been revoked since it was read.
    else if (this.#version === versionAtStart) this.#cache.set(digest, token)
    return toVerdict(token)
  }
}

function toCached({ caller, expires, scopes }: StoredToken): CachedToken {
  return { accepted: { caller, scopes }, expires: expires?.getTime() ?? Infinity }
}

function toVerdict({ accepted, expires }: CachedToken): Verdict {
  return expires > Date.now() ? accepted : { refused: 'expired' }
}
