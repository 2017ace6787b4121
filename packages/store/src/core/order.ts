// Reads the range of a call: all items by key, or a range of an index. And checks values of indexes.
import {
  HttpError,
  type IndexedProperty,
  type IndexType,
  type IndexValue,
  type StoredIndex,
} from '@plant-store/engine/for-store'
import { BY_KEY, INT64_MAX, INT64_MIN, type Order } from './database.ts'

/** A range as a call has it: its types are up to the collection. */
export interface AskedRange {
  readonly index?: unknown
  readonly equals?: unknown
  readonly from?: unknown
  readonly to?: unknown
  readonly descending?: unknown
}

/** The type of a value in JavaScript, by the type of its property. */
const TYPES: Readonly<Record<IndexType, string>> = {
  string: 'string',
  int64: 'bigint',
  number: 'number',
  boolean: 'boolean',
}

/**
 * The order of a range.
 * @throws {HttpError} 400 for a value that no item can have
 * @throws {Error} for an index that is not there, and for values of other types, or too many
 */
export function toOrder(indexes: readonly StoredIndex[], asked: AskedRange): Order {
  const isDescending = asked.descending === true
  if (asked.index === undefined) {
    const hasBounds = [asked.equals, asked.from, asked.to].some((value) => value !== undefined)
    if (hasBounds) throw new Error('equals, from and to are of an index: name it')
    return isDescending ? { ...BY_KEY, isDescending } : BY_KEY
  }
  const index = findIndex(indexes, asked.index)
  const equals = valuesOf(index, asked.equals)
  const next = index.properties[equals.length]
  const from = boundOf(index, next, asked.from)
  const to = boundOf(index, next, asked.to)
  return { index, equals, from, to, isDescending }
}

/**
 * A unique index, and values for all its properties.
 * @throws {HttpError} 400 for a value that no item can have
 * @throws {Error} for other indexes, and for values of other types or number
 */
export function toUnique(indexes: readonly StoredIndex[], asked: AskedRange) {
  const index = findIndex(indexes, asked.index)
  const values = valuesOf(index, asked.equals)
  if (!index.isUnique)
    throw new Error(`the index ${index.name} is not unique: list finds its items`)
  if (values.length < index.properties.length)
    throw new Error(`find needs all ${index.properties.length} values of the index ${index.name}`)
  return { index, values }
}

function findIndex(indexes: readonly StoredIndex[], name: unknown): StoredIndex {
  const index = indexes.find((index) => index.name === name)
  if (index === undefined) throw new Error(`the store was opened without the index ${String(name)}`)
  return index
}

function valuesOf(index: StoredIndex, equals: unknown = []): IndexValue[] {
  if (!Array.isArray(equals)) throw new Error('equals is a list of values')
  return equals.map((value: unknown, at) => valueOf(index, index.properties[at], value))
}

function boundOf(index: StoredIndex, property: IndexedProperty | undefined, value: unknown) {
  return value === undefined ? undefined : valueOf(index, property, value)
}

function valueOf(
  index: StoredIndex,
  property: IndexedProperty | undefined,
  value: unknown,
): IndexValue {
  const { length } = index.properties
  if (property === undefined)
    throw new Error(`the index ${index.name} has ${length} values, and no further one`)
  const { type } = property
  const name = property.path.join('.')
  if (!isOfType(type, value))
    throw new Error(`${name} of the index ${index.name} is a ${TYPES[type]}, not a ${typeof value}`)
  if (!canBeStored(value)) throw new HttpError(400, `No item has such a ${name}`)
  return Object.is(value, -0) ? 0 : value // a database may tell them apart
}

export function isOfType(type: IndexType, value: unknown): value is IndexValue {
  return typeof value === TYPES[type]
}

/** Whether a value of an index can be stored, and so be a parameter of a statement. */
export function canBeStored(value: IndexValue): boolean {
  if (typeof value === 'string') return !value.includes('\0') && value.isWellFormed()
  if (typeof value === 'bigint') return value >= INT64_MIN && value <= INT64_MAX
  return typeof value === 'boolean' || Number.isFinite(value)
}
