// Compiles the security of an operation, and reports missing guards of the product.
import {
  isGuarded,
  lackedFor,
  type Requirement,
  type SecurityScheme,
  supportedAlternatives,
} from '@plant-store/engine/for-compiler'
import { isObject } from '@plant-store/json-schema'
import type { Finding } from '../sentences/sentences.ts'
import { stringCode } from './printing.ts'
import { deref, usableEntries } from '../read/references.ts'
import { isNear } from '../read/spelling.ts'
import type { Compilation } from '../schemas/schemas.ts'

type Alternative = Readonly<Record<string, string[]>>

/** A scope as the header `WWW-Authenticate` can hold it (RFC 6749, section 3.3; RFC 6750, section 3). */
const SCOPE = /^[!#-[\]-~]+$/

/** Reads the alternatives of `security`. The product must have guards for one of them. */
export function readSecurity(
  compilation: Compilation,
  alternatives: readonly Alternative[],
): Requirement[][] {
  const requirements = alternatives.map((alternative) => readAlternative(compilation, alternative))
  reportUnguarded(compilation, requirements)
  return requirements
}

function readAlternative(compilation: Compilation, alternative: Alternative): Requirement[] {
  const { root, product, diagnostics } = compilation
  return Object.entries(alternative).map(([name, scopes]) => {
    const node = root.components?.securitySchemes?.[name]
    const hasGuard = Object.hasOwn(product?.guards ?? {}, name)
    if (node === undefined && hasGuard)
      diagnostics.warn(alternative, { code: 'scheme-guarded', name }, name)
    else if (node === undefined)
      diagnostics.error(alternative, unknownScheme(compilation, name), name)
    checkScopes(compilation, alternative, name, scopes)
    // A scheme that is not described becomes a requirement that only a guard can satisfy. Without it, the operation could be open.
    const scheme = node === undefined ? undescribedScheme(name) : readScheme(name, deref(node))
    return { scheme, scopes }
  })
}

/** Fields of an OAuth 2 flow with addresses of the identity provider. */
const ADDRESSES = ['authorizationUrl', 'tokenUrl']

/** An origin safe in a content security policy: other characters could add sources or wildcards (CSP 3, section 2.3.1). */
const ORIGIN = /^https?:\/\/([\w-]+(\.[\w-]+)*\.?|\[[\da-f:]+\])(:\d+)?$/

/** The origins of a contract's identity providers. A relative address is left out: the service itself has it. */
export function readProviders({ root, diagnostics }: Compilation): string[] {
  const origins = new Set<string>()
  for (const { node, key } of providerAddresses(root)) {
    const origin = URL.parse(String(node[key]))?.origin ?? ''
    if (ORIGIN.test(origin)) origins.add(origin)
    else if (/^https?:/.test(origin)) diagnostics.warn(node, { code: 'sign-in-unservable' }, key)
  }
  return [...origins]
}

interface Field {
  readonly node: Readonly<Record<string, unknown>>
  readonly key: string
}

function providerAddresses({ components }: Compilation['root']): Field[] {
  const schemes = usableEntries(components?.securitySchemes).map(([, scheme]) => scheme)
  return schemes.flatMap((scheme): Field[] => {
    if (scheme.type === 'openIdConnect' && isObject(scheme))
      return [{ node: scheme, key: 'openIdConnectUrl' }]
    if (scheme.type !== 'oauth2') return []
    const flows: unknown[] = Object.values({ ...scheme.flows })
    return flows.filter(isObject).flatMap((node) => ADDRESSES.map((key) => ({ node, key })))
  })
}

/** With more schemes than these, an error does not list them. */
const MAX_LISTED = 3

function unknownScheme({ root }: Compilation, name: string): Finding {
  const names = Object.keys(root.components?.securitySchemes ?? {})
  const meant = names.filter((candidate) => isNear(name, candidate))
  if (meant.length > 0) return { code: 'scheme-misspelt', name, meant: meant.join(' or ') }
  const isEasy = names.length > 0 && names.length <= MAX_LISTED
  if (isEasy) return { code: 'scheme-absent', name, names: names.join(', ') }
  return { code: 'scheme-unknown', name }
}

function checkScopes(
  { diagnostics }: Compilation,
  alternative: Alternative,
  name: string,
  scopes: readonly string[],
): void {
  for (const [index, scope] of scopes.entries()) {
    if (SCOPE.test(scope)) continue
    const finding: Finding = { code: 'scope-unsendable', scope: JSON.stringify(scope) }
    diagnostics.error(alternative, finding, name, String(index))
  }
}

/** Reports schemes without a guard. If the product has guards for another alternative, they are only left out. */
function reportUnguarded(
  { root, product, diagnostics }: Compilation,
  alternatives: readonly (readonly Requirement[])[],
): void {
  const hooks = product ?? {}
  const isServed = ({ scheme }: Requirement) => isGuarded(scheme, hooks)
  const hasServed = supportedAlternatives(alternatives, hooks).every((alternative) =>
    alternative.every(isServed),
  )
  for (const { scheme } of alternatives.flat()) {
    const node = root.components?.securitySchemes?.[scheme.name]
    if (node === undefined || isGuarded(scheme, hooks)) continue
    const { name } = scheme
    const guard = `guards: { ${stringCode(name)}: (request) => ... }`
    if (product === undefined) diagnostics.warn(node, { code: 'guard-undecided', name, guard })
    else if (hasServed) diagnostics.warn(node, { code: 'guard-absent', name, guard })
    else diagnostics.error(node, { code: 'guard-needed', name, guard, lacked: lackedFor(scheme) })
  }
}

/** A scheme whose credentials only a guard of the product can find in a request. */
function undescribedScheme(name: string): SecurityScheme {
  const challenge = /^[\w-]+$/.test(name) ? name : 'Guarded'
  return { name, type: 'other', in: 'connection', key: '', challenge }
}

type Described = Readonly<Partial<Record<'type' | 'scheme' | 'in' | 'name', string>>>

function readScheme(
  name: string,
  { type, scheme = '', in: place, name: key = '' }: Described,
): SecurityScheme {
  if (type === 'mutualTLS')
    return { name, type: 'other', in: 'connection', key: '', challenge: 'MutualTLS' }
  if (type === 'apiKey') {
    if (place === 'query' || place === 'cookie')
      return { name, type, in: place, key, challenge: 'ApiKey' }
    return { name, type, in: 'header', key: key.toLowerCase(), challenge: 'ApiKey' }
  }
  // OAuth 2.0 and OpenID Connect use bearer tokens (RFC 6750).
  const challenge =
    type === 'http' ? scheme.charAt(0).toUpperCase() + scheme.slice(1).toLowerCase() : 'Bearer'
  const kind = challenge === 'Bearer' ? 'bearer' : 'other'
  return { name, in: 'header', key: 'authorization', type: kind, challenge }
}
