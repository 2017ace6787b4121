// Splits the rows of an order into searches: SQLite finds the rows of each in an index at once.
import type { SQLInputValue } from 'node:sqlite'
import type { IndexValue } from '@plant-store/engine/for-store'
import type { Order, Position } from '../core/database.ts'

/** A condition for the property at a place of an index. The place after the last one is the key. */
export interface Condition {
  readonly place: number
  readonly operator: '=' | '>' | '>=' | '<'
  readonly value: SQLInputValue
}

/** Values of the first properties, and then at most two bounds of the next one. */
export type Search = readonly Condition[]

/**
 * The searches for the rows after a position, in their order. After (a, b, key) there are the rows
 * with a, b and a greater key, then those with a and a greater b, then those with a greater a.
 * SQLite searches for all of them at once only by columns, not by expressions.
 */
export function searchesOf(order: Order, after: Position | undefined): Search[] {
  const { equals, from, to, isDescending } = order
  if (after === undefined) {
    const place = equals.length
    return [[...equalTo(equals), ...bound(place, '>=', from), ...bound(place, '<', to)]]
  }
  const values = [...after.values, after.key]
  const searches = values.map((value, place) => {
    const end: Pick<Order, 'from' | 'to'> = place === equals.length ? { from, to } : {}
    const bounds = isDescending
      ? [...bound(place, '>=', end.from), ...bound(place, '<', value)]
      : [...bound(place, '>', value), ...bound(place, '<', end.to)]
    return [...equalTo(values.slice(0, place)), ...bounds]
  })
  return searches.slice(equals.length).reverse()
}

/** A value as a parameter of a statement, where a boolean is 1 or 0. */
export function toInput(value: IndexValue): SQLInputValue {
  return typeof value === 'boolean' ? Number(value) : value
}

function equalTo(values: readonly IndexValue[]): Condition[] {
  return values.flatMap((value, place) => bound(place, '=', value))
}

function bound(
  place: number,
  operator: Condition['operator'],
  value: IndexValue | undefined,
): Condition[] {
  return value === undefined ? [] : [{ place, operator, value: toInput(value) }]
}
