import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Compiled, CompiledContract } from './compiled.ts'
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
}

/**
 * Reads an OpenAPI 3.1 document. It is compiled if it has changed since the last `npm run generate`.
 * @param file the path of a YAML file
 * @param baseUrl the default of the server variable `base_url` in the served bytes
 * @param generated the contract as it was compiled by the last `npm run generate`
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readContract(file: string, baseUrl?: string, generated?: CompiledContract): Promise<Contract> {
  const compiled = generated && isCurrent(file, generated) ? generated : await compileAnew(file)
  const text = compiled.bundle ?? readFileSync(file, 'utf8')
  return { ...compiled, file, bytes: Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, compiled, baseUrl)) }
}

/** Compiles a document. A production installation lacks the packages for this. */
async function compileAnew(file: string): Promise<Compiled> {
  const { compile } = await import('./compile/compile.ts').catch((cause: unknown) => {
    throw new StartupError(`${file}: it has changed since the last \`npm run generate\`: run it again`, { cause })
  })
  return compile(file)
}

/** Whether the files are unchanged since the last `npm run generate`. The image has only the main file. */
function isCurrent(file: string, { sources }: Compiled): boolean {
  const [[, first] = [], ...others] = Object.entries(sources)
  const isSame = (path: string, sum?: string) => hash('sha256', readFileSync(path)) === sum
  const paths = others.map(([name, sum]) => [join(dirname(file), name), sum] as const)
  try {
    return isSame(file, first) && paths.every(([path, sum]) => !existsSync(path) || isSame(path, sum))
  } catch (error) {
    throw new StartupError(`${file}: ${reasonOf(error)}`)
  }
}

function withBaseUrl(text: string, { baseUrl }: Compiled, value: string): string {
  if (baseUrl === null && value === '.') return text // the default of BASE_URL
  if (baseUrl === null) throw new StartupError('BASE_URL is set, and the contract has no server variable base_url')
  const [before, found, after] = [text.slice(0, baseUrl[0]), text.slice(...baseUrl), text.slice(baseUrl[1])]
  return found.replaceAll(/^['"]|['"]$/g, '') === value ? text : before + JSON.stringify(value) + after
}
