// A cursor: the last key before a page, in base64url (RFC 4648, section 5).
import { HttpError, type Key, type KeyType } from '@plant-store/engine/for-store'
import { isKey } from './keys.ts'

/** @returns 8 bytes of an int64, or UTF-8, in base64url */
export function toCursor(key: Key): string {
  const bytes = typeof key === 'string' ? Buffer.from(key) : Buffer.allocUnsafe(8) // from a pool, which is faster than new memory
  if (typeof key === 'bigint') bytes.writeBigInt64BE(key)
  return bytes.toString('base64url')
}

/** @throws {HttpError} 400 for a string never written by {@link toCursor} */
export function fromCursor(type: KeyType, cursor: string): Key {
  const bytes = Buffer.from(cursor, 'base64url')
  const isLong = bytes.length === 8
  const number = isLong ? bytes.readBigInt64BE() : ''
  const key = type === 'text' ? bytes.toString() : number
  // base64url has several spellings of the same bytes. `toCursor` writes only one of them.
  if (!isKey(key) || toCursor(key) !== cursor)
    throw new HttpError(400, 'The cursor is not from a page of this collection')
  return key
}
