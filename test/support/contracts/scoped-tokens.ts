// Access tokens for tables of requests: their strings are known before there is a store.
import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { accessTokens, type Store } from '@plant-store/engine/for-testing'

export const TOKEN_PREFIX = 'small'

const stored = new Map<string, { readonly caller: string; readonly scopes: readonly string[] }>()

/** An access token of a caller with these scopes. Each store of `boot` has it. */
export function tokenOf(caller: string, ...scopes: string[]): string {
  const digits = hash('sha1', [caller, ...scopes].join(' '))
  const token = `${TOKEN_PREFIX}_${digits}${crc32(digits).toString(16).padStart(8, '0')}`
  stored.set(token, { caller, scopes })
  return token
}

/** Puts all tokens of `tokenOf` into a store. */
export async function addTokens(store: Store): Promise<void> {
  const tokens = accessTokens(store)
  const created = new Date()
  for (const [token, { caller, scopes }] of stored)
    await tokens.add({ digest: hash('sha256', token), caller, created, scopes })
}
