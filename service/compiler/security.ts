// Compiles the security of an operation, and says which guards the product must have for it.
import type { Requirement, SecurityScheme } from '../engine/contract/compiled.ts'
import { checkable, isGuarded, lackedFor } from '../engine/contract/security.ts'
import { deref } from './references.ts'
import type { Context } from './schemas.ts'

type Alternative = Readonly<Record<string, string[]>>

/** What a header can hold as a scope (RFC 6749, section 3.3; RFC 6750, section 3). */
const SCOPE = /^[!#-[\]-~]+$/

const SCOPE_ADVICE = 'write visible ASCII characters without " and \\'

/** Reads the alternatives. The product must have guards for one of them. */
export function readSecurity(
  context: Context,
  alternatives: readonly Alternative[],
): Requirement[][] {
  const { root, product } = context
  const { refuse, note } = context.findings
  const schemes = root.components?.securitySchemes ?? {}
  const all = alternatives.map((each) =>
    Object.entries(each).map(([name, scopes]) => {
      const node = schemes[name]
      if (node === undefined)
        refuse(each, `the security scheme ${name} is not in components/securitySchemes`, name)
      for (const [index, scope] of scopes.entries()) {
        const text = `no header can hold the scope ${JSON.stringify(scope)}: ${SCOPE_ADVICE}`
        if (!SCOPE.test(scope)) refuse(each, text, name, String(index))
      }
      // An unknown scheme stays a requirement that nobody satisfies. Without it, the operation could be open.
      return { scheme: readScheme(name, deref(node ?? { type: 'mutualTLS' })), scopes }
    }),
  )
  const isServed = ({ scheme }: Requirement) => isGuarded(scheme, product ?? {})
  const isEachServed = checkable(all, product ?? {}).every((each) => each.every(isServed))
  for (const { scheme } of all.flat().filter((each) => !isServed(each))) {
    const node = schemes[scheme.name]
    if (node === undefined) continue
    const guard = `guards: { '${scheme.name}': (request) => ... }`
    const text = `the security scheme ${scheme.name}`
    if (product === undefined) note(node, `${text} is served with a guard of the product: ${guard}`)
    else if (isEachServed) note(node, `${text} is left out: the product has no ${guard}`)
    else refuse(node, `${text} needs ${lackedFor(scheme)}: write ${guard} in the product`)
  }
  return all
}

type Described = Readonly<Partial<Record<'type' | 'scheme' | 'in' | 'name', string>>>

/** Reads the member `name` of `securitySchemes`. */
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
  // OAuth 2.0 and OpenID Connect have bearer tokens (RFC 6750).
  const challenge =
    type === 'http' ? scheme.charAt(0).toUpperCase() + scheme.slice(1).toLowerCase() : 'Bearer'
  const kind = challenge === 'Bearer' ? 'bearer' : 'other'
  return { name, in: 'header', key: 'authorization', type: kind, challenge }
}
