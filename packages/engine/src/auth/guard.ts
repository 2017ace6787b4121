// Checks credentials: by a guard of the product, as a bearer token in `Authorization`, or as an
// access token elsewhere (`apiKey`).
import bearerAuth from '@fastify/bearer-auth'
import type { FastifyInstance } from 'fastify'
import type { SecurityScheme } from '../contract/compiled.ts'
import type { Identity, ProductGuard, ProductHooks } from '../contract/product-hooks.ts'
import type { MakeGuard, Verdict } from './security.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { cookieTexts } from '../http/cookies.ts'
import { CLIENT_LEFT } from '../http/error-answers.ts'
import type { Exchange } from '../http/exchange.ts'
import { MAX_OWNER_BYTES } from '../store.ts'
import { credentialsHider } from './redaction.ts'

/** A verdict; a promise of one where the check takes time. */
type Checking = Verdict | Promise<Verdict>

export interface TokenChecker {
  /** @throws {HttpError | StoreUnavailable} */
  readonly check: (token: string) => Checking
}

interface GuardOptions {
  /** The guards of the product, by the names of their schemes. */
  readonly guards?: ProductHooks['guards'] | undefined
  /** The protection space named in challenges (RFC 9110, section 11.5). */
  readonly realm: string
  /** Seconds for a guard of the product. */
  readonly timeout: number
  readonly accessTokens: TokenChecker
  readonly jwts?: TokenChecker | undefined
}

export async function buildGuards(
  app: FastifyInstance,
  { realm, guards = {}, timeout, accessTokens, jwts = accessTokens }: GuardOptions,
): Promise<MakeGuard> {
  const bearer = new BearerCheck(accessTokens, jwts)
  await bearer.register(app)
  const checkOf = (scheme: SecurityScheme): CheckCredentials => {
    const guard = Object.hasOwn(guards, scheme.name) ? guards[scheme.name] : undefined
    if (guard) return guardCheck(scheme, guard, timeout)
    if (scheme.type === 'bearer') return (_header, exchange) => bearer.check(exchange)
    return scheme.type === 'apiKey' ? (token) => accessTokens.check(token) : refuseUnguarded
  }
  return (scheme) => {
    const { type, challenge } = scheme
    const check = checkOf(scheme)
    const charset = challenge === 'Basic' ? ', charset="UTF-8"' : '' // RFC 7617, section 2.1
    return {
      challenge: `${challenge} realm="${realm}"${charset}`,
      isToken: type !== 'other',
      check: (exchange) => {
        const { length, 0: credentials } = credentialsOf(exchange, scheme)
        if (credentials === undefined) return { refused: 'missing' }
        return length === 1 ? check(credentials, exchange) : { refused: 'repeated' }
      },
    }
  }
}

/** Checks the bearer token in the header `Authorization`. */
class BearerCheck {
  readonly #accessTokens: TokenChecker
  readonly #jwts: TokenChecker
  #verify: bearerAuth.verifyBearerAuth | undefined
  /** The verdict on the token just being checked. */
  #verdict: Checking | undefined

  constructor(accessTokens: TokenChecker, jwts: TokenChecker) {
    this.#accessTokens = accessTokens
    this.#jwts = jwts
  }

  async register(app: FastifyInstance): Promise<void> {
    await app.register(bearerAuth, {
      addHook: false,
      keys: [],
      specCompliance: 'rfc6749', // Compares the scheme without case, by RFC 9110, section 11.1.
      verifyErrorLogLevel: 'debug',
      auth: (token) => this.#judge(token),
    })
    this.#verify = app.getDecorator<bearerAuth.verifyBearerAuth>('verifyBearerAuth')
  }

  check({ request, reply }: Exchange): Checking {
    this.#verify?.(request, reply, () => undefined) // calls `auth` at once, and only if the header has a token
    const verdict = this.#verdict
    this.#verdict = undefined
    return verdict ?? { refused: 'malformed' }
  }

  #judge(token: string): boolean | Promise<boolean> {
    const checker = token.includes('.') ? this.#jwts : this.#accessTokens // only a JWT has a dot
    const verdict = checker.check(token)
    this.#verdict = verdict
    return verdict instanceof Promise ? verdict.then(isAccepted) : isAccepted(verdict)
  }
}

/** Without a guard, nothing satisfies a scheme without tokens. */
const refuseUnguarded: CheckCredentials = () => ({ refused: 'unknown' })

