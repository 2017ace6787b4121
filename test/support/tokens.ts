import { accessTokens, createToken, idOf } from '../../packages/engine/src/auth/access-tokens.ts'
import type { Store } from '../../packages/engine/src/store.ts'
import type { Product } from '@plant-store/engine'
import type { Operation } from '../../packages/testing/src/contract/contract.ts'
import { withCredentials } from '../../packages/testing/src/contract/credentials.ts'
import type { Call } from '../../packages/testing/src/http/call.ts'
import type { Service } from './helper.ts'
import { product as own } from './product/product.ts'
import { openTestStore } from './stores.ts'

/** The beginning of the tokens. */
export const PREFIX = own.tokenPrefix

/** Changes a request that has its headers in a list; and the challenge that answers it, if it is known. */
type Refused = readonly [change: (request: Call) => Call, challenge: string | undefined]

/** A store with access tokens. */
type Tokens = Pick<Store, 'collection' | 'dataVersion'>

type TokenOptions =
  Parameters<typeof createToken> extends [unknown, ...infer Options] ? Options : never

/** Issues an access token of the tests' product. @param options the parameters of `createToken` after the prefix */
export function issueToken(store: Tokens, ...options: TokenOptions): Promise<string> {
  return issueTokenOf(own, store, ...options)
}

/** Issues an access token of the tests' product in a database that no store has open, or that several may have. */
export async function issueTokenIn(
  database: Parameters<typeof openTestStore>[0],
  caller = 'joe',
): Promise<string> {
  const store = await openTestStore(database)
  return issueToken(store, caller).finally(() => store.close())
}

/** Revokes an access token of a caller. @returns whether there was one */
export async function revokeTokenOf(store: Tokens, of: string): Promise<boolean> {
  return accessTokens(store).remove(await tokenIdOf(store, of))
}

/** The id of a caller's access token; '' if there is none. */
export async function tokenIdOf(store: Tokens, of: string): Promise<string> {
  const issued = (await accessTokens(store).list()).find(({ caller }) => caller === of)
  return issued === undefined ? '' : idOf(issued)
}

/** Issues an access token of a product. */
export async function issueTokenOf(
  { tokenPrefix }: Product,
  store: Tokens,
  ...options: TokenOptions
): Promise<string> {
  const { token, stored } = createToken(tokenPrefix, ...options)
  await accessTokens(store).add(stored)
  return token
}

/** Changes of a request that take its valid credentials away, by kind, each with the challenge that answers it if one is known. */
export async function badCredentials(
  service: Service,
  operation: Operation,
): Promise<ReadonlyMap<string, Refused>> {
  const { schemes, credentials = schemes } = operation
  const { none, invalid } = challengesOf(operation, service.product.name)
  const valid = await service.token('valid')
  const texts = await badTexts(service, valid)
  const refused = new Map<string, Refused>([['no credentials', [(call) => call, none]]])
  for (const [name, text] of Object.entries(texts))
    refused.set(name, [sending(credentials, text), invalid])
  if (credentials.every(({ takesTokens }) => takesTokens))
    refused.set('two texts', [sending(credentials, valid, valid), invalid])
  const isBearer = credentials.length === 1 && schemes[0]?.prefix === 'Bearer '
  if (!isBearer) return refused
  for (const [name, values] of Object.entries(badHeaders(valid)))
    refused.set(name, [sendingHeaders(values), invalid])
  return refused
}

/** The challenges that answer no credentials, and invalid ones; undefined if they are not known. */
function challengesOf({ schemes, credentials = schemes }: Operation, realm: string) {
  const [first] = schemes
  if (!first?.takesTokens) return { none: undefined, invalid: undefined }
  const none = `${first.challenge} realm="${realm}"`
  const isFirst = first === credentials[0]
  return { none, invalid: isFirst ? `${none}, error="invalid_token"` : undefined }
}

/** Texts that are no valid token. */
async function badTexts(
  { product, store, token }: Service,
  valid: string,
): Promise<Record<string, string>> {
  const expired = await token('expired', -1)
  const revoked = await token('revoked')
  await revokeTokenOf(store, 'revoked')
  return {
    'an empty text': '',
    'a malformed token': 'constructor',
    'a token of capital letters': valid.toUpperCase(),
    'a token cut short': valid.slice(0, -1),
    'an unknown token': `${product.tokenPrefix}_${'0'.repeat(40)}1d0bfd5b`,
    'an expired token': expired,
    'a revoked token': revoked,
  }
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

/** Sends each text as credentials. */
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
