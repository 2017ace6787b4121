// Reads the contract of a service: as generated, or compiled anew if it has changed.
import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Compiled, CompiledContract } from './compiled.ts'
import { errorFaults } from './error-trials.ts'
import type { ContractExamples } from './examples.ts'
import type { ProductHooks } from './product-hooks.ts'
import { describeFault, faultyIndexes } from './indexes.ts'
import { isGuarded, lackedFor, supportedAlternatives } from './guarded-schemes.ts'
import { reasonOf, StartupError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    readonly contract: Contract
  }
}

/** A compiled contract, with the document to serve. */
export interface Contract extends Compiled {
  readonly file: string
  /** The served document: the file, with `BASE_URL` as the default of `base_url`. */
  readonly bytes: Buffer
  readonly product: ProductHooks
  /** In `npm run dev`, the operations left out. */
  readonly refused?: readonly RefusedOperation[]
  readonly examples?: ContractExamples
}

/** An operation answered with 501, because of a fault in the contract. */
export interface RefusedOperation {
  /** Empty if it is unknown. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly fault: string
}

/** Imports the compiler. An image lacks the compiler and its dependencies. */
export type LoadCompiler = () => Promise<{
  readonly compile: (file: string, product: ProductHooks) => Promise<Compiled>
}>

export interface ContractOptions {
  /** The default of the server variable `base_url` in the served bytes. */
  readonly baseUrl?: string
  /** As compiled by the last `npm run generate`. */
  readonly generated?: CompiledContract
  readonly product?: ProductHooks | undefined
  readonly loadCompiler?: LoadCompiler | undefined
}

/**
 * Reads an OpenAPI 3.1 document. It is compiled anew if it has changed since the last `npm run
 * generate`. It is also compiled if the product lacks a required hook, because only the compiler
 * knows the lines of the faults.
 * @param file the path of a YAML file
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readContract(
  file: string,
  { baseUrl, generated, product = {}, loadCompiler }: ContractOptions = {},
): Promise<Contract> {
  const current = generated && isCurrent(file, generated) ? generated : undefined
  const faults = current
    ? faultsOf(current, product)
    : ['it has changed since the last `npm run generate`: run it again']
  if (current && faults.length === 0) return toContract(current, file, baseUrl, product)
  const reason = `${file}: ${faults.join('; ')}`
  const { compile } = await loadCompilerFor(reason, loadCompiler)
  return toContract(await compile(file, product), file, baseUrl, product)
}

/** Adds the document to serve, and leaves out alternatives of `security` without a guard. */
export function toContract(
  compiled: Compiled,
  file: string,
  baseUrl: string | undefined,
  product: ProductHooks,
): Contract {
  const text = compiled.published ?? compiled.bundle ?? readFileSync(file, 'utf8')
  const bytes = Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, compiled, baseUrl))
  const operations = compiled.operations.map((operation) => ({
    ...operation,
    security: supportedAlternatives(operation.security, product),
  }))
  return { ...compiled, operations, file, bytes, product }
}

/** @throws {StartupError} with the reason for compiling, if there is no compiler */
async function loadCompilerFor(reason: string, load: LoadCompiler | undefined) {
  if (load === undefined) throw new StartupError(reason)
  return load().catch((cause: unknown) => {
    throw new StartupError(reason, { cause })
  })
}

/** The hooks required by a contract and missing in the product: guards and forms of errors. */
function faultsOf(compiled: Compiled, product: ProductHooks): readonly string[] {
  const requirements = compiled.operations.flatMap(({ security }) =>
    supportedAlternatives(security, product).flat(),
  )
  const unguarded = requirements
    .filter(({ scheme }) => !isGuarded(scheme, product))
    .map(({ scheme }) => `the security scheme ${scheme.name} needs ${lackedFor(scheme)}`)
  const guards = [...new Set(unguarded)]
  const stored = Object.entries(product.collections ?? {})
  const uncompiled = stored
    .filter(([, { schema }]) => !Object.hasOwn(compiled.items, schema))
    .map(([name]) => `the items of the collection ${name} need \`npm run generate\``)
  const indexes = faultyIndexes(compiled, product.collections ?? {}).map(describeFault)
  return [...guards, ...uncompiled, ...indexes, ...errorFaults(compiled, product)]
}

/**
 * Whether the files are unchanged since the last `npm run generate`. The image has only the main
 * file.
 */
function isCurrent(file: string, { sources }: Compiled): boolean {
  const [[, sumOfFile] = [], ...referenced] = Object.entries(sources)
  try {
    if (sumOf(file) !== sumOfFile) return false
    return referenced.every(([name, sum]) => {
      const path = join(dirname(file), name)
      return !existsSync(path) || sumOf(path) === sum
    })
  } catch (error) {
    throw new StartupError(`${file}: ${reasonOf(error)}`)
  }
}

function sumOf(file: string): string {
  return hash('sha256', readFileSync(file))
}

/**
 * Changes the default of the server variable `base_url`. @throws {StartupError} if there is no such
 * variable
 */
function withBaseUrl(text: string, { baseUrl }: Compiled, value: string): string {
  if (baseUrl === null && value === '.') return text // the default of BASE_URL
  if (baseUrl === null)
    throw new StartupError('BASE_URL is set, and the contract has no server variable base_url')
  const [from, to] = baseUrl
  const written = text.slice(from, to)
  const unquoted = written.replaceAll(/^['"]|['"]$/g, '')
  if (unquoted === value) return text
  return text.slice(0, from) + JSON.stringify(value) + text.slice(to)
}
