// Prints errors and warnings as lines.
import { visible } from '@plant-store/engine/for-compiler'
import { differenceOf, identityOf, kindOf, sentenceOf } from '../sentences/sentences.ts'
import { type Diagnostic, unionOf } from './diagnostics.ts'

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
export function toLine({ at: { file, line, pointer }, finding }: Diagnostic): string {
  return visible(`${file}${pointer ?? `:${line}`}: ${sentenceOf(finding)}`)
}

/** Warnings as lines. Those of one kind are one line: the sentence of the first, their count, and further names. */
export function toWarningLines(warnings: readonly Diagnostic[]): string[] {
  const kinds = Map.groupBy(warnings, ({ finding }) => kindOf(finding))
  return [...kinds.values()].flatMap((kind) => {
    const [first, ...others] = kind
    return first === undefined ? [] : [`warning: ${toLine(first)}${timesOf(first, others)}`]
  })
}

/** The count of warnings; and the values of the others, or if these are equal, the operations. */
function timesOf(first: Diagnostic, others: readonly Diagnostic[]): string {
  const count = others.reduce((sum, warning) => sum + warning.count, first.count)
  if (count === 1) return ''
  const values = others.map(({ finding }) => differenceOf(finding, first.finding))
  const different = [...new Set(values.filter((value) => value !== ''))]
  if (different.length > 0) return visible(` (${count} times, also ${listOf(different, 2)})`)
  const operations = unionOf([first, ...others].map((warning) => warning.operations)) ?? []
  const names = operations.length === 0 ? '' : `: ${listOf(operations, 3)}`
  return visible(` (${count} times${names})`)
}

/** The first names, with a mark if there are more. */
function listOf(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown}, …` : shown
}
