// Plans a new service: its names, its operations, and the parts for its contract.
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { writeYaml } from '../read/bundle.ts'
import type { CompiledOperation, Inspected } from '../compile.ts'
import { toLines } from '../read/diagnostic-lines.ts'
import { type Names, namesFrom } from './new-names.ts'
import { classNameOf } from './stubs.ts'
import { supportedAlternatives } from '@plant-store/engine/for-compiler'
import { printError } from '@plant-store/engine/for-commands'

/** The plan of a service. */
export interface Plan extends Names {
  /** The content of `openapi.yaml`. */
  readonly contract: string
  /** The number of its operations. */
  readonly operations: number
  /** The operations left out, such as `GET /users`. */
  readonly refused: readonly string[]
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

/** What a person has typed. */
interface Typed {
  /** The path of the document. */
  readonly document: string
  /** The name of the new folder. */
  readonly folder: string
  /** The name of the service; undefined for the title of the document. */
  readonly name: string | undefined
}

/** Plans the service of a document. @throws {Error} with the reasons if no operation can be served */
export function planService(typed: Typed, inspected: Inspected): Plan {
  const refused = refusedOperations(inspected)
  const served = [...inspected.operations].filter(([operation]) => !refused.has(operation))
  const operations = served.map(([, operation]) => operation)
  const names = namesFor(typed, inspected)
  return {
    ...names,
    contract: contractOf(typed.document, inspected),
    operations: operations.length,
    refused: [...refused],
    first: firstOperation(operations),
    className: classNameOf(`${names.slug}-service.ts`),
    guards: guardsFor(operations),
    isRepeatable: operations.every(({ operation }) => IDEMPOTENT.test(operation.method)),
  }
}

/** The names from the typed one, or from the title. The title stays. @throws {Error} if the typed one has no letter */
function namesFor({ name, folder }: Typed, { compiled }: Inspected): Names {
  const names = namesFrom(compiled?.title ?? '', folder)
  if (name === undefined) return names
  const { name: typed, slug } = namesFrom(name, '')
  if (!/[a-z0-9]/i.test(name))
    throw new Error(`--name "${name}" must have letters of a-z, or digits`)
  return { ...names, name: typed, slug }
}

/** The refused operations, such as `GET /users`, if others can be served. @throws {Error} if none can */
function refusedOperations({ errors, names }: Inspected): ReadonlySet<string> {
  if (names.size === 0) throw new Error('the document has no operation: nothing is written')
  const isRefused = (operation: string) =>
    errors.some(({ operations }) => operations === null || operations.includes(operation))
  const refused = [...names.keys()].filter(isRefused)
  const isWhole = errors.some(({ operations }) => operations === null)
  if (!isWhole && refused.length < names.size) return new Set(refused)
  printError(toLines(errors))
  throw new Error(`refused: ${refused.join(', ')}. Nothing is written`)
}

/** The security schemes that need a guard, of the operations without another alternative. */
function guardsFor(operations: readonly CompiledOperation[]): string[] {
  const schemes = operations.flatMap(({ operation }) =>
    supportedAlternatives(operation.security, {}).flat(),
  )
  const guarded = schemes.filter(({ scheme }) => scheme.type === 'other')
  return [...new Set(guarded.map(({ scheme }) => scheme.name))]
}

/** The idempotent methods (RFC 9110, section 9.2.2). */
const IDEMPOTENT = /^(GET|HEAD|OPTIONS|PUT|DELETE)$/

/** A document as one file of YAML: unchanged, if it is one. */
function contractOf(document: string, { compiled }: Inspected): string {
  const text = compiled?.bundle ?? readFileSync(document, 'utf8')
  return /^\s*\{/.test(text) ? writeYaml(parse(text, { intAsBigInt: true })) : text
}

/** The operation of the first test: a read, if there is one. */
function firstOperation(operations: readonly CompiledOperation[]): FirstOperation {
  const listed = operations.map(({ normal }) => normal)
  const reading = listed.find(({ method }) => method === 'GET') ?? listed[0]
  const { id = '', method = '', path = '' } = reading ?? {}
  return { id, method, path: path.replaceAll(/\{[^{}]*\}/g, '7') }
}
