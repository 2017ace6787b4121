// The process: configuration, store, server; and the same in reverse at SIGTERM.
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { buildApp } from './app.ts'
import { type Config, readConfig, reasonOf, StartupError } from './config.ts'
import { openStore, type Store } from './store.ts'
import { issueToken } from './token.ts'

// Before anything that takes time: a signal that arrives while the service starts is not lost.
const signalled = new Promise<string>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => resolve(signal))
})
process.on('uncaughtException', fail)

const config = readConfig(process.env)
const log = pino({ level: config.LOG_LEVEL })
const store = await openStore(config.DATABASE_URL)
const app = await buildApp({ config, store, log })
await listen(app, config)
await offerDemoToken(app, store, config)
await stop(await signalled)

async function listen(app: FastifyInstance, { HOST, PORT }: Config): Promise<void> {
  try {
    await app.listen({ host: HOST, port: PORT })
  } catch (error) {
    throw new StartupError(`HOST ${HOST}, PORT ${PORT}: ${reasonOf(error)}`)
  }
}

/** On the first start, a person gets a command to begin with. On standard error: a log never holds a token. */
async function offerDemoToken(app: FastifyInstance, store: Store, config: Config): Promise<void> {
  if (config.NODE_ENV === 'production' || !(await store.isEmpty())) return
  const token = await issueToken(store, 'demo')
  const origin = app.listeningOrigin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  console.error(
    `\nA token for the caller "demo". Try:\n\n  curl -H 'Authorization: Bearer ${token}' ${origin}/plants\n`,
  )
}

/** Ends the requests in flight, and cuts those that take too long; then closes the store. */
async function stop(signal: string): Promise<void> {
  log.info({ signal }, 'stopping')
  for (const again of ['SIGTERM', 'SIGINT']) process.once(again, () => process.exit(1))
  // A connection that becomes idle while the server closes would be kept until its client leaves.
  const sweep = setInterval(() => app.server.closeIdleConnections(), 50)
  const cut = setTimeout(() => app.server.closeAllConnections(), config.SHUTDOWN_TIMEOUT * 1000)
  await app.close()
  clearInterval(sweep)
  clearTimeout(cut)
  await store.close()
  log.info('stopped')
}

/** Logs one line and ends the process. What a person can mend is said without a stack. */
function fail(error: unknown): void {
  if (error instanceof StartupError) pino().fatal(error.message)
  else pino().fatal({ err: error }, 'unforeseen error')
  process.exit(1)
}
