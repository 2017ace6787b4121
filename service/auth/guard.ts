import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { SecurityScheme } from '../contract/contract.ts'
import { countHeader } from '../http/headers.ts'
import type { Refusal } from '../http/traffic.ts'
import { HttpError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whom the access token names; empty if no guard has let the request pass. */
    caller: string
  }
}

/** An `onRequest` hook that lets a request pass, and sets its caller, or throws the refusal. */
export type Guard = (request: FastifyRequest, reply: FastifyReply, done: (refused?: Error) => void) => void

/** Whom a token names; undefined if it is not valid, and `refuse` is told why. A promise only where it takes time. */
export type CallerOf = (
  token: string,
  refuse?: (reason: Refusal) => void,
) => string | undefined | Promise<string | undefined>

/** A guard for each security scheme that the contract requires. */
export type Guards = { readonly [Scheme in SecurityScheme]: Guard }

const CHALLENGE = 'Bearer realm="plants"'

/** The guards. They decide by the headers alone. */
export async function buildGuards(app: FastifyInstance, callerOf: CallerOf): Promise<Guards> {
  const reasons = new WeakMap<FastifyRequest, Refusal>()
  await app.register(bearerAuth, {
    addHook: false,
    keys: [],
    specCompliance: 'rfc6749', // the scheme is compared without case, as RFC 9110, section 11.1 has it
    verifyErrorLogLevel: 'debug',
    auth: (token, request) => {
      const refuse = (reason: Refusal) => void reasons.set(request, reason)
      const admit = (caller: string | undefined) => {
        request.caller = caller ?? ''
        return caller !== undefined
      }
      // Of two headers Node shows only the first.
      if (countHeader(request.raw, 'authorization') === 1) {
        const caller = callerOf(token, refuse)
        return caller instanceof Promise ? caller.then(admit) : admit(caller)
      }
      refuse('repeated')
      return false
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
