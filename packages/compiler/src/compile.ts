// Compiles a contract: for `npm run generate`, and at a start if the contract has changed since.
import { hash } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import type { Oas3_1Definition } from '@redocly/openapi-core'
import {
  type Compiled,
  type Operation,
  type ProductHooks,
  StartupError,
} from '@plant-store/engine/for-compiler'
import {
  type Diagnostic,
  type DiagnosticList,
  Diagnostics,
  toLine,
  toLines,
} from './read/diagnostics.ts'
import { readProviders } from './operations/credentials.ts'
import { readOpenApi } from './read/document.ts'
import { checkErrorBody, hasErrorBody } from './operations/error-forms.ts'
import {
  type Listed,
  listOperations,
  type NormalOperation,
  prefixOf,
} from './operations/normal-form.ts'
import { stringCode } from './operations/printing.ts'
import { checkPaths, compileOperations, describeOperations } from './operations/operations.ts'
import { type Context, readItems, Schemas } from './schemas/schemas.ts'

/** A document, as far as it can be served. */
export interface Inspected extends DiagnosticList {
  /** Without the operations that have errors it can be served. Undefined for another version of OpenAPI. */
  readonly compiled: Compiled | undefined
  readonly root: Oas3_1Definition
  /** The absolute paths of its files, also of those that are missing. */
  readonly files: readonly string[]
  readonly schemas: Schemas
  /** The names in `without` of product.ts, by operation, such as `GET /users`; without those that are left out. */
  readonly names: ReadonlyMap<string, string>
  /** The operations that could be compiled, by these names. */
  readonly operations: ReadonlyMap<string, CompiledOperation>
  /** The `errorBody` that the product lacks, as TypeScript: absent if the service knows the forms of all errors. */
  readonly errorBody?: string | undefined
}

interface CompiledOperation {
  readonly operation: Operation
  readonly normal: NormalOperation
}

/**
 * Compiles an OpenAPI 3.1 document, and says which parts of it can't be served as described.
 * @param file the path of a YAML file
 * @param product the hooks of the product; undefined if no product is known
 * @param refsWithin the widest folder of the other files. By default it is the one of the product, or the folder of the file
 * @throws {StartupError} if it can't be read as YAML
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
  const context: Context = { root, schemas, diagnostics, product, errorsOfProduct: [] }
  const described = listOperations(root)
  describeOperations(context, described)
  const leftOut = listLeftOut(context, described)
  const listed = described.filter(({ key }) => !leftOut.has(key))
  const names = new Map(listed.map((operation) => [operation.key, nameInProduct(operation)]))
  const inspected = { root, files, schemas, names }
  if (!document.isServed)
    return { ...inspected, compiled: undefined, operations: new Map(), ...diagnostics.list() }

  checkPaths(context, listed)
  const operations = compileOperations(context, listed)
  const errorBody = checkErrorBody(context)
  const items = readItems(context)
  const sources = document.sources.map(([path, text]) => [path, hash('sha256', text)] as const)
  const compiled: Compiled = {
    title: titleOf(root),
    sources: Object.fromEntries(sources),
    bundle: document.bundle,
    baseUrl: document.baseUrl,
    prefix: prefixOf(root),
    providers: readProviders(context),
    operations: [...operations.values()].map(({ operation }) => operation),
    schemas: schemas.compiled,
    items,
  }
  const { errors, warnings } = diagnostics.list()
  return {
    ...inspected,
    errorBody,
    compiled,
    operations,
    errors: errors.filter((error) => !concernsOnly(error, leftOut)),
    warnings: warnings.filter((warning) => !concernsOnly(warning, leftOut)),
  }
}

/** The folder that a product names for the files of its contract. */
function folderOf(file: string, product: ProductHooks | undefined): string | undefined {
  if (product?.refsWithin === undefined) return undefined
  return resolve(dirname(file), product.refsWithin)
}

function titleOf({ info }: Oas3_1Definition): string {
  const title: unknown = info?.title
  return typeof title === 'string' ? title : ''
}

/** The name of an operation in `without` of product.ts. */
function nameInProduct({ key, operation }: Listed): string {
  return operation.operationId ?? key
}

/** The keys of the operations that the product leaves out. A name that no operation has is an error. */
function listLeftOut(
  { root, diagnostics, product }: Context,
  described: readonly Listed[],
): ReadonlySet<string> {
  const names = product?.without ?? []
  const existing = new Set(described.map(nameInProduct))
  for (const name of names)
    if (!existing.has(name))
      diagnostics.error(root, `product.ts leaves out ${name}: there is no such operation`)
  const leftOut = described.filter((operation) => names.includes(nameInProduct(operation)))
  return new Set(leftOut.map(({ key }) => key))
}

/** Whether a diagnostic is only about operations that are left out. */
function concernsOnly({ operations }: Diagnostic, leftOut: ReadonlySet<string>): boolean {
  if (operations === null || operations.length === 0) return false
  return operations.every((operation) => leftOut.has(operation))
}

/**
 * A line for product.ts that leaves out the operations with errors. Operations that an `errorBody` would serve are not in it.
 * @returns undefined if that would be none or all of them, or an error concerns the whole document
 */
export function adviseWithout({ errors, names }: Pick<Inspected, 'errors' | 'names'>) {
  const refused = new Set<string>()
  for (const { operations, text } of errors) {
    if (hasErrorBody(text)) continue
    if (operations === null) return undefined
    for (const operation of operations) refused.add(operation)
  }
  const inOrder = [...names].filter(([operation]) => refused.has(operation))
  if (inOrder.length === 0 || inOrder.length === names.size) return undefined
  const quoted = inOrder.map(([, name]) => stringCode(name))
  return `to serve the other operations, write into product.ts: without: [${quoted.join(', ')}],`
}

/**
 * Compiles an OpenAPI 3.1 document. It refuses a document if the service can't serve a part of it as described.
 * @param file the path of a YAML file
 * @param product the hooks of the product
 * @param warn gets each warning, with file and line
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
  if (errors.length > 0 || compiled === undefined)
    throw new StartupError(
      [...toLines(errors), adviseWithout({ errors, names }) ?? []].flat().join('\n'),
    )
  for (const warning of warnings) warn?.(`warning: ${toLine(warning)}`)
  return compiled
}
