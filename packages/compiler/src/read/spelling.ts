// Tells whether a name was perhaps meant by another one: one or two letters differ.

/** The most letters to change, to add or to leave out. */
const MAX_LETTERS = 2

/** Whether one string becomes the other by at most two changed, added or missing letters (Levenshtein's distance). */
export function isNear(left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > MAX_LETTERS) return false
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [index, letter] of Array.from(left).entries())
    row = nextRow(row, index + 1, letter, right)
  return (row.at(-1) ?? 0) <= MAX_LETTERS
}

/** The distances of one more letter to all beginnings of a string. */
function nextRow(row: readonly number[], first: number, letter: string, right: string): number[] {
  const next = [first]
  for (const [index, candidate] of Array.from(right).entries()) {
    const changed = (row[index] ?? 0) + (candidate === letter ? 0 : 1)
    const added = (row[index + 1] ?? 0) + 1
    const missing = (next[index] ?? 0) + 1
    next.push(Math.min(changed, added, missing))
  }
  return next
}
