// Which owners and keys both databases can store, and find again.
import { type Key, MAX_OWNER_BYTES } from '@plant-store/engine/for-store'
import { INT64_MAX, INT64_MIN } from './database.ts'

/** PostgreSQL has no index entries of more than 2704 bytes, and an entry holds the owner, too. */
export const MAX_KEY_BYTES = 1024

/** The empty owner is valid: callers without credentials have it, where the contract allows them. */
export function isOwner(owner: string): boolean {
  return isStorableString(owner, MAX_OWNER_BYTES)
}

export function isKey(key: Key): boolean {
  if (typeof key === 'bigint') return key >= INT64_MIN && key <= INT64_MAX
  return key !== '' && isStorableString(key, MAX_KEY_BYTES)
}

function isStorableString(value: string, maxBytes: number): boolean {
  return Buffer.byteLength(value) <= maxBytes && !value.includes('\0') && value.isWellFormed()
}
