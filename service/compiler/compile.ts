// Compiles a contract: for `npm run generate`, and at a start if the contract has changed since.
import { hash } from 'node:crypto'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import type { Compiled, Operation } from '../engine/contract/compiled.ts'
import { type ProductHooks, StartupError } from '../engine/for-compiler.ts'
import { type DiagnosticList, Diagnostics, toLine, toLines } from './diagnostics.ts'
import { readOpenApi } from './document.ts'
import { listOperations, type NormalOperation, prefixOf } from './normal-form.ts'
import { checkPaths, compileOperations, describeOperations } from './operations.ts'
import { type Context, readItems, Schemas } from './schemas.ts'

/** A document, as far as it can be served. */
interface Inspected extends DiagnosticList {
  /** Without the operations that have errors it can be served. Undefined for another version of OpenAPI. */
  readonly compiled: Compiled | undefined
  readonly root: Oas3_1Definition
  /** The absolute paths of its files, also of those that are missing. */
  readonly files: readonly string[]
  readonly schemas: Schemas
  /** All operations of the document, such as `GET /users`. */
  readonly names: readonly string[]
  /** The operations that could be compiled, by these names. */
  readonly operations: ReadonlyMap<string, CompiledOperation>
}

interface CompiledOperation {
  readonly operation: Operation
  readonly normal: NormalOperation
}

/**
 * Compiles an OpenAPI 3.1 document, and says which parts of it can't be served as described.
 * @param file the path of a YAML file
 * @param product the hooks of the product; undefined if no product is known
 * @throws {StartupError} if it can't be read as YAML
 */
export async function inspect(file: string, product?: ProductHooks): Promise<Inspected> {
  const diagnostics = new Diagnostics()
  const document = await readOpenApi(file, diagnostics)
  const { root, files } = document
  const schemas = new Schemas(diagnostics, product?.formats)
  const context: Context = { root, schemas, diagnostics, product }
  const listed = listOperations(root)
  describeOperations(context, listed)
  const inspected = { root, files, schemas, names: listed.map(({ key }) => key) }
  if (!document.isServed)
    return { ...inspected, compiled: undefined, operations: new Map(), ...diagnostics.list() }

  checkPaths(context, listed)
  const operations = compileOperations(context, listed)
  const items = readItems(context)
  const sources = document.sources.map(([path, text]) => [path, hash('sha256', text)] as const)
  const compiled: Compiled = {
    title: root.info?.title ?? '',
    sources: Object.fromEntries(sources),
    bundle: document.bundle,
    baseUrl: document.baseUrl,
    prefix: prefixOf(root),
    operations: [...operations.values()].map(({ operation }) => operation),
    schemas: schemas.compiled,
    items,
  }
  return { ...inspected, compiled, operations, ...diagnostics.list() }
}

/**
 * Compiles an OpenAPI 3.1 document. It refuses a document if the service can't serve a part of it as described.
 * @param file the path of a YAML file
 * @param product the hooks of the product
 * @param note is told each note, with file and line
 * @throws {StartupError} with file, line, reason and advice for each error
 */
export async function compile(
  file: string,
  product: ProductHooks = {},
  note?: (line: string) => void,
): Promise<Compiled> {
  return accept(await inspect(file, product), note)
}

/** The compiled contract of a document without errors. @throws {StartupError} with all errors */
export function accept(
  { compiled, errors, warnings }: Inspected,
  note?: (line: string) => void,
): Compiled {
  if (errors.length > 0 || compiled === undefined)
    throw new StartupError(toLines(errors).join('\n'))
  for (const warning of warnings) note?.(`note: ${toLine(warning)}`)
  return compiled
}
