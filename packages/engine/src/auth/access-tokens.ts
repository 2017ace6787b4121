// The access tokens that the service issues: a prefix (for secret scanners), 40 random digits, and their CRC-32.
import { hash, randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Verdict } from './security.ts'
import { JsonText } from '../http/json.ts'
import { ACCESS_TOKENS, type Store, TOKENS_OWNER } from '../store.ts'

/** An access token. The token itself is not stored, only its SHA-256, the digest. */
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
  /** The token with this digest, expired or not; undefined if there is none. */
  find(digest: string): Promise<StoredToken | undefined>
  /** All tokens, also expired ones, the oldest first. */
  list(): Promise<StoredToken[]>
  /** Deletes the token with this id. @returns whether there was one */
  remove(id: string): Promise<boolean>
  /** As of the store: see store.ts. */
  dataVersion(): number | undefined
}

const TOKEN = /^(\w*)_([0-9a-f]{40})([0-9a-f]{8})$/

/** Milliseconds that a token is valid by default: 90 days. */
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

/** The digest of a token: only this is stored. */
export const digestOf = (token: string) => hash('sha256', token)

/** Whether a text may be a token with this prefix. The checksum finds a typing error, without a look-up. */
export function isWellFormed(prefix: string, token: string): boolean {
  const [, ownPrefix, random, sum] = TOKEN.exec(token) ?? []
  return ownPrefix === prefix && random !== undefined && sum === checksum(random)
}

const checksum = (random: string) => crc32(random).toString(16).padStart(8, '0')

/** Names a token in lists and commands: the first 16 digits of its digest, which are its key in the store. */
export const idOf = ({ digest }: Pick<StoredToken, 'digest'>) => digest.slice(0, 16)

/** The access tokens in a store, which was opened with `storedCollections`. */
export function accessTokens(store: Pick<Store, 'collection' | 'dataVersion'>): AccessTokens {
  const collection = store.collection<StoredToken, string>(ACCESS_TOKENS, {
    parse: (text) => toToken(JSON.parse(text) as TokenItem), // as `toItem` wrote it
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
      const stored = texts.flatMap(({ text }) => JSON.parse(text) as TokenItem[]) // as `toItem` wrote them
      return stored.map(toToken).sort((a, b) => a.created.getTime() - b.created.getTime())
    },
    remove: (id) => collection.delete(TOKENS_OWNER, id),
    dataVersion: () => store.dataVersion(),
  }
}

/** A token as it is stored: times in milliseconds since 1970, and spaces between the scopes. */
interface TokenItem {
  readonly digest: string
  readonly caller: string
  readonly created: number
  readonly expires?: number
  readonly scopes: string
}

/** The order of the members is always the same: `copy` compares texts. */
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
 * Milliseconds that a token is cached, from the start of its look-up, where the store has no `dataVersion`. A revoked token
 * works for as long.
 */
export const TOKEN_TTL = 3000
/** A cached token takes about 300 bytes. */
const MAX_TOKENS = 100_000

/** What a request needs of a token. */
interface CachedToken {
  readonly accepted: Verdict
  /** Milliseconds since 1970. */
  readonly expires: number
}

/**
 * Checks access tokens. Tokens are cached until the data of the store has another version. If the store does not tell its
 * version, each is cached for {@link TOKEN_TTL}.
 */
export class AccessTokenChecker {
  readonly #prefix: string
  readonly #tokens: Pick<AccessTokens, 'find' | 'dataVersion'>
  // Without `ttlResolution: 0`, the cache would start a timer in each millisecond.
  readonly #cache = new LRUCache<string, CachedToken>({ max: MAX_TOKENS, ttlResolution: 0 })
  /** The version of the data that the cached tokens are from. */
  #version: number | undefined

  /** @param prefix of the tokens of the product */
  constructor(prefix: string, tokens: Pick<AccessTokens, 'find' | 'dataVersion'>) {
    this.#prefix = prefix
    this.#tokens = tokens
    this.#version = tokens.dataVersion()
  }

  /** @returns a promise only for a token that is not cached */
  check(token: string): Verdict | Promise<Verdict> {
    this.#dropOldTokens()
    const digest = digestOf(token) // the key of the cache, so that the token does not stay in memory
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
    // `start`, because the look-up may have taken long.
    if (this.#version === undefined) this.#cache.set(digest, token, { start, ttl: TOKEN_TTL })
    // The token may have been revoked since it was read, if another program has written.
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
