// The guards of the service: a product's own, a bearer token in `Authorization`, or an access token elsewhere (`apiKey`).
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { SecurityScheme } from '../contract/compiled.ts'
import type { Extensions, Identity, ProductGuard } from '../contract/extensions.ts'
import type { MakeGuard, Verdict } from '../contract/security.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { countHeader } from '../http/request-rules.ts'
import { MAX_OWNER_BYTES } from '../store.ts'
import { type AccessTokens, digestOf, isWellFormed, type StoredToken } from './access-tokens.ts'

/** Checks an access token, and finds its caller. @throws {HttpError | StoreUnavailable} */
export type CheckToken = (token: string) => Verdict | Promise<Verdict>

/** Milliseconds that a token is cached, from the start of its look-up. If it is revoked, it works until then. */
export const TOKEN_TTL = 3000
const MAX_TOKENS = 10_000

/**
 * Makes the guards of the contract's security schemes: the product's, or those for tokens.
 * @param realm the protection space that the challenges name (RFC 9110, section 11.5)
 * @param timeout seconds that a guard of the product may take
 * @param checkJwt for the tokens of an identity provider, if there is one
 */
export async function buildGuards(
  app: FastifyInstance,
  realm: string,
  { guards = {}, timeout }: Pick<Extensions, 'guards'> & { readonly timeout: number },
  checkAccessToken: CheckToken,
  checkJwt = checkAccessToken,
): Promise<MakeGuard> {
  app.decorateRequest('verdict', undefined) // of the bearer guard on the token
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    specCompliance: 'rfc6749', // The scheme is compared without case, as RFC 9110, section 11.1, says.
    verifyErrorLogLevel: 'debug',
    auth: (token, request) => {
      const verdict = token.includes('.') ? checkJwt(token) : checkAccessToken(token) // Only a JWT has a dot.
      request.setDecorator('verdict', verdict)
      return verdict instanceof Promise ? verdict.then(isAccepted) : isAccepted(verdict)
    },
  })
  const verify = app.getDecorator<bearerAuth.verifyBearerAuth>('verifyBearerAuth')

  const checks: Readonly<Record<SecurityScheme['type'], Check>> = {
    bearer: (_, request, reply) => {
      verify(request, reply, () => undefined) // It calls `auth` at once, and only if it finds a token in the header.
      return (
        request.getDecorator<ReturnType<CheckToken> | undefined>('verdict') ?? {
          refused: 'malformed',
        }
      )
    },
    apiKey: checkAccessToken,
    other: () => ({ refused: 'unknown' }), // without a guard, nothing satisfies such a scheme
  }
  return (scheme) => {
    const { name, type, challenge } = scheme
    const guard = Object.hasOwn(guards, name) ? guards[name] : undefined
    const check = guard ? guardCheck(scheme, guard, timeout) : checks[type]
    return {
      challenge: `${challenge} realm="${realm}"${challenge === 'Basic' ? ', charset="UTF-8"' : ''}`, // RFC 7617
      isToken: type !== 'other',
      check: (request, reply) => {
        const { length, 0: text } = credentialsOf(request, scheme)
        if (text === undefined) return { refused: 'missing' }
        return length === 1 ? check(text, request, reply) : { refused: 'repeated' }
      },
    }
  }
}

const isAccepted = (verdict: Verdict) => 'caller' in verdict

type Check = (text: string, request: FastifyRequest, reply: FastifyReply) => ReturnType<CheckToken>

/** The credentials of a scheme in a request: there should be one text. Of a repeated header Node shows only the first. */
function credentialsOf(
  { raw, query }: FastifyRequest,
  { in: place, key }: SecurityScheme,
): readonly string[] {
  if (place === 'connection') return ['']
  if (place === 'header')
    return new Array<string>(countHeader(raw, key)).fill(String(raw.headers[key]))
  if (place === 'query') {
    const given: unknown = Object.getOwnPropertyDescriptor(query, key)?.value
    return given === undefined ? [] : [given].flat().map(String)
  }
  const cookies = (raw.headers.cookie ?? '').split(';').map((each) => each.trim())
  const found = cookies.filter((each) => each.startsWith(`${key}=`))
  return found.map((each) => each.slice(key.length + 1).replace(/^"(.*)"$/, '$1')) // RFC 6265, section 4.1.1
}

