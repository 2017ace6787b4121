import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { HttpError, reasonOf } from '../errors.ts'
import {
  answerOtherMethods,
  checkFraming,
  checkPath,
  inOrder,
  startRequest,
} from '../http/request-steps.ts'
import { listen, makeServer } from '../http/server.ts'
import type { Store } from '../store.ts'
import type { makeMetrics } from './metrics.ts'

/** The most connections. Few clients use this port, and a flood on it must not harm the service. */
const MAX_CONNECTIONS = 100
/** Milliseconds that a probe waits for the store. */
const READY_TIMEOUT = 1000
/** Milliseconds for which the result of a ping is valid. */
const READY_TTL = 1000

/**
 * Opens the port for operators: `/livez`, `/readyz` and `/metrics`. It opens before the port of the service, and closes
 * after it.
 * @throws {StartupError} naming the host and the port
 */
export async function openAdmin(name: string, config: Config, log: Logger) {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let opened:
    | {
        readonly checkReadiness?: (() => Promise<void>) | undefined
        readonly store: Pick<Store, 'stats'> | undefined
      }
    | undefined
  let metrics: Promise<ReturnType<typeof makeMetrics>> | undefined
  const notServing = () => new HttpError(503, `The service is ${state}`)

  // Fastify would log the port before there are metrics; `serving` logs it.
  const quiet = log.isLevelEnabled('warn') ? log.child({}, { level: 'warn' }) : log
  const app = makeServer({ config, log: quiet, maxConnections: MAX_CONNECTIONS })
  app.addHook('onRequest', inOrder([startRequest, checkFraming, checkPath]))
  const addOtherMethods = answerOtherMethods(app)
  app.get('/livez', async () => 'ok\n')
  app.get('/readyz', async () => {
    if (state === 'serving') await opened?.checkReadiness?.()
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
  await listen(app, config, 'ADMIN_PORT')

  return {
    /** Marks the service as ready, and logs the port. @param store undefined if the product has none */
    serving(store: Pick<Store, 'ping' | 'stats'> | undefined): void {
      opened = { checkReadiness: store && readinessCheck(store, log), store }
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

/**
 * Makes the check whether the store answers. Probes that arrive at about the same time share one ping. While a ping
 * runs, the previous result is valid. A ping fails after DATABASE_TIMEOUT, like a request; until then, requests may
 * still succeed.
 * @returns the check; it throws an {@link HttpError} if the store does not answer
 */
function readinessCheck(store: Pick<Store, 'ping'>, log: Logger): () => Promise<void> {
  let fault: HttpError | undefined = new HttpError(503, 'The store is not available')
  let validUntil = 0
  let running: Promise<void> | undefined
  const ping = async () => {
    fault = await store.ping().then(
      () => undefined,
      (err: unknown) => {
        log.warn({ err }, 'the store does not answer a probe')
        return new HttpError(503, `The store is not available: ${reasonOf(err)}`)
      },
    )
    validUntil = performance.now() + READY_TTL
    running = undefined
  }
  return async () => {
    if (performance.now() > validUntil) running ??= ping()
    await Promise.race([running, delay(READY_TIMEOUT, undefined, { ref: false })])
    if (fault !== undefined) throw fault
  }
}
