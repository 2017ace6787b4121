// Turns values into parameters of statements.
import type { Key } from '@plant-store/engine/for-store'
import type { Cells } from './pipeline.ts'

export function toCells(values: readonly (Key | number | boolean | null | undefined)[]): Cells {
  return values.map((value) => (value === undefined || value === null ? null : String(value)))
}

/** Tells items apart. NUL separates the values, because no string in PostgreSQL can contain it. */
export function idOf({ owner, key }: { owner?: unknown; key?: unknown }): string {
  return `${String(owner)}\0${String(key)}`
}

/** Milliseconds until the first deadline in a batch. */
export function timeLeft(batch: readonly { readonly deadline: number }[]): number {
  return Math.min(...batch.map(({ deadline }) => deadline)) - performance.now()
}
