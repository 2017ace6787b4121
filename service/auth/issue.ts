import { writeSync } from 'node:fs'
import type { Store, StoredToken } from '../store/store.ts'
import { digestOf, randomToken } from './token-form.ts'

/** Milliseconds that a token is valid, unless another time is given: 90 days. */
const DEFAULT_LIFETIME = 90 * 86_400_000

/**
 * Creates an access token. It is valid once the store has what is to be stored of it.
 * @param caller who it is for: 1 to 64 letters, digits and `_.@-`
 * @param lifetime milliseconds until it expires; `Infinity` if it never does
 * @param scopes each of visible ASCII characters without `"` and `\\` (RFC 6749, section 3.3)
 */
export function createToken(
  caller: string,
  lifetime = DEFAULT_LIFETIME,
  scopes: readonly string[] = [],
): { token: Buffer; stored: StoredToken } {
  const token = randomToken()
  const digest = digestOf(token)
  const created = new Date()
  const expires = lifetime === Infinity ? {} : { expires: new Date(created.getTime() + lifetime) }
  return { token, stored: { id: digest.toString('hex', 0, 8), caller, created, ...expires, digest, scopes } }
}

/** Prints a command to begin with if the store is empty. On standard error: a log never holds a token. */
export async function printDemoToken(store: Store, origin: string): Promise<void> {
  if (!(await store.isEmpty())) return
  const { token, stored } = createToken('demo')
  await store.addToken(stored)
  const address = origin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  writeSync(2, `\nA token for the caller "demo". Try:\n\n  curl -H 'Authorization: Bearer `)
  writeSync(2, token)
  writeSync(2, `' ${address}/plants\n\n`)
  token.fill(0) // so that no core dump holds it
}
