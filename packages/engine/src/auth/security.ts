// Decides who may call an operation: `security` of the contract names the required credentials, and guards check them.
import type { SecurityScheme } from '../contract/compiled.ts'
import type { Alternatives } from '../contract/guarded-schemes.ts'
import type { Exchange } from '../http/exchange.ts'
import { Counter, METRIC_PREFIX } from '../http/metrics.ts'
import type { IsFromOtherSite } from '../http/other-sites.ts'
import { HttpError, reasonOf } from '../errors.ts'

const REFUSED = new Counter({
  name: `${METRIC_PREFIX}refused_authentications_total`,
  help: 'Requests answered 401',
  labelNames: ['reason'],
})

/** The reason of a 401. */
type RefusalReason = 'missing' | 'malformed' | 'repeated' | 'unknown' | 'expired' | 'conflicting'

/**
 * Valid credentials, with their scopes (RFC 6749, section 3.3). The caller is empty if they name
 * nobody.
 */
interface Credentials {
  readonly caller: string
  readonly scopes: readonly string[]
}

/** The result of a check: valid credentials, or the reason of the refusal. */
export type Verdict = Credentials | { readonly refused: RefusalReason }

interface Failure {
  readonly failed: Error
}
type Outcome = Verdict | Failure

interface Guard {
  /** Its challenge in `WWW-Authenticate` (RFC 9110, section 11.6.1). */
  readonly challenge: string
  /** Whether it checks tokens: the challenge then gets the parameters of RFC 6750, section 3. */
  readonly isToken: boolean
  /**
   * Checks the headers of a request.
   * @throws {HttpError | StoreUnavailable} if the check is not possible at the moment
   */
  readonly check: (exchange: Exchange) => Verdict | Promise<Verdict>
}

export type MakeGuard = (scheme: SecurityScheme) => Guard

/**
 * Authenticates the requests of an operation. The credentials must satisfy one of the alternatives: the first one to be
 * satisfied names the caller. Otherwise, the answer is 401, or 403 if only scopes are missing. An empty alternative allows
 * requests without credentials.
 * Browsers send a cookie with the requests of any page: where it is a credential, a page of another site gets 403.
 */
export class Authorizer {
  readonly #guarded: readonly (readonly GuardedScheme[])[]
  readonly #guards: readonly NumberedGuard[]
  /** Whether requests without credentials are allowed. */
  readonly #isOpen: boolean
  /** The only scheme, if there is no second one. */
  readonly #only: GuardedScheme | undefined
  readonly #isFromOtherSite: IsFromOtherSite

  constructor(alternatives: Alternatives, makeGuard: MakeGuard, isFromOtherSite: IsFromOtherSite) {
    const guards = new Map<string, NumberedGuard>()
    const guardOf = (scheme: SecurityScheme) => {
      const numbered = { place: scheme.in, at: guards.size }
      const guard = guards.get(scheme.name) ?? { ...makeGuard(scheme), ...numbered }
      guards.set(scheme.name, guard)
      return guard
    }
    this.#guarded = alternatives
      .filter(({ length }) => length > 0)
      .map((schemes) => schemes.map(({ scheme, scopes }) => ({ guard: guardOf(scheme), scopes })))
    this.#guards = [...guards.values()]
    this.#isOpen = this.#guarded.length === 0 || this.#guarded.length < alternatives.length
    this.#only = this.#isOpen ? undefined : onlySchemeOf(this.#guarded)
    this.#isFromOtherSite = isFromOtherSite
  }

  /**
   * Finds the caller of a request.
   * @returns a promise only if a check takes time: most tokens are cached, and a promise would cost
   * more than their check
   * @throws {HttpError} 401 or 403, or the error of a check
   */
  authorize(exchange: Exchange): undefined | Promise<undefined> {
    const pending = this.#guards.map((guard) => guard.check(exchange))
    const [first] = pending
    const only = this.#only
    // Most operations have one scheme, and most tokens are valid.
    const isCached = only && first && 'caller' in first && only.guard.place !== 'cookie'
    if (isCached && hasScopes(first, only)) {
      setCaller(exchange, first)
      return undefined
    }
    if (pending.every((verdict): verdict is Verdict => !(verdict instanceof Promise))) {
      setCaller(exchange, this.#findCaller(pending, exchange))
      return undefined
    }
    return this.#settle(pending).then((outcomes) => {
      setCaller(exchange, this.#findCaller(outcomes, exchange))
      return undefined
    })
  }

