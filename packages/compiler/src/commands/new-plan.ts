// Plans a new service: its names, its operations, and the parts for its contract.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { writeYaml } from '../read/bundle.ts'
import type { Inspected } from '../compile.ts'
import { toLines } from '../read/diagnostic-lines.ts'
import { type Names, namesFrom } from './new-names.ts'
import { classNameOf } from './stubs.ts'
import { supportedAlternatives } from '@plant-store/engine/for-compiler'
import { printError } from '@plant-store/engine/for-commands'

/** The plan of a service. */
export interface Plan extends Names {
  /** The content of `openapi.yaml`. */
  readonly contract: string
  readonly operations: number
  /** The operation of the first test. */
  readonly first: FirstOperation
  readonly className: string
  /** The security schemes for which the product needs a guard. */
  readonly guards: readonly string[]
  /** Whether a gateway may repeat every request: no operation has a method such as POST (RFC 9110, section 9.2.2). */
  readonly isRepeatable: boolean
}

interface FirstOperation {
  readonly id: string
  readonly method: string
  /** With the path of the server, and a number for each parameter. */
  readonly path: string
}

/** Plans the service of a document. @throws {Error} with the reasons if an operation would be refused */
export function planService(document: string, folder: string, described: Inspected): Plan {
  refuseErrors(described)
  const guards = guardsFor(described)
  const names = namesFrom(described.compiled?.title ?? '', folder)
  return {
    ...names,
    contract: contractOf(document, described),
    operations: described.operations.size,
    first: firstOperation(described),
    className: classNameOf(`${names.slug}-service.ts`),
    guards,
    isRepeatable: isRepeatable(described),
  }
}

/** @throws {Error} with the refused operations */
function refuseErrors({ errors, names }: Inspected): void {
  if (names.size === 0) throw new Error('the document has no operation: nothing is written')
  if (errors.length === 0) return
  printError(toLines(errors))
  const isRefused = (operation: string) =>
    errors.some(({ operations }) => operations === null || operations.includes(operation))
  const refused = [...names.keys()].filter(isRefused)
  const which = refused.length > 0 ? refused.join(', ') : 'a part of the document'
  throw new Error(`refused: ${which}. Nothing is written`)
}

/** The security schemes that need a guard, of the operations without another alternative. */
function guardsFor({ operations }: Inspected): string[] {
  const schemes = [...operations.values()].flatMap(({ operation }) =>
    supportedAlternatives(operation.security, {}).flat(),
  )
  const guarded = schemes.filter(({ scheme }) => scheme.type === 'other')
  return [...new Set(guarded.map(({ scheme }) => scheme.name))]
}

/** The idempotent methods (RFC 9110, section 9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/

/** Whether a gateway may repeat every request. */
function isRepeatable({ operations }: Inspected): boolean {
  return [...operations.values()].every(({ operation }) => IDEMPOTENT.test(operation.method))
}

/** A document as one file of YAML: unchanged, if it is one. */
function contractOf(document: string, { compiled }: Inspected): string {
  const text = compiled?.bundle ?? readFileSync(document, 'utf8')
  return /^\s*\{/.test(text) ? writeYaml(parse(text, { intAsBigInt: true })) : text
}

/** The operation of the first test: a read, if there is one. */
function firstOperation({ operations }: Inspected): FirstOperation {
  const listed = [...operations.values()].map(({ normal }) => normal)
  const reading = listed.find(({ method }) => method === 'GET') ?? listed[0]
  const { id = '', method = '', path = '' } = reading ?? {}
  return { id, method, path: path.replaceAll(/\{[^{}]*\}/g, '7') }
}
