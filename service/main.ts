// The process: configuration, admin port, store, server; and the same in reverse at a signal.
import type { Server } from 'node:http'
import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Parts } from './app.ts'
import { readWords, runCommand } from './command.ts'
import { readConfig } from './config.ts'
import { StartupError } from './errors.ts'

/** Milliseconds in which a second signal is the first one again: npm passes on what the terminal has sent to all. */
const SAME_SIGNAL = 500

/** What serves requests while the process runs. `npm run dev` puts one app in the place of another. */
export interface Running {
  app?: FastifyInstance | undefined
}

/** Builds the app and listens. @param stop whether the process is to end already */
export type Open = (parts: Parts, stop: AbortSignal) => Promise<Running>

const USAGE = `usage: start   runs the service

  The environment configures it: see "Configuration" in deploy/README.md.`

if (import.meta.main) {
  await runCommand(USAGE, async (words) => {
    readWords(words, [], {})
    void runService() // which reports its errors itself
  })
}

/** Runs the service to the end of the process. */
export async function runService(open: Open = openApp): Promise<void> {
  const { stop, signalled } = catchSignals() // before the imports that take time: one that arrives meanwhile is not lost
  const { exit, log } = await import('./ops/log.ts')
  process.on('uncaughtException', fail)
  // A write beyond `ulimit -f` then fails with EFBIG, instead of ending the process.
  process.on('SIGXFSZ', () => undefined)

  const config = readConfig()
  log.level = config.LOG_LEVEL
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
  const running =
    store && !stop.aborted ? await open({ config, store, log, ...(traces && { plugin: traces.plugin }) }, stop) : {}
  if (store && running.app) {
    if (config.NODE_ENV !== 'production' && 'file' in config.DATABASE_URL) {
      await (await import('./auth/issue.ts')).printDemoToken(store, running.app.listeningOrigin)
    }
    admin.serving(store)
  }
  flushCompileCache() // which would wait for the end, and that may be a kill

  const signal = await signalled
  log.info({ signal }, 'stopping')
  const { app } = running
  if (app !== undefined) {
    app.openRequests.drain()
    // A person at a terminal has no gateway that must notice.
    if (signal === 'SIGTERM') await delay(config.DRAIN_DELAY * 1000)
  }
  const end = delay(config.SHUTDOWN_TIMEOUT * 1000)
  if (app !== undefined) {
    // What has arrived is accepted, and then read by then: its connection is not idle, and not refused.
    await delay(50)
    await acceptAll(app.server)
    // A connection that becomes idle while the server closes would be kept until its client leaves.
    setInterval(() => setImmediate(() => app.server.closeIdleConnections()), 50)
    // The requests in flight end, or are cut if they take too long.
    await Promise.race([app.close(), end])
  }
  // There is half a second for what is left if they were cut.
  await Promise.race([Promise.allSettled([store?.close(), traces?.close()]), end.then(() => delay(500))])
  admin.close()
  log.info('stopped')
  await exit(0)

  /** Ends the process for its supervisor to start it anew. The requests in flight are refused before. */
  function giveUp(message: string, err: unknown): void {
    admin.stopping()
    log.fatal({ err }, message)
    endFailed(100)
  }

  /** Logs one line and ends the process. What a person can fix is said without a stack. */
  function fail(error: unknown): void {
    log.level = 'fatal'
    if (error instanceof StartupError) log.fatal(error.message)
    else log.fatal({ err: error }, 'unforeseen error')
    endFailed(0)
  }

  function endFailed(milliseconds: number): void {
    // What fails because of the first fault need not be told.
    process.off('uncaughtException', fail).on('uncaughtException', () => undefined)
    setTimeout(() => void exit(1), milliseconds)
  }
}

async function openApp(parts: Parts, stop: AbortSignal): Promise<Running> {
  const { buildApp } = await import('./app.ts')
  const { listen } = await import('./http/server.ts')
  const app = await buildApp(parts)
  if (stop.aborted) return {}
  await listen(app, parts.config.HOST, parts.config.PORT, 'PORT')
  return { app }
}

function catchSignals(): { stop: AbortSignal; signalled: Promise<NodeJS.Signals> } {
  const stop = new AbortController()
  const { promise: signalled, resolve } = Promise.withResolvers<NodeJS.Signals>()
  let first = 0
  for (const each of ['SIGTERM', 'SIGINT'] as const) {
    process.on(each, () => {
      if (!stop.signal.aborted) first = performance.now()
      else if (performance.now() - first > SAME_SIGNAL) void import('./ops/log.ts').then((log) => log.exit(1))
      stop.abort()
      resolve(each)
    })
  }
  return { stop: stop.signal, signalled }
}

/** Waits until no connection is left to be accepted or read: a turn of the event loop takes one. */
async function acceptAll(server: Server): Promise<void> {
  let quietTurns = 0
  server.on('connection', () => (quietTurns = 0))
  while (quietTurns++ < 3) await nextTurn()
}
