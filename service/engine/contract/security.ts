// Who may call an operation: `security` of the contract says which credentials it requires, and guards check them.
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Requirement, SecurityScheme } from './compiled.ts'
import type { Extensions } from './extensions.ts'
import { Counter, OWN } from '../http/metrics.ts'
import { HttpError } from '../errors.ts'

const REFUSED = new Counter({
  name: `${OWN}refused_authentications_total`,
  help: 'Requests answered 401',
  labelNames: ['reason'],
})

/** Why a request is refused with 401. */
type Refusal = 'missing' | 'malformed' | 'repeated' | 'unknown' | 'expired'

/** Who is calling, with the scopes of the credentials (RFC 6749, section 3.3); or why they are refused. */
export type Verdict =
  { readonly caller: string; readonly scopes: readonly string[] } | { readonly refused: Refusal }

/** Checks the credentials of one security scheme. */
interface Guard {
  /** Its challenge in `WWW-Authenticate` (RFC 9110, section 11.6.1). */
  readonly challenge: string
  /** Whether it checks tokens: the challenge then gets the parameters of RFC 6750, section 3. */
  readonly isToken: boolean
  /**
   * Checks the headers of a request. It may be called several times for one request.
   * @throws {HttpError | StoreUnavailable} if the check is not possible at the moment
   */
  readonly check: (request: FastifyRequest, reply: FastifyReply) => Verdict | Promise<Verdict>
}

/** Makes the guard of a security scheme. */
export type MakeGuard = (scheme: SecurityScheme) => Guard

type Alternatives = readonly (readonly Requirement[])[]

/** Whether the service takes its own tokens by a scheme. */
export function takesTokens({ name, type }: SecurityScheme, { guards = {} }: Extensions): boolean {
  return type !== 'other' && !Object.hasOwn(guards, name)
}

/** Whether the service can check the credentials of a scheme. */
export function isGuarded(scheme: SecurityScheme, product: Extensions): boolean {
  return takesTokens(scheme, product) || Object.hasOwn(product.guards ?? {}, scheme.name)
}

/** The alternatives whose credentials the service can check. If there are none, all: an operation must not become open. */
export function checkable(alternatives: Alternatives, product: Extensions): Alternatives {
  const served = alternatives.filter((all) => all.every(({ scheme }) => isGuarded(scheme, product)))
  return served.length > 0 ? served : alternatives
}

/**
 * Makes the hook that authenticates a request and sets its caller. The credentials must satisfy one of the alternatives.
 * Otherwise, the answer is 401, or 403 if only scopes are missing. An empty alternative allows requests without credentials.
 */
export function requireCaller(
  alternatives: Alternatives,
  makeGuard: MakeGuard,
): onRequestHookHandler {
  const guarded = alternatives.map((all) =>
    all.map(({ scheme, scopes }) => ({ scopes, guard: makeGuard(scheme) })),
  )
  const requirements = guarded.flat()
  const isOpen = guarded.length === 0 || guarded.some(({ length }) => length === 0)

  return (request, reply, done) => {
    const verdicts = requirements.map(({ guard }) => guard.check(request, reply))
    // Usually all tokens are cached. To wait for promises would cost more than the checks.
    if (verdicts.every((each): each is Verdict => !(each instanceof Promise))) {
      request.caller = findCaller(verdicts)
      done()
    } else {
      const found = Promise.all(verdicts.map(async (each) => each)).then(
        (all) => (request.caller = findCaller(all)),
      )
      found.then(() => done(), done)
    }
  }

  /** @param verdicts on all requirements, in order @throws {HttpError} 401 or 403 */
  function findCaller(verdicts: readonly Verdict[]): string {
    const refusals: Refused[] = []
    let at = 0
    for (const all of guarded) {
      let caller = ''
      const refused: Refused[] = []
      for (const { guard, scopes } of all) {
        const verdict = verdicts[at++] ?? { refused: 'missing' }
        if ('refused' in verdict) refused.push({ reason: verdict.refused, guard, scopes })
        else if (scopes.every((scope) => verdict.scopes.includes(scope))) caller ||= verdict.caller
        else refused.push({ reason: 'scope', guard, scopes })
      }
      if (all.length > 0 && refused.length === 0) return caller
      // 403 would say that all credentials are valid.
      const others = refused.filter(({ reason }) => reason !== 'scope')
      refusals.push(...(others.length > 0 ? others : refused))
    }
    // A request with credentials that are not valid must not pass as one without credentials.
    const [worst] = refusals.toSorted((a, b) => rank(b) - rank(a))
    if (worst === undefined || (isOpen && worst.reason === 'missing')) return ''
    if (worst.reason !== 'scope') REFUSED.inc({ reason: worst.reason })
    throw toHttpError(worst)
  }
}

interface Refused {
  readonly reason: Refusal | 'scope'
  readonly guard: Guard
  readonly scopes: readonly string[]
}

/** Credentials of another scheme are malformed: what is wrong with those that were sent counts more. */
const RANKS = { missing: 0, malformed: 1, repeated: 2, unknown: 2, expired: 2, scope: 3 } as const
const rank = ({ reason }: Refused) => RANKS[reason]

/** Makes the answer. Its challenge names an error only if the request has credentials (RFC 6750, section 3.1). */
function toHttpError({ reason, guard: { challenge, isToken }, scopes }: Refused): HttpError {
  const say = (token: string, credentials: string) =>
    isToken ? `access token ${token}` : `credentials ${credentials}`
  const headers = (text: string) => ({
    'www-authenticate': isToken ? `${challenge}, ${text}` : challenge,
  })
  if (reason === 'missing') {
    const message = isToken ? 'An access token is needed' : 'Credentials are needed'
    return new HttpError(401, message, { 'www-authenticate': challenge })
  }
  if (reason !== 'scope')
    return new HttpError(401, `The ${say('is', 'are')} not valid`, headers('error="invalid_token"'))
  const needed = scopes.join(' ')
  const error = `error="insufficient_scope", scope="${needed}"`
  return new HttpError(403, `The ${say('needs', 'need')} the scope ${needed}`, headers(error))
}