/**
 * Names a caller, so that no caller of one source is equal to one of another. The callers of access
 * tokens are `[\w.@-]`, those of JWTs `<issuer>#<sub>`, and those of guards `#<scheme>#<caller>`.
 * @param source `<issuer>#` or `#<scheme>#`; neither an issuer nor a scheme has a `#` in its name
 * @param name 1 to 255 characters without control characters: what people can read in a log
 * @returns undefined if this can't be the name of a caller
 */
export function nameCaller(source: string, name: unknown): string | undefined {
  if (typeof name !== 'string' || !/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(name)) return undefined
  const caller = source + name
  return Buffer.byteLength(caller) > MAX_OWNER_BYTES ? undefined : caller
}

/** The source of the callers that a guard of the product names. */
export const sourceOf = ({ name }: Pick<SecurityScheme, 'name'>) => `#${encodeURIComponent(name)}#`

/** Reads what the guard of a scheme says. What is no list of scopes gives none. */
function readIdentity(
  identity: Partial<Record<keyof Identity, unknown>> | undefined,
  scheme: SecurityScheme,
): Verdict {
  // Only the guard can tell that a connection has no certificate.
  if (!identity) return { refused: scheme.in === 'connection' ? 'missing' : 'unknown' }
  const caller = 'caller' in identity ? nameCaller(sourceOf(scheme), identity.caller) : ''
  if (caller === undefined) return { refused: 'unknown' }
  const { scopes } = identity
  return { caller, scopes: Array.isArray(scopes) ? scopes.map(String) : [] }
}

const TOO_SLOW = new HttpError(503, 'The credentials could not be checked in time', {
  'retry-after': '1',
})

/** Makes the check of a product's guard. @param timeout in seconds */
function guardCheck(scheme: SecurityScheme, guard: ProductGuard, timeout: number): Check {
  const { name, type, in: place, challenge } = scheme
  const prefix =
    type !== 'apiKey' && place === 'header'
      ? new RegExp(`^${RegExp.escape(challenge)} +`, 'i')
      : /^/
  return async (text, request) => {
    if (!prefix.test(text)) return { refused: 'malformed' }
    const credentials = text.replace(prefix, '')
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(late.reject, timeout * 1000, TOO_SLOW)
    try {
      const identity = await Promise.race([guard(request, credentials), late.promise])
      return readIdentity(identity, scheme)
    } catch (error) {
      if (error === TOO_SLOW) throw error
      // The message of a library may quote the credentials.
      const hide = (words: string) =>
        credentials === '' ? words : words.replaceAll(credentials, '***')
      const { stack = '' } = error instanceof Error ? error : {}
      throw Object.assign(new Error(`the guard ${name} failed: ${hide(reasonOf(error))}`), {
        stack: hide(stack),
      })
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Makes the function that checks access tokens. It refuses a revoked token after {@link TOKEN_TTL} at the latest. */
export function accessTokenChecker(prefix: string, tokens: Pick<AccessTokens, 'find'>): CheckToken {
  // Without `ttlResolution: 0`, the cache would start a timer in each millisecond.
  const known = new LRUCache<string, StoredToken>({
    max: MAX_TOKENS,
    ttl: TOKEN_TTL,
    ttlResolution: 0,
  })
  return (token) => {
    const digest = digestOf(token) // the key of the cache, so that the token does not stay in memory
    const cached = known.get(digest)
    if (cached !== undefined) return toVerdict(cached)
    return isWellFormed(prefix, token) ? find(digest) : { refused: 'malformed' }
  }

  async function find(digest: string): Promise<Verdict> {
    const start = performance.now()
    const stored = await tokens.find(digest)
    if (stored === undefined) return { refused: 'unknown' }
    known.set(digest, stored, { start }) // `start`, because the look-up may have taken long
    return toVerdict(stored)
  }
}

const toVerdict = ({ caller, expires, scopes }: StoredToken): Verdict =>
  expires === undefined || expires.getTime() > Date.now()
    ? { caller, scopes }
    : { refused: 'expired' }
