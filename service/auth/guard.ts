// The guards of the service: a bearer token in `Authorization`, or an access token in another header (`apiKey`).
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Guard, MakeGuard, Verdict } from '../contract/security.ts'
import { countHeader } from '../http/protocol.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The verdict of the bearer guard on the token. */
    verdict: Verdict | Promise<Verdict> | undefined
  }
}

/** Checks an access token, and finds its caller. @throws {HttpError | StoreUnavailable} */
export type CheckToken = (token: string) => Verdict | Promise<Verdict>

const REALM = 'realm="plants"'

/**
 * Makes the guards of the contract's security schemes. They look at the headers only.
 * @param checkAccessToken for the tokens that the service issues
 * @param checkJwt for the tokens of an identity provider, if there is one
 */
export async function buildGuards(
  app: FastifyInstance,
  checkAccessToken: CheckToken,
  checkJwt = checkAccessToken,
): Promise<MakeGuard> {
  app.decorateRequest('verdict', undefined)
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    specCompliance: 'rfc6749', // The scheme is compared without case, as RFC 9110, section 11.1, says.
    verifyErrorLogLevel: 'debug',
    auth: (token, request) => {
      request.verdict = token.includes('.') ? checkJwt(token) : checkAccessToken(token) // Only a JWT has a dot.
      return true // `checkBearer` answers with the verdict
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
      ? guard('authorization', `Bearer ${REALM}`, checkBearer)
      : guard(scheme.header, `ApiKey ${REALM}`, ({ headers }) => checkAccessToken(String(headers[scheme.header])))
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
