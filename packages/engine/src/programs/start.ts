// Starts the process: configuration, admin port, store, server. A signal stops them in reverse order.
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { readWords, runCommand } from './command.ts'
import type { AppParts } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import type { Contract, LoadCompiler } from '../contract/contract.ts'
import type { ProductHooks } from '../contract/product-hooks.ts'
import { hooksAt, type Product } from '../define-product.ts'
import { StartupError } from '../errors.ts'
import { type Store, storedCollections, type StoreEvents } from '../store.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** Milliseconds in which a second signal counts as the first: the terminal and npm both send it. */
const SAME_SIGNAL_TIME = 500
/** Milliseconds after a failure in which requests in flight are refused. */
const REFUSAL_TIME = 100
/** Milliseconds to close what is the product's own, after requests were cut. */
const CLOSE_OWN_TIMEOUT = 250
/** Milliseconds to close all, the store and the traces, too, after requests were cut. */
const CLOSE_TIMEOUT = 500

const USAGE = `usage: start   runs the service

  The environment configures it: see "Configuration" in deploy/README.md.`

/** Starts the service, as the command line says. It reports its errors itself. */
export function start(product: Product, loadCompiler?: LoadCompiler): Promise<void> {
  return runCommand(USAGE, async (words) => {
    readWords(words, [], {})
    void runService(product, { loadCompiler })
    return []
  })
}

/** The sources of the contract. */
export interface ContractSources {
  /** Imports the compiler, for a contract that has changed since it was generated. */
  readonly loadCompiler?: LoadCompiler | undefined
  /** Reads a contract that is still being written; undefined if nothing of it can be served. */
  readonly readDraft?: (config: Config, product: ProductHooks) => Promise<Contract | undefined>
}

/** Runs the service to the end of the process. */
export async function runService(product: Product, sources: ContractSources): Promise<void> {
  const signalled = firstSignal() // before the slow imports, so that no signal is lost
  const { exit, log } = await import('../ops/log.ts')
  const failure = watchForFailure(log, exit)
  void signalled.then(() => exitOnNextSignal(exit))

  const config = readConfig(product.name)
  log.level = config.LOG_LEVEL
  logWarnings(log)
  const { openAdmin } = await import('../ops/admin.ts')
  const admin = await openAdmin(product.name, config, log)
  void signalled.then(() => admin.stopping())
  const traces = await openTraces(product, config, log)
  const onFailure = (message: string, error: unknown) => {
    admin.stopping()
    failure.report(message, error)
  }
  // To open a store may take long: PostgreSQL may be away, or lack tables, and to make them is safe to interrupt.
  const opening = openStore(product, config, { log, onFailure })
  const store = await Promise.race([opening, signalled.then(() => undefined)])
  const { closeOwn, openOwn } = await import('./opened.ts')
  const hasStore = store !== undefined || opening === undefined
  const openingOwn = hasStore ? openOwn(product, log) : undefined
  const own = await Promise.race([openingOwn, signalled.then(() => undefined)])

  const { loadCompiler, readDraft } = sources
  const draft = await readDraft?.(config, hooksAt(product, config))
  const hasContract = draft !== undefined || readDraft === undefined
  let app: FastifyInstance | undefined
  if (own !== undefined && hasContract) {
    const [plugin, { opened }] = [traces?.plugin, own]
    app = await openApp({ product, config, store, opened, log, plugin, draft, loadCompiler })
    admin.serving(store, own)
  }
  flushCompileCache() // Node would do it at the end of the process, but a kill may come first.

  const signal = await signalled
  log.info({ signal }, 'stopping')
  // SIGINT comes from a person at a terminal, without a gateway that must notice.
  if (app) await drain(app, signal === 'SIGTERM' ? config.DRAIN_DELAY : 0)
  const closing = (end: Promise<unknown>) => own && closeOwn(own, log, end)
  await closeParts({ app, closeOwn: closing, store, traces }, config)
  admin.close()
  log.info('stopped')
  await exit(failure.exitCode()) // The store may have failed meanwhile.
}

interface Parts {
  readonly app: FastifyInstance | undefined
  /** Closes what is the product's own, until an end. */
  readonly closeOwn: (end: Promise<unknown>) => Promise<void> | undefined
  readonly store: Store | undefined
  readonly traces: Pick<Store, 'close'> | undefined
}

