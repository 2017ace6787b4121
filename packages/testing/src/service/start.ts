// Starts a product in this process, on a free port.
import { type Config, notWritten, type Product, readConfig } from '@plant-store/engine'
import {
  buildApp,
  openResources,
  type Store,
  storedCollections,
} from '@plant-store/engine/for-testing'
import { pino } from 'pino'
import type { Test } from 'tap'
import { contractOf } from '../contract/contract.ts'
import type { Call } from '../http/call.ts'
import { fields } from '../json/fields.ts'
import { issueTokenOf } from './access-tokens.ts'
import {
  callAsDocumented,
  type Parts,
  withoutInternalErrors,
  writeAsDocumented,
} from './documented-call.ts'

/** A product, and options of its start. */
export interface Start<Own extends Store | undefined> {
  readonly product: Product
  /** Variables of the environment, beside the defaults. Those of the test's process count only for `open`. */
  readonly environment: Readonly<Record<string, string>>
  readonly openStore: (config: Config) => Promise<Own>
}

export type Service = Awaited<ReturnType<typeof startService<Store | undefined>>>

/** Opens the store of a product; undefined if it has none. */
export async function openStoreOf(product: Product, settings: Config): Promise<Store | undefined> {
  return product.store?.({
    database: settings.DATABASE_URL,
    collections: storedCollections(product),
    isExclusive: true,
    settings,
  })
}

/** Starts a product, by default on a new file in the folder of the test. It closes when the test ends. */
export async function startService<Own extends Store | undefined>(
  t: Pick<Test, 'teardown'> & { testdir(): string },
  { product, environment, openStore }: Start<Own>,
) {
  const database = `sqlite:${t.testdir()}/${product.name}.db`
  const config = readConfig(product.name, { DATABASE_URL: database, ...environment })
  const contract = await contractOf(product)
  const log: Record<string, unknown>[] = []
  const lines = { write: (line: string) => void log.push(fields(JSON.parse(line))) }
  const logger = pino({ level: config.LOG_LEVEL }, lines)
  const store = await openStore(config)
  t.teardown(() => store?.close())
  const { opened } = await openResources(withVariables(product, environment), logger)
  t.teardown(() => opened.close?.())
  const { observed, isStub } = observe(product)
  const loadCompiler = async () => (await import('@plant-store/compiler')).loadCompiler()
  const app = await buildApp({
    product: observed,
    loadCompiler,
    config,
    store,
    opened,
    log: logger,
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  const port = Number(new URL(app.listeningOrigin).port)
  return {
    product,
    app,
    store,
    port,
    /** Whether an operation has a written method. */
    isWritten: ({ method, path }: { method: string; path: string }) => {
      const { operations, prefix } = app.contract
      const paths = [path, `${prefix}${path}`]
      const compiled = operations.find((own) => own.method === method && paths.includes(own.path))
      return !isStub(compiled?.id ?? '')
    },
    /** The lines of its log. */
    log,
    /** Issues a token. @param lifetime in milliseconds @param scopes by default all of the contract */
    token: async (
      caller: string,
      lifetime?: number,
      scopes: readonly string[] = contract.scopes,
    ) => {
      if (store === undefined)
        throw new Error(`the product ${product.name} has no store for tokens`)
      return issueTokenOf(product, store, caller, lifetime, scopes)
    },
    /** Sends a request. An undocumented answer fails the test. */
    call: (request: Call) =>
      withoutInternalErrors(log, callAsDocumented(contract, port, request), request),
    /** Writes bytes to a socket; a number pauses for milliseconds. Reads `count` answers, or all until the socket closes. */
    raw: (count: number, ...parts: Parts) => {
      const sent = { method: 'raw', path: parts.join('').slice(0, 100) }
      return withoutInternalErrors(log, writeAsDocumented(contract, port, count, parts), sent)
    },
  }
}

/** A product with further variables for `open`. */
function withVariables(product: Product, environment: Start<undefined>['environment']): Product {
  const { open } = product
  if (open === undefined) return product
  return {
    ...product,
    open: (context) => open({ ...context, env: { ...context.env, ...environment } }),
  }
}

/** A product which records its services. */
function observe(product: Product) {
  let services: readonly object[] = []
  const observed: Product = {
    ...product,
    services: (collections, own) => {
      services = product.services(collections, own)
      return services
    },
  }
  const isStub = (name: string) =>
    services.some((service) => Reflect.get(service, name) === notWritten)
  return { observed, isStub }
}
