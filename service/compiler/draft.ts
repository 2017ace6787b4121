// What can be served of a document with faults: for `npm run dev`, and for `npm run generate -- --dry-run FILE`.
import { inspect } from './compile.ts'
import { type Finding, toLine } from './findings.ts'
import { type Contract, type RefusedOperation, toContract } from '../engine/contract/contract.ts'
import type { Extensions } from '../engine/contract/extensions.ts'

export { UnreadableDocument } from './document.ts'

export interface Draft {
  /** Without the operations that have faults; undefined if a fault concerns the whole document. */
  readonly contract: Contract | undefined
  /** Also of a document that can't be served. */
  readonly title: string | undefined
  /** The absolute paths of its files, also of those that are missing. */
  readonly files: readonly string[]
}

/**
 * Compiles a document. An operation with a fault is left out, and is in `refused`.
 * @throws {StartupError} if it can't be read as YAML
 */
export async function readDraft(
  file: string,
  baseUrl: string,
  product: Extensions,
): Promise<Draft> {
  const { compiled, root, files, names, operations, faults } = await inspect(file, product)
  const left = new Map(operations)
  const refused = names.flatMap((name): RefusedOperation[] => {
    const own = faults.filter((each) => each.operations?.includes(name)).map(toLine)
    if (own.length === 0) return []
    left.delete(name)
    const [method = '', path = ''] = name.split(' ')
    const { id, path: at } = operations.get(name) ?? {
      id: '',
      path: `${compiled?.prefix ?? ''}${path}`,
    }
    return [{ id, method, path: at, fault: own.join('\n') }]
  })
  const isServed = !faults.some((each) => each.operations === null)
  const rest = compiled && { ...compiled, operations: [...left.values()] }
  return {
    contract:
      rest && isServed ? { ...toContract(rest, file, baseUrl, product), refused } : undefined,
    title: root.info?.title,
    files,
  }
}

/** Says how each operation of a document would be served. @returns lines: the operations, notes, faults, and how many are served */
export async function dryRun(file: string): Promise<string[]> {
  const { names: operations, faults, notes } = await inspect(file)
  const isConcerned = (operation: string, findings: readonly Finding[]) =>
    findings.some((finding) => finding.operations?.includes(operation) !== false)
  const refused = operations.filter((operation) => isConcerned(operation, faults))
  const lines = operations.map((operation) => {
    const has = isConcerned(operation, notes) ? 'served with a note' : 'served'
    return `${operation}: ${refused.includes(operation) ? 'refused' : has}`
  })
  const found = [
    ...notes.map((each) => `note: ${toLine(each)}`),
    ...faults.map((each) => `refused: ${toLine(each)}`),
  ]
  const served = `${operations.length - refused.length} of ${operations.length} operations are served`
  return [...lines, ...found, served]
}
