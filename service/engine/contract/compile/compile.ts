// Compiles a contract: for `npm run generate`, and at a start if the contract has changed since.
import { hash } from 'node:crypto'
import type { Compiled } from '../compiled.ts'
import type { Extensions } from '../extensions.ts'
import { findBaseUrl, readOpenApi } from './document.ts'
import { describe, type Finding, Findings } from './findings.ts'
import { readOperations, readPrefix } from './operations.ts'
import { type Context, readItems, Schemas } from './schemas.ts'
import { StartupError } from '../../errors.ts'

/** A compiled contract. If it has faults, it is complete only without the operations that they concern. */
export interface Inspected {
  readonly compiled: Compiled
  /** All operations of the document, such as `GET /users`. */
  readonly operations: readonly string[]
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
  const { refuse, note } = findings
  const { root, sources, bundle } = await readOpenApi(file, refuse)
  const schemas = new Schemas(refuse, product?.formats)
  const context: Context = { root, schemas, refuse, note, findings, product, errors: [] }
  const prefix = readPrefix(context)
  const operations = readOperations(context, prefix)
  schemas.checkValues(context.errors)
  const items = readItems(root, schemas)
  const text = await bundle()
  const compiled = {
    title: root.info?.title ?? '',
    sources: Object.fromEntries(sources.map(([path, source]) => [path, hash('sha256', source)])),
    bundle: sources.length > 1 ? text : null,
    baseUrl: findBaseUrl(text),
    prefix,
    operations,
    schemas: schemas.all,
    items,
  }
  return { compiled, operations: findings.operations, faults: findings.faults(), notes: findings.notes() }
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
  note: (line: string) => void = () => undefined,
): Promise<Compiled> {
  const { compiled, faults, notes } = await inspect(file, product)
  if (faults.length > 0) throw new StartupError([...new Set(faults.map(describe))].join('\n'))
  for (const each of notes) note(`note: ${describe(each)}`)
  return compiled
}
