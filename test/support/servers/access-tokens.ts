// Issues access tokens of the tests' product.
import {
  issueTokenOf,
  type TokenOptions,
  type Tokens,
} from '../../../packages/testing/src/service/access-tokens.ts'
import { product as own } from '../product/product.ts'
import { openTestStore } from '../stores/open-store.ts'

export {
  issueTokenOf,
  revokeTokenOf,
  tokenIdOf,
} from '../../../packages/testing/src/service/access-tokens.ts'

/** The beginning of the tokens. */
export const PREFIX = own.tokenPrefix

/** Issues an access token of the tests' product. @param options the parameters of `createToken` after the prefix */
export function issueToken(store: Tokens, ...options: TokenOptions): Promise<string> {
  return issueTokenOf(own, store, ...options)
}

/** Issues an access token of the tests' product in a database. On SQLite no store may have it open. */
export async function issueTokenIn(
  database: Parameters<typeof openTestStore>[0],
  caller = 'joe',
): Promise<string> {
  const store = await openTestStore(database)
  return issueToken(store, caller).finally(() => store.close())
}
