// Reads `security` of a contract: the place of an operation's credentials.
import type { Product } from '@plant-store/engine'
import type { Call } from '../http/call.ts'
import { fields } from '../json/fields.ts'

/** A security scheme. */
export interface Scheme {
  /** Whether it takes tokens of the service. Otherwise only the product can check its credentials. */
  readonly takesTokens: boolean
  /** The header, the query parameter or the cookie of its credentials, and the prefix there. */
  readonly in: unknown
  readonly key: string
  readonly prefix: string
  /** The authentication scheme of its challenge. */
  readonly challenge: string
}

export interface Security {
  /** Whether the operation requires credentials. */
  readonly isGuarded: boolean
  /** The schemes of all alternatives. */
  readonly schemes: readonly Scheme[]
  /** The schemes to send a token by: the first alternative of tokens only; undefined if there is none. */
  readonly credentials: readonly Scheme[] | undefined
}

/** Reads `security` of an operation. @param schemes of the contract, by name */
export function readSecurity(
  security: unknown,
  schemes: unknown,
  guards: Product['guards'] = {},
): Security {
  const read = (name: string): Scheme => {
    const { type, scheme, in: place, name: key } = fields(fields(schemes)[name])
    const isOfProduct = Object.hasOwn(guards, name)
    if (type === 'apiKey')
      return {
        takesTokens: !isOfProduct,
        in: place,
        key: String(key),
        prefix: '',
        challenge: 'ApiKey',
      }
    const kind = type === 'http' ? String(scheme).toLowerCase() : 'bearer'
    const challenge = kind.charAt(0).toUpperCase() + kind.slice(1)
    const header = { in: 'header', key: 'Authorization', prefix: `${challenge} `, challenge }
    if (type === 'mutualTLS') return { ...header, in: 'connection', takesTokens: false }
    return { ...header, takesTokens: kind === 'bearer' && !isOfProduct }
  }
  const alternatives = Object.values(fields(security)).map((schemes) =>
    Object.keys(fields(schemes)).map(read),
  )
  return {
    isGuarded: alternatives.length > 0 && alternatives.every(({ length }) => length > 0),
    schemes: alternatives.flat(),
    credentials: alternatives.find(
      (schemes) => schemes.length > 0 && schemes.every(({ takesTokens }) => takesTokens),
    ),
  }
}

/** A request with its headers as a list of name, value, name, value. */
export type ListedCall = Call & { readonly headers: readonly string[] }

/** Adds credentials to a request, by each of these schemes. */
export function withCredentials(
  { headers = [], ...call }: Call,
  schemes: readonly Scheme[],
  text: string,
): ListedCall {
  const sent = Array.isArray(headers)
    ? [...(headers as string[])]
    : Object.entries(headers).flat().map(String)
  let { path } = call
  for (const { in: place, key, prefix } of schemes) {
    if (place === 'query')
      path += `${path.includes('?') ? '&' : '?'}${encodeURIComponent(key)}=${encodeURIComponent(text)}`
    if (place === 'cookie') sent.push('Cookie', `${key}=${text}`)
    if (place === 'header') sent.push(key, prefix + text)
  }
  return { ...call, path, headers: sent }
}
