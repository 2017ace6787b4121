// Issues and revokes access tokens of a product, as `npm run token` does.
import type { Product } from '@plant-store/engine'
import { accessTokens, createToken, idOf, type Store } from '@plant-store/engine/for-testing'

/** A store with access tokens. */
export type Tokens = Pick<Store, 'collection' | 'dataVersion'>

/** The parameters of `createToken` after the prefix. */
export type TokenOptions =
  Parameters<typeof createToken> extends [unknown, ...infer Options] ? Options : never

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

/** Revokes an access token of a caller. @returns whether there was one */
export async function revokeTokenOf(store: Tokens, of: string): Promise<boolean> {
  return accessTokens(store).remove(await tokenIdOf(store, of))
}

/** The id of a caller's access token; '' if there is none. */
export async function tokenIdOf(store: Tokens, of: string): Promise<string> {
  const issued = (await accessTokens(store).list()).find(({ caller }) => caller === of)
  return issued === undefined ? '' : idOf(issued)
}
