// Serves the operations without errors of a document: for `npm run dev`, and for `npm run generate -- --dry-run FILE`.
import { inspect, type Inspected, withoutCode } from '../compile.ts'
import { Examples } from '../operations/examples.ts'
import { warnOfLacking } from '../operations/lacking-examples.ts'
import { toLine, toLines, toWarningLines } from '../read/diagnostic-lines.ts'
import type { Diagnostic } from '../read/diagnostics.ts'
import { type Code, codeOf } from '../sentences/sentences.ts'
import {
  type Compiled,
  type Contract,
  type Operation,
  type ProductHooks,
  type RefusedOperation,
  toContract,
} from '@plant-store/engine/for-compiler'

export { UnreadableDocument } from '../read/document.ts'

export interface Draft {
  /** The operations without errors; undefined if an error concerns the whole document. */
  readonly contract: Contract | undefined
  /** Known even if the document can't be served. */
  readonly title: string | undefined
  /** The absolute paths of its files, missing ones included. */
  readonly files: readonly string[]
}

/**
 * Compiles a document. An operation with an error is left out, and is in `refused`.
 * @param hasExamples whether an operation without a method answers an example without being asked for one
 * @throws {StartupError} if the document is no valid YAML
 */
export async function readDraft(
  file: string,
  baseUrl: string,
  product: ProductHooks,
  hasExamples = false,
): Promise<Draft> {
  const { compiled, root, files, names, schemas, operations, errors } = await inspect(file, product)
  const refused: RefusedOperation[] = []
  const served: Operation[] = []
  for (const name of names.keys()) {
    const operation = operations.get(name)?.operation
    const lines = errors.filter((error) => error.operations?.includes(name)).map(toLine)
    if (lines.length > 0)
      refused.push({ ...addressOf(name, operation, compiled), fault: lines.join('\n') })
    else if (operation !== undefined) served.push(operation)
  }
  const finder = new Examples(schemas)
  const described = operations
    .values()
    .map((operation) => [operation.normal.id, finder.of(operation)] as const)
  const examples = { operations: new Map(described), isUnasked: hasExamples }
  const isServed = !errors.some((error) => error.operations === null)
  const rest = compiled && isServed ? { ...compiled, operations: served } : undefined
  return {
    contract: rest && { ...toContract(rest, file, baseUrl, product), refused, examples },
    title: root.info?.title,
    files,
  }
}

/** The method and the path of an operation; its id, if it could be compiled. @param name such as `GET /users` */
function addressOf(
  name: string,
  operation: Operation | undefined,
  compiled: Compiled | undefined,
): Omit<RefusedOperation, 'fault'> {
  const [method = '', path = ''] = name.split(' ')
  if (operation !== undefined) return { id: operation.id, method, path: operation.path }
  return { id: '', method, path: `${compiled?.prefix ?? ''}${path}` }
}

/**
 * Says how each operation of a document would be served.
 * @param refsWithin the widest folder of its other files
 * @returns lines: the operations, warnings, errors; and how many operations are served, with advice for the rest
 */
export async function dryRun(file: string, refsWithin?: string): Promise<string[]> {
  const inspected = await inspect(file, undefined, refsWithin)
  warnOfLacking(inspected)
  const { names } = inspected
  const { errors, warnings } = inspected.diagnostics.list()
  const operations = [...names.keys()]
  const isRefused = (operation: string) => errors.some((error) => concerns(error, operation))
  const changes = warnings.filter(({ finding }) => !ADDITIONS.has(codeOf(finding)))
  const changed = new Set(changes.flatMap((warning) => warning.operations ?? []))
  const lines = operations.map((operation) => {
    if (isRefused(operation)) return `${operation}: refused`
    return `${operation}: ${changed.has(operation) ? 'served with a warning' : 'served'}`
  })
  const served = operations.filter((operation) => !isRefused(operation))
  const answer = `${served.length} of ${operations.length} operations are served`
  return [
    ...lines,
    ...toWarningLines(warnings),
    ...toLines(errors).map((line) => `refused: ${line}`),
    errors.length === 0 ? answer : `${answer}: ${adviceFor({ errors, names })}`,
  ]
}

/** The codes of warnings about a name, an error or an example that is added: the operation is served as it is described. */
const ADDITIONS: ReadonlySet<string> = new Set<Code>([
  'id-absent',
  'status-undescribed',
  'error-undescribed',
  'error-templated',
  'example-impossible',
])

/** What to write for the operations that are refused. */
function adviceFor(inspected: Pick<Inspected, 'errors' | 'names'>): string {
  const without = withoutCode(inspected)
  const mend = 'for the rest, mend what is refused above'
  return without === undefined ? mend : `${mend}; until then write into product.ts: ${without}`
}

function concerns({ operations }: Diagnostic, operation: string): boolean {
  return operations === null || operations.includes(operation)
}
