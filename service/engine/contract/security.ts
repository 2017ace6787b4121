// Who may call an operation: `security` of the contract says which credentials it requires, and guards check them.
import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import type { Requirement, SecurityScheme } from './compiled.ts'
import type { Extensions, TokenType } from './extensions.ts'
import { Counter, OWN } from '../http/metrics.ts'
import { HttpError, reasonOf } from '../errors.ts'

const REFUSED = new Counter({
  name: `${OWN}refused_authentications_total`,
  help: 'Requests answered 401',
  labelNames: ['reason'],
})

/** Why a request is refused with 401. */
type Refusal = 'missing' | 'malformed' | 'repeated' | 'unknown' | 'expired' | 'conflicting'

/**
 * Who is calling, with the scopes of the credentials (RFC 6749, section 3.3); or why they are
 * refused. The caller is empty if the credentials name nobody.
 */
export type Verdict =
  { readonly caller: string; readonly scopes: readonly string[] } | { readonly refused: Refusal }

/** A check that was not possible. */
interface Failure {
  readonly failed: Error
}
type Outcome = Verdict | Failure

/** Checks the credentials of one security scheme. */
interface Guard {
  /** Its challenge in `WWW-Authenticate` (RFC 9110, section 11.6.1). */
  readonly challenge: string
  /** Whether it checks tokens: the challenge then gets the parameters of RFC 6750, section 3. */
  readonly isToken: boolean
  /**
   * Checks the headers of a request.
   * @throws {HttpError | StoreUnavailable} if the check is not possible at the moment
   */
  readonly check: (request: FastifyRequest, reply: FastifyReply) => Verdict | Promise<Verdict>
}

/** Makes the guard of a security scheme. */
export type MakeGuard = (scheme: SecurityScheme) => Guard

type Alternatives = readonly (readonly Requirement[])[]

const TOKEN_TYPES: readonly TokenType[] = ['bearer', 'apiKey']

/** Whether the service itself checks the tokens of a scheme. */
export function takesTokens({ name, type }: SecurityScheme, product: Extensions): boolean {
  const { guards = {}, tokenTypes = TOKEN_TYPES } = product
  return tokenTypes.some((taken) => taken === type) && !Object.hasOwn(guards, name)
}

