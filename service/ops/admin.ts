import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { HttpError, reasonOf } from '../errors.ts'
import { answerOtherMethods, checkPath } from '../http/methods.ts'
import { startRequest } from '../http/open-requests.ts'
import { checkProtocol } from '../http/protocol.ts'
import { listen, makeServer } from '../http/server.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'

/** Milliseconds that a probe waits for the store. */
const READY_TIMEOUT = 1000
/** Milliseconds for which the outcome of a ping counts. */
const READY_TTL = 1000

/** Few clients use this port; a flood of connections must not harm the service. */
const MAX_CONNECTIONS = 100

type Watched = Pick<Store, 'ping' | 'figures'>

const UNAVAILABLE = new HttpError(503, 'The store is not available')

/** The port for operators: `/livez`, `/readyz` and `/metrics`. It opens before the port of the service, and closes after it. */
export class Admin {
  readonly #app: FastifyInstance
  readonly #log: Logger
  #state: 'starting' | 'serving' | 'stopping' = 'starting'
  #store: Watched | undefined
  /** The outcome of the last ping that has ended, and until when it counts. */
  #readiness: { readonly fault: HttpError | undefined; readonly until: number } = { fault: UNAVAILABLE, until: 0 }
  #ping: Promise<HttpError | undefined> | undefined
  #metrics: Promise<Metrics> | undefined

  private constructor(config: Config, log: Logger, secret?: RegExp) {
    this.#log = log
    // Fastify would log the port before there are metrics; `serving` logs it.
    const quiet = log.isLevelEnabled('warn') ? log.child({}, { level: 'warn' }) : log
    this.#app = makeServer({ config, log: quiet, maxConnections: MAX_CONNECTIONS, ...(secret && { secret }) })
    for (const hook of [startRequest, checkProtocol, checkPath]) this.#app.addHook('onRequest', hook)
    const addOtherMethods = answerOtherMethods(this.#app)
    this.#app.get('/livez', async () => 'ok\n')
    this.#app.get('/readyz', async () => {
      const fault = this.#store && this.#state === 'serving' ? await this.#ask(this.#store) : undefined
      if (this.#state !== 'serving') throw this.#notServing() // the state may have changed meanwhile
      if (fault !== undefined) throw fault
      return 'ok\n'
    })
    this.#app.get('/metrics', async (_request, reply) => {
      if (this.#store === undefined) throw this.#notServing()
      this.#metrics ??= loadMetrics(this.#store)
      const { text, contentType } = await this.#metrics
      return reply.type(contentType).send(await text())
    })
    addOtherMethods()
  }

  /**
   * Opens the port.
   * @param secret matches what a request id must not hold
   * @throws {StartupError} naming the host and the port
   */
  static async open(config: Config, log: Logger, secret?: RegExp): Promise<Admin> {
    const admin = new Admin(config, log, secret)
    await listen(admin.#app, config.HOST, config.ADMIN_PORT, 'ADMIN_PORT')
    return admin
  }

  /** Tells that the service serves from now on. */
  serving(store: Watched): void {
    this.#store = store
    if (this.#state === 'starting') this.#state = 'serving'
    const { port } = this.#app.server.address() as AddressInfo // because it listens on a port
    this.#log.info({ port }, 'admin port open')
  }

  /** Tells that the service is no longer ready. */
  stopping(): void {
    this.#state = 'stopping'
    this.#app.openRequests.drain()
  }

  /** Closes the port, and all its connections. */
  close(): void {
    void this.#app.close()
    this.#app.server.closeAllConnections()
  }

  #notServing(): HttpError {
    return new HttpError(503, `The service is ${this.#state}`)
  }

  /**
   * Asks the store, with one ping for all probes that wait at the same time. Until a ping has an outcome the outcome
   * before counts: a ping fails after DATABASE_TIMEOUT, as requests do, and until then a request may still be answered.
   * @returns the fault of the store; undefined if it answers
   */
  async #ask(store: Watched): Promise<HttpError | undefined> {
    if (performance.now() < this.#readiness.until) return this.#readiness.fault
    this.#ping ??= this.#pingOnce(store).finally(() => (this.#ping = undefined))
    const late = delay(READY_TIMEOUT, undefined, { ref: false }).then(() => this.#readiness.fault)
    return Promise.race([this.#ping, late])
  }

  async #pingOnce(store: Watched): Promise<HttpError | undefined> {
    const fault = await store.ping().then(
      () => undefined,
      (err: unknown) => {
        this.#log.warn({ err }, 'the store does not answer a probe')
        return new HttpError(503, `The store is not available: ${reasonOf(err)}`)
      },
    )
    this.#readiness = { fault, until: performance.now() + READY_TTL }
    return fault
  }
}

async function loadMetrics(store: Watched): Promise<Metrics> {
  const { Metrics } = await import('./metrics.ts')
  return new Metrics(store)
}
