// Compiles a contract in stages: for `npm run generate`, and at a start after a change of the contract.
import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import {
  type Compiled,
  faultyIndexes,
  type Operation,
  type ProductHooks,
  StartupError,
} from '@plant-store/engine/for-compiler'
import { toLines, toWarningLines } from './read/diagnostic-lines.ts'
import { type Diagnostic, type DiagnosticList, Diagnostics } from './read/diagnostics.ts'
import { readProviders } from './operations/credentials.ts'
import { readOpenApi } from './read/document.ts'
import {
  type Listed,
  listOperations,
  type NormalOperation,
  prefixOf,
} from './operations/normal-form.ts'
import { stringCode } from './operations/printing.ts'
import { checkPaths, compileOperations, describeOperations } from './operations/operations.ts'
import { type Compilation, readItems, Schemas } from './schemas/schemas.ts'

/** An inspected document: its diagnostics, and its servable operations. */
export interface Inspected extends DiagnosticList {
  /** The servable contract, without operations with errors. Undefined for an unsupported version of OpenAPI. */
  readonly compiled: Compiled | undefined
  readonly root: Oas3_1Definition
  /** Absolute paths of its files, including missing ones. */
  readonly files: readonly string[]
  readonly schemas: Schemas
  /** Gets the reports of later steps: its list has those of the earlier ones, too. */
  readonly diagnostics: Diagnostics
  /** By operation, such as `GET /users`: its name for `without` in product.ts. Operations left out already are absent. */
  readonly names: ReadonlyMap<string, string>
  readonly operations: ReadonlyMap<string, CompiledOperation>
}

export interface CompiledOperation {
  readonly operation: Operation
  readonly normal: NormalOperation
}

/**
 * Compiles an OpenAPI 3.1 document, and reports all parts it can't serve as described.
 * @param file the path of a YAML file
 * @param product the hooks of the product; undefined for a document without a product
 * @param refsWithin the folder that must hold all files of a `$ref`: by default the product's, or the folder of `file`
 * @throws {StartupError} if a file is no YAML
 */
export async function inspect(
  file: string,
  product?: ProductHooks,
  refsWithin = folderOf(file, product),
): Promise<Inspected> {
  const diagnostics = new Diagnostics()
  const document = await readOpenApi(file, diagnostics, refsWithin)
  const { root, files } = document
  const schemas = new Schemas(diagnostics, product?.formats)
  const compilation: Compilation = { root, schemas, diagnostics, product, templates: new Map() }
  const described = listOperations(root)
  describeOperations(compilation, described)
  const leftOut = listLeftOut(compilation, described)
  const listed = described.filter(({ key }) => !leftOut.has(key))
  const names = new Map(listed.map((operation) => [operation.key, nameInProduct(operation)]))
  const inspected = { root, files, schemas, diagnostics, names }
  if (!document.isServed)
    return { ...inspected, compiled: undefined, operations: new Map(), ...diagnostics.list() }

  checkPaths(compilation, listed)
  const operations = compileOperations(compilation, listed)
  const items = readItems(compilation)
  checkIndexes(compilation, items)
  const sources = document.sources.map(([path, text]) => [path, hash('sha256', text)] as const)
  const compiled: Compiled = {
    title: titleOf(root),
    sources: Object.fromEntries(sources),
    bundle: document.bundle,
    ...(document.published !== undefined && { published: document.published }),
    baseUrl: document.baseUrl,
    prefix: prefixOf(root),
    providers: readProviders(compilation),
    operations: [...operations.values()].map(({ operation }) => operation),
    schemas: schemas.compiled,
    items,
  }
  const { errors, warnings } = diagnostics.list()
  return {
    ...inspected,
    compiled,
    operations,
    errors: errors.filter((error) => !concernsOnly(error, leftOut)),
    warnings: warnings.filter((warning) => !concernsOnly(warning, leftOut)),
  }
}

/** Reports indexes of the product that do not fit the schemas of their collections. */
function checkIndexes(
  { root, schemas, diagnostics, product }: Compilation,
  items: Compiled['items'],
): void {
  const contract = { items, schemas: schemas.compiled }
  for (const fault of faultyIndexes(contract, product?.collections ?? {}))
    diagnostics.error(root, { code: 'index-misfit', ...fault })
}

/** The product's `refsWithin`, as an absolute path. */
function folderOf(file: string, product: ProductHooks | undefined): string | undefined {
  if (product?.refsWithin === undefined) return undefined
  return resolve(dirname(file), product.refsWithin)
}

function titleOf({ info }: Oas3_1Definition): string {
  const title: unknown = info?.title
  return typeof title === 'string' ? title : ''
}

function nameInProduct({ key, operation }: Listed): string {
  return operation.operationId ?? key
}

/** The keys of the operations left out by `without` of product.ts. Reports unknown names. */
function listLeftOut(
  { root, diagnostics, product }: Compilation,
  described: readonly Listed[],
): ReadonlySet<string> {
  const names = product?.without ?? []
  const existing = new Set(described.map(nameInProduct))
  for (const name of names)
    if (!existing.has(name)) diagnostics.error(root, { code: 'left-out-unknown', name })
  const leftOut = described.filter((operation) => names.includes(nameInProduct(operation)))
  return new Set(leftOut.map(({ key }) => key))
}

/** Whether a diagnostic is only about left-out operations. */
function concernsOnly({ operations }: Diagnostic, leftOut: ReadonlySet<string>): boolean {
  if (operations === null || operations.length === 0) return false
  return operations.every((operation) => leftOut.has(operation))
}

/**
 * The code for product.ts that leaves out the operations with errors.
 * @returns undefined if that would be none or all of them, or an error concerns the whole document
 */
export function withoutCode({ errors, names }: Pick<Inspected, 'errors' | 'names'>) {
  const refused = new Set<string>()
  for (const { operations } of errors) {
    if (operations === null) return undefined
    for (const operation of operations) refused.add(operation)
  }
  const inOrder = [...names].filter(([operation]) => refused.has(operation))
  if (inOrder.length === 0 || inOrder.length === names.size) return undefined
  const quoted = inOrder.map(([, name]) => stringCode(name))
  return `without: [${quoted.join(', ')}],`
}

/**
 * Compiles an OpenAPI 3.1 document, and refuses it if a part can't be served as described.
 * @param file the path of a YAML file
 * @param warn is called with each warning, with file and line
 * @throws {StartupError} with file, line, reason and advice for each error
 */
export async function compile(
  file: string,
  product: ProductHooks = {},
  warn?: (line: string) => void,
): Promise<Compiled> {
  return accept(await inspect(file, product), warn)
}

/** The compiled contract of a document without errors. @throws {StartupError} with all errors */
export function accept(
  { compiled, errors, warnings, names }: Inspected,
  warn?: (line: string) => void,
): Compiled {
  if (errors.length > 0 || compiled === undefined) {
    const without = withoutCode({ errors, names })
    const advice = `to serve the other operations, write into product.ts: ${without}`
    const lines = [...toLines(errors), ...(without === undefined ? [] : [advice])]
    throw new StartupError(lines.join('\n'))
  }
  for (const line of toWarningLines(warnings)) warn?.(line)
  return compiled
}
