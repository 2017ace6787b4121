import { ACCESS_TOKENS } from '@plant-store/engine/for-store'

/** Describes the counts of collections in words: "2 items and 1 tokens". */
export function describeCounts(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(
    ([name, count]) => `${count} ${name === ACCESS_TOKENS ? 'tokens' : name}`,
  )
  return new Intl.ListFormat('en').format(words)
}
