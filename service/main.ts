// The process: configuration, admin port, store, server; and the same in reverse at a signal.
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { readConfig } from './config.ts'
import type { Store } from './store/store.ts'
import { StartupError } from './errors.ts'

// Before the imports that take time: a signal that arrives while the service starts is not lost.
const stop = new AbortController()
const signalled = new Promise<NodeJS.Signals>((resolve) => {
  for (const each of ['SIGTERM', 'SIGINT'] as const) {
    process.on(each, () => {
      if (stop.signal.aborted) process.exit(1)
      stop.abort()
      resolve(each)
    })
  }
})
const { pino } = await import('pino')
process.on('uncaughtException', fail)
// A write beyond `ulimit -f` then fails with EFBIG, instead of ending the process.
process.on('SIGXFSZ', () => undefined)

const config = readConfig()
const output = pino.destination({ minLength: 4096, periodicFlush: 100 })
const log = pino({ level: config.LOG_LEVEL }, output)
process.removeAllListeners('warning').on('warning', (err) => log.warn({ err }, 'warning of the runtime'))
const { Admin } = await import('./ops/admin.ts')
const { TOKEN_TEXT } = await import('./auth/token-form.ts')
const admin = await Admin.open(config, log, TOKEN_TEXT)
void signalled.then(() => admin.stopping())
const isTraced = config.OTEL_EXPORTER_OTLP_ENDPOINT !== 'none'
const traces = isTraced ? (await import('./ops/traces.ts')).startTraces() : undefined
const { openStore } = await import('./store/open.ts')
// To open it may take long: the server may be away, or the schema be upgraded, which is safe to break off.
const store = await Promise.race([
  openStore(config.DATABASE_URL, true, config, { log, onFailure: giveUp }),
  signalled.then(() => undefined),
])
const app = store && !stop.signal.aborted ? await serve(store) : undefined

const signal = await signalled
log.info({ signal }, 'stopping')
if (app !== undefined) {
  app.openRequests.drain()
  // A person at a terminal has no gateway that must notice.
  if (signal === 'SIGTERM') await delay(config.DRAIN_DELAY * 1000)
}
const end = delay(config.SHUTDOWN_TIMEOUT * 1000)
if (app !== undefined) {
  // A connection that becomes idle while the server closes would be kept until its client leaves.
  setInterval(() => setImmediate(() => app.server.closeIdleConnections()), 50)
  // What has arrived is accepted, and then read by then: its connection is not idle, and not refused.
  await delay(50)
  await nextTurn()
  // The requests in flight end, or are cut if they take too long.
  await Promise.race([app.close(), end])
}
// There is half a second for what is left if they were cut.
await Promise.race([Promise.allSettled([store?.close(), traces?.close()]), end.then(() => delay(500))])
admin.close()
log.info('stopped')
// Lines are written in the background: to exit before that would put the last ones out of order.
output.once('close', () => process.exit()).end()
setTimeout(() => process.exit(), 500) // where nobody reads them, they have no end

async function serve(store: Store): Promise<FastifyInstance | undefined> {
  const { buildApp } = await import('./app.ts')
  const { listen } = await import('./http/server.ts')
  const { printDemoToken } = await import('./auth/issue.ts')
  const app = await buildApp({ config, store, log, ...(traces && { plugin: traces.plugin }) })
  if (stop.signal.aborted) return undefined
  await listen(app, config.HOST, config.PORT, 'PORT')
  if (config.NODE_ENV !== 'production' && 'file' in config.DATABASE_URL) {
    await printDemoToken(store, app.listeningOrigin)
  }
  admin.serving(store)
  flushCompileCache() // which would wait for the end, and that may be a kill
  return app
}

/** Ends the process for its supervisor to start it anew. The requests in flight are refused before. */
function giveUp(message: string, err: unknown): void {
  admin.stopping()
  log.fatal({ err }, message)
  // What fails for want of the store need not be told.
  process.off('uncaughtException', fail).on('uncaughtException', () => undefined)
  setTimeout(() => process.exit(1), 100)
}

/** Logs one line and ends the process. What a person can mend is said without a stack. */
function fail(error: unknown): void {
  if (error instanceof StartupError) pino().fatal(error.message)
  else pino().fatal({ err: error }, 'unforeseen error')
  process.exit(1)
}
