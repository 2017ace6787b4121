// Counts the items in each collection, and describes the counts.
import { ACCESS_TOKENS } from '@plant-store/engine/for-store'
import type { Database } from './database.ts'

/** Counts the items of each collection, but no more than `entries` returns. */
export async function countItems({
  tables,
}: Pick<Database, 'tables'>): Promise<Readonly<Record<string, number>>> {
  const counts = [...tables].map(async ([name, table]) => {
    const entries = await table.entries()
    return [name, entries.length] as const
  })
  return Object.fromEntries(await Promise.all(counts))
}

/** Describes counts of collections: "2 items and 1 tokens". */
export function describeCounts(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(
    ([name, count]) => `${count} ${name === ACCESS_TOKENS ? 'tokens' : name}`,
  )
  return new Intl.ListFormat('en').format(words)
}
