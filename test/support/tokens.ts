import { createToken } from '../../service/engine/auth/access-tokens.ts'
import type { Store } from '../../service/engine/store/store.ts'
import type { Product } from '../../service/engine/index.ts'
import type { Service } from './helper.ts'
import { product as own } from './product/product.ts'
import { openTestStore } from './stores.ts'

/** The beginning of the tokens. */
export const PREFIX = own.tokenPrefix

/** Headers as a list of name, value, name, value; and the challenge that answers them. */
type Refused = readonly [headers: readonly string[], challenge: string]

type TokenOptions = Parameters<typeof createToken> extends [unknown, ...infer Options] ? Options : never

/** Issues an access token of the tests' product. @param options the parameters of `createToken` after the prefix */
export function issueToken(store: Store, ...options: TokenOptions): Promise<string> {
  return issueTokenOf(own, store, ...options)
}

/** Issues an access token of the tests' product in a database that no store has open, or that several may have. */
export async function issueTokenIn(database: Parameters<typeof openTestStore>[0], caller = 'joe'): Promise<string> {
  const store = await openTestStore(database)
  return issueToken(store, caller).finally(() => store.close())
}

/** Issues an access token of a product. */
export async function issueTokenOf({ tokenPrefix }: Product, store: Store, ...options: TokenOptions): Promise<string> {
  const { token, stored } = createToken(tokenPrefix, ...options)
  await store.addToken(stored)
  return token
}

/** Requests without a valid access token, by kind: their headers, and the expected challenge. */
export async function badCredentials({ product, store, token }: Service): Promise<ReadonlyMap<string, Refused>> {
  const none = `Bearer realm="${product.name}"`
  const invalid = `${none}, error="invalid_token"`
  const valid = await token('valid')
  const expired = await token('expired', -1)
  const revoked = await token('revoked')
  const found = (await store.listTokens()).find(({ caller }) => caller === 'revoked')
  await store.deleteToken(found?.id ?? '')
  const values = {
    'an empty header': '',
    'another scheme': 'Other YTpi', // a product may have Basic
    'only the scheme': 'Bearer',
    'the scheme and a space': 'Bearer ',
    'only a token': valid,
    'the scheme run into the token': `Bearer${valid}`,
    'a tab for the space': `Bearer\t${valid}`,
    'a malformed token': 'Bearer constructor',
    'a token of capital letters': `Bearer ${valid.toUpperCase()}`,
    'a token cut short': `Bearer ${valid.slice(0, -1)}`,
    'a token and more': `Bearer ${valid}, Bearer ${valid}`,
    'an unknown token': `Bearer ${product.tokenPrefix}_${'0'.repeat(40)}1d0bfd5b`,
    'an expired token': `Bearer ${expired}`,
    'a revoked token': `Bearer ${revoked}`,
  }
  const two = {
    'two headers': ['Authorization', `Bearer ${valid}`, 'authorization', `Bearer ${valid}`],
    'an empty header and a valid one': ['Authorization', '', 'Authorization', `Bearer ${valid}`],
  }
  const one = Object.entries(values).map(([name, value]): [string, string[]] => [name, ['Authorization', value]])
  const all = [...one, ...Object.entries(two)].map(
    ([name, headers]) => [name, [headers, invalid] satisfies Refused] as const,
  )
  return new Map<string, Refused>([['no credentials', [[], none]], ...all])
}
