// Runs the service: opens admin port, store and server, and closes them in reverse order after a
// signal.
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { readWords, runCommand } from './command.ts'
import { keepTick } from './keep-tick.ts'
import type { AppParts } from '../app.ts'
import { type Config, readConfig } from '../config.ts'
import type { Contract, LoadCompiler } from '../contract/contract.ts'
import type { ProductHooks } from '../contract/product-hooks.ts'
import { hooksAt, type Product } from '../define-product.ts'
import { StartupError } from '../errors.ts'
import { type Collections, type Store, storedCollections, type StoreEvents } from '../store.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/**
 * Milliseconds in which a second signal counts as the first: both the terminal and npm send one.
 */
const SAME_SIGNAL_TIME = 500
/** Milliseconds between a failure and the exit, in which requests in flight are refused. */
const REFUSAL_TIME = 100
/** Milliseconds to close the product's resources after requests were cut. */
const CLOSE_RESOURCES_TIMEOUT = 250
/** Milliseconds to close everything, store and traces included, after requests were cut. */
const CLOSE_TIMEOUT = 500

const USAGE = `usage: start   runs the service

  The environment configures it: see "Configuration" in deploy/README.md.`

/** `npm start`: runs the service, and reports errors of the command line. */
export function start(product: Product, loadCompiler?: LoadCompiler): Promise<void> {
  return runCommand(USAGE, async (words) => {
    readWords(words, [], {})
    void runService(product, { loadCompiler })
    return []
  })
}

export interface ContractSources {
  /** Imports the compiler, for a contract changed since it was generated. */
  readonly loadCompiler?: LoadCompiler | undefined
  /** Reads an unfinished contract; undefined if nothing of it can be served. */
  readonly readDraft?: (config: Config, product: ProductHooks) => Promise<Contract | undefined>
}

export async function runService(product: Product, sources: ContractSources): Promise<void> {
  keepTick()
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
  const contract = await readServed(product, config, sources) // before the store, which needs its indexes
  // Opening may take long: PostgreSQL may be down or lack tables. A signal may interrupt it safely.
  const opening = contract && openStore(product, contract, config, { log, onFailure })
  const store = await Promise.race([opening, signalled.then(() => undefined)])
  const { closeResources, openResources } = await import('./opened.ts')
  const hasStore = store !== undefined || opening === undefined
  const openingResources = hasStore ? openResources(product, log) : undefined
  const resources = await Promise.race([openingResources, signalled.then(() => undefined)])

  let app: FastifyInstance | undefined
  if (resources !== undefined && contract !== undefined) {
    const [plugin, { opened }] = [traces?.plugin, resources]
    const served = sources.readDraft === undefined ? { contract } : { draft: contract }
    app = await openApp({ product, config, store, opened, log, plugin, ...served })
    admin.serving(store, resources)
  }
  flushCompileCache() // Node writes it at the end of the process, but a kill may come first.

  const signal = await signalled
  log.info({ signal }, 'stopping')
  // SIGINT comes from a person at a terminal, where no gateway needs time to notice.
  if (app) await drain(app, signal === 'SIGTERM' ? config.DRAIN_DELAY : 0)
  const closing = (end: Promise<unknown>) => resources && closeResources(resources, log, end)
  await closeParts({ app, closeResources: closing, store, traces }, config)
  admin.close()
  log.info('stopped')
  await exit(failure.exitCode()) // The store may have failed meanwhile.
}

interface RunningService {
  readonly app: FastifyInstance | undefined
  /** Closes the product's resources, or gives up at an end. */
  readonly closeResources: (end: Promise<unknown>) => Promise<void> | undefined
  readonly store: Store | undefined
  readonly traces: Pick<Store, 'close'> | undefined
}

/** Closes everything one after the other, each within its time. */
async function closeParts(
  { app, closeResources, store, traces }: RunningService,
  { SHUTDOWN_TIMEOUT }: Config,
): Promise<void> {
  const end = delay(SHUTDOWN_TIMEOUT * 1000)
  const endOfResources = end.then(() => delay(CLOSE_RESOURCES_TIMEOUT))
  const endOfAll = end.then(() => delay(CLOSE_TIMEOUT))
  // Requests in flight are answered. If they take too long, they are cut.
  if (app) await Promise.race([closeServer(app), end.then(() => cutRequests(app))])
  await closeResources(endOfResources)
  await Promise.race([closeAll([store, traces]), endOfAll])
}

