/** The callers of a benchmark: two only list, one creates, one deletes. */
export type Caller = 'small' | 'large' | 'creator' | 'deleter'

/** An access token for each caller. */
export type Tokens = Readonly<Record<Caller, string>>

/** How many plants each caller has at first. */
export type Sizes = Readonly<Record<Caller, number>>

/** The id before the first one that is created or deleted: from there on all have ten digits. */
const FIRST_WRITTEN = 1_000_000_000

/** The plant that every server has of an id. All take as many bytes in a list. */
export function plantOf(id: number): { name: string; tag: string } {
  return { name: `Plant ${String(id).padStart(10, '0')}`, tag: 'indoor' }
}

/** The first plants of a caller who has as many, as JSON. */
export function listOf(count: number): string {
  return JSON.stringify(Array.from({ length: count }, (_, index) => plantOf(index + 1)))
}

/** The first id that a caller has, or creates. */
export function firstId(caller: Caller): number {
  return caller === 'small' || caller === 'large' ? 1 : FIRST_WRITTEN
}

/** The plants to begin with, in batches: the ids of a caller, in ascending order. */
export function* batchesOf(sizes: Sizes, most: number): Generator<{ caller: Caller; ids: number[] }> {
  for (const caller of ['small', 'large', 'creator', 'deleter'] as const) {
    const first = firstId(caller)
    const end = first + sizes[caller]
    for (let from = first; from < end; from += most) {
      yield { caller, ids: Array.from({ length: Math.min(most, end - from) }, (_, index) => from + index) }
    }
  }
}
