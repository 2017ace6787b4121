// The port for operators: probes and metrics.
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { answerOtherMethods } from '../http/other-methods.ts'
import { checkRequest } from '../http/protocol.ts'
import type { MetricTexts } from '../http/metrics.ts'
import { RepeatedReasons } from '../http/repeated-reasons.ts'
import { HttpServer, listen } from '../http/server.ts'
import type { Store } from '../store.ts'
import type { makeMetrics } from './metrics.ts'

/** Few clients use this port, and a flood on it must not harm the service. */
const MAX_CONNECTIONS = 100
/** Milliseconds for which a probe waits. */
const READY_TIMEOUT = 1000
/** Milliseconds for which the result of a ping is valid. */
const READY_TTL = 1000

/** The product's resources and metrics, as far as this port shows them. */
interface AdminResources {
  readonly opened: { readonly check?: (signal: AbortSignal) => unknown }
  readonly metrics: MetricTexts
}

/**
 * Opens the port for `/livez`, `/readyz` and `/metrics`: before the port of the service. It also
 * closes after it.
 * @throws {StartupError} naming the host and the port
 */
export async function openAdmin(name: string, config: Config, log: Logger) {
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let serving:
    | {
        readonly checks: readonly (() => Promise<void>)[]
        readonly store: Pick<Store, 'stats'> | undefined
        readonly metrics: MetricTexts | undefined
      }
    | undefined
  let metrics: Promise<ReturnType<typeof makeMetrics>> | undefined
  const notServing = () => new HttpError(503, `The service is ${state}`)

  // Fastify would log the port too early, before there are metrics; `serving` logs it.
  const quiet = log.isLevelEnabled('warn') ? log.child({}, { level: 'warn' }) : log
  const { app } = new HttpServer({ config, log: quiet, maxConnections: MAX_CONNECTIONS })
  app.addHook('onRequest', checkRequest)
  const addOtherMethods = answerOtherMethods(app)
  app.get('/livez', async () => 'ok\n')
  app.get('/readyz', async () => {
    if (state === 'serving') await Promise.all((serving?.checks ?? []).map((check) => check()))
    if (state !== 'serving') throw notServing() // the state may have changed meanwhile
    return 'ok\n'
  })
  app.get('/metrics', async (_request, reply) => {
    if (serving === undefined) throw notServing()
    const { store, metrics: productMetrics } = serving
    metrics ??= import('./metrics.ts').then((load) => load.makeMetrics(name, store, productMetrics))
    const { contentType, write } = await metrics
    return reply.type(contentType).send(await write())
  })
  addOtherMethods()
  await listen(app, config, 'ADMIN_PORT')

  return {
    /**
     * Marks the service as ready, and logs the port.
     * @param store undefined if the product has none
     */
    serving(store: Pick<Store, 'ping' | 'stats'> | undefined, resources?: AdminResources): void {
      const checks = [
        ...(store ? [readinessCheck(store, log)] : []),
        ...(resources?.opened.check ? [resourceCheck(resources.opened, log)] : []),
      ]
      serving = { checks, store, metrics: resources?.metrics }
      if (state === 'starting') state = 'serving'
      const { port } = app.server.address() as AddressInfo // an open port has an address of this type
      log.info({ port }, 'admin port open')
    },
    stopping(): void {
      state = 'stopping'
      app.exchanges.drain()
    },
    close(): void {
      void app.close()
      app.server.closeAllConnections()
    },
  }
}

/**
 * Makes the check of the store. Probes at about the same time share one ping. While a ping runs,
 * the previous result is valid. A ping fails after DATABASE_TIMEOUT, like a request; until then,
 * requests may still succeed.
 * @returns the check; it throws an {@link HttpError} if the store does not answer
 */
function readinessCheck(store: Pick<Store, 'ping'>, log: Logger): () => Promise<void> {
  let fault: HttpError | undefined = new HttpError(503, 'The store is not available')
  let validUntil = 0
  let running: Promise<void> | undefined
  const reasons = new RepeatedReasons()
  const ping = async () => {
    fault = await store.ping().then(
      () => undefined,
      (err: unknown) => {
        const repeated = reasons.note(reasonOf(err))
        if (repeated !== undefined) log.warn({ err, repeated }, 'the store does not answer a probe')
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

/**
 * Makes the check of the product's resources. Probes share a call while it runs. After a timeout
 * the call is aborted, and the next probe makes another one.
 * @returns the check; it throws an {@link HttpError} if the product's check fails or takes too long
 */
function resourceCheck(opened: AdminResources['opened'], log: Logger): () => Promise<void> {
  let running: Promise<void> | undefined
  const callCheck = async () => {
    const controller = new AbortController()
    const { signal } = controller
    const late = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => late.reject(signal.reason))
    const giveUp = () => controller.abort(new Error('it took more than a second'))
    const timer = setTimeout(giveUp, READY_TIMEOUT).unref()
    try {
      const result = await Promise.race([opened.check?.(signal), late.promise])
      if (result === false) throw new Error('it returned false')
    } finally {
      clearTimeout(timer)
      running = undefined
    }
  }
  return async () => {
    running ??= callCheck()
    await running.catch((err: unknown) => {
      log.warn({ err }, 'the check of the product has failed')
      throw new HttpError(503, `The check of the product has failed: ${reasonOf(err)}`)
    })
  }
}
