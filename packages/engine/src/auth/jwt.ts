// Checks the JWT access tokens of an identity provider, with its published keys.
import { hash } from 'node:crypto'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import {
  createRemoteJWKSet,
  type CryptoKey,
  customFetch,
  decodeProtectedHeader,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose'
import { LRUCache } from 'lru-cache'
import { ADDRESS_OF_KEYS, type Config, isAddressOfKeys } from '../config.ts'
import type { Verdict } from './security.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { isObject } from '@plant-store/json-schema'
import { nameCaller } from './guard.ts'

/** Asymmetric only: whoever verifies tokens must not be able to sign them (RFC 8725, section 3.1). */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const MAX_CHARACTERS = 8192 // of a token
/** The most keys to try for a token, where its header does not name one key. */
const MAX_KEYS = 16
/** Seconds by which the clock of the identity provider may differ. */
const CLOCK_TOLERANCE = 5
/** Milliseconds for which a valid token is cached: verifying it costs as much as the rest of a request. */
export const JWT_TTL = 60_000
const MAX_TOKENS = 10_000

/**
 * Milliseconds between two reloads of the keys. A withdrawn key is used until then, and for
 * `JWT_TTL` after it.
 */
export const RELOAD_INTERVAL = 100_000
/** Milliseconds for which keys are trusted while the identity provider is down. */
const KEYS_TTL = 24 * 3_600_000
export const FETCH_TIMEOUT = 3_000 // milliseconds
/** The least milliseconds between two fetches, while there are keys. */
const COOL_DOWN = 30_000
/** The least milliseconds between two fetches, while there are no keys. */
const RETRY_INTERVAL = 5_000
const MAX_NAME_LENGTH = 255
const TOO_SOON = new Error('the keys of JWKS_URL were fetched a moment ago')
const NO_KEYS = new HttpError(503, 'The identity provider is not available, try again later', {
  'retry-after': '5',
})

/**
 * Checks JWT access tokens (RFC 9068) of the configured identity provider.
 * The caller is `<issuer>#<sub>`: no caller of another issuer, or of an access token of the service, can be equal to it.
 */
export class JwtChecker {
  readonly #log: FastifyBaseLogger
  readonly #issuer: string
  readonly #keys: RemoteKeys
  readonly #options: JWTVerifyOptions
  readonly #cache = new LRUCache<string, Verdict>({
    max: MAX_TOKENS,
    ttl: JWT_TTL,
    ttlResolution: 0,
  })

  /** @param app whose end stops the reloads of the keys */
  constructor(app: FastifyInstance, config: Config) {
    const { JWT_ISSUER: issuer, JWT_AUDIENCE: audience, JWT_TYPE } = config
    this.#log = app.log
    this.#issuer = issuer
    this.#keys = new RemoteKeys(app, config)
    this.#options = {
      algorithms: ALGORITHMS,
      ...(JWT_TYPE === 'JWT' ? {} : { typ: JWT_TYPE }),
      issuer,
      audience,
      requiredClaims: ['exp', 'sub'],
      clockTolerance: CLOCK_TOLERANCE,
    }
  }

  async check(token: string): Promise<Verdict> {
    if (token.length > MAX_CHARACTERS || !token.split('.').every(isBase64url))
      return { refused: 'malformed' }
    const digest = hash('sha256', token) // the token does not stay in memory
    return this.#cache.get(digest) ?? this.#verify(token, digest)
  }

  async #verify(token: string, digest: string): Promise<Verdict> {
    try {
      const payload = await this.#verifySignature(token)
      const verdict = toVerdict(payload, this.#issuer)
      const ttl = Math.min(JWT_TTL, Number(payload.exp) * 1000 - Date.now())
      if ('caller' in verdict && ttl > 0) this.#cache.set(digest, verdict, { ttl })
      return verdict
    } catch (error) {
      if (error === NO_KEYS) throw error
      this.#log.debug(`a JWT is refused: ${reasonOf(error)}`)
      return { refused: error instanceof errors.JWTExpired ? 'expired' : 'unknown' }
    }
  }

  /**
   * Verifies a token. Without a key id it may be signed with a new key: it is tried again after a
   * fetch of the keys.
   */
  async #verifySignature(token: string): Promise<JWTPayload> {
    try {
      return await this.#tryKeys(token)
    } catch (error) {
      const isUnsigned = error instanceof errors.JWSSignatureVerificationFailed
      const mayBeNew = isUnsigned && decodeProtectedHeader(token).kid === undefined
      if (!mayBeNew) throw error
      await this.#keys.reload() // unless another token has caused a fetch meanwhile
      return this.#tryKeys(token)
    }
  }

  /** Verifies a token by its key; or by all keys fitting its header, if there are several. */
  async #tryKeys(token: string): Promise<JWTPayload> {
    try {
      const getKey: JWTVerifyGetKey = (header, input) => this.#keys.get(header, input)
      return (await jwtVerify(token, getKey, this.#options)).payload
    } catch (error) {
      if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
      return this.#tryEach(token, error)
    }
  }

  /** @throws {JWSSignatureVerificationFailed} if none of these keys has signed the token */
  async #tryEach(token: string, keys: AsyncIterable<CryptoKey>): Promise<JWTPayload> {
    let tried = 0
    for await (const key of keys) {
      if (tried === MAX_KEYS) break
      tried += 1
      try {
        return (await jwtVerify(token, key, this.#options)).payload
      } catch (error) {
        if (isOfClaims(error)) throw error
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

/** Judges the claims of a token whose signature and times are valid. */
function toVerdict(payload: JWTPayload, issuer: string): Verdict {
  const { sub, exp = NaN, iat = 0, scope, scp } = payload
  // JSON numbers such as 1e999 are Infinity in JavaScript.
  const isInTime = Number.isFinite(exp) && iat * 1000 <= Date.now() + CLOCK_TOLERANCE * 1000
  const caller = nameCaller(`${issuer}#`, sub)
  if (!isInTime || caller === undefined) return { refused: 'unknown' }
  return { caller, scopes: readScopes(scope ?? scp) }
}

/**
 * Scopes are in `scope` with spaces between (RFC 9068, section 2.2.3). Okta and Entra ID call them
 * `scp`; some issuers send a list.
 */
function readScopes(scopes: unknown): string[] {
  if (Array.isArray(scopes)) return scopes.map(String)
  return typeof scopes === 'string' ? scopes.split(' ').filter(Boolean) : []
}

/** Whether the signature of a token is valid, and its claims are not. */
const isOfClaims = (error: unknown) =>
  error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed

/**
 * The public keys of the identity provider, found by the header of a JWT: keys in the token, and
 * links to keys, are ignored. jose fetches the keys when they are first needed, and again for an
 * unknown key, after a cool-down of 30 seconds.
 */
class RemoteKeys {
  readonly #config: Pick<Config, 'JWKS_URL' | 'JWT_ISSUER'>
  readonly #log: FastifyBaseLogger
  readonly #keys: ReturnType<typeof createRemoteJWKSet>
  /** When the keys may be fetched again, on the clock of `performance.now()`. */
  #nextFetch = -Infinity

  constructor(app: FastifyInstance, config: Pick<Config, 'JWKS_URL' | 'JWT_ISSUER'>) {
    this.#config = config
    this.#log = app.log
    this.#keys = createRemoteJWKSet(new URL(config.JWKS_URL || config.JWT_ISSUER), {
      cacheMaxAge: KEYS_TTL,
      timeoutDuration: FETCH_TIMEOUT,
      [customFetch]: (_url, init) => this.#fetch(init),
    })
    const reload = () => void this.#keys.reload().catch(() => undefined)
    const timer = setInterval(reload, RELOAD_INTERVAL).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  }

  /** @throws {HttpError} 503 if there are no keys, and they can't be fetched */
  async get(...token: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
    try {
      return await this.#keys(...token)
    } catch (error) {
      throw this.#keys.fresh ? error : NO_KEYS
    }
  }

  /** Fetches the keys, unless they were fetched a moment ago. If the fetch fails, the keys stay. */
  async reload(): Promise<void> {
    if (!this.#keys.coolingDown) await this.#keys.reload().catch(() => undefined)
  }

  async #fetch(init: RequestInit): Promise<Response> {
    // jose's cool-down begins only after a successful fetch.
    if (performance.now() < this.#nextFetch) throw TOO_SOON
    this.#nextFetch = performance.now() + (this.#keys.fresh ? COOL_DOWN : RETRY_INTERVAL)
    queueMicrotask(() => void this.#keys.reload().catch((err: unknown) => this.#warn(err))) // waits for this fetch, and begins no other
    const { JWKS_URL, JWT_ISSUER } = this.#config
    return fetch(JWKS_URL || (await discoverKeys(JWT_ISSUER, init)), init)
  }

  #warn(err: unknown): void {
    this.#log.warn({ err }, 'cannot fetch the keys of JWKS_URL')
  }
}

/**
 * Asks an issuer where its keys are (OpenID Connect Discovery 1.0, section 4).
 * @throws {Error} if it does not say it, if another issuer answers, or if JWKS_URL can't have the address
 */
async function discoverKeys(issuer: string, init: RequestInit): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, init)
  if (!response.ok) throw new Error(`${url} is answered ${response.status}: set JWKS_URL`)
  const configuration: unknown = await response.json()
  const { issuer: name, jwks_uri: keys } = isObject(configuration) ? configuration : {}
  if (typeof name !== 'string' || typeof keys !== 'string')
    throw new Error(`${url} is not the configuration of an issuer: set JWKS_URL`)
  // Tokens name their issuer exactly: with another JWT_ISSUER, each of them would be refused.
  if (name !== issuer) {
    const stated = JSON.stringify(name.slice(0, MAX_NAME_LENGTH))
    throw new Error(`the issuer of ${url} is ${stated}: set JWT_ISSUER to exactly this name`)
  }
  // Anybody able to change bytes sent without TLS could sign tokens.
  if (!isAddressOfKeys(keys))
    throw new Error(`the jwks_uri of ${url} is not ${ADDRESS_OF_KEYS}: set JWKS_URL`)
  return keys
}

/** Decoders ignore padding, spaces and extra bits. Only one spelling of a token is accepted. */
const isBase64url = (part: string) => Buffer.from(part, 'base64url').toString('base64url') === part
