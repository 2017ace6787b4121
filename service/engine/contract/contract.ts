import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Compiled, CompiledContract } from './compiled.ts'
import { errorFaults } from './error-forms.ts'
import type { Extensions } from './extensions.ts'
import { checkable, isGuarded, lackedFor } from './security.ts'
import { reasonOf, StartupError } from '../errors.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** The contract that this server serves. */
    readonly contract: Contract
  }
}

/** A compiled contract, with the document to serve. */
export interface Contract extends Compiled {
  readonly file: string
  /** The served document: the file, with `BASE_URL` as the default of `base_url`. */
  readonly bytes: Buffer
  /** What the product adds. */
  readonly product: Extensions
  /** In `npm run dev`, the operations that are not served. */
  readonly refused?: readonly RefusedOperation[]
}

/** An operation that is answered 501, because the contract has a fault there. */
export interface RefusedOperation {
  /** Empty if it is unknown. */
  readonly id: string
  readonly method: string
  readonly path: string
  readonly fault: string
}

/** Imports the compiler. An image has none, nor the packages that it needs. */
export type LoadCompiler = () => Promise<{
  readonly compile: (file: string, product: Extensions) => Promise<Compiled>
}>

export interface ContractOptions {
  /** The default of the server variable `base_url` in the served bytes. */
  readonly baseUrl?: string
  /** The contract as it was compiled by the last `npm run generate`. */
  readonly generated?: CompiledContract
  /** What the product adds. */
  readonly product?: Extensions | undefined
  readonly loadCompiler?: LoadCompiler | undefined
}

/**
 * Reads an OpenAPI 3.1 document. It is compiled anew if it has changed since the last `npm run generate`, or needs something
 * that the product lacks: then the faults have their lines.
 * @param file the path of a YAML file
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readContract(
  file: string,
  { baseUrl, generated, product = {}, loadCompiler }: ContractOptions = {},
): Promise<Contract> {
  const known = generated && isCurrent(file, generated) ? generated : undefined
  const faults = known
    ? faultsOf(known, product)
    : ['it has changed since the last `npm run generate`: run it again']
  if (known && faults.length === 0) return toContract(known, file, baseUrl, product)
  const reason = `${file}: ${faults.join('; ')}`
  const { compile } = await loadCompilerFor(reason, loadCompiler)
  return toContract(await compile(file, product), file, baseUrl, product)
}

/** Adds the document to serve to a compiled contract, and leaves out the alternatives of `security` without a guard. */
export function toContract(
  compiled: Compiled,
  file: string,
  baseUrl: string | undefined,
  product: Extensions,
): Contract {
  const text = compiled.bundle ?? readFileSync(file, 'utf8')
  const bytes = Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, compiled, baseUrl))
  const operations = compiled.operations.map((each) => ({
    ...each,
    security: checkable(each.security, product),
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

/** What a contract needs, and the product lacks. */
function faultsOf(compiled: Compiled, product: Extensions): readonly string[] {
  const requirements = compiled.operations.flatMap(({ security }) =>
    checkable(security, product).flat(),
  )
  const unguarded = requirements
    .filter(({ scheme }) => !isGuarded(scheme, product))
    .map(({ scheme }) => `the security scheme ${scheme.name} needs ${lackedFor(scheme)}`)
  const guards = [...new Set(unguarded)]
  const stored = Object.entries(product.collections ?? {})
  const uncompiled = stored
    .filter(([, { schema }]) => !Object.hasOwn(compiled.items, schema))
    .map(([name]) => `the items of the collection ${name} need \`npm run generate\``)
  return [...guards, ...uncompiled, ...errorFaults(compiled, product)]
}

/** Whether the files are unchanged since the last `npm run generate`. The image has only the main file. */
function isCurrent(file: string, { sources }: Compiled): boolean {
  const [[, first] = [], ...others] = Object.entries(sources)
  const isSame = (path: string, sum?: string) => hash('sha256', readFileSync(path)) === sum
  const paths = others.map(([name, sum]) => [join(dirname(file), name), sum] as const)
  try {
    return (
      isSame(file, first) && paths.every(([path, sum]) => !existsSync(path) || isSame(path, sum))
    )
  } catch (error) {
    throw new StartupError(`${file}: ${reasonOf(error)}`)
  }
}

function withBaseUrl(text: string, { baseUrl }: Compiled, value: string): string {
  if (baseUrl === null && value === '.') return text // the default of BASE_URL
  if (baseUrl === null)
    throw new StartupError('BASE_URL is set, and the contract has no server variable base_url')
  const [before, found, after] = [
    text.slice(0, baseUrl[0]),
    text.slice(...baseUrl),
    text.slice(baseUrl[1]),
  ]
  return found.replaceAll(/^['"]|['"]$/g, '') === value
    ? text
    : before + JSON.stringify(value) + after
}