type Exit = (code: number) => Promise<never>

function firstSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const signal of SIGNALS) process.on(signal, () => resolve(signal))
  return promise
}

async function exitOnNextSignal(exit: Exit): Promise<void> {
  await delay(SAME_SIGNAL_TIME)
  for (const signal of SIGNALS) process.on(signal, () => void exit(1))
}

/** Ends the process after a failure: a supervisor restarts it. */
function watchForFailure(log: Logger, exit: Exit) {
  let exitCode = 0
  process.on('uncaughtException', (error) => report('unexpected error', error))
  // Without a listener, a write beyond `ulimit -f` would end the process. With it, the write fails
  // with EFBIG.
  process.on('SIGXFSZ', () => undefined)
  return { report, exitCode: () => exitCode }

  /**
   * Logs an error, and ends the process soon. For an error that a person can fix, the stack would
   * be noise.
   */
  function report(message: string, err: unknown): void {
    if (exitCode === 1) return // a consequence of the first error
    exitCode = 1
    if (!log.isLevelEnabled('fatal')) log.level = 'fatal' // even with LOG_LEVEL=silent
    if (err instanceof StartupError) log.fatal(err.message)
    else log.fatal({ err }, message)
    setTimeout(() => void exit(1), REFUSAL_TIME)
  }
}

/** Logs the warnings of Node, which would print them. */
function logWarnings(log: Logger): void {
  process.removeAllListeners('warning')
  process.on('warning', (err) => log.warn({ err }, 'warning of the runtime'))
}

/** @returns undefined without an endpoint, or if `OTEL_TRACES_EXPORTER` lacks `otlp` */
async function openTraces({ name }: Product, config: Config, log: Logger) {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: exporters } = config
  const hasEndpoint = config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT !== '' || endpoint !== 'none'
  if (!hasEndpoint || !exporters.split(',').includes('otlp')) return undefined
  const { startTraces } = await import('../ops/traces.ts')
  return startTraces(name, log)
}

/** The contract to serve; undefined if nothing of a draft can be served. @throws {StartupError} */
async function readServed(
  product: Product,
  config: Config,
  { loadCompiler, readDraft }: ContractSources,
): Promise<Contract | undefined> {
  if (readDraft !== undefined) return readDraft(config, hooksAt(product, config))
  const { readProduct } = await import('../app.ts')
  return readProduct(product, config, loadCompiler)
}

/** The collections of a product, with indexes by the served contract: it may be newer than the generated one. */
function servedCollections({ collections }: Product, contract: Contract): Collections {
  const served = Object.entries(collections).map(([name, collection]) => {
    const readIndexes = async () => {
      const { storedIndexes } = await import('../contract/indexes.ts')
      return storedIndexes(contract, name, collection)
    }
    return [name, { key: collection.key, readIndexes }] as const
  })
  return Object.fromEntries(served)
}

/** @returns undefined if the product has no store */
function openStore(product: Product, contract: Contract, config: Config, events: StoreEvents) {
  return product.store?.({
    database: config.DATABASE_URL,
    collections: storedCollections({ collections: servedCollections(product, contract) }),
    isExclusive: true,
    settings: config,
    events,
  })
}

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

/** Errors are ignored: the process ends anyway. */
async function closeAll(parts: readonly (Pick<Store, 'close'> | undefined)[]): Promise<void> {
  await Promise.allSettled(parts.map(async (part) => part?.close()))
}

/**
 * Serves requests for some seconds, then finishes the requests arrived by then. Each answer closes
 * its connection.
 */
async function drain(app: FastifyInstance, seconds: number): Promise<void> {
  app.exchanges.drain()
  await delay(seconds * 1000)
  await Promise.race([someTurns(300), delay(500)]) // because turns are long under load
}

async function closeServer(app: FastifyInstance): Promise<void> {
  // A connection may become idle while the server closes. Fastify would wait for its client to
  // leave.
  setInterval(() => setImmediate(() => app.server.closeIdleConnections()), 50)
  await app.close()
  await someTurns(3) // The last connection closes in the next turn, and its request is logged one turn later.
}

/**
 * Closes all connections: the signals of methods and guards abort, and their requests are logged.
 */
async function cutRequests(app: FastifyInstance): Promise<void> {
  app.server.closeAllConnections()
  await someTurns(3)
}

/**
 * Waits for turns of the event loop. In a turn, Node accepts one connection, and reads from the
 * others.
 */
async function someTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