/** Closes the parts of the service, one after the other. What takes too long is left. */
async function closeParts(
  { app, closeOwn, store, traces }: Parts,
  { SHUTDOWN_TIMEOUT }: Config,
): Promise<void> {
  const end = delay(SHUTDOWN_TIMEOUT * 1000)
  const endOfOwn = end.then(() => delay(CLOSE_OWN_TIMEOUT))
  const endOfAll = end.then(() => delay(CLOSE_TIMEOUT))
  // Requests in flight are answered. If they take too long, they are cut.
  if (app) await Promise.race([closeServer(app), end.then(() => cutRequests(app))])
  await closeOwn(endOfOwn)
  await Promise.race([closeAll([store, traces]), endOfAll])
}

type Exit = (code: number) => Promise<never>

/** Waits for the first signal that ends the process. */
function firstSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
  return promise
}

/** After the first signal, another one ends the process at once. */
async function exitOnNextSignal(exit: Exit): Promise<void> {
  await delay(SAME_SIGNAL_TIME)
  for (const signal of SIGNALS) process.on(signal, () => void exit(1))
}

/** Ends the process when something has failed: a supervisor restarts it. */
function watchForFailure(log: Logger, exit: Exit) {
  let exitCode = 0
  process.on('uncaughtException', (error) => report('unexpected error', error))
  // With this listener, a write beyond `ulimit -f` fails with EFBIG. Without it, the process would end.
  process.on('SIGXFSZ', () => undefined)
  return { report, exitCode: () => exitCode }

  /** Logs an error, and ends the process soon. An error that a person can fix is logged without a stack. */
  function report(message: string, err: unknown): void {
    if (exitCode === 1) return // This error follows from the first one.
    exitCode = 1
    if (!log.isLevelEnabled('fatal')) log.level = 'fatal' // also with LOG_LEVEL=silent
    if (err instanceof StartupError) log.fatal(err.message)
    else log.fatal({ err }, message)
    setTimeout(() => void exit(1), REFUSAL_TIME)
  }
}

/** Logs the warnings of the runtime, which Node would print. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (err) => log.warn({ err }, 'warning of the runtime'))
}

/** @returns undefined if no endpoint is named, or `OTEL_TRACES_EXPORTER` names another exporter than `otlp`, such as `none` */
async function openTraces({ name }: Product, config: Config, log: Logger) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: exporters } = config
  const hasEndpoint = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== '' || endpoint !== 'none'
  if (!hasEndpoint || !exporters.split(',').includes('otlp')) return undefined
  const { startTraces } = await import('../ops/traces.ts')
  return startTraces(name, log)
}

/** @returns undefined if the product has no store */
function openStore(product: Product, config: Config, events: StoreEvents) {
  return product.store?.({
    database: config.DATABASE_URL,
    collections: storedCollections(product),
    isExclusive: true,
    settings: config,
    events,
  })
}

/** Builds the server, listens, and prints the banner. */
async function openApp(parts: AppParts): Promise<FastifyInstance> {
  const { product, config, store } = parts
  const { buildApp } = await import('../app.ts')
  const { listen } = await import('../http/server.ts')
  const { printBanner } = await import('./banner.ts')
  const app = await buildApp(parts)
  await listen(app, config, 'PORT', app.contract.prefix)
  await printBanner(product, config, store, app)
  return app
}

/** Closes the store and the traces. Errors are ignored: the process ends anyway. */
async function closeAll(parts: readonly (Pick<Store, 'close'> | undefined)[]): Promise<void> {
  await Promise.allSettled(parts.map(async (part) => part?.close()))
}

/** Serves requests for some seconds, then the requests that have arrived by then. Each answer closes its connection. */
async function drain(app: FastifyInstance, seconds: number): Promise<void> {
  app.exchanges.drain()
  await delay(seconds * 1000)
  await Promise.race([someTurns(300), delay(500)]) // busy turns are long
}

async function closeServer(app: FastifyInstance): Promise<void> {
  // A connection may become idle while the server closes. Fastify would wait for its client to leave.
  setInterval(() => setImmediate(() => app.server.closeIdleConnections()), 50)
  await app.close()
  await someTurns(3) // The last connection closes in the next turn, and its request is logged in the one after.
}

/** Closes all connections: the signals of methods and guards abort, and their requests are logged. */
async function cutRequests(app: FastifyInstance): Promise<void> {
  app.server.closeAllConnections()
  await someTurns(3)
}

/** Waits for turns of the event loop. In a turn, Node accepts one connection, and reads the others. */
async function someTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