  /** Waits for the checks, up to the first satisfied alternative. */
  async #settle(pending: readonly (Verdict | Promise<Verdict>)[]): Promise<Outcome[]> {
    const checked = pending.map((verdict) => Promise.resolve(verdict).catch(toFailure))
    const outcomes: Outcome[] = []
    for (const alternative of this.#guarded) {
      for (const { guard } of alternative) outcomes[guard.at] = (await checked[guard.at]) ?? MISSING
      if ('caller' in judge(alternative, outcomes)) break
    }
    return outcomes
  }

  /**
   * @param outcomes of the checks, in order @throws {HttpError} 401 or 403, or the error of a check
   */
  #findCaller(outcomes: readonly Outcome[], { id, request }: Exchange): Credentials {
    const failure = outcomes.find(isFailure)
    const judgements = this.#guarded.map((alternative) => judge(alternative, outcomes))
    const accepted = judgements.find((judgement) => 'caller' in judgement)
    if (accepted) {
      if (accepted.isOfCookies && this.#isFromOtherSite(request)) throw FROM_OTHER_SITE
      if (failure)
        request.log.warn(
          { reqId: id, err: failure.failed },
          'other credentials could not be checked',
        )
      return accepted
    }
    const failed = judgements.find(isFailure)
    if (failed) throw failed.failed
    // A request with invalid credentials must not pass as one without credentials.
    if (this.#isOpen && outcomes.every(isMissing)) return NOBODY
    const worst = worstOf(judgements)
    if (worst === undefined) return NOBODY
    if (worst.reason !== 'scope') REFUSED.inc({ reason: worst.reason })
    throw toHttpError(worst)
  }
}

function setCaller(exchange: Exchange, { caller, scopes }: Credentials): void {
  exchange.caller = caller
  exchange.scopes = scopes
}

/** No credentials. */
const NOBODY: Credentials = { caller: '', scopes: [] }

/** The only scheme of an operation; undefined if there are several, or none. */
function onlySchemeOf(alternatives: readonly (readonly GuardedScheme[])[]) {
  const [schemes = []] = alternatives
  const [scheme] = schemes
  return alternatives.length === 1 && schemes.length === 1 ? scheme : undefined
}

const toFailure = (error: unknown): Failure => ({
  failed: error instanceof Error ? error : new Error(reasonOf(error)),
})
const isFailure = (outcome: object): outcome is Failure => 'failed' in outcome
const MISSING = { refused: 'missing' } as const
const isMissing = (outcome: Outcome) => 'refused' in outcome && outcome.refused === 'missing'

const FROM_OTHER_SITE = new HttpError(
  403,
  'A page of another site has made the request, and its credentials are a cookie',
)

interface NumberedGuard extends Guard {
  /** The place of its credentials. */
  readonly place: SecurityScheme['in']
  /** Its index among the guards of the operation. */
  readonly at: number
}
interface GuardedScheme {
  readonly guard: NumberedGuard
  readonly scopes: readonly string[]
}
interface AcceptedScheme {
  readonly scheme: GuardedScheme
  readonly credentials: Credentials
}
interface RefusedScheme extends GuardedScheme {
  readonly reason: RefusalReason | 'scope'
}

type Judgement =
  | (Credentials & { readonly isOfCookies: boolean })
  | { readonly refusals: readonly RefusedScheme[] }
  | Failure

function hasScopes(credentials: Credentials, { scopes }: GuardedScheme): boolean {
  return scopes.every((scope) => credentials.scopes.includes(scope))
}

/**
 * Judges an alternative: the credentials of all its schemes must be valid. A refusal counts more
 * than a failed check, and a failed check more than a missing scope.
 */
