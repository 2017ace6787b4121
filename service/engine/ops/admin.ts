import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { HttpError } from '../errors.ts'
import { startRequest } from '../http/open-requests.ts'
import { answerOtherMethods, checkFraming, checkPath } from '../http/request-rules.ts'
import { listen, makeServer } from '../http/server.ts'
import type { Store } from '../store/store.ts'
import type { makeMetrics } from './metrics.ts'
import { readinessCheck } from './readiness.ts'

/** Connections. Few clients use this port, and a flood on it must not harm the service. */
const MAX_CONNECTIONS = 100

/**
 * Opens the port for operators: `/livez`, `/readyz` and `/metrics`. It opens before the port of the service, and closes
 * after it.
 * @param secret matches text that a request id must not contain
 * @throws {StartupError} naming the host and the port
 */
export async function openAdmin(name: string, config: Config, log: Logger, secret?: RegExp) {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let opened: { readonly checkReadiness: () => Promise<void>; readonly store: Pick<Store, 'figures'> } | undefined
  let metrics: Promise<ReturnType<typeof makeMetrics>> | undefined
  const notServing = () => new HttpError(503, `The service is ${state}`)

  // Fastify would log the port before there are metrics; `serving` logs it.
  const quiet = log.isLevelEnabled('warn') ? log.child({}, { level: 'warn' }) : log
  const app = makeServer({ config, log: quiet, maxConnections: MAX_CONNECTIONS, ...(secret && { secret }) })
  for (const hook of [startRequest, checkFraming, checkPath]) app.addHook('onRequest', hook)
  const addOtherMethods = answerOtherMethods(app)
  app.get('/livez', async () => 'ok\n')
  app.get('/readyz', async () => {
    if (state === 'serving') await opened?.checkReadiness()
    if (state !== 'serving') throw notServing() // the state may have changed meanwhile
    return 'ok\n'
  })
  app.get('/metrics', async (_request, reply) => {
    if (opened === undefined) throw notServing()
    const { store } = opened
    metrics ??= import('./metrics.ts').then((load) => load.makeMetrics(name, store))
    const { contentType, write } = await metrics
    return reply.type(contentType).send(await write())
  })
  addOtherMethods()
  await listen(app, config.HOST, config.ADMIN_PORT, 'ADMIN_PORT')

  return {
    /** Marks the service as ready, and logs the port. */
    serving(store: Pick<Store, 'ping' | 'figures'>): void {
      opened = { checkReadiness: readinessCheck(store, log), store }
      if (state === 'starting') state = 'serving'
      const { port } = app.server.address() as AddressInfo // because it listens on a port
      log.info({ port }, 'admin port open')
    },
    /** Marks the service as not ready. */
    stopping(): void {
      state = 'stopping'
      app.openRequests.drain()
    },
    /** Closes the port, and all its connections. */
    close(): void {
      void app.close()
      app.server.closeAllConnections()
    },
  }
}
