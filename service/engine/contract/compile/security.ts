// Compiles the security of an operation, and says which guards the product must have for it.
import type { Requirement } from '../compiled.ts'
import { isGuarded, readSecurityScheme } from '../security.ts'
import { deref } from './references.ts'
import type { Context } from './schemas.ts'

const SCHEME = 'write names of HTTP, and an apiKey in a header, a query or a cookie'

type Described = Readonly<Record<string, string[]>>

/** Reads the alternatives. The product must have guards for one of them. */
export function readSecurity(
  { root, findings: { refuse, note }, product }: Context,
  described: readonly Described[],
): Requirement[][] {
  const all = described.map((schemes) =>
    Object.entries(schemes).flatMap(([name, scopes]) => {
      const node = root.components?.securitySchemes?.[name]
      const scheme = node && readSecurityScheme(name, deref(node))
      if (node === undefined) refuse(schemes, `the security scheme ${name} is not in components/securitySchemes`, name)
      else if (scheme === undefined) refuse(node, `the security scheme ${name} is not served: ${SCHEME}`)
      return node && scheme ? [{ node, scheme, scopes, isServed: isGuarded(scheme, product ?? {}) }] : []
    }),
  )
  const isLeft = all.some((each) => each.every(({ isServed }) => isServed))
  for (const { node, scheme, isServed } of all.flat()) {
    const guard = `guards: { '${scheme.name}': (request) => ... }`
    const text = `the security scheme ${scheme.name}`
    if (isServed) continue
    if (product === undefined) note(node, `${text} is served with a guard of the product: ${guard}`)
    else if (isLeft) note(node, `${text} is left out: the product has no ${guard}`)
    else refuse(node, `${text} needs a guard: write ${guard} in the product`)
  }
  return all.map((each) => each.map(({ scheme, scopes }) => ({ scheme, scopes })))
}
