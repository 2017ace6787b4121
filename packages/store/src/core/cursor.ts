// A cursor: the last position before a page, in base64url (RFC 4648, section 5).
import { hash } from 'node:crypto'
import {
  HttpError,
  type IndexType,
  type IndexValue,
  type Key,
  type KeyType,
} from '@plant-store/engine/for-store'
import { type Order, type Position, positionOf } from './database.ts'
import { isKey } from './keys.ts'
import { canBeStored, isOfType } from './order.ts'

/**
 * The first byte of a cursor of another order than by ascending key. No UTF-8 begins so, and the
 * cursor of an int64 is shorter.
 */
const OTHER_ORDER = Buffer.of(0xff)
/** In bytes: enough to tell the orders of a client apart. */
const DIGEST_LENGTH = 8

/**
 * Writes a position of an order.
 * @returns by ascending key, 8 bytes of an int64, or UTF-8. Otherwise a digest of the order, the
 * values that it leaves open, and the key. In base64url
 */
export function toCursor(order: Order, position: Position): string {
  return bytesOf(order, position).toString('base64url')
}

function bytesOf(order: Order, { values, key }: Position): Buffer {
  if (isAscendingByKey(order)) return bytesOfKey(key)
  const open = [...values.slice(order.equals.length), key]
  return Buffer.concat([OTHER_ORDER, digestOf(order), Buffer.from(toJson(open))])
}

function isAscendingByKey({ index, isDescending }: Order): boolean {
  return index === undefined && !isDescending
}

function bytesOfKey(key: Key): Buffer {
  const bytes = typeof key === 'string' ? Buffer.from(key) : Buffer.allocUnsafe(8) // from a pool, which is faster than new memory
  if (typeof key === 'bigint') bytes.writeBigInt64BE(key)
  return bytes
}

function digestOf({ index, equals, from, to, isDescending }: Order): Buffer {
  const bounds = [equals, from ?? null, to ?? null]
  const parts = [index?.name ?? null, index?.properties ?? [], bounds, isDescending]
  return hash('sha256', toJson(parts), 'buffer').subarray(0, DIGEST_LENGTH)
}

function toJson(values: readonly unknown[]): string {
  return JSON.stringify(values, (_name, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  )
}

/**
 * Reads a position of an order. @throws {HttpError} 400 for a string never written by {@link
 * toCursor} for this order
 */
export function fromCursor(type: KeyType, order: Order, cursor: string): Position {
  const bytes = Buffer.from(cursor, 'base64url')
  const position = isAscendingByKey(order)
    ? positionOf(readKey(type, bytes))
    : readPosition(type, order, bytes)
  // base64url has several spellings of the same bytes. `toCursor` writes only one of them.
  if (position === undefined || !isKey(position.key) || toCursor(order, position) !== cursor)
    throw new HttpError(
      400,
      `The cursor is not from a page of this ${order.index === undefined ? 'collection' : 'index'}`,
    )
  return position
}

function readKey(type: KeyType, bytes: Buffer): Key {
  if (type === 'text') return bytes.toString()
  return bytes.length === 8 ? bytes.readBigInt64BE() : ''
}

/** @returns undefined for bytes without such a position */
function readPosition(type: KeyType, order: Order, bytes: Buffer): Position | undefined {
  const { index, equals } = order
  const properties = index?.properties.slice(equals.length) ?? []
  const keyType: IndexType = type === 'text' ? 'string' : type
  const types = [...properties.map((property) => property.type), keyType]
  const written = parseList(bytes.subarray(OTHER_ORDER.length + DIGEST_LENGTH))
  if (written.length !== types.length) return undefined
  const read = types.flatMap((type, at) => readValue(type, written[at]) ?? [])
  const key = read.pop()
  const isWhole = read.length === properties.length
  if (!isWhole || (typeof key !== 'string' && typeof key !== 'bigint')) return undefined
  return { values: [...equals, ...read], key }
}

/** @returns undefined for another string than one of a value */
function readValue(type: IndexType, written: unknown): IndexValue | undefined {
  const isInteger = type === 'int64' && typeof written === 'string' && /^-?\d+$/.test(written)
  const value = isInteger ? BigInt(written) : written
  return isOfType(type, value) && canBeStored(value) ? value : undefined
}

function parseList(bytes: Buffer): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(bytes.toString())
    return Array.isArray(list) ? list : []
  } catch {
    return []
  }
}