/** What the product lacks for a scheme that is not guarded. */
export function lackedFor({ type }: SecurityScheme): string {
  if (type === 'other') return 'a guard'
  const source = type === 'bearer' ? 'a store or JWT_ISSUER' : 'a store'
  return `a guard in product.ts, or ${source}`
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
 * Makes the hook that authenticates a request and sets its caller. The credentials must satisfy one
 * of the alternatives: the first one that they satisfy names the caller. Otherwise, the answer is
 * 401, or 403 if only scopes are missing. An empty alternative allows requests without credentials.
 */
export function requireCaller(
  alternatives: Alternatives,
  makeGuard: MakeGuard,
): onRequestHookHandler {
  const guards = new Map<string, NumberedGuard>()
  const guardOf = (scheme: SecurityScheme) => {
    const guard = guards.get(scheme.name) ?? { ...makeGuard(scheme), at: guards.size }
    guards.set(scheme.name, guard)
    return guard
  }
  const guarded = alternatives
    .filter(({ length }) => length > 0)
    .map((schemes) => schemes.map(({ scheme, scopes }) => ({ guard: guardOf(scheme), scopes })))
  const isOpen = guarded.length === 0 || guarded.length < alternatives.length
  const checks = [...guards.values()]
  const [[onlyScheme, ...furtherSchemes] = [], ...furtherAlternatives] = guarded
  const hasOne = !isOpen && furtherSchemes.length + furtherAlternatives.length === 0
  const only = hasOne ? onlyScheme : undefined

  return (request, reply, done) => {
    const pending = checks.map((guard) => guard.check(request, reply))
    const [first] = pending
    // Most operations have one scheme, and most tokens are cached and valid.
    if (only && first && 'caller' in first && hasScopes(first, only)) {
      request.caller = first.caller
      done()
      return
    }
    // Usually all tokens are cached. To wait for promises would cost more than the checks.
    if (pending.every((verdict): verdict is Verdict => !(verdict instanceof Promise))) {
      request.caller = findCaller(pending, request)
      done()
      return
    }
    const found = settle(pending).then(
      (outcomes) => (request.caller = findCaller(outcomes, request)),
    )
    found.then(() => done(), done)
  }

  /** Waits for the checks, but for none after the first alternative that is satisfied. */
  async function settle(pending: readonly (Verdict | Promise<Verdict>)[]): Promise<Outcome[]> {
    const checked = pending.map((verdict) => Promise.resolve(verdict).catch(toFailure))
    const outcomes: Outcome[] = []
    for (const alternative of guarded) {
      for (const { guard } of alternative) outcomes[guard.at] = (await checked[guard.at]) ?? MISSING
      if ('caller' in judge(alternative, outcomes)) break
    }
    return outcomes
  }

  /** @param outcomes of the checks, in order @throws {HttpError} 401 or 403, or what a check threw */
  function findCaller(outcomes: readonly Outcome[], { id, log }: FastifyRequest): string {
    const failure = outcomes.find(isFailure)
    const judged = guarded.map((alternative) => judge(alternative, outcomes))
    const accepted = judged.find((judgement) => 'caller' in judgement)
    if (accepted) {
      if (failure)
        log.warn({ reqId: id, err: failure.failed }, 'other credentials could not be checked')
      return accepted.caller
    }
    const failed = judged.find(isFailure)
    if (failed) throw failed.failed
    // A request with credentials that are not valid must not pass as one without credentials.
    if (isOpen && outcomes.every(isMissing)) return ''
    const refusals = judged.flatMap((judgement) =>
      'refusals' in judgement ? judgement.refusals : [],
    )
    const [worst] = refusals.toSorted((a, b) => rank(b) - rank(a))
    if (worst === undefined) return ''
    if (worst.reason !== 'scope') REFUSED.inc({ reason: worst.reason })
    throw toHttpError(worst)
  }
}

const toFailure = (error: unknown): Failure => ({
  failed: error instanceof Error ? error : new Error(reasonOf(error)),
})
const isFailure = (outcome: object): outcome is Failure => 'failed' in outcome
const MISSING = { refused: 'missing' } as const
const isMissing = (outcome: Outcome) => 'refused' in outcome && outcome.refused === 'missing'

interface NumberedGuard extends Guard {
  /** Its place among the guards of the operation. */
  readonly at: number
}
interface Guarded {
  readonly guard: NumberedGuard
  readonly scopes: readonly string[]
}
const hasScopes = (accepted: Pick<Guarded, 'scopes'>, required: Pick<Guarded, 'scopes'>) =>
  required.scopes.every((scope) => accepted.scopes.includes(scope))

type Judgement = { readonly caller: string } | { readonly refusals: readonly Refused[] } | Failure

/**
 * Judges an alternative: credentials of all its schemes must be valid, and must not name different
 * callers. What is refused counts more than a check that failed, and that more than a scope.
 */
function judge(alternative: readonly Guarded[], outcomes: readonly Outcome[]): Judgement {
  const refusals: Refused[] = []
  const unscoped: Refused[] = []
  const callers = new Set<string>()
  let failure: Failure | undefined
  for (const { guard, scopes } of alternative) {
    const outcome = outcomes[guard.at] ?? MISSING
    if (isFailure(outcome)) failure ??= outcome
    else if ('refused' in outcome) refusals.push({ reason: outcome.refused, guard, scopes })
    else {
      if (outcome.caller !== '') callers.add(outcome.caller)
      if (!hasScopes(outcome, { scopes })) unscoped.push({ reason: 'scope', guard, scopes })
    }
  }
  if (refusals.length > 0) return { refusals }
  if (failure) return failure
  const [first] = alternative
  if (first && callers.size > 1) return { refusals: [{ ...first, reason: 'conflicting' }] }
  // 403 says that all credentials are valid.
  if (unscoped.length > 0) return { refusals: unscoped }
  const [caller = ''] = callers
  return { caller }
}

interface Refused extends Guarded {
  readonly reason: Refusal | 'scope'
}

/** Credentials of another scheme are malformed: what is wrong with those that were sent counts more. */
const RANKS = {
  missing: 0,
  malformed: 1,
  repeated: 2,
  unknown: 2,
  expired: 2,
  conflicting: 2,
  scope: 3,
} as const
const rank = ({ reason }: Refused) => RANKS[reason]

const CONFLICT = 'The credentials name different callers'

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
  if (reason === 'conflicting')
    return new HttpError(401, CONFLICT, headers('error="invalid_token"'))
  if (reason !== 'scope')
    return new HttpError(401, `The ${say('is', 'are')} not valid`, headers('error="invalid_token"'))
  const needed = scopes.join(' ')
  const error = `error="insufficient_scope", scope="${needed}"`
  return new HttpError(403, `The ${say('needs', 'need')} the scope ${needed}`, headers(error))
}
