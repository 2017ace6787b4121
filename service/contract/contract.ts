import { hash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { COMPILED } from './contract.gen.ts'
import { reasonOf, StartupError } from '../errors.ts'
import type { SecurityScheme } from './security.ts'

export type { components, OperationId, Request, Result, Service } from './types.ts'

/** A contract as `npm run generate` compiles it: all that a start needs of it. */
export interface Compiled {
  readonly title: string
  /** The SHA-256 of each file of the contract, by its path from the folder of the first. */
  readonly sources: Readonly<Record<string, string>>
  /** The document to serve, if several files were bundled into it. */
  readonly bundle: string | null
  /** Where the default of the server variable `base_url` stands in the document to serve. */
  readonly baseUrl: readonly [from: number, to: number] | null
  readonly operations: readonly Operation[]
  /** By the ids that operations, and schemas in `$ref`, have for them. */
  readonly schemas: Readonly<Record<string, Schema>>
}

/** A JSON Schema with the keywords of validation.ts. */
export type Schema = Readonly<Record<string, unknown>> | boolean

export interface Operation {
  readonly id: string
  /** In capital letters. */
  readonly method: string
  /** With names in braces, behind the path of the servers. */
  readonly path: string
  /** The alternatives, of which one must be satisfied; there is none if no credentials are needed. */
  readonly security: readonly (readonly Requirement[])[]
  readonly parameters: readonly Parameter[]
  readonly body: Body | null
  /** By status, range (`4XX`) or `default`. */
  readonly responses: Readonly<Record<string, Response>>
  /** The errors that are answered without the method, by status, range or `default`. Null: without a body; or as text. */
  readonly errors: Readonly<Record<string, { readonly type: string; readonly form: ErrorForm | null } | null>>
}

/** What each member of an error is given. */
export type ErrorForm = Readonly<Record<string, 'status' | 'digits' | 'blank' | 'phrase' | 'message'>>

/** Credentials that are needed, and the scopes that they must have. */
export interface Requirement {
  readonly scheme: SecurityScheme
  readonly scopes: readonly string[]
}

export interface Parameter {
  readonly in: 'path' | 'query' | 'header'
  readonly name: string
  readonly required: boolean
  /** The id of its schema. */
  readonly schema: string
  /** What its text is read as; of a list, each of its texts. */
  readonly type: 'int64' | 'integer' | 'number' | 'boolean' | 'string'
  /** How a list is sent: as `a=1&a=2`, or as `a=1,2`. */
  readonly list: 'repeated' | 'commas' | null
  /** What an absent one is. */
  readonly default?: unknown
}

/** A request body, by media type. */
export interface Body {
  readonly required: boolean
  readonly content: Readonly<Record<string, Media>>
}

export interface Media {
  /** The id of its schema; null if any body is right. */
  readonly schema: string | null
  /** The most bytes. */
  readonly limit: number
  /** What each field of a form is read as, and whether there may be several of it. */
  readonly fields?: Readonly<Record<string, { readonly type: string; readonly isList: boolean }>>
}

/** The ids of the schemas of a response, by media type; null if any body is right. */
export type Response = Readonly<Record<string, string | null>>

/** What a schema says of numbers, its bounds in digits. */
export interface NumberRule {
  readonly kind: 'int64' | 'integer' | 'number' | 'any'
  /** The other types that a value may have; null if that is any. */
  readonly others: readonly string[] | null
  readonly minimum?: string
  readonly maximum?: string
  readonly exclusiveMinimum?: string
  readonly exclusiveMaximum?: string
  readonly multipleOf?: string
}

/** The contract, as the server needs it. */
export interface Contract extends Compiled {
  readonly file: string
  /** The bytes to serve: those of the file, but for the default of `base_url`. */
  readonly bytes: Buffer
}

/**
 * Reads an OpenAPI 3.1 document. One that `npm run generate` has not seen is compiled first.
 * @param file the path of a YAML file
 * @param baseUrl the default of the server variable `base_url` in the served bytes
 * @throws {StartupError} with file, line and reason of each fault
 */
export async function readContract(file: string, baseUrl?: string): Promise<Contract> {
  const compiled = isCurrent(file) ? COMPILED : await compileAnew(file)
  const text = compiled.bundle ?? readFileSync(file, 'utf8')
  return { ...compiled, file, bytes: Buffer.from(baseUrl === undefined ? text : withBaseUrl(text, compiled, baseUrl)) }
}

/** What compiles a contract is not installed where the service only runs. */
async function compileAnew(file: string): Promise<Compiled> {
  const { compile } = await import('./compile.ts').catch((cause: unknown) => {
    throw new StartupError(`${file}: it has changed since the last \`npm run generate\`: run it again`, { cause })
  })
  return compile(file)
}

/** Whether `npm run generate` has seen the files as they are. In the image is only the first of them. */
function isCurrent(file: string): boolean {
  const [[, first] = [], ...others] = Object.entries(COMPILED.sources)
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
