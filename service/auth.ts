import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SecurityScheme } from './contract.ts'
import { HttpError } from './errors.ts'
import { countHeader } from './headers.ts'
import type { Refusal } from './traffic.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the access token names; empty if no guard has let the request pass. */
    caller: string
  }
}

/** An `onRequest` hook that lets a request pass, and sets its caller, or throws the refusal. */
export type Guard = (request: FastifyRequest, reply: FastifyReply, done: (refused?: Error) => void) => void

/** A guard for each security scheme that the contract requires. */
export type Guards = { readonly [Scheme in SecurityScheme]: Guard }

const CHALLENGE = 'Bearer realm="plants"'

/**
 * The guards. They decide by the headers alone.
 * @param callerOf whom a token names, or undefined if it is not valid; `refuse` is then told why
 */
export async function buildGuards(
  app: FastifyInstance,
  callerOf: (token: string, refuse: (reason: Refusal) => void) => Promise<string | undefined>,
): Promise<Guards> {
  const reasons = new WeakMap<FastifyRequest, Refusal>()
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    specCompliance: 'rfc6749', // the scheme is compared without case, as RFC 9110, section 11.1 has it
    verifyErrorLogLevel: 'debug',
    auth: async (token, request) => {
      const refuse = (reason: Refusal) => void reasons.set(request, reason)
      // Of two headers Node shows only the first.
      const isOne = countHeader(request.raw, 'authorization') === 1
      if (!isOne) refuse('repeated')
      const caller = isOne ? await callerOf(token, refuse) : undefined
      request.caller = caller ?? ''
      return caller !== undefined
    },
  })
  const verify = app.getDecorator<bearerAuth.verifyBearerAuth>('verifyBearerAuth')
  return {
    bearerAuth: (request, reply, done) =>
      verify(request, reply, (error) => {
        const isRefused = error !== undefined && reply.statusCode === 401
        if (isRefused) {
          const isMissing = request.headers.authorization === undefined
          app.traffic.refuse(reasons.get(request) ?? (isMissing ? 'missing' : 'malformed'))
        }
        done(isRefused ? unauthorized(request) : error)
      }),
  }
}

/** RFC 6750, section 3: an error is named only to those who have tried. */
function unauthorized({ headers }: FastifyRequest): HttpError {
  return headers.authorization === undefined
    ? new HttpError(401, 'An access token is needed', { 'www-authenticate': CHALLENGE })
    : new HttpError(401, 'The access token is not valid', { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` })
}
