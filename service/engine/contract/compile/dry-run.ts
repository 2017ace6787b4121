// `npm run generate -- --dry-run FILE`: how each operation of a document would be served.
import { inspect } from './compile.ts'
import { toLine, type Finding } from './findings.ts'

/** Says how each operation of a document would be served. @returns lines: the operations, notes, faults, and how many are served */
export async function dryRun(file: string): Promise<string> {
  const { names: operations, faults, notes } = await inspect(file)
  const concerns = (operation: string) => (finding: Finding) => finding.operations?.includes(operation) !== false
  const refused = operations.filter((operation) => faults.some(concerns(operation)))
  const lines = operations.map((operation) => {
    const has = notes.some(concerns(operation)) ? 'served with a note' : 'served'
    return `${operation}: ${refused.includes(operation) ? 'refused' : has}`
  })
  const found = [...notes.map((each) => `note: ${toLine(each)}`), ...faults.map((each) => `refused: ${toLine(each)}`)]
  const served = `${operations.length - refused.length} of ${operations.length} operations are served`
  return [...lines, ...found, served].join('\n')
}
