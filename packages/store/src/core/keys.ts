// Tells which owners and keys both databases can store, and find again.
import { type Key, MAX_OWNER_BYTES } from '@plant-store/engine/for-store'
import { INT64_MAX, INT64_MIN } from './database.ts'

/** In UTF-8. PostgreSQL limits an index entry, of owner and key together, to 2704 bytes. */
const MAX_KEY_BYTES = 1024

/**
 * The empty owner is valid: it stands for callers without credentials, where the contract allows
 * them.
 */
export function isOwner(owner: string): boolean {
  return isStorableString(owner, MAX_OWNER_BYTES)
}

export const KEY_BOUND = `A key has 1 to ${MAX_KEY_BYTES} bytes, and no NUL`
export const OWNER_BOUND = `An owner has at most ${MAX_OWNER_BYTES} bytes, and no NUL`

/**
 * Whether an item can be stored under an owner and a key. Under any other, there is no item to
 * find.
 */
export function canExist(owner: string, key: Key): boolean {
  return isOwner(owner) && isKey(key)
}

export function isKey(key: Key): boolean {
  if (typeof key === 'bigint') return key >= INT64_MIN && key <= INT64_MAX
  return key !== '' && isStorableString(key, MAX_KEY_BYTES)
}

function isStorableString(value: string, maxBytes: number): boolean {
  return Buffer.byteLength(value) <= maxBytes && !value.includes('\0') && value.isWellFormed()
}