const isAccepted = (verdict: Verdict) => 'caller' in verdict

type CheckCredentials = (credentials: string, exchange: Exchange) => Checking

/** Finds the credentials of a scheme in a request, once for each time they were sent. */
function credentialsOf(exchange: Exchange, { in: place, key }: SecurityScheme) {
  if (place === 'connection') return ['']
  if (place === 'header') return valuesOfHeader(exchange, key)
  if (place === 'query') return valuesOfQuery(exchange, key)
  return cookieTexts(exchange.raw.headers.cookie ?? '', key)
}

/**
 * Of some repeated headers Node shows only the first value. It counts as two here: repeated
 * credentials are refused anyway.
 */
function valuesOfHeader({ raw, repeatedHeaders }: Exchange, name: string): readonly string[] {
  const header = raw.headers[name]
  if (header === undefined) return []
  const value = String(header)
  return repeatedHeaders?.has(name) === true ? [value, value] : [value]
}

function valuesOfQuery({ request: { query } }: Exchange, name: string): readonly string[] {
  const values = Object.getOwnPropertyDescriptor(query, name)?.value as
    string | string[] | undefined
  if (values === undefined) return []
  return Array.isArray(values) ? values : [values]
}

/**
 * Names a caller, so that callers of different sources are never equal. The callers of access
 * tokens are `[\w.@-]`, those of JWTs `<issuer>#<sub>`, and those of guards `#<scheme>#<caller>`.
 * @param source `<issuer>#` or `#<scheme>#`; neither an issuer nor a scheme has a `#` in its name
 * @param name 1 to 255 characters without control characters, for people to read in a log
 * @returns undefined if the name is not valid, or too long together with its source
 */
export function nameCaller(source: string, name: unknown): string | undefined {
  if (typeof name !== 'string' || !/^[^\p{Cc}\p{Cs}]{1,255}$/u.test(name)) return undefined
  const caller = source + name
  return Buffer.byteLength(caller) > MAX_OWNER_BYTES ? undefined : caller
}

/** The source of callers identified by a guard of the product. */
export const sourceOf = ({ name }: Pick<SecurityScheme, 'name'>) => `#${encodeURIComponent(name)}#`

/** Reads the result of a guard. Scopes count as none if they are no list. */
function readIdentity(
  identity: Partial<Record<keyof Identity, unknown>> | undefined,
  scheme: SecurityScheme,
): Verdict {
  // Only the guard can see that a connection has no certificate.
  if (!identity) return { refused: scheme.in === 'connection' ? 'missing' : 'unknown' }
  const caller = 'caller' in identity ? nameCaller(sourceOf(scheme), identity.caller) : ''
  if (caller === undefined) return { refused: 'unknown' }
  const { scopes } = identity
  return { caller, scopes: Array.isArray(scopes) ? scopes.map(String) : [] }
}

const TOO_SLOW = new HttpError(503, 'The credentials could not be checked in time', {
  'retry-after': '1',
})

/** @param timeout in seconds */
function guardCheck(
  scheme: SecurityScheme,
  guard: ProductGuard,
  timeout: number,
): CheckCredentials {
  const { name, type, in: place, challenge } = scheme
  const prefix =
    type !== 'apiKey' && place === 'header'
      ? new RegExp(`^${RegExp.escape(challenge)} +`, 'i')
      : /^/
  return async (sent, exchange) => {
    if (!prefix.test(sent)) return { refused: 'malformed' }
    const credentials = sent.replace(prefix, '')
    const late = Promise.withResolvers<never>()
    const controller = new AbortController()
    const { signal } = controller
    signal.addEventListener('abort', () => late.reject(signal.reason))
    const timer = setTimeout(() => controller.abort(TOO_SLOW), timeout * 1000)
    let isOver = false
    exchange.onEnd(() => {
      if (!isOver) controller.abort(CLIENT_LEFT)
    })
    try {
      const identity = await Promise.race([
        guard(exchange.request, credentials, signal),
        late.promise,
      ])
      return readIdentity(identity, scheme)
    } catch (error) {
      if (error === TOO_SLOW || error === CLIENT_LEFT) throw error
      const hide = credentialsHider(credentials)
      const { stack = '' } = error instanceof Error ? error : {}
      throw Object.assign(new Error(`the guard ${name} failed: ${hide(reasonOf(error))}`), {
        stack: hide(stack),
      })
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}
