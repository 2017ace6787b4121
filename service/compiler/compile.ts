// Compiles a contract: for `npm run generate`, and at a start if the contract has changed since.
import { hash } from 'node:crypto'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Compiled, Operation } from '../engine/contract/compiled.ts'
import type { Extensions } from '../engine/contract/extensions.ts'
import { readOpenApi } from './document.ts'
import { toLine, type Finding, Findings } from './findings.ts'
import { type Listed, listOperations, readOperations } from './operations.ts'
import { type Context, readItems, Schemas } from './schemas.ts'
import { StartupError } from '../engine/errors.ts'

/** What is known of a document. */
interface Inspected {
  /** Without the operations that have faults it can be served. Undefined for another version of OpenAPI. */
  readonly compiled: Compiled | undefined
  readonly root: Oas3_1Definition
  /** The absolute paths of its files, also of those that are missing. */
  readonly files: readonly string[]
  readonly schemas: Schemas
  readonly listed: readonly Listed[]
  /** All operations of the document, such as `GET /users`. */
  readonly names: readonly string[]
  /** Those that could be compiled. */
  readonly operations: ReadonlyMap<string, Operation>
  readonly faults: readonly Finding[]
  readonly notes: readonly Finding[]
}

/**
 * Compiles an OpenAPI 3.1 document, and says what of it can't be served as described.
 * @param file the path of a YAML file
 * @param product what the product adds; undefined if no product is known
 * @throws {StartupError} if it can't be read as YAML
 */
export async function inspect(file: string, product?: Extensions): Promise<Inspected> {
  const findings = new Findings()
  const { root, isServed, sources, files, bundle, baseUrl } = await readOpenApi(file, findings)
  const schemas = new Schemas(findings, product?.formats)
  const context: Context = { root, schemas, findings, product }
  const listed = listOperations(context)
  const document = { root, files, schemas, listed, names: listed.map(({ key }) => key) }
  if (!isServed)
    return { ...document, compiled: undefined, operations: new Map(), ...findings.list() }
  const { prefix, operations } = readOperations(context, listed)
  const items = readItems(context)
  const found = findings.list()
  const compiled = {
    title: root.info?.title ?? '',
    sources: Object.fromEntries(sources.map(([path, source]) => [path, hash('sha256', source)])),
    bundle,
    baseUrl,
    prefix,
    operations: [...operations.values()],
    schemas: schemas.all,
    items,
  }
  return { ...document, compiled, operations, ...found }
}

/**
 * Compiles an OpenAPI 3.1 document. It refuses everything that the service can't do as described.
 * @param file the path of a YAML file
 * @param product what the product adds
 * @param note is told each note, with file and line
 * @throws {StartupError} with file, line and reason of each fault, and what to write instead
 */
export async function compile(
  file: string,
  product: Extensions = {},
  note?: (line: string) => void,
): Promise<Compiled> {
  return accept(await inspect(file, product), note)
}

/** The compiled contract of a document without faults. @throws {StartupError} with all faults */
export function accept(
  { compiled, faults, notes }: Inspected,
  note?: (line: string) => void,
): Compiled {
  if (faults.length > 0 || compiled === undefined)
    throw new StartupError(faults.map(toLine).join('\n'))
  for (const each of notes) note?.(`note: ${toLine(each)}`)
  return compiled
}
