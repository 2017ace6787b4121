// For `npm run dev`: what can be served of a contract with faults.
import { dirname, join, resolve } from 'node:path'
import { inspect } from './compile.ts'
import { describe } from './findings.ts'
import { type Contract, type RefusedOperation, toContract } from '../contract.ts'
import type { Extensions } from '../extensions.ts'

export interface Draft {
  /** Without the operations that have faults; undefined if a fault concerns the whole document. */
  readonly contract: Contract | undefined
  /** The paths of its files, and of those with faults. */
  readonly files: readonly string[]
  /** Notes and faults, each with file and line. */
  readonly said: readonly string[]
  readonly isFaulty: boolean
}

/**
 * Compiles a document. An operation with a fault is left out, and is in `refused`.
 * @throws {StartupError} if it can't be read as YAML
 */
export async function readDraft(file: string, baseUrl: string, product: Extensions): Promise<Draft> {
  const { compiled, operations, byName, faults, notes } = await inspect(file, product)
  const refused = operations.flatMap((name): RefusedOperation[] => {
    const own = faults.filter((each) => each.operations?.includes(name) === true).map(describe)
    const [method = '', path = ''] = name.split(' ')
    const known = byName.get(name) ?? { id: '', method, path: `${compiled?.prefix ?? ''}${path}` }
    return own.length === 0 ? [] : [{ id: known.id, method, path: known.path, fault: own.join('\n') }]
  })
  const isLeft = ({ method, path }: { method: string; path: string }) =>
    !refused.some((each) => each.method === method && each.path === path)
  const isServed = !faults.some((each) => each.operations === null)
  const rest = compiled && { ...compiled, operations: compiled.operations.filter(isLeft) }
  return {
    contract: rest && isServed ? { ...toContract(rest, file, baseUrl, product), refused } : undefined,
    files: [
      ...Object.keys(compiled?.sources ?? {}).map((each) => join(dirname(file), each)),
      ...faults.map((each) => resolve(each.file)),
    ],
    said: [...notes.map((each) => `note: ${describe(each)}`), ...faults.map(describe)],
    isFaulty: faults.length > 0,
  }
}
