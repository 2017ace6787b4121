// Tells which security schemes the service can check: by its tokens, or by a guard of the product.
// The compiler asks with the hooks of the developer's product, a start with those of the served
// product.
import type { Requirement, SecurityScheme } from './compiled.ts'
import type { ProductHooks, TokenType } from './product-hooks.ts'

/** The alternatives in the `security` of an operation: a request must satisfy one of them. */
export type Alternatives = readonly (readonly Requirement[])[]

const TOKEN_TYPES: readonly TokenType[] = ['bearer', 'apiKey']

/** Whether the service itself checks the tokens of a scheme. */
export function takesTokens({ name, type }: SecurityScheme, product: ProductHooks): boolean {
  const { guards = {}, tokenTypes = TOKEN_TYPES } = product
  return tokenTypes.some((taken) => taken === type) && !Object.hasOwn(guards, name)
}

/** What to add to a product for an unguarded scheme. */
export function lackedFor({ type }: SecurityScheme): string {
  if (type === 'other') return 'a guard'
  const source = type === 'bearer' ? 'a store or JWT_ISSUER' : 'a store'
  return `a guard in product.ts, or ${source}`
}

export function isGuarded(scheme: SecurityScheme, product: ProductHooks): boolean {
  return takesTokens(scheme, product) || Object.hasOwn(product.guards ?? {}, scheme.name)
}

/**
 * The alternatives whose credentials the service can check. If there are none, all: an operation
 * must not become open.
 */
export function supportedAlternatives(
  alternatives: Alternatives,
  product: ProductHooks,
): Alternatives {
  const served = alternatives.filter((schemes) =>
    schemes.every(({ scheme }) => isGuarded(scheme, product)),
  )
  return served.length > 0 ? served : alternatives
}
