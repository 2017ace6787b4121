// Starts the process: configuration, admin port, store, server. A signal stops them in reverse order.
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { readWords, runCommand } from './command.ts'
import { type Config, readConfig } from '../config.ts'
import type { Contract, LoadCompiler } from '../contract/contract.ts'
import type { Extensions } from '../contract/extensions.ts'
import { extensionsAt, type Product } from '../define-product.ts'
import { StartupError } from '../errors.ts'
import { storedCollections } from '../store.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const

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

/** How the service reads its contract. */
export interface ContractSources {
  /** For a contract that has changed since it was generated. */
  readonly loadCompiler?: LoadCompiler | undefined
  /** Reads a contract that is still being written; undefined if nothing of it can be served. */
  readonly readDraft?: (config: Config, product: Extensions) => Promise<Contract | undefined>
}

/** Runs the service to the end of the process. */
export async function runService(
  product: Product,
  { loadCompiler, readDraft }: ContractSources,
): Promise<void> {
  const { promise: signalled, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const each of SIGNALS) process.on(each, () => resolve(each)) // before the slow imports, so that no signal is lost
  const { exit, log } = await import('../ops/log.ts')
  let exitCode = 0
  process.on('uncaughtException', (error) => fail('unexpected error', error))
  // A second signal ends the process at once. Within 500 ms it is the first one: the terminal and npm send two.
  void signalled
    .then(() => delay(500))
    .then(() => SIGNALS.map((each) => process.on(each, () => exit(1))))
  // With this listener, a write beyond `ulimit -f` fails with EFBIG. Without it, the process would end.
  process.on('SIGXFSZ', () => undefined)

  const config = readConfig(product.name)
  log.level = config.LOG_LEVEL
  process
    .removeAllListeners('warning')
    .on('warning', (err) => log.warn({ err }, 'warning of the runtime'))
  const { openAdmin } = await import('../ops/admin.ts')
  const admin = await openAdmin(product.name, config, log)
  void signalled.then(() => admin.stopping())
  const isTraced = config.OTEL_EXPORTER_OTLP_ENDPOINT !== 'none'
  const traces = isTraced ? (await import('../ops/traces.ts')).startTraces(product.name) : undefined
  const onFailure = (message: string, error: unknown) => {
    admin.stopping()
    fail(message, error)
  }
  // To open a store may take long: PostgreSQL may be away, or lack tables, and to make them is safe to interrupt.
  const opening = product.store?.({
    database: config.DATABASE_URL,
    collections: storedCollections(product),
    isExclusive: true,
    settings: config,
    monitor: { log, onFailure },
  })
  const store = await Promise.race([opening, signalled.then(() => undefined)])
  const isOpen = store !== undefined || opening === undefined
  const draft = await readDraft?.(config, extensionsAt(product, config))
  let app: FastifyInstance | undefined
  if (isOpen && (draft || !readDraft)) {
    const { buildApp } = await import('../app.ts')
    const { listen } = await import('../http/server.ts')
    const { printWelcome } = await import('./welcome.ts')
    const plugin = traces?.plugin
    app = await buildApp({ product, config, store, log, plugin, draft, loadCompiler })
    await listen(app, config.HOST, config.PORT, 'PORT', app.contract.prefix)
    await printWelcome(product, config, store, app)
    admin.serving(store)
  }
  flushCompileCache() // Node would do it at the end of the process, but a kill may come first.

  const signal = await signalled
  log.info({ signal }, 'stopping')
  // SIGINT comes from a person at a terminal, without a gateway that must notice.
  if (app) await drain(app, signal === 'SIGTERM' ? config.DRAIN_DELAY : 0)
  const end = delay(config.SHUTDOWN_TIMEOUT * 1000)
  // Requests in flight are answered. If they take too long, they are cut.
  if (app) await Promise.race([closeServer(app), end])
  // After a cut, there is half a second to close the store.
  await Promise.race([
    Promise.allSettled([store?.close(), traces?.close()]),
    end.then(() => delay(500)),
  ])
  admin.close()
  log.info('stopped')
  await exit(exitCode) // The store may have failed meanwhile.

  /** Ends the process: a supervisor restarts it. An error that a person can fix is logged without a stack. */
  function fail(message: string, err: unknown): void {
    if (exitCode === 1) return // This error follows from the first one.
    exitCode = 1
    if (!log.isLevelEnabled('fatal')) log.level = 'fatal' // also with LOG_LEVEL=silent
    if (err instanceof StartupError) log.fatal(err.message)
    else log.fatal({ err }, message)
    setTimeout(() => void exit(1), 100) // Requests in flight are refused first.
  }
}

/** Serves requests for some seconds, and then those that have already arrived. Each is the last one of its connection. */
async function drain(app: FastifyInstance, seconds: number): Promise<void> {
  app.openRequests.drain()
  await delay(seconds * 1000)
  await Promise.race([someTurns(300), delay(500)]) // busy turns are long
}

async function closeServer(app: FastifyInstance): Promise<void> {
  // A connection may become idle while the server closes. Fastify would wait for its client to leave.
  setInterval(() => setImmediate(() => app.server.closeIdleConnections()), 50)
  await app.close()
  await someTurns(3) // The last connection closes in the next turn, and its request is logged in the one after.
}

/** Waits for turns of the event loop. In each, Node accepts one connection, and reads what has arrived on others. */
async function someTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
