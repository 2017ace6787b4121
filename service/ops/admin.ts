import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import { HttpError } from '../errors.ts'
import { answerOtherMethods, checkPath, checkProtocol } from '../http/protocol.ts'
import { startRequest } from '../http/open-requests.ts'
import { listen, makeServer } from '../http/server.ts'
import type { Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'
import { Readiness } from './readiness.ts'

/** Connections. Few clients use this port, and a flood on it must not harm the service. */
const MAX_CONNECTIONS = 100

/** The port for operators: `/livez`, `/readyz` and `/metrics`. It opens before the port of the service, and closes after it. */
export class Admin {
  readonly #app: FastifyInstance
  readonly #log: Logger
  #state: 'starting' | 'serving' | 'stopping' = 'starting'
  #readiness: Readiness | undefined
  #store: Pick<Store, 'figures'> | undefined
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
      if (this.#state === 'serving') await this.#readiness?.check()
      if (this.#state !== 'serving') throw this.#notServing() // the state may have changed meanwhile
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
   * @param secret matches text that a request id must not contain
   * @throws {StartupError} naming the host and the port
   */
  static async open(config: Config, log: Logger, secret?: RegExp): Promise<Admin> {
    const admin = new Admin(config, log, secret)
    await listen(admin.#app, config.HOST, config.ADMIN_PORT, 'ADMIN_PORT')
    return admin
  }

  /** Marks the service as ready, and logs the port. */
  serving(store: Pick<Store, 'ping' | 'figures'>): void {
    this.#store = store
    this.#readiness = new Readiness(store, this.#log)
    if (this.#state === 'starting') this.#state = 'serving'
    const { port } = this.#app.server.address() as AddressInfo // because it listens on a port
    this.#log.info({ port }, 'admin port open')
  }

  /** Marks the service as not ready. */
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
}

async function loadMetrics(store: Pick<Store, 'figures'>): Promise<Metrics> {
  const { Metrics } = await import('./metrics.ts')
  return new Metrics(store)
}
