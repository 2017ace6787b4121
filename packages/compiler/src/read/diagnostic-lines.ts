// Prints errors and warnings as lines.
import { visible } from '@plant-store/engine/for-compiler'
import { identityOf, sentenceOf } from '../sentences/sentences.ts'
import type { Diagnostic } from './diagnostics.ts'

/** The most lines for equal diagnostics. */
const MAX_PLACES = 3

/** Diagnostics as lines. Of many equal ones, only the first have lines, and one more line has the count of the rest. */
export function toLines(diagnostics: readonly Diagnostic[]): string[] {
  const groups = Map.groupBy(diagnostics, ({ finding }) => identityOf(finding))
  const shown = new Set(groups.values().flatMap((equal) => equal.slice(0, MAX_PLACES)))
  const lines = diagnostics.filter((diagnostic) => shown.has(diagnostic)).map(toLine)
  const further = [...groups.values()].flatMap(([first, ...others]) => {
    const count = others.length + 1 - MAX_PLACES
    return first !== undefined && count > 0
      ? [`and ${count} more: ${sentenceOf(first.finding)}`]
      : []
  })
  return [...lines, ...further.map(visible)]
}

/** A diagnostic as one line. Strings of the document can't begin another line. */
export function toLine({ at: { file, line, pointer }, finding, count }: Diagnostic): string {
  const times = count > 1 ? ` (${count} times)` : ''
  return visible(`${file}${pointer ?? `:${line}`}: ${sentenceOf(finding)}${times}`)
}
