/** Describes counts in words: "2 items and 1 tokens". */
export function describeCounts(counts: Readonly<Record<string, number>>): string {
  const words = Object.entries(counts).map(([name, count]) => `${count} ${name}`)
  return new Intl.ListFormat('en').format(words)
}
