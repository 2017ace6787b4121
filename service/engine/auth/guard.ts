// The guards of the service: a bearer token in `Authorization`, or an access token in another header (`apiKey`).
import { timingSafeEqual } from 'node:crypto'
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { Guard, MakeGuard, Verdict } from '../contract/security.ts'
import { countHeader } from '../http/headers.ts'
import type { Store, StoredToken } from '../store/store.ts'
import { readToken } from './access-tokens.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verdict of the bearer guard on the token. */
    verdict: Verdict | Promise<Verdict> | undefined
  }
}

/** Checks an access token, and finds its caller. @throws {HttpError | StoreUnavailable} */
export type CheckToken = (token: string) => Verdict | Promise<Verdict>

/** Milliseconds that a token is cached, from the start of its look-up. If it is revoked, it works until then. */
export const TOKEN_TTL = 3000
const MAX_TOKENS = 10_000

/**
 * Makes the guards of the contract's security schemes. They look at the headers only.
 * @param realm the protection space that the challenges name (RFC 9110, section 11.5)
 * @param checkAccessToken for the tokens that the service issues
 * @param checkJwt for the tokens of an identity provider, if there is one
 */
export async function buildGuards(
  app: FastifyInstance,
  realm: string,
  checkAccessToken: CheckToken,
  checkJwt = checkAccessToken,
): Promise<MakeGuard> {
  app.decorateRequest('verdict', undefined)
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    specCompliance: 'rfc6749', // The scheme is compared without case, as RFC 9110, section 11.1, says.
    verifyErrorLogLevel: 'debug',
    auth: async (token, request) => {
      request.verdict = token.includes('.') ? checkJwt(token) : checkAccessToken(token) // Only a JWT has a dot.
      return 'caller' in (await request.verdict)
    },
  })
  const verify = app.getDecorator<bearerAuth.verifyBearerAuth>('verifyBearerAuth')

  /** Bearer-auth calls `auth` at once, and only if it finds a token in the header. */
  function checkBearer(request: FastifyRequest, reply: FastifyReply): ReturnType<CheckToken> {
    verify(request, reply, () => undefined)
    return request.verdict ?? { refused: 'malformed' }
  }

  return (scheme) =>
    scheme.type === 'bearer'
      ? guard('authorization', `Bearer realm="${realm}"`, checkBearer)
      : guard(scheme.header, `ApiKey realm="${realm}"`, ({ headers }) =>
          checkAccessToken(String(headers[scheme.header])),
        )
}

/** Makes a guard. It refuses a repeated header: of several lines Node shows only the first, or joins them. */
function guard(header: string, challenge: string, check: Guard['check']): Guard {
  return {
    challenge,
    check: (request, reply) => {
      const count = countHeader(request.raw, header)
      return count === 1 ? check(request, reply) : { refused: count === 0 ? 'missing' : 'repeated' }
    },
  }
}

/** Makes the function that checks access tokens. It refuses a revoked token after {@link TOKEN_TTL} at the latest. */
export function accessTokenChecker(prefix: string, store: Pick<Store, 'findToken'>): CheckToken {
  // `ttlAutopurge`: no unused token stays in memory. `ttlResolution: 0` saves a timer in each millisecond.
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
    const digest = readToken(prefix, token)
    if (digest === undefined) return { refused: 'malformed' }
    const start = performance.now()
    const found = await store.findToken(digest)
    // Compare in constant time: the comparison of the database may leak timing.
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return { refused: 'unknown' }
    known.set(token, found, { start }) // `start`, because the look-up may have taken long
    return toVerdict(found)
  }
}

function toVerdict({ caller, expires, scopes }: StoredToken): Verdict {
  return expires === undefined || expires.getTime() > Date.now() ? { caller, scopes } : { refused: 'expired' }
}
