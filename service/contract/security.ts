// Who may call an operation. The contract's `security` says which credentials it requires; a guard checks them.
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { HttpError } from '../errors.ts'

/** A security scheme that is served: `http` with `bearer`, or `apiKey` in a header, whose name is in lower case. */
export type SecurityScheme = { readonly type: 'bearer' } | { readonly type: 'apiKey'; readonly header: string }

/** Why a request is refused with 401. */
export type Refusal = 'missing' | 'malformed' | 'repeated' | 'unknown' | 'expired'

/** Who is calling, with the scopes of the credentials (RFC 6749, section 3.3); or why they are refused. */
export type Verdict = { readonly caller: string; readonly scopes: readonly string[] } | { readonly refused: Refusal }

/** Checks the credentials of one security scheme. */
export interface Guard {
  /** Its challenge in `WWW-Authenticate` (RFC 9110, section 11.6.1), which may be followed by parameters. */
  readonly challenge: string
  /**
   * Decides by the headers only. It may be asked several times about a request.
   * @throws {HttpError | StoreUnavailable} if it can't be decided at the moment
   */
  readonly check: (request: FastifyRequest, reply: FastifyReply) => Promise<Verdict>
}

/** Makes the guard of a security scheme. */
export type MakeGuard = (scheme: SecurityScheme) => Guard

/** Reads a member of the contract's `securitySchemes`. @returns undefined if it is not served */
export function readSecurityScheme(described: Record<string, unknown>): SecurityScheme | undefined {
  const { type, scheme, in: place, name } = described
  if (type === 'http' && String(scheme).toLowerCase() === 'bearer') return { type: 'bearer' }
  if (type === 'apiKey' && place === 'header') return { type, header: String(name).toLowerCase() }
  return undefined
}

/**
 * The hook that lets only those pass whom every guard knows, and sets their caller. Any other gets 401.
 * @param onRefused called with the reason
 */
export function requireCaller(
  guards: readonly Guard[],
  onRefused: (reason: Refusal) => void = () => undefined,
): onRequestAsyncHookHandler {
  return async (request, reply) => {
    for (const { challenge, check } of guards) {
      const verdict = await check(request, reply)
      if ('refused' in verdict) {
        onRefused(verdict.refused)
        throw unauthorized(verdict.refused, challenge)
      }
      request.caller = verdict.caller
    }
  }
}

/** RFC 6750, section 3.1: the error is named only to those who sent credentials. */
function unauthorized(reason: Refusal, challenge: string): HttpError {
  return reason === 'missing'
    ? new HttpError(401, 'An access token is needed', { 'www-authenticate': challenge })
    : new HttpError(401, 'The access token is not valid', {
        'www-authenticate': `${challenge}, error="invalid_token"`,
      })
}
