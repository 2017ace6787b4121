// Serves a small contract in this process, with the real app. One method answers all operations of the contract.
import { pathToFileURL } from 'node:url'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Test } from 'tap'
import { loadCompiler } from '@plant-store/compiler'
import { type Product, readConfig } from '@plant-store/engine'
import { type ProductHooks, toContract } from '@plant-store/engine/for-compiler'
import { buildApp, type Store, storedCollections } from '@plant-store/engine/for-testing'
import { openStore } from '@plant-store/store'
import type { Exchange } from './exchanges.ts'
import { addTokens, TOKEN_PREFIX } from './scoped-tokens.ts'

/** The request for a method. */
export type Input = Readonly<
  Record<'caller' | 'scopes' | 'path' | 'query' | 'header' | 'cookie' | 'body' | 'type', unknown>
>

/** The result of a method. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string | number | bigint | boolean | undefined>>
  readonly type?: string
  readonly body?: unknown
}

/** A method. @param name its operation */
export type Run = (request: Input, name: string) => Promise<Answer>

/** A contract, and the requests to test it with. */
export interface Served {
  /** The body of the operation `run` of `/x`; or a whole contract from `paths` on. */
  readonly yaml: string
  /** Other files of the contract. */
  readonly files?: Readonly<Record<string, string>>
  /** The hooks of the product. */
  readonly product?: ProductHooks
  /** The method for all operations. By default it answers the nonempty parts of the request, as JSON. */
  readonly run?: Run
  /** The names of the methods, or those of several services. By default there is one for each operation. */
  readonly methods?: readonly string[] | readonly (readonly string[])[]
  readonly asks?: readonly Exchange[]
}

/** Constructs by their names in the README. In a refused contract the line with the error ends with `# here`. */
export type Constructs = Readonly<Record<string, Served | string>>

/** The contract as YAML. */
export function contract(yaml: string): string {
  const head = 'openapi: 3.1.0\ninfo: { title: Small, version: 1.0.0 }\n'
  if (/^(openapi:|{)/m.test(yaml)) return yaml
  if (/^paths:/m.test(yaml)) return head + yaml
  const method = /^ {6}requestBody:/m.test(yaml) ? 'post' : 'get'
  const responses =
    "      responses: { '200': { description: Done, content: { application/json: {} } } }\n"
  const operation = `  /x:\n    ${method}:\n      operationId: run\n${yaml}\n`
  return `${head}paths:\n${operation}${/^ {6}responses:/m.test(yaml) ? '' : responses}`
}

interface Booted extends Omit<Served, 'asks'> {
  /** The services, instead of those with `methods`. */
  readonly services?: readonly object[]
  readonly isDraft?: boolean
  /** Variables of the environment. Without them, the app has no docs page. */
  readonly environment?: Readonly<Record<string, string>>
  /** Gets the lines of the log. */
  readonly log?: Record<string, unknown>[]
}

/** Writes a contract to a file, compiles it, and builds the app for it. */
export async function boot(t: Test, booted: Booted): Promise<FastifyInstance> {
  const { yaml, files = {}, product: hooks = {}, isDraft = false, environment, log } = booted
  const file = `${t.testdir({ 'openapi.yaml': contract(yaml), ...files })}/openapi.yaml`
  const { compile } = await loadCompiler()
  const compiled = await compile(file, hooks)
  const services = booted.services ?? servicesFor(compiled.operations, booted)
  const product: Product = {
    name: 'small',
    tokenPrefix: TOKEN_PREFIX,
    collections: {},
    store: openStore,
    ...hooks,
    contract: { ...compiled, file: pathToFileURL(file).href, generated: '' },
    services: () => services,
  }
  const config = readConfig('small', { DOCS: 'off', ...environment })
  const app = await buildApp({
    product,
    config,
    store: await openNewStore(t, product),
    log: loggerTo(log),
    draft: isDraft ? toContract(compiled, file, config.BASE_URL, hooks) : undefined,
  })
  t.teardown(() => app.close())
  return app
}

/** Opens a store in memory, which has the tokens of `tokenOf` only. */
async function openNewStore(t: Test, product: Product): Promise<Store> {
  const store = await openStore({
    database: { file: ':memory:' },
    collections: storedCollections(product),
    isExclusive: true,
    settings: readConfig('small', {}),
  })
  t.teardown(() => store.close())
  await addTokens(store)
  return store
}

function loggerTo(log: Record<string, unknown>[] | undefined) {
  if (log === undefined) return pino({ level: 'silent' })
  return pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line)) })
}

/** The services with the methods. By default one service has them all. */
function servicesFor(
  operations: readonly { readonly id: string }[],
  { methods, run = echo }: Booted,
): readonly object[] {
  const names = methods ?? operations.map(({ id }) => id)
  const ofServices = names.some(Array.isArray) ? names : [names]
  return ofServices.map((ofService) => serviceOf([ofService].flat(2), run))
}

function Small(): void {
  // Only its name is used.
}

/** Makes a service object. All its methods do the same. */
function serviceOf(names: readonly string[], run: Run): object {
  const methods = names.map((name) => {
    const value = (request: Input) => run(request, name)
    return [name, { value }] as const
  })
  return Object.create(Object.defineProperties({ constructor: Small }, Object.fromEntries(methods)))
}

/** Answers the nonempty parts of a request. */
export const echo: Run = async (request) => {
  const isEmpty = (part: unknown) =>
    part === '' || (typeof part === 'object' && Object.keys(part ?? {}).length === 0)
  const parts = Object.entries(request).filter(
    ([name, part]) => part !== undefined && (name === 'body' || !isEmpty(part)),
  )
  return { status: 200, body: Object.fromEntries(parts) }
}
