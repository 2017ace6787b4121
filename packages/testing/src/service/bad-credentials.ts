// Makes requests with wrong credentials.
import type { Product } from '@plant-store/engine'
import type { Operation } from '../contract/contract.ts'
import { withCredentials } from '../contract/credentials.ts'
import type { Call } from '../http/call.ts'
import { revokeTokenOf, type Tokens } from './access-tokens.ts'

/** A service with tokens. */
interface Issuer {
  readonly product: Product
  readonly store: Tokens | undefined
  readonly token: (caller: string, lifetime?: number) => Promise<string>
}

/** Changes the credentials of a request; and the challenge of its answer, if it is known. */
type Refused = readonly [change: (request: Call) => Call, challenge: string | undefined]

/** Changes which take away valid credentials, by kind. */
export async function badCredentials(
  service: Issuer,
  operation: Operation,
): Promise<ReadonlyMap<string, Refused>> {
  const { schemes, credentials = schemes } = operation
  const { none, invalid } = challengesOf(operation, service.product.name)
  const valid = service.store === undefined ? 'valid' : await service.token('valid')
  const texts = await badTexts(service, valid)
  const refused = new Map<string, Refused>([['no credentials', [(call) => call, none]]])
  for (const [name, text] of Object.entries(texts))
    refused.set(name, [sending(credentials, text), invalid])
  if (credentials.every(({ takesTokens }) => takesTokens))
    refused.set('two strings', [sending(credentials, valid, valid), invalid])
  const isBearer = credentials.length === 1 && schemes[0]?.prefix === 'Bearer '
  if (!isBearer) return refused
  for (const [name, values] of Object.entries(badHeaders(valid)))
    refused.set(name, [sendingHeaders(values), invalid])
  return refused
}

/** The challenges for absent and for invalid credentials; undefined if they are not known. */
function challengesOf({ schemes, credentials = schemes }: Operation, realm: string) {
  const [first] = schemes
  if (!first?.takesTokens) return { none: undefined, invalid: undefined }
  const none = `${first.challenge} realm="${realm}"`
  const isFirst = first === credentials[0]
  return { none, invalid: isFirst ? `${none}, error="invalid_token"` : undefined }
}

/** Strings other than a valid token. */
async function badTexts(
  { product, store, token }: Issuer,
  valid: string,
): Promise<Record<string, string>> {
  const unknown = {
    'an empty string': '',
    'a malformed token': 'constructor',
    'a token of capital letters': valid.toUpperCase(),
    'a token cut short': valid.slice(0, -1),
    'an unknown token': `${product.tokenPrefix}_${'0'.repeat(40)}1d0bfd5b`,
  }
  if (store === undefined) return unknown
  const expired = await token('expired', -1)
  const revoked = await token('revoked')
  await revokeTokenOf(store, 'revoked')
  return { ...unknown, 'an expired token': expired, 'a revoked token': revoked }
}

/** Values of `Authorization` headers without valid credentials. */
function badHeaders(valid: string): Record<string, string[]> {
  return {
    'an empty header': [''],
    'another scheme': ['Other YTpi'], // a product may have Basic
    'only the scheme': ['Bearer'],
    'only a token': [valid],
    'the scheme run into the token': [`Bearer${valid}`],
    'a tab for the space': [`Bearer\t${valid}`],
    'a token and more': [`Bearer ${valid}, Bearer ${valid}`],
    'an empty header and a valid one': ['', `Bearer ${valid}`],
  }
}

/** Sends each string as credentials. */
function sending(credentials: Operation['schemes'], ...texts: string[]): (call: Call) => Call {
  return (call) =>
    texts.reduce<Call>((changed, text) => withCredentials(changed, credentials, text), call)
}

function sendingHeaders(values: readonly string[]): (call: Call) => Call {
  const sent = values.flatMap((value) => ['Authorization', value])
  return (call) => {
    const own = Object.values(call.headers ?? []).map(String)
    return { ...call, headers: [...own, ...sent] }
  }
}
