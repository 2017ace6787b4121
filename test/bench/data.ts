/** The callers of a benchmark: two only list, one creates, one deletes. */
export const CALLERS = ['small', 'large', 'creator', 'deleter'] as const
export type Caller = (typeof CALLERS)[number]

/** An access token for each caller, and a file with those of many callers, one in each line. */
export type Tokens = Readonly<Record<Caller | 'many', string>>

/** How many plants each caller has at first, and how many callers with 20 plants there are in addition. */
export type Sizes = Readonly<Record<Caller | 'many', number>>

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
export function firstId(caller: Caller | 'many'): number {
  return caller === 'creator' || caller === 'deleter' ? FIRST_WRITTEN : 1
}

/** The names of the callers with 20 plants. */
export function manyCallers({ many }: Sizes): string[] {
  return Array.from({ length: many }, (_, index) => `caller ${index + 1}`)
}

/** The plants to begin with, in batches, by caller and id. */
export function* batchesOf(sizes: Sizes, most: number): Generator<{ owner: string; id: number }[]> {
  const named = CALLERS.map((caller) => ({ owner: caller, first: firstId(caller), count: sizes[caller] }))
  const many = manyCallers(sizes).map((owner) => ({ owner, first: 1, count: 20 }))
  let batch = []
  for (const { owner, first, count } of [...named, ...many]) {
    for (let id = first; id < first + count; id++) {
      if (batch.push({ owner, id }) < most) continue
      yield batch
      batch = []
    }
  }
  yield batch
}
