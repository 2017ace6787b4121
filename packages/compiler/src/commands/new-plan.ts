// What a new service is made of, from the contract of it.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { writeYaml } from '../read/bundle.ts'
import type { Inspected } from '../compile.ts'
import { toLines } from '../read/diagnostics.ts'
import { type Names, namesFrom } from './new-names.ts'
import { classNameOf } from './stubs.ts'
import { supportedAlternatives } from '@plant-store/engine/for-compiler'
import { printError } from '@plant-store/engine/for-commands'

/** What is made of a document. */
export interface Plan extends Names {
  /** The text of `openapi.yaml`. */
  readonly contract: string
  readonly operations: number
  /** The operation that the first test asks. */
  readonly first: FirstOperation
  readonly className: string
  /** The security schemes whose credentials only a guard of the product can check. */
  readonly guards: readonly string[]
  /** Whether a gateway may send each operation a second time: none has a method such as POST (RFC 9110, section 9.2.2). */
  readonly isRepeatable: boolean
  /** As TypeScript: undefined if the service knows the forms of all errors. */
  readonly errorBody: string | undefined
}

interface FirstOperation {
  readonly id: string
  readonly method: string
  /** With the path of the server, and a number for each parameter. */
  readonly path: string
}

/** What is made of a document. @throws {Error} if an operation would be refused; the lines before it say why */
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
    errorBody: described.errorBody,
  }
}

/** @throws {Error} with the operations that are refused */
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

/** The security schemes whose credentials only a guard can check, of the operations that have no other alternative. */
function guardsFor({ operations }: Inspected): string[] {
  const schemes = [...operations.values()].flatMap(({ operation }) =>
    supportedAlternatives(operation.security, {}).flat(),
  )
  const guarded = schemes.filter(({ scheme }) => scheme.type === 'other')
  return [...new Set(guarded.map(({ scheme }) => scheme.name))]
}

/** The methods whose requests have one effect, however often they come (RFC 9110, section 9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/

/** Whether each operation may be sent a second time. */
function isRepeatable({ operations }: Inspected): boolean {
  return [...operations.values()].every(({ operation }) => IDEMPOTENT.test(operation.method))
}

/** The text of a document as one file of YAML: its bytes, if it is one. */
function contractOf(document: string, { compiled }: Inspected): string {
  const text = compiled?.bundle ?? readFileSync(document, 'utf8')
  return /^\s*\{/.test(text) ? writeYaml(parse(text, { intAsBigInt: true })) : text
}

/** An operation to begin the tests with: one that only reads, if there is one. */
function firstOperation({ operations }: Inspected): FirstOperation {
  const listed = [...operations.values()].map(({ normal }) => normal)
  const reading = listed.find(({ method }) => method === 'GET') ?? listed[0]
  const { id = '', method = '', path = '' } = reading ?? {}
  return { id, method, path: path.replaceAll(/\{[^{}]*\}/g, '7') }
}
