// The process: configuration, store, server; and the same in reverse at SIGTERM.
import { enableCompileCache, flushCompileCache } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { readConfig, StartupError } from './config.ts'

// Compiled once, and not at each start. In the image the folder is there, and read-only.
enableCompileCache(import.meta.dirname + '/../node_modules/.cache/compiled')
// Before the imports that take time: a signal that arrives while the service starts is not lost.
const signalled = new Promise<string>((resolve) => {
  let count = 0
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => (count++ === 0 ? resolve(signal) : process.exit(1)))
  }
})
const { pino } = await import('pino')
process.on('uncaughtException', fail)

const config = readConfig(process.env)
const output = pino.destination({ minLength: 4096, periodicFlush: 100 })
const log = pino({ level: config.LOG_LEVEL }, output)
process.removeAllListeners('warning').on('warning', (err) => log.warn({ err }, 'warning of the runtime'))
const { openStore } = await import('./store.ts')
const store = await openStore(config.DATABASE_URL, true, config)
const { buildApp, listen } = await import('./app.ts')
const { offerDemoToken } = await import('./token.ts')
const app = await buildApp({ config, store, log })
await listen(app, config)
if (config.NODE_ENV !== 'production' && 'file' in config.DATABASE_URL) {
  await offerDemoToken(store, app.listeningOrigin)
}
flushCompileCache()

log.info({ signal: await signalled }, 'stopping')
// A connection that becomes idle while the server closes would be kept until its client leaves.
setInterval(() => app.server.closeIdleConnections(), 50)
// The requests in flight end, or are cut if they take too long.
await Promise.race([app.close(), delay(config.SHUTDOWN_TIMEOUT * 1000)])
await store.close()
log.info('stopped')
// Lines are written in the background: to exit before that would put the last ones out of order.
output.once('close', () => process.exit()).end()
setTimeout(() => process.exit(), 500) // where nobody reads them, they have no end

/** Logs one line and ends the process. What a person can mend is said without a stack. */
function fail(error: unknown): void {
  if (error instanceof StartupError) pino().fatal(error.message)
  else pino().fatal({ err: error }, 'unforeseen error')
  process.exit(1)
}