function judge(alternative: readonly GuardedScheme[], outcomes: readonly Outcome[]): Judgement {
  const refusals: RefusedScheme[] = []
  const failures: Failure[] = []
  const accepted: AcceptedScheme[] = []
  for (const scheme of alternative) {
    const outcome = outcomes[scheme.guard.at] ?? MISSING
    if (isFailure(outcome)) failures.push(outcome)
    else if ('refused' in outcome) refusals.push({ ...scheme, reason: outcome.refused })
    else accepted.push({ scheme, credentials: outcome })
  }
  if (refusals.length > 0) return { refusals }
  const [failure] = failures
  return failure ?? judgeAccepted(accepted)
}

/** Judges valid credentials: they must not name different callers, and must have the scopes. */
function judgeAccepted(accepted: readonly AcceptedScheme[]): Judgement {
  const callers = new Set(accepted.map(({ credentials }) => credentials.caller))
  callers.delete('') // they name nobody
  const [first] = accepted
  if (first && callers.size > 1) return { refusals: [{ ...first.scheme, reason: 'conflicting' }] }
  const refusals: RefusedScheme[] = []
  for (const { scheme, credentials } of accepted) {
    if (!hasScopes(credentials, scheme)) refusals.push({ ...scheme, reason: 'scope' })
  }
  if (refusals.length > 0) return { refusals }
  const [caller = ''] = callers
  const scopes = accepted.flatMap(({ credentials }) => credentials.scopes)
  return { caller, scopes, isOfCookies: isOfCookies(accepted) }
}

/**
 * Whether a browser sends all of these credentials with the requests of any page. A page can't send
 * others of a person.
 */
function isOfCookies(accepted: readonly AcceptedScheme[]): boolean {
  const places = accepted.map(({ scheme }) => scheme.guard.place)
  const isSentAlong = places.every((place) => place === 'cookie' || place === 'connection')
  return isSentAlong && places.includes('cookie')
}

/**
 * The ranks of the reasons. `malformed` ranks low, because credentials for another scheme look
 * malformed to this one.
 */
const RANKS = {
  missing: 0,
  malformed: 1,
  repeated: 2,
  unknown: 2,
  expired: 2,
  conflicting: 2,
  scope: 3,
} as const

/** The refusal to answer: the first one of the highest rank. */
function worstOf(judgements: readonly Judgement[]): RefusedScheme | undefined {
  let worst: RefusedScheme | undefined
  for (const judgement of judgements) {
    const refusals = 'refusals' in judgement ? judgement.refusals : []
    for (const refusal of refusals) {
      if (!worst || RANKS[refusal.reason] > RANKS[worst.reason]) worst = refusal
    }
  }
  return worst
}

/** Makes the answer to refused credentials. 403 means valid credentials without a scope. */
function toHttpError({ reason, guard, scopes }: RefusedScheme): HttpError {
  const { isToken } = guard
  if (reason === 'missing') {
    const message = isToken ? 'An access token is needed' : 'Credentials are needed'
    return new HttpError(401, message, challenge(guard))
  }
  if (reason === 'scope') {
    const needed = scopes.join(' ')
    const subject = isToken ? 'The access token needs' : 'The credentials need'
    const error = `error="insufficient_scope", scope="${needed}"`
    return new HttpError(403, `${subject} the scope ${needed}`, challenge(guard, error))
  }
  const headers = challenge(guard, 'error="invalid_token"')
  if (reason === 'conflicting')
    return new HttpError(401, 'The credentials name different callers', headers)
  const subject = isToken ? 'The access token is' : 'The credentials are'
  return new HttpError(401, `${subject} not valid`, headers)
}

/**
 * The header with the challenge of a guard.
 * @param error the error code of a token; absent if the request has no token (RFC 6750, section
 * 3.1)
 */
function challenge({ challenge: scheme, isToken }: Guard, error?: string): Record<string, string> {
  const hasError = isToken && error !== undefined
  return { 'www-authenticate': hasError ? `${scheme}, ${error}` : scheme }
}
